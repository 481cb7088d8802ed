"""Quotes: new ones, and what is done with those that there are."""

from __future__ import annotations

from datetime import timedelta

from crmbench.agents.baselines.heuristic.find import AskError
from crmbench.agents.baselines.heuristic.org import Record, is_open, version
from crmbench.agents.baselines.heuristic.parse import QUOTE_STATES
from crmbench.agents.baselines.heuristic.turn import RefusedError, TurnContext
from crmbench.agents.baselines.heuristic.values import money

_VALID_DAYS = 30
_FREE_DISCOUNT, _MOST_DISCOUNT = 10, 30


def new_quote(turn: TurnContext) -> str:
    """Make the next version of a deal's quote.

    Raises:
        AskError: A detail is missing, which the user is asked for.
        RefusedError: The CRM or a house rule does not allow it.
    """
    deal = turn.find.deal()
    if deal is None:
        raise AskError("Which deal is the quote for?")
    client = turn.org.get("client", deal.get("client_id")) or {}
    if not is_open(deal):
        raise RefusedError("a closed deal gets no new quote (DEAL-6)")
    if client.get("status") == "Inactive":
        raise RefusedError("the client is Inactive and gets no new quote (CLIENT-3)")
    amount = _new_amount(turn, deal)
    _check_discount(turn, deal, amount)
    return _make(turn, deal, amount)


def _make(turn: TurnContext, deal: Record, amount: float) -> str:
    quotes = turn.org.of("quote", opportunity_id=deal["opportunity_id"])
    label = f"v{max(map(version, quotes), default=0) + 1}"
    dates = turn.parsed.values.dates
    until = dates[-1] if dates else turn.today + timedelta(days=_VALID_DAYS)
    made = turn.write(
        "create_quote",
        opportunity_id=deal["opportunity_id"],
        amount=amount,
        status="Draft",
        version=label,
        name=f"{deal.get('name')} {label}",
        valid_until=until.isoformat(),
    )
    turn.focus.set("quote", made)
    return f"Quote {label} is made.\nAmount: {money(amount)}"


def _new_amount(turn: TurnContext, deal: Record) -> float:
    values, whole = turn.parsed.values, deal.get("amount") or 0.0
    if values.percents:
        return float(round(whole * (100 - values.percents[-1]) / 100))
    return values.amounts[-1] if values.amounts else whole


def _check_discount(turn: TurnContext, deal: Record, amount: float) -> None:
    whole = deal.get("amount") or 0.0
    off = 100 * (whole - amount) / whole if whole else 0.0
    if off > _MOST_DISCOUNT + 0.01:
        raise RefusedError("no quote is more than 30 % under the deal's amount (DISC-2)")
    if off <= _FREE_DISCOUNT + 0.01 or turn.conversation.manager:
        return
    notes = turn.org.of("note", entity_id=deal["opportunity_id"])
    if not any("discount approved" in str(n.get("content")).casefold() for n in notes):
        raise RefusedError("more than 10 % needs the sales manager's approval (DISC-1)")


def change_quote(turn: TurnContext) -> str | None:
    """Cancel, delete, mark, reprice or prolong a quote.

    Raises:
        RefusedError: The CRM or a house rule does not allow it.
    """
    if turn.parsed.products or turn.parsed.clients or turn.parsed.contacts or turn.parsed.deals:
        deal = turn.find.deal()
    else:
        deal = turn.org.get("opportunity", turn.focus.ids.get("opportunity"))
    quote = turn.find.quote(deal)
    if quote is None:
        return None
    if turn.says(r"\bdelete|\bremove|get rid"):
        return _delete(turn, quote)
    if turn.says(r"\bcancel|scrap|withdraw"):
        return _cancel(turn, quote)
    fields = _fields(turn, quote)
    if not fields:
        return None
    if quote.get("status") == "Approved":
        raise RefusedError("an Approved quote is not changed (QUOTE-3)")
    if "amount" in fields and quote.get("status") == "Sent":
        return _instead(turn, quote, fields["amount"])
    turn.modify("quote", quote, fields)
    return "Done.\n" + "\n".join(
        money(value) if name == "amount" else str(value) for name, value in fields.items()
    )


def _instead(turn: TurnContext, quote: Record, amount: float) -> str:
    """A Sent quote keeps its amount: it is canceled, and there is a new version (QUOTE-2)."""
    deal = turn.org.get("opportunity", quote.get("opportunity_id"))
    if deal is None:
        raise RefusedError("a Sent quote keeps its amount (QUOTE-2)")
    _check_discount(turn, deal, amount)
    turn.write("cancel_quote", quote_id=quote["quote_id"])
    return _make(turn, deal, amount)


def _fields(turn: TurnContext, quote: Record) -> Record:
    values, fields = turn.parsed.values, Record()
    if values.amounts:
        fields["amount"] = values.amounts[-1]
    elif values.percents and turn.says(r"off|less|lower|under|reduc|down"):
        fields["amount"] = float(
            round((quote.get("amount") or 0) * (1 - values.percents[-1] / 100))
        )
    if values.dates:
        fields["valid_until"] = values.dates[-1].isoformat()
    said = [s for s in QUOTE_STATES if turn.says(rf"\b{s}\b") and s != quote.get("status")]
    if turn.says(r"\bapprove\b|green light"):
        said = ["Approved"]
    if said and not fields:
        fields = _status(turn, quote, said[-1])
    return fields


def _status(turn: TurnContext, quote: Record, status: str) -> Record:
    if status == "Approved" and not turn.conversation.manager:
        raise RefusedError("only the sales manager may have a quote marked Approved (QUOTE-6)")
    fields: Record = {"status": status}
    soon = (turn.today + timedelta(days=7)).isoformat()
    if status == "Sent" and str(quote.get("valid_until") or "") < soon:
        fields["valid_until"] = (turn.today + timedelta(days=_VALID_DAYS)).isoformat()
    return fields


def _delete(turn: TurnContext, quote: Record) -> str:
    if quote.get("status") != "Draft":
        raise RefusedError(
            f"only Drafts are deleted, and this one is {quote.get('status')} (QUOTE-4)"
        )
    turn.write("delete_quote", quote_id=quote["quote_id"])
    return "The quote is deleted."


def _cancel(turn: TurnContext, quote: Record) -> str:
    if quote.get("status") == "Approved":
        raise RefusedError("an Approved quote is not canceled (QUOTE-3)")
    turn.write("cancel_quote", quote_id=quote["quote_id"])
    return "The quote is canceled."
