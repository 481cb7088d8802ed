"""Quotes under the deal's amount that may not be made, and what the user settles for."""

from __future__ import annotations

import re

from crmbench.domains.sales.authoring import ConversationBuilder, family, policy_actions, references
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
    quote_under,
    under,
)
from crmbench.domains.sales.phrases import percent

_NO_LEAVE = (
    "approv",
    "manager",
    "leave",
    "permission",
    "authori",
    "limit",
    "exceed",
    "10 percent",
    "10 %",
    "10%",
    "sign-off",
    "sign off",
    "allow",
    "DISC-1",
)


_HIGH_RATES = (15, 18, 20, 22, 25, 28, 30)
_WISH = re.compile(r"\d ?% (?:off|might)|discount of", re.IGNORECASE)
"""How notes speak of a discount that nobody has approved."""


def _is_wished(builder: ConversationBuilder, deal: Row) -> bool:
    notes = builder.org.notes_of(deal, "opportunity_id")
    return any(_WISH.search(note["content"]) for note in notes)


def _refuse(builder: ConversationBuilder, deal: Row, rate: float) -> None:
    """The user asks for a quote of so much off, and does not get it."""
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    builder.refused(
        "quote_discount.ask",
        {"deal": named.slot, "rate": percent(rate)},
        calls=[*named.reads, look(deal), look_at_notes(deal)],
        rules=("DISC-1",),
        reasons=_NO_LEAVE,
        tags=(
            *named.tags,
            "multi_hop",
            *(("misleading_note",) if _is_wished(builder, deal) else ()),
        ),
    )


def _may_go_as_far(deal: Row, leave: float) -> bool:
    """Whether there is leave, less than somebody may ask for, that rounding does not exceed."""
    return policy_actions.FREE_DISCOUNT < leave < _HIGH_RATES[-1] and covered(deal, leave, leave)


@family(CATEGORY, 20, by_manager=False)
def quote_without_leave(builder: ConversationBuilder) -> None:
    """A quote of more than 10 % off that no note allows is refused (DISC-1), also where a note says
    that somebody wishes for it; the user settles for a discount that needs no leave.
    """
    wished = builder.rng.random() < 0.5
    deal = builder.pick(
        builder.org.open_deals,
        lambda d: (
            quotable(builder, d) and one_leave(builder, d) == 0 and _is_wished(builder, d) >= wished
        ),
    )
    _refuse(builder, deal, builder.choose(*RATES))
    free = [
        rate for rate in (5, 6, 7, 8, 9, 10) if covered(deal, rate, policy_actions.FREE_DISCOUNT)
    ]
    quote_under(builder, deal, builder.choose(*free), "quote_discount.settle")


@family(CATEGORY, 15, by_manager=False)
def quote_beyond_leave(builder: ConversationBuilder) -> None:
    """A quote of more off than the sales manager's note covers is refused (DISC-1); the user then
    asks for as much as the note allows, without saying how much that is.
    """
    deal = builder.pick(
        builder.org.open_deals,
        lambda d: quotable(builder, d) and _may_go_as_far(d, one_leave(builder, d)),
    )
    leave = one_leave(builder, deal)
    _refuse(builder, deal, builder.choose(*(rate for rate in _HIGH_RATES if rate > leave)))
    amount = under(deal, leave)
    plan = policy_actions.new_quote(builder, deal, amount=amount)
    made = builder.turn(
        "quote_discount.as_allowed",
        calls=[look_at_quotes(deal), *plan.calls],
        facts=[builder.fact("money", amount.value, "amount")],
        rules=("DISC-1", "MONEY-1", *plan.rules),
        tags=("cross_turn_reference",),
    )
    builder.turn_to(builder.row("Quote", made["quote_id"]))
