"""Quotes under the deal's amount that may be made: with leave, and by the sales manager."""

from __future__ import annotations

from crmbench.domains.sales.families.quote.common import (
    CATEGORY,
    RATES,
    covered,
    look,
    look_at_notes,
    look_at_quotes,
    one_leave,
    quotable,
    under,
)
from crmbench.domains.sales.phrases import percent
from crmbench.domains.sales.talk import Talk, call, describe, family, house
from crmbench.domains.sales.talk.org import Row


def _discounted(talk: Talk, deal: Row, rate: float, *also: str) -> None:
    """The user asks for a quote of so much off, and gets it."""
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    notes = () if talk.by_manager else (look_at_notes(deal),)
    amount = under(deal, rate)
    plan = house.new_quote(talk, deal, amount=amount)
    made = talk.turn(
        "quote_discount.ask",
        {"deal": named.slot, "rate": percent(rate)},
        calls=[*named.reads, look(deal), look_at_quotes(deal), *notes, *plan.calls],
        facts=[talk.fact("money", amount.value, "amount")],
        rules=(*also, "MONEY-1", *plan.rules),
        tags=named.tags if talk.by_manager else (*named.tags, "multi_hop"),
    )
    talk.turn_to(talk.row("Quote", made["quote_id"]))


@family(CATEGORY, 20, by_manager=False)
def quote_within_leave(talk: Talk) -> None:
    """A quote of more than 10 % off that a note of the sales manager covers: whoever does not read
    the deal's notes refuses it wrongly (DISC-1).
    """
    deal = talk.pick(
        talk.org.open_deals,
        lambda d: quotable(talk, d) and covered(d, RATES[0], one_leave(talk, d)),
    )
    leave = one_leave(talk, deal)
    rate = talk.choose(*(rate for rate in RATES if covered(deal, rate, leave)))
    _discounted(talk, deal, rate, "DISC-1", "DISC-2")


@family(CATEGORY, 15, by_manager=True)
def quote_discount_by_manager(talk: Talk) -> None:
    """The sales manager asks for a discount in person, which is leave enough (DISC-1): no note on
    the deal is needed.
    """
    deal = talk.pick(talk.org.open_deals, lambda d: quotable(talk, d) and one_leave(talk, d) == 0)
    _discounted(talk, deal, talk.choose(*RATES, 25, 28), "DISC-1", "DISC-2")
    if talk.rng.random() < 0.4:
        quote = talk.row("Quote", talk.focus.quote)
        talk.turn(
            "quote_discount.how_far",
            calls=[call("quote_details", quote_id=quote["quote_id"])],
            facts=[
                talk.fact("money", deal["amount"] - quote["amount"], "difference"),
                talk.fact("date", quote["valid_until"], "valid until"),
            ],
            tags=("cross_turn_reference", "about_change", "computed_value"),
        )
