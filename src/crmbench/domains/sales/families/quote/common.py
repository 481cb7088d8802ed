"""What the families on quotes share: the looks at a deal, and which leave it has."""

from __future__ import annotations

import re

from crmbench.authoring.derive import half_up
from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    Derived,
    NoCandidate,
    call,
    policy_actions,
)
from crmbench.domains.sales.authoring.org import Row, is_open, version_of
from crmbench.domains.sales.phrases import percent

CATEGORY = "Quote Management"
RATES = (12, 14, 15, 16, 18, 20, 22, 24)
"""Percent off that need leave."""
AGAIN = ("cross_turn_reference",)
_LEAVE = re.compile(r"discount approved\D*?(\d+(?:\.\d+)?) ?%", re.IGNORECASE)


def look(deal: Row) -> GoldCall:
    """A look at the deal."""
    return call("opportunity_details", opportunity_id=deal["opportunity_id"])


def look_at_quotes(deal: Row) -> GoldCall:
    """The look-up of a deal's quotes."""
    return call("quote_search", opportunity_id=deal["opportunity_id"])


def look_at_notes(deal: Row) -> GoldCall:
    """The look-up of the notes on a deal."""
    return call("note_search", entity_id=deal["opportunity_id"])


def quotable(builder: ConversationBuilder, deal: Row) -> bool:
    """Whether the deal may have a new quote (DEAL-6, CLIENT-3), and counts its quotes well."""
    numbers = [version_of(quote) for quote in builder.org.quotes_of(deal)]
    active = builder.org.client_of(deal)["status"] != "Inactive"
    return is_open(deal) and active and 0 not in numbers and len(set(numbers)) == len(numbers)


def leave_of(builder: ConversationBuilder, deal: Row) -> float:
    """The percentage that the sales manager's notes on the deal allow (DISC-1); 0 without any.

    Raises:
        NoCandidate: Several notes allow different percentages.
    """
    found = {
        float(match[1])
        for note in builder.org.notes_of(deal, "opportunity_id")
        if note["created_by"] == builder.org.manager and (match := _LEAVE.search(note["content"]))
    }
    if len(found) > 1:
        raise NoCandidate
    return found.pop() if found else 0.0


def one_leave(builder: ConversationBuilder, deal: Row) -> float:
    """As `leave_of`, for choosing: -1 where the notes contradict each other."""
    try:
        return leave_of(builder, deal)
    except NoCandidate:
        return -1.0


def under(deal: Row, rate: float) -> Derived:
    """An amount that is some percent under the deal's (MONEY-1)."""
    return Derived(f"round({deal['amount']!r} * (100 - {rate:g}) / 100)")


def covered(deal: Row, rate: float, most: float) -> bool:
    """Whether so many percent off, rounded to whole dollars, are no more than `most` percent."""
    return policy_actions.discount(deal, under(deal, rate).value) <= most


def fair(deal: Row, amount: float) -> bool:
    """Whether an amount needs nobody's leave (DISC-1)."""
    return policy_actions.discount(deal, amount) <= policy_actions.FREE_DISCOUNT


def quote_under(
    builder: ConversationBuilder, deal: Row, rate: float, intent: str, **more: tuple[str, ...]
) -> Row:
    """The turn that makes a new quote some percent under the deal's amount, once the deal has been
    named.
    """
    plan = policy_actions.new_quote(builder, deal, amount=under(deal, rate))
    made = builder.turn(
        intent,
        {"rate": percent(rate)},
        calls=[look_at_quotes(deal), *plan.calls],
        rules=("DISC-1", "MONEY-1", *plan.rules),
        tags=(*AGAIN, *more.get("tags", ())),
    )
    builder.turn_to(builder.row("Quote", made["quote_id"]))
    return made


def looks_at_all(builder: ConversationBuilder, client: Row) -> list[GoldCall]:
    """All deals of a client, and the quotes of each."""
    deals = builder.org.deals_of(client)
    search = call("opportunity_search", client_id=client["client_id"])
    return [search, *(look_at_quotes(deal) for deal in deals)]


def new_price(builder: ConversationBuilder, deal: Row, old: float) -> float:
    """A round amount near an old one that needs nobody's leave.

    Raises:
        NoCandidate: There is none.
    """
    step = 500 if old >= 20_000 else 100
    near = [half_up(old * share / step) * step for share in (0.94, 0.96, 0.97, 1.03, 1.05, 1.06)]
    fitting = [amount for amount in near if amount not in (0, old) and fair(deal, amount)]
    if not fitting:
        raise NoCandidate
    return float(builder.rng.choice(fitting))
