"""Answers to questions: the fields asked for, one a line."""

from __future__ import annotations

import re
from collections.abc import Callable

from crmbench.agents.baselines.heuristic.batch import quotes_meant
from crmbench.agents.baselines.heuristic.changes import shown
from crmbench.agents.baselines.heuristic.find import AskError
from crmbench.agents.baselines.heuristic.org import Record, full_name, is_open
from crmbench.agents.baselines.heuristic.parse import STAGES
from crmbench.agents.baselines.heuristic.turn import RefusedError, TurnContext
from crmbench.agents.baselines.heuristic.values import money

_COUNT = r"how many|number of|\bcount\b|\bnumber\b"
_SUM = r"\btotal|\bsum\b|add up|adds? up|altogether|in all|come to|how much|big picture|dollars"
_DEALS = r"deals?\b|opportunit|pipeline|open|running"
_PEOPLE = r"contacts?\b|people|who do we know|whom|who's who|do we know|\bnames\b"
_FILES = r"documents?\b|\bfiles\b|attached"


def answer(turn: TurnContext) -> str | None:
    """The answer of the first rule that fits, or None."""
    for pattern, rule in _RULES:
        if turn.says(pattern) and (found := rule(turn)):
            return found
    return None


def _lines(*pairs: tuple[str, str]) -> str:
    return "\n".join(f"{label}: {value}" for label, value in pairs)


def _previous(turn: TurnContext) -> str | None:
    """What a field was before it was changed last."""
    name = next((f for f, pattern in _DEAL_FIELDS if turn.says(pattern)), "amount")
    for change in reversed(turn.conversation.changes):
        if name in change.before:
            return f"Before: {shown(name, change.before[name])}"
    return None


def _quote(turn: TurnContext) -> str | None:
    deal = turn.find.deal()
    quote = turn.find.quote(deal)
    if quote is None:
        return None
    pairs = [("Status", str(quote.get("status"))), ("Valid until", str(quote.get("valid_until")))]
    if turn.says(r"amount|how much|figure|price|cost|worth|\bat\?"):
        pairs = [("Quote", money(quote.get("amount")))]
        if deal and turn.says(r"\bdeal"):
            pairs.append(("Deal", money(deal.get("amount"))))
    return _lines(*pairs)


def _quote_list(turn: TurnContext) -> str | None:
    quotes = quotes_meant(turn)
    amounts = [float(quote.get("amount") or 0) for quote in quotes]
    pairs = [("Quotes", str(len(quotes))), ("Total", money(sum(amounts)))]
    if turn.says(r"highest|\btop\b|\bmost\b"):
        pairs[1] = ("Highest", money(max(amounts, default=0.0)))
    if turn.says(_COUNT):
        return _lines(*pairs)
    told = [f"{quote.get('name')}: {money(quote.get('amount'))}" for quote in quotes]
    return "\n".join([_lines(*pairs), *told])


def _files(turn: TurnContext) -> str | None:
    if turn.says(r"\bcontract\b"):
        contract = turn.find.contract()
        key = contract["contract_id"] if contract else None
    else:
        deal = turn.find.deal()
        key = deal["opportunity_id"] if deal else None
    files = turn.org.of("document", entity_id=key) if key else []
    return "\n".join(str(f.get("file_name")) for f in files) or "There are no files."


def _contracts(turn: TurnContext) -> str | None:
    contract = turn.find.contract()
    if contract is None:
        return None
    value, end = money(contract.get("value")), str(contract.get("end_date"))
    return _lines(("Value", value), ("End date", end))


def _pipeline(turn: TurnContext) -> list[Record]:
    """The open deals of the client and owner that were named."""
    parsed = turn.parsed
    deals = list(filter(is_open, turn.org.all("opportunity")))
    there = turn.says(r"\bthere\b|this client|that client|the client|\bthem\b|this customer")
    if parsed.clients or parsed.contacts or there or not parsed.owners:
        client = turn.find.client()
        if client:
            deals = [d for d in deals if d.get("client_id") == client["client_id"]]
    if parsed.owners:
        deals = [d for d in deals if d.get("owner") == parsed.owners[0]]
    stage = next((s for s in STAGES if turn.says(rf"\b{s}\b")), None)
    return [d for d in deals if stage is None or d.get("stage") == stage]


def _totals(turn: TurnContext) -> str | None:
    if not turn.says(_DEALS) or not turn.says(_COUNT + "|" + _SUM):
        return None
    if turn.says(r"\bthe (?:open )?(?:deal|one)\b|that deal|biggest|largest"):
        return None
    deals = _pipeline(turn)
    told = f"Open deals: {len(deals)}\nTotal: {money(sum(d.get('amount') or 0 for d in deals))}"
    return f"{told}\nContacts: {_names(turn)}" if turn.says(_PEOPLE) else told


def _open_list(turn: TurnContext) -> str | None:
    if not turn.says(r"\bopen\b") or not turn.says(r"which|list|names?\b|what|ones"):
        return None
    if turn.says(r"biggest|largest|\bdeal\b|stage|amount"):
        return None
    return "\n".join(str(d.get("name")) for d in _pipeline(turn)) or "None is open."


