"""Clients as a whole, and their contracts."""

from __future__ import annotations

import re
from datetime import date, timedelta

from crmbench.agents.baselines.heuristic.dates import COUNT, add_months, count
from crmbench.agents.baselines.heuristic.find import AskError
from crmbench.agents.baselines.heuristic.org import Record, is_open
from crmbench.agents.baselines.heuristic.turn import RefusedError, TurnContext
from crmbench.agents.baselines.heuristic.values import money
from crmbench.language.legal_forms import without_legal_forms

_NAME = re.compile(r"(?:[A-Z][\w&'-]*|\d+)(?: (?:[A-Z][\w&'/-]*|of|and|&))* [A-Z][\w&'/-]*")
_MONTHS = re.compile(rf"\b{COUNT}[- ](?P<u>months?|years?)\b", re.IGNORECASE)
_USUAL_MONTHS = 12


def new_client(turn: TurnContext) -> str | None:
    """Enter a client by CLIENT-1, CLIENT-2 and CLIENT-4.

    Raises:
        AskError: A detail is missing, which the user is asked for.
        RefusedError: The CRM or a house rule does not allow it.
    """
    values = turn.parsed.values
    rivals = [c for c in turn.parsed.companies if c.get("type") == "Competitor"]
    if rivals:
        raise RefusedError(f"{rivals[0].get('name')} is listed as a Competitor (CLIENT-4)")
    name = _client_name(turn)
    if name is None:
        raise AskError("What is the client's name?")
    bare = without_legal_forms(name).casefold()
    for client in turn.org.all("client"):
        if without_legal_forms(str(client.get("name"))).casefold() == bare:
            turn.focus.set("client", client)
            raise RefusedError(f"there is a client of that name, {client.get('name')} (CLIENT-1)")
    if not values.emails:
        raise AskError(f"What is the e-mail address of {name}?")
    made = turn.write(
        "create_new_client",
        name=name,
        email=values.emails[-1],
        status="Prospect",
        owner=turn.parsed.owners[-1] if turn.parsed.owners else turn.conversation.speaker or None,
        industry=_industry(turn),
        phone=values.phones[-1] if values.phones else None,
    )
    turn.focus.set("client", made)
    return f"{name} is entered as a client.\nStatus: Prospect\nOwner: {made.get('owner')}"


def _client_name(turn: TurnContext) -> str | None:
    """The name said that suits the e-mail address, or the longest."""
    names = [c["name"] for c in turn.parsed.clients] or _NAME.findall(turn.parsed.said)
    home = turn.parsed.values.emails[-1].rpartition("@")[2] if turn.parsed.values.emails else ""
    for name in names:
        for start in range(len(name.split(" "))):
            part = " ".join(name.split(" ")[start:])
            if home.startswith(re.sub(r"\W", "", without_legal_forms(part)).casefold() or "?"):
                return str(part)
    return max(names, key=len, default=None)


def _industry(turn: TurnContext) -> str | None:
    """An industry that a client or company of the org has and that was said."""
    known = {str(r.get("industry")) for k in ("client", "company") for r in turn.org.all(k)}
    said = [i for i in known if turn.says(rf"\b{re.escape(i)}\b")]
    if said:
        return max(said, key=lambda i: (len(i), i))
    named = re.search(r"industry:? ((?:[A-Z]\w+ ?)+)", turn.parsed.said)
    return named[1].strip() if named else None


def set_status(turn: TurnContext) -> str | None:
    """Make a client Active or Inactive by CLIENT-3 and CLIENT-5.

    Raises:
        AskError: A detail is missing, which the user is asked for.
        RefusedError: The CRM or a house rule does not allow it.
    """
    client = turn.find.client()
    if client is None:
        raise AskError("Which client do you mean?")
    status = "Inactive" if turn.says(r"\binactive\b|\bdeactivat") else "Active"
    if status == "Active" and client.get("status") == "Inactive" and not turn.conversation.manager:
        raise RefusedError("only the sales manager makes an Inactive client Active (CLIENT-3)")
    deals = turn.org.of("opportunity", client_id=client["client_id"])
    open_deals = list(filter(is_open, deals))
    if status == "Inactive" and open_deals:
        turn.focus.set("opportunity", open_deals[0])
        raise RefusedError("the client has an open deal (CLIENT-5)")
    turn.modify("client", client, {"status": status})
    return f"{client.get('name')} is {status} now."


def new_contract(turn: TurnContext) -> str | None:
    """Make the contract of a won deal by CONTRACT-1 and CONTRACT-2.

    Raises:
        AskError: A detail is missing, which the user is asked for.
        RefusedError: The CRM or a house rule does not allow it.
    """
    deal = turn.find.deal()
    if deal is None:
        raise AskError("Which deal is the contract for?")
    made_before = turn.org.of("contract", opportunity_id=deal["opportunity_id"])
    if made_before:
        turn.focus.set("contract", made_before[0])
        raise RefusedError("the deal has a contract already (CONTRACT-1)")
    if deal.get("stage") != "Closed-Won":
        raise RefusedError("a contract is made only for a Closed-Won deal (CONTRACT-1)")
    dates = turn.parsed.values.dates
    starts = dates[-1] if dates else add_months(turn.today.replace(day=1), 1)
    ends = add_months(starts, _months(turn) or _USUAL_MONTHS) - timedelta(days=1)
    made = turn.write(
        "create_contract",
        client_id=deal.get("client_id"),
        opportunity_id=deal["opportunity_id"],
        value=deal.get("amount"),
        start_date=starts.isoformat(),
        end_date=ends.isoformat(),
        status="Pending" if starts > turn.today else "Active",
    )
    turn.focus.set("contract", made)
    return _told(made)


def _months(turn: TurnContext) -> int:
    """How many months were said, or 0."""
    said = _MONTHS.search(turn.parsed.text)
    return count(said["n"]) * (12 if said["u"].startswith("year") else 1) if said else 0


def change_contract(turn: TurnContext) -> str | None:
    """Move a contract's end; an Active one keeps the rest (CONTRACT-3).

    Raises:
        RefusedError: The CRM or a house rule does not allow it.
    """
    contract = turn.find.contract()
    if contract is None:
        return None
    if turn.parsed.values.amounts and contract.get("status") == "Active":
        raise RefusedError("an Active contract keeps its value (CONTRACT-3)")
    fields: Record = {}
    if turn.parsed.values.amounts:
        fields["value"] = turn.parsed.values.amounts[-1]
    elif turn.parsed.values.dates:
        fields["end_date"] = turn.parsed.values.dates[-1].isoformat()
    elif (months := _months(turn)) and contract.get("end_date"):
        fields["end_date"] = _later(str(contract["end_date"]), months)
    if not fields:
        return None
    return _told({**contract, **turn.modify("contract", contract, fields)})


def _later(day: str, months: int) -> str:
    """So many months later; the last day of a month stays the last of its month."""
    after = date.fromisoformat(day[:10]) + timedelta(days=1)
    return (add_months(after, months) - timedelta(days=1)).isoformat()


def _told(contract: Record) -> str:
    return (
        f"Contract value: {money(contract.get('value'))}\nStart: {contract.get('start_date')}\n"
        f"End: {contract.get('end_date')}\nStatus: {contract.get('status')}"
    )
