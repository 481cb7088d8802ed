"""Quotes under the deal's amount that may be made: with leave, and by the sales manager."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.org import Row
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


def _discounted(builder: ConversationBuilder, deal: Row, rate: float, *also: str) -> None:
    """The user asks for a quote of so much off, and gets it."""
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    notes = () if builder.by_manager else (look_at_notes(deal),)
    amount = under(deal, rate)
    plan = policy_actions.new_quote(builder, deal, amount=amount)
    made = builder.turn(
        "quote_discount.ask",
        {"deal": named.slot, "rate": percent(rate)},
        calls=[*named.reads, look(deal), look_at_quotes(deal), *notes, *plan.calls],
        facts=[builder.fact("money", amount.value, "amount")],
        rules=(*also, "MONEY-1", *plan.rules),
        tags=named.tags if builder.by_manager else (*named.tags, "multi_hop"),
    )
    builder.turn_to(builder.row("Quote", made["quote_id"]))


@family(CATEGORY, 20, by_manager=False)
def quote_within_leave(builder: ConversationBuilder) -> None:
    """A quote of more than 10 % off that a note of the sales manager covers: whoever does not read
    the deal's notes refuses it wrongly (DISC-1).
    """
    deal = builder.pick(
        builder.org.open_deals,
        lambda d: quotable(builder, d) and covered(d, RATES[0], one_leave(builder, d)),
    )
    leave = one_leave(builder, deal)
    rate = builder.choose(*(rate for rate in RATES if covered(deal, rate, leave)))
    _discounted(builder, deal, rate, "DISC-1", "DISC-2")


@family(CATEGORY, 15, by_manager=True)
def quote_discount_by_manager(builder: ConversationBuilder) -> None:
    """The sales manager asks for a discount in person, which is leave enough (DISC-1): no note on
    the deal is needed.
    """
    deal = builder.pick(
        builder.org.open_deals, lambda d: quotable(builder, d) and one_leave(builder, d) == 0
    )
    _discounted(builder, deal, builder.choose(*RATES, 25, 28), "DISC-1", "DISC-2")
    if builder.rng.random() < 0.4:
        quote = builder.row("Quote", builder.focus.quote)
        builder.turn(
            "quote_discount.how_far",
            calls=[call("quote_details", quote_id=quote["quote_id"])],
            facts=[
                builder.fact("money", deal["amount"] - quote["amount"], "difference"),
                builder.fact("date", quote["valid_until"], "valid until"),
            ],
            tags=("cross_turn_reference", "about_change", "computed_value"),
        )
