"""Changes of deals, contacts and clients."""

from __future__ import annotations

from typing import Any

from crmbench.agents.baselines.heuristic.find import DEAL, QUOTE
from crmbench.agents.baselines.heuristic.org import Record, full_name, is_open
from crmbench.agents.baselines.heuristic.parse import STAGES
from crmbench.agents.baselines.heuristic.quotes import change_quote
from crmbench.agents.baselines.heuristic.turn import RefusedError, TurnContext
from crmbench.agents.baselines.heuristic.values import money

_DOWN = r"\b(?:reduc|lower|less|cut|down|decreas|off|minus|drop|knock|take|under|below)"
_CHANCE = r"probab|likel|chance|odds|\bsure\b|certain|we're at|confiden|\bgood as signed"
_WORTH_A_NOTE = 0.25


def change(turn: TurnContext) -> str | None:
    """FieldChange what the words give a new value for, or None where they give none."""
    values, text = turn.parsed.values, turn.parsed.text
    if values.phones or values.emails or _title_given(turn):
        return _change_person(turn)
    about_quote = QUOTE.search(text) or (turn.focus.last == "quote" and not DEAL.search(text))
    if about_quote and not turn.says(r"\bstage\b"):
        return change_quote(turn)
    return _change_deal(turn)


def _change_deal(turn: TurnContext) -> str | None:
    if not _gives_value(turn):
        return None
    deal = turn.find.deal()
    if deal is None:
        return None
    fields = _deal_fields(turn, deal)
    if not fields:
        return None
    note = _big_change(deal, fields)
    after = turn.modify("opportunity", deal, fields)
    if note:
        turn.note("opportunity", deal, note)
    return "Done.\n" + "\n".join(f"{_LABELS[f]}: {shown(f, after.get(f))}" for f in fields)


_LABELS = {
    "amount": "Amount",
    "close_date": "Close date",
    "stage": "Stage",
    "probability": "Probability",
    "owner": "Owner",
    "name": "Name",
}


def shown(name: str, value: Any) -> str:
    """A field's value as it is told."""
    if name in {"amount", "value"}:
        return money(value)
    return f"{value} %" if name == "probability" else str(value)


def _gives_value(turn: TurnContext) -> bool:
    values = turn.parsed.values
    stages = turn.says(r"\b(?:won|lost|lose|" + "|".join(STAGES) + r")\b")
    owner = turn.parsed.owners and turn.says(_HAND_OVER)
    return bool(values.amounts or values.dates or values.percents or stages or owner)


_HAND_OVER = r"owner|hand|transfer|assign|take over|takes over|give|belong|move"


def _deal_fields(turn: TurnContext, deal: Record) -> Record:
    """The fields of a deal that the words give."""
    values = turn.parsed.values
    fields: Record = {}
    if values.percents and turn.says(_CHANCE):
        fields["probability"] = round(values.percents[-1])
    elif values.percents:
        share = values.percents[-1] / 100 * (-1 if turn.says(_DOWN) else 1)
        fields["amount"] = float(round((deal.get("amount") or 0) * (1 + share)))
    if values.amounts and "amount" not in fields:
        fields["amount"] = _amount(turn, deal)
    if values.dates:
        fields["close_date"] = values.dates[-1].isoformat()
    stage = next((s for s in STAGES if turn.says(rf"\b{s}\b") and s != deal.get("stage")), None)
    if stage:
        fields["stage"] = stage
        if stage in turn.conversation.chances:
            fields.setdefault("probability", turn.conversation.chances[stage])
    if turn.parsed.owners and turn.says(_HAND_OVER):
        fields |= _new_owner(turn, deal)
    return fields


def _amount(turn: TurnContext, deal: Record) -> float:
    """The new amount, or the old one and so much more or less."""
    amount, old = turn.parsed.values.amounts[-1], deal.get("amount") or 0
    if not turn.says(r"\bby\s*(?:\$|$|\.|,|please)"):
        return amount
    return float(old - amount if turn.says(_DOWN) else old + amount)


def _new_owner(turn: TurnContext, deal: Record) -> Record:
    owners = [o for o in turn.parsed.owners if o != deal.get("owner")]
    if not owners:
        return {}
    if not turn.conversation.manager and deal.get("owner") != turn.conversation.speaker:
        raise RefusedError(
            f"the deal belongs to {deal.get('owner')}, and only the sales manager may hand over "
            "a deal that is not your own (DEAL-8)"
        )
    return {"owner": owners[-1]}


def _big_change(deal: Record, fields: Record) -> str | None:
    old, new = deal.get("amount"), fields.get("amount")
    if not old or new is None or not is_open(deal) or abs(new - old) <= _WORTH_A_NOTE * old:
        return None
    return f"Amount changed from {money(old)} to {money(new)}."


def _title_given(turn: TurnContext) -> str | None:
    """The title that a person now has."""
    if not (turn.parsed.contacts or turn.says(r"that contact|the contact")):
        return None
    return next(iter(turn.parsed.values.titles), None)


def _change_person(turn: TurnContext) -> str | None:
    """The number, address or title of a contact, or the number or address of a client."""
    values = turn.parsed.values
    title = _title_given(turn)
    contact = None
    if turn.parsed.contacts or turn.says(r"\bcontact\b") or not turn.parsed.clients:
        contact = turn.find.contact()
    elif not turn.says(r"client|customer"):
        contact = turn.find.titled()
    if contact is None or (turn.says(r"\bclient") and not turn.parsed.contacts):
        return _change_client(turn)
    fields: Record = {}
    if values.phones:
        fields["phone"] = values.phones[-1]
    if values.emails:
        fields["email"] = _own_domain(turn, values.emails[-1], contact.get("client_id"))
    if title and not fields:
        fields["title"] = title
    if not fields:
        return None
    turn.modify("contact", contact, fields)
    return f"Done, {full_name(contact)} is updated.\n" + "\n".join(map(str, fields.values()))


def _own_domain(turn: TurnContext, email: str, client_id: Any) -> str:
    client = turn.org.get("client", client_id) or {}
    home = str(client.get("email") or "").rpartition("@")[2]
    if home and not email.casefold().endswith("@" + home.casefold()):
        raise RefusedError(
            f"the e-mail address is not at the client's own domain {home} (CONTACT-2)"
        )
    return email


def _change_client(turn: TurnContext) -> str | None:
    values, client = turn.parsed.values, turn.find.client()
    fields: Record = {}
    if values.phones:
        fields["phone"] = values.phones[-1]
    if values.emails:
        fields["email"] = values.emails[-1]
    if client is None or not fields:
        return None
    deal_change = _change_deal(turn) if values.amounts and DEAL.search(turn.parsed.text) else None
    turn.modify("client", client, fields)
    return (deal_change or "Done.") + "\n" + "\n".join(fields.values())
