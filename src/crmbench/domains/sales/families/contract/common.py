"""What the families on contracts share."""

from __future__ import annotations

from datetime import date, timedelta

from crmbench.authoring.derive import months
from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring import ConversationBuilder, Derived, NoCandidate, call
from crmbench.domains.sales.authoring.org import Row

CATEGORY = "Contract Management"
AGAIN = ("cross_turn_reference",)


def look_at_contracts(deal: Row) -> GoldCall:
    """The contracts of a deal."""
    return call("contract_search", opportunity_id=deal["opportunity_id"])


def contracts_of(builder: ConversationBuilder, deal: Row) -> list[Row]:
    """The contracts of a deal."""
    return builder.org.children("Contract", deal["opportunity_id"])


def won_without_contract(builder: ConversationBuilder, deal: Row) -> bool:
    """Whether a contract may be made for the deal (CONTRACT-1)."""
    active = builder.org.client_of(deal)["status"] != "Inactive"
    return deal["stage"] == "Closed-Won" and active and not contracts_of(builder, deal)


def running(builder: ConversationBuilder, contract: Row) -> bool:
    """Whether the contract is Active, and nothing in its dates speaks against that."""
    start, end = contract["start_date"], contract["end_date"]
    dated = bool(start and end) and start <= builder.today < end
    return contract["status"] == "Active" and dated and bool(contract["value"])


def later_end(builder: ConversationBuilder, contract: Row) -> tuple[int, Derived]:
    """A number of months, and the contract's end so much later.

    Only such numbers are used as leave no doubt: where a contract ends with a month, so must the
    day on which it then ends, and the other way round.

    Raises:
        NoCandidate: No number of months will do.
    """
    end = contract["end_date"]
    clear = [n for n in (3, 6, 9, 12, 18, 24) if _ends_month(end) == _ends_month(months(end, n))]
    if not clear:
        raise NoCandidate
    number = builder.choose(*clear)
    return number, Derived(f"months({end!r}, {number})")


def _ends_month(day: str) -> bool:
    return (date.fromisoformat(day) + timedelta(days=1)).day == 1


def turn_to(builder: ConversationBuilder, contract: Row) -> None:
    """Make the contract what the conversation is about; "the deal" is then its own only where the
    client has no other.
    """
    client = builder.org.client_of(contract)
    builder.turn_to(contract)
    if len(builder.org.deals_of(client)) != 1:
        builder.turn_to(client)
