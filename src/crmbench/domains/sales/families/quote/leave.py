"""Quotes under the deal's amount that may not be made, and what the user settles for."""

from __future__ import annotations

import re

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
from crmbench.domains.sales.talk import Talk, describe, family, house
from crmbench.domains.sales.talk.org import Row

_NO_LEAVE = (
    "approv",
    "manager",
    "leave",
    "permission",
    "authori",
    "limit",
    "exceed",
    "10 percent",
    "DISC-1",
)


_HIGH_RATES = (15, 18, 20, 22, 25, 28, 30)
_WISH = re.compile(r"\d ?% (?:off|might)|discount of", re.IGNORECASE)
"""How notes speak of a discount that nobody has approved."""


def _is_wished(talk: Talk, deal: Row) -> bool:
    notes = talk.org.notes_of(deal, "opportunity_id")
    return any(_WISH.search(note["content"]) for note in notes)


def _refuse(talk: Talk, deal: Row, rate: float) -> None:
    """The user asks for a quote of so much off, and does not get it."""
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    talk.refused(
        "quote_discount.ask",
        {"deal": named.slot, "rate": percent(rate)},
        calls=[*named.reads, look(deal), look_at_notes(deal)],
        rules=("DISC-1",),
        reasons=_NO_LEAVE,
        tags=(*named.tags, "multi_hop", *(("misleading_note",) if _is_wished(talk, deal) else ())),
    )


def _may_go_as_far(deal: Row, leave: float) -> bool:
    """Whether there is leave, less than somebody may ask for, that rounding does not exceed."""
    return house.FREE_DISCOUNT < leave < _HIGH_RATES[-1] and covered(deal, leave, leave)


@family(CATEGORY, 20, by_manager=False)
def quote_without_leave(talk: Talk) -> None:
    """A quote of more than 10 % off that no note allows is refused (DISC-1), also where a note says
    that somebody wishes for it; the user settles for a discount that needs no leave.
    """
    wished = talk.rng.random() < 0.5
    deal = talk.pick(
        talk.org.open_deals,
        lambda d: quotable(talk, d) and one_leave(talk, d) == 0 and _is_wished(talk, d) >= wished,
    )
    _refuse(talk, deal, talk.choose(*RATES))
    free = [rate for rate in (5, 6, 7, 8, 9, 10) if covered(deal, rate, house.FREE_DISCOUNT)]
    quote_under(talk, deal, talk.choose(*free), "quote_discount.settle")


@family(CATEGORY, 15, by_manager=False)
def quote_beyond_leave(talk: Talk) -> None:
    """A quote of more off than the sales manager's note covers is refused (DISC-1); the user then
    asks for as much as the note allows, without saying how much that is.
    """
    deal = talk.pick(
        talk.org.open_deals,
        lambda d: quotable(talk, d) and _may_go_as_far(d, one_leave(talk, d)),
    )
    leave = one_leave(talk, deal)
    _refuse(talk, deal, talk.choose(*(rate for rate in _HIGH_RATES if rate > leave)))
    amount = under(deal, leave)
    plan = house.new_quote(talk, deal, amount=amount)
    made = talk.turn(
        "quote_discount.as_allowed",
        calls=[look_at_quotes(deal), *plan.calls],
        facts=[talk.fact("money", amount.value, "amount")],
        rules=("DISC-1", "MONEY-1", *plan.rules),
        tags=("cross_turn_reference",),
    )
    talk.turn_to(talk.row("Quote", made["quote_id"]))
