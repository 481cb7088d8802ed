"""New prices: some percent on the last quote, and another one for a quote that is out."""

from __future__ import annotations

from crmbench.domains.sales.families.quote.common import (
    CATEGORY,
    fair,
    look_at_quotes,
    new_price,
    quotable,
)
from crmbench.domains.sales.phrases import money, percent
from crmbench.domains.sales.talk import Derived, NoFit, Talk, describe, family, house
from crmbench.domains.sales.talk.org import version_of


@family(CATEGORY, 30)
def reprice_last_quote(talk: Talk) -> None:
    """A new quote some percent above the last one, which is that of the highest version and not the
    highest amount (FIND-4, QUOTE-1, MONEY-1).
    """
    deal = talk.pick(
        talk.org.open_deals, lambda d: quotable(talk, d) and len(talk.org.quotes_of(d)) > 0
    )
    last = max(talk.org.quotes_of(deal), key=version_of)
    rate = talk.choose(3, 4, 5, 6, 8, 12)
    amount = Derived(f"round({last['amount']!r} * (100 + {rate}) / 100)")
    if not fair(deal, amount.value):
        raise NoFit
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    plan = house.new_quote(talk, deal, amount=amount)
    made = talk.turn(
        "quote_reprice.more",
        {"deal": named.slot, "rate": percent(rate)},
        calls=[*named.reads, look_at_quotes(deal), *plan.calls],
        facts=[talk.fact("money", amount.value, "amount")],
        rules=("FIND-4", "MONEY-1", *plan.rules),
        tags=(*named.tags, "multi_hop"),
    )
    talk.turn_to(talk.row("Quote", made["quote_id"]))


@family(CATEGORY, 20)
def change_sent_quote(talk: Talk) -> None:
    """Another amount for a quote that has been sent: it is canceled and a new version made instead,
    which the user does not say (QUOTE-2).
    """
    org = talk.org
    quote = talk.pick(
        org.quotes, lambda q: q["status"] == "Sent" and quotable(talk, org.deal_of(q))
    )
    deal = org.deal_of(quote)
    amount = new_price(talk, deal, quote["amount"])
    named = describe.quote(talk, quote, avoid=("amount",))
    talk.turn_to(quote)
    plan = house.new_quote(talk, deal, amount=amount)
    made = talk.turn(
        "quote_reprice.set",
        {"quote": named.slot, "amount": money(amount)},
        calls=[*named.reads, *house.cancel([quote]), *plan.calls],
        rules=("QUOTE-2", *plan.rules),
        tags=named.tags,
    )
    talk.turn_to(talk.row("Quote", made["quote_id"]))
