"""Contracts that may not be made: the deal is open, or has one."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    NoCandidate,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.follow_ups.registry import STAGES
from crmbench.domains.sales.authoring.org import Row
from crmbench.domains.sales.families.contract.common import (
    AGAIN,
    CATEGORY,
    contracts_of,
    look_at_contracts,
)

_SAYS_OPEN = ("stage", "only_open", "biggest", "owner", "month")
"""Descriptions that tell a deal from others by its being open."""


@family(CATEGORY, 10)
def contract_for_open_deal(builder: ConversationBuilder) -> None:
    """A contract for a deal that is still open is refused (CONTRACT-1). Where a quote is Approved,
    the user has the deal won and then the contract made, at the quote's amount (DEAL-3).
    """
    org = builder.org
    deal = builder.pick(
        org.open_deals,
        lambda d: d["stage"] in ("Proposal", "Negotiation") and not contracts_of(builder, d),
    )
    approved = [q for q in org.quotes_of(deal) if q["status"] == "Approved"]
    if len(approved) > 1 or not deal["close_date"]:
        raise NoCandidate
    named = references.deal(builder, deal, avoid=_SAYS_OPEN)
    builder.turn_to(deal)
    builder.refused(
        "contract_make.short",
        {"deal": named.slot},
        calls=[*named.reads, look_at_contracts(deal)],
        rules=("CONTRACT-1",),
        reasons=("closed", "not won", "been won", "open", "stage", "CONTRACT-1", deal["stage"]),
        tags=named.tags,
    )
    details = call("opportunity_details", opportunity_id=deal["opportunity_id"])
    if not approved:
        facts = [
            builder.fact("choice", deal["stage"], "stage", options=STAGES),
            builder.fact("date", deal["close_date"], "close date"),
        ]
        builder.turn("contract_make.then_stage", calls=[details], facts=facts, tags=AGAIN)
        return
    won = policy_actions.win(builder, deal, approved[0])
    plan = policy_actions.new_contract(builder, {**deal, "amount": approved[0]["amount"]})
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    builder.turn(
        "contract_make.then_won",
        calls=[quotes, *won.calls, *plan.calls],
        facts=[builder.fact("money", approved[0]["amount"], "value")],
        rules=(*won.rules, *plan.rules),
        tags=(*AGAIN, "multi_hop"),
    )


@family(CATEGORY, 10)
def second_contract(builder: ConversationBuilder) -> None:
    """A contract for a won deal that has one already is refused (CONTRACT-1); the user asks about
    the one that there is.
    """

    def taken(deal: Row) -> bool:
        found = contracts_of(builder, deal)
        told = len(found) == 1 and found[0]["value"] and found[0]["end_date"]
        return deal["stage"] == "Closed-Won" and bool(told)

    deal = builder.pick(builder.org.deals, taken)
    contract = contracts_of(builder, deal)[0]
    named = references.deal(builder, deal, avoid=("amount",))
    builder.turn_to(deal)
    builder.refused(
        "contract_make.short",
        {"deal": named.slot},
        calls=[*named.reads, look_at_contracts(deal)],
        rules=("CONTRACT-1",),
        reasons=("already", "existing", "has one", "has a contract", "second", "CONTRACT-1"),
        tags=(*named.tags, "multi_hop"),
    )
    builder.turn(
        "contract_make.then_existing",
        calls=[look_at_contracts(deal)],
        facts=[
            builder.fact("money", contract["value"], "value"),
            builder.fact("date", contract["end_date"], "end"),
        ],
        tags=AGAIN,
    )
