"""New prices for quotes that may be changed, and for one that may not."""

from __future__ import annotations

from crmbench.domains.sales.families.quote.common import (
    AGAIN,
    CATEGORY,
    look,
    look_at_quotes,
    new_price,
    quotable,
)
from crmbench.domains.sales.phrases import money
from crmbench.domains.sales.talk import NoFit, Talk, call, describe, family, house
from crmbench.domains.sales.talk.relative import relative_date


@family(CATEGORY, 20)
def edit_draft_then_correct(talk: Talk) -> None:
    """A Draft gets another amount and validity; then the amount was wrong and becomes another one,
    while the validity stays (QUOTE-2).
    """
    org = talk.org
    quote = talk.pick(
        org.quotes, lambda q: q["status"] == "Draft" and quotable(talk, org.deal_of(q))
    )
    deal, key = org.deal_of(quote), quote["quote_id"]
    first = new_price(talk, deal, quote["amount"])
    second = new_price(talk, deal, first)
    when = relative_date(talk)
    if second == quote["amount"] or when.iso in (quote["valid_until"], talk.today):
        raise NoFit
    named = describe.quote(talk, quote, avoid=("amount",))
    talk.turn_to(quote)
    talk.turn(
        "quote_draft.edit",
        {"quote": named.slot, "amount": money(first), "when": when.slot},
        calls=[
            *named.reads,
            call("modify_quote", quote_id=key, amount=first, valid_until=when.iso),
        ],
        rules=("QUOTE-2", "DATE-1"),
        tags=(*named.tags, *when.tags),
    )
    talk.turn(
        "quote_draft.correct",
        {"amount": money(second)},
        calls=[call("modify_quote", quote_id=key, amount=second)],
        rules=("QUOTE-2",),
        tags=(*AGAIN, "correction"),
    )


@family(CATEGORY, 18)
def approved_quote_stays(talk: Talk) -> None:
    """An Approved quote is neither changed nor canceled (QUOTE-3); the user then has a new version
    made at the other amount.
    """
    org = talk.org
    quote = talk.pick(
        org.quotes, lambda q: q["status"] == "Approved" and quotable(talk, org.deal_of(q))
    )
    deal = org.deal_of(quote)
    amount = new_price(talk, deal, quote["amount"])
    named = describe.quote(talk, quote, avoid=("amount",))
    talk.turn_to(quote)
    told = talk.rng.random() < 0.5
    talk.refused(
        "quote_reprice.set" if told else "quote_approved.withdraw",
        {"quote": named.slot, "amount": money(amount)} if told else {"quote": named.slot},
        calls=named.reads,
        rules=("QUOTE-3",),
        reasons=("approved", "QUOTE-3"),
        tags=named.tags,
    )
    plan = house.new_quote(talk, deal, amount=amount)
    made = talk.turn(
        "quote_approved.then_new",
        {"amount": money(amount)},
        calls=[look(deal), look_at_quotes(deal), *plan.calls],
        rules=plan.rules,
        tags=AGAIN,
    )
    talk.turn_to(talk.row("Quote", made["quote_id"]))
