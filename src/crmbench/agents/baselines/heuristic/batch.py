"""The same thing done to all the records that were said."""

from __future__ import annotations

from crmbench.agents.baselines.heuristic.create import note_content
from crmbench.agents.baselines.heuristic.org import Record, is_open
from crmbench.agents.baselines.heuristic.parse import QUOTE_STATES
from crmbench.agents.baselines.heuristic.turn import RefusedError, TurnContext

ALL = r"\b(?:all|every|each|everything)\b"
NOTE = r"\bnote\b|\blog\b|write down|\bjot"
HAND_OVER = (
    r"owner|\bhand|transfer|assign|take over|takes over|\bgive|giving|belong|\bgo to|\bgoes to"
)


def do_to_all(turn: TurnContext) -> str | None:
    """Cancel, delete, note or hand over all that were said, or None where it is none of these."""
    if turn.says(r"\bcancel|\bdelet") and turn.says(r"quotes?\b|drafts?\b"):
        return _drop_quotes(turn)
    deals = _open_deals(turn)
    if not deals:
        return None
    if turn.parsed.owners and turn.says(HAND_OVER):
        return _hand_over(turn, deals)
    if not turn.says(NOTE):
        return None
    content = note_content(turn)
    for deal in deals:
        turn.note("opportunity", deal, content)
    return f"The note is on {len(deals)} deals:\n" + _names(deals)


def _open_deals(turn: TurnContext) -> list[Record]:
    """The open deals of the client meant; the user's own where they say so."""
    client = turn.find.client()
    if client is None or not turn.says(r"\bdeals?\b|opportunit"):
        return []
    deals = list(filter(is_open, turn.org.of("opportunity", client_id=client["client_id"])))
    if turn.says(r"\bmy\b|\bmine\b|\bI have\b|\bI've\b"):
        return [deal for deal in deals if deal.get("owner") == turn.conversation.speaker]
    return deals


def _hand_over(turn: TurnContext, deals: list[Record]) -> str:
    owner = turn.parsed.owners[-1]
    others = [deal for deal in deals if deal.get("owner") != turn.conversation.speaker]
    if others and not turn.conversation.manager:
        raise RefusedError(
            f"{others[0].get('name')} belongs to {others[0].get('owner')}, and only the sales "
            "manager may hand over a deal that is not your own (DEAL-8)"
        )
    for deal in deals:
        if deal.get("owner") != owner:
            turn.modify("opportunity", deal, {"owner": owner})
    client = turn.find.client()
    if client is not None and turn.says(r"\bclient\b|\bcustomer\b|\baccount\b"):
        turn.modify("client", client, {"owner": owner})
    return f"{owner} is the owner now of:\n" + _names(deals)


def _drop_quotes(turn: TurnContext) -> str | None:
    """Cancel or delete the quotes of the deal or client meant that have the status said."""
    quotes = quotes_meant(turn)
    tool, may = "cancel_quote", {"Draft", "Sent"}
    if turn.says(r"\bdelet"):
        tool, may = "delete_quote", {"Draft"}
    quotes = [quote for quote in quotes if quote.get("status") in may]
    for quote in quotes:
        turn.write(tool, quote_id=quote["quote_id"])
    return f"{len(quotes)} quotes:\n" + _names(quotes) if quotes else None


def quotes_meant(turn: TurnContext) -> list[Record]:
    """The quotes of the deal or client meant, of the status said, that end by the day said."""
    quotes = _quotes_there(turn)
    said = [status for status in QUOTE_STATES if turn.says(rf"\b{status}s?\b")]
    if said:
        quotes = [quote for quote in quotes if quote.get("status") in said]
    if turn.parsed.values.dates:
        last = turn.parsed.values.dates[-1].isoformat()
        quotes = [quote for quote in quotes if str(quote.get("valid_until") or "9") <= last]
    return quotes


def _quotes_there(turn: TurnContext) -> list[Record]:
    if turn.parsed.deals or turn.says(r"\bdeal\b|\bopportunity\b"):
        deal = turn.find.deal()
        return turn.org.of("quote", opportunity_id=deal["opportunity_id"]) if deal else []
    client = turn.find.client()
    if client is None:
        return turn.org.all("quote")
    deals = turn.org.of("opportunity", client_id=client["client_id"])
    keys = {deal["opportunity_id"] for deal in deals}
    return [quote for quote in turn.org.all("quote") if quote.get("opportunity_id") in keys]


def _names(records: list[Record]) -> str:
    return "\n".join(str(record.get("name")) for record in records)
