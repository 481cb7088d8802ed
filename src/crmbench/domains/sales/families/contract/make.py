"""Contracts for won deals, on the usual terms and on others."""

from __future__ import annotations

from crmbench.authoring.derive import month_start
from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.families.contract.common import (
    AGAIN,
    CATEGORY,
    look_at_contracts,
    won_without_contract,
)
from crmbench.domains.sales.phrases import count, day


@family(CATEGORY, 12)
def contract_by_rule(builder: ConversationBuilder) -> None:
    """A contract of which only the deal is said: value, start, end and status follow from
    CONTRACT-1 and CONTRACT-2, and are asked for afterwards.
    """
    deal = builder.pick(builder.org.deals, lambda d: won_without_contract(builder, d))
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    plan = policy_actions.new_contract(builder, deal)
    made = builder.turn(
        "contract_make.short",
        {"deal": named.slot},
        calls=[*named.reads, look_at_contracts(deal), *plan.calls],
        rules=plan.rules,
        tags=(*named.tags, "multi_hop"),
    )
    builder.turn_to(builder.row("Contract", made["contract_id"]))
    if builder.rng.random() < 0.6:
        builder.turn(
            "contract_make.then_dates",
            calls=[call("contract_search", contract_id=made["contract_id"])],
            facts=[
                builder.fact("date", made["start_date"], "start"),
                builder.fact("date", made["end_date"], "end"),
            ],
            tags=(*AGAIN, "about_change"),
        )


@family(CATEGORY, 12)
def contract_with_terms(builder: ConversationBuilder) -> None:
    """A contract with a start and a term of its own: the end is the last day of the last month, and
    the value is the deal's amount (CONTRACT-1, CONTRACT-2).
    """
    deal = builder.pick(builder.org.deals, lambda d: won_without_contract(builder, d))
    named = references.deal(builder, deal, avoid=("amount",))
    builder.turn_to(deal)
    start = month_start(builder.today, builder.choose(2, 3, 4))
    term = builder.choose(6, 18, 24, 36)
    plan = policy_actions.new_contract(builder, deal, start_date=start, months=term)
    made = builder.turn(
        "contract_make.terms",
        {"deal": named.slot, "when": day(start), "number": count(term)},
        calls=[*named.reads, look_at_contracts(deal), *plan.calls],
        facts=[
            builder.fact("date", plan.calls[0].arguments["end_date"].value, "end"),
            builder.fact("money", deal["amount"], "value"),
        ],
        rules=plan.rules,
        tags=(*named.tags, "multi_hop"),
    )
    builder.turn_to(builder.row("Contract", made["contract_id"]))
