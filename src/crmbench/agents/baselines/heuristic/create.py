"""Notes, files, new contacts, and the deletion of a deal."""

from __future__ import annotations

import re

from crmbench.agents.baselines.heuristic.find import DEAL, AskError
from crmbench.agents.baselines.heuristic.org import Record
from crmbench.agents.baselines.heuristic.turn import RefusedError, TurnContext
from crmbench.agents.baselines.heuristic.values import money

_PRIVATE = (
    r"\bhealth|hospital|surgery|\bill\b|illness|\bsick|family|pregnan|\bbaby|\bwife|husband|divorc"
    r"|\bkids?\b|religi|church|mosque|\bpray"
)
_NAME = r"[A-Z][\w'\u2019-]+(?: (?:[Vv]an|[Dd]e|[Ll]a|[Dd]er|Van Dam|Ter))?(?: [A-Z][\w'\u2019-]+)+"


def add_note(turn: TurnContext) -> str | None:
    """Write down what was said.

    Raises:
        AskError: A detail is missing, which the user is asked for.
    """
    content = note_content(turn)
    kind, record = _record_for(turn)
    if record is None:
        raise AskError("Which record should the note go to?")
    turn.note(kind, record, content)
    return "The note is added."


def note_content(turn: TurnContext) -> str:
    """What was said, with its dates and amounts written out.

    Raises:
        RefusedError: It is of a kind that is not written into the CRM.
    """
    if turn.says(_PRIVATE):
        raise RefusedError(
            "nothing about health, family or religion is written into the CRM (NOTE-2)"
        )
    days = [day.isoformat() for day in turn.parsed.values.dates]
    amounts = [money(amount) for amount in turn.parsed.values.amounts]
    return " ".join([turn.parsed.said, *days, *amounts])


def _record_for(turn: TurnContext) -> tuple[str, Record | None]:
    """The record that a note or file goes to."""
    if turn.parsed.contacts and turn.says(r"contact\b|\bon (?:him|her|them)\b"):
        return "contact", turn.find.contact()
    if turn.says(r"\bcontracts?\b") and not turn.says(r"\bcontract_"):
        return "contract", turn.find.contract()
    if turn.says(r"\bquote\b|latest one|newest one"):
        deal = turn.find.deal()
        return "quote", turn.find.quote(deal)
    if turn.says(r"\b(?:client|customer|account)\b") and not DEAL.search(turn.parsed.text):
        return "client", turn.find.client()
    return "opportunity", turn.find.deal()


def upload(turn: TurnContext) -> str | None:
    """Store each file with the record that it is about.

    Raises:
        AskError: A detail is missing, which the user is asked for.
    """
    kind, record = _record_for(turn)
    if record is None:
        raise AskError("Which record should the file go to?")
    names = turn.parsed.values.files
    for name in names:
        turn.write(
            "upload_document",
            entity_type=kind.capitalize(),
            entity_id=record.get(f"{kind}_id"),
            file_name=name,
            uploaded_by=turn.conversation.speaker or None,
        )
    return "Uploaded: " + ", ".join(names)


def new_contact(turn: TurnContext) -> str | None:
    """Add a person to a client.

    Raises:
        AskError: A detail is missing, which the user is asked for.
        RefusedError: The CRM or a house rule does not allow it.
    """
    parsed, client = turn.parsed, turn.find.client()
    name = _new_name(turn)
    if client is None or name is None:
        raise AskError("What is the contact's name, and which client is it?")
    first, _, last = name.partition(" ")
    title = next(iter(parsed.values.titles), None)
    email = parsed.values.emails[-1] if parsed.values.emails else None
    home = str(client.get("email") or "").rpartition("@")[2]
    if email and home and not email.casefold().endswith("@" + home.casefold()):
        raise RefusedError(
            f"the e-mail address is not at the client's own domain {home} (CONTACT-2)"
        )
    if title is None:
        raise AskError(f"What is the title (position) of {name}?")
    made = turn.write(
        "create_new_contact",
        first_name=first,
        last_name=last,
        client_id=client["client_id"],
        title=title,
        email=email,
        phone=parsed.values.phones[-1] if parsed.values.phones else None,
    )
    turn.focus.set("contact", made)
    return f"{name} is added as a contact of {client.get('name')}."


def _new_name(turn: TurnContext) -> str | None:
    """The name said that suits the e-mail address, or the first that no record has."""
    names = re.findall(_NAME, turn.parsed.text)
    local = turn.parsed.values.emails[-1].split("@")[0] if turn.parsed.values.emails else ""
    parts = [part for part in re.split(r"[._-]", local) if len(part) > 1]
    for name in names:
        words = name.split(" ")
        if parts and words[-1].casefold()[:3] == parts[-1][:3].casefold():
            start = next((i for i, w in enumerate(words) if w[:2].casefold() == parts[0][:2]), 0)
            return " ".join(words[start:])
    return names[0] if names else " ".join(part.capitalize() for part in parts) or None


def delete_deal(turn: TurnContext) -> str | None:
    """Delete a deal that has nothing to it yet.

    Raises:
        RefusedError: The CRM or a house rule does not allow it.
    """
    deal = turn.find.deal()
    if deal is None:
        return None
    if deal.get("stage") != "Prospecting":
        raise RefusedError(f"its stage is {deal.get('stage')}, not Prospecting (DEAL-5)")
    key = deal["opportunity_id"]
    for kind in ("quote", "contract"):
        if turn.org.of(kind, opportunity_id=key):
            raise RefusedError(f"it has a {kind} (DEAL-5)")
    for kind in ("note", "document"):
        if turn.org.of(kind, entity_id=key):
            raise RefusedError(f"it has a {kind} (DEAL-5)")
    turn.write("delete_opportunity", opportunity_id=key)
    return "The deal is deleted."