def _clients(turn: TurnContext) -> str | None:
    """The clients of an industry."""
    industries = {str(client.get("industry")) for client in turn.org.all("client")}
    said = [i for i in sorted(industries) if turn.says(rf"\b{re.escape(i)}\b")]
    if not said or turn.parsed.clients:
        return None
    clients = turn.org.of("client", industry=max(said, key=len))
    statuses = {str(client.get("status")) for client in clients}
    for status in sorted(s for s in statuses if turn.says(rf"\b{s}\b")):
        clients = [client for client in clients if client.get("status") == status]
    names = "\n".join(str(client.get("name")) for client in clients)
    return f"Clients: {len(clients)}\n{names}"


def _names(turn: TurnContext) -> str:
    client = turn.find.client()
    people = turn.org.of("contact", client_id=client["client_id"]) if client else []
    if turn.says(r"\btitles?\b|position"):
        return ", ".join(f"{full_name(person)} ({person.get('title')})" for person in people)
    return ", ".join(map(full_name, people))


def _people(turn: TurnContext) -> str | None:
    names = _names(turn)
    count = f"{names.count(', ') + 1 if names else 0} contacts: "
    return (count if turn.says(_COUNT) else "") + names or None


def _contact(turn: TurnContext) -> str | None:
    """The fields of a person that are asked for."""
    contact = turn.find.contact()
    if contact is None:
        return None
    reach = turn.says(r"phone|number|call|ring|e-?mail|mail|reach|write|details|hold of|address")
    title = turn.says(r"title|position|\bdo(?:es)?\b.*(?:do|at)\b|job")
    if reach and "do not share" in str(contact.get("notes")).casefold():
        raise RefusedError("the contact's notes say do not share (CONTACT-1)")
    pairs = [("Name", full_name(contact))]
    if title:
        pairs.append(("Title", str(contact.get("title"))))
    if turn.says(r"client|employer|where|who.*for"):
        client = turn.org.get("client", contact.get("client_id")) or {}
        pairs.append(("Client", str(client.get("name"))))
    if reach:
        pairs += [("Phone", str(contact.get("phone"))), ("E-mail", str(contact.get("email")))]
    return _lines(*pairs)


_CLIENT_FIELDS = (
    ("phone", r"phone|number|\bring\b|call|switchboard"),
    ("email", r"e-?mail|\bmail\b"),
    ("status", r"status|client of ours"),
    ("address", r"address|where"),
    ("industry", r"industry"),
    ("owner", r"owner|owns?\b|account|looks? after|\bwhose\b|person here|client they are|for them"),
)


def _client(turn: TurnContext) -> str | None:
    client = turn.find.client()
    if client is None:
        return None
    fields = [f for f, pattern in _CLIENT_FIELDS if turn.says(pattern)]
    return _lines(*((f.capitalize(), str(client.get(f))) for f in fields)) or None


_DEAL_FIELDS = (
    ("close_date", r"clos|\bwhen\b|\bby when\b|due|\bdate\b"),
    ("stage", r"stage|how far|where is it|how are we doing|doing on|status"),
    ("owner", r"owner|owns?\b|\bwho\b|whose|which of us|responsible"),
    ("probability", r"probab|odds|chance|likel"),
    ("amount", r"amount|how much|worth|value|\bbig\b|dollar|sum|figure|what number|\$"),
)


def _deal(turn: TurnContext) -> str | None:
    deal = turn.find.deal()
    if deal is None:
        return None
    turn.focus.last = "opportunity"
    fields = [f for f, pattern in _DEAL_FIELDS if turn.says(pattern)]
    if "close_date" in fields and turn.says(r"\bclosed?\b one") and len(fields) > 2:
        fields.remove("close_date")
    fields = fields or ["amount", "stage", "close_date"]
    pairs = [(f.replace("_", " ").capitalize(), shown(f, deal.get(f))) for f in fields]
    return _lines(("Deal", str(deal.get("name"))), *pairs)


def _any_person(turn: TurnContext) -> str | None:
    """The person of a title that was said, or what is asked of a person named."""
    if turn.parsed.contacts and not turn.says(r"\bdeals?\b|opportunit"):
        return _contact(turn)
    try:
        titled = turn.find.titled()
    except AskError:
        return None
    return _contact(turn) if titled else None


def _of_client(turn: TurnContext) -> str | None:
    return _client(turn) if turn.parsed.clients or turn.says(r"\bclient|account|customer") else None


_RULES: tuple[tuple[str, Callable[[TurnContext], str | None]], ...] = (
    (r"\bbefore\b|\bold\b|previous|used to be|originally", _previous),
    (r"\bquotes\b", _quote_list),
    (r"\bquote\b", _quote),
    (_FILES, _files),
    (r"\bcontracts?\b", _contracts),
    (r".", _totals),
    (r".", _open_list),
    (r"\b(?:clients|customers|accounts)\b", _clients),
    (r".", _any_person),
    (_PEOPLE, _people),
    (r".", _of_client),
    (r".", _deal),
)
