"""Contracts for won deals, on the usual terms and on others."""

from __future__ import annotations

from crmbench.authoring.derive import month_start
from crmbench.domains.sales.families.contract.common import (
    AGAIN,
    CATEGORY,
    look_at_contracts,
    won_without_contract,
)
from crmbench.domains.sales.phrases import count, day
from crmbench.domains.sales.talk import Talk, call, describe, family, house


@family(CATEGORY, 12)
def contract_by_rule(talk: Talk) -> None:
    """A contract of which only the deal is said: value, start, end and status follow from
    CONTRACT-1 and CONTRACT-2, and are asked for afterwards.
    """
    deal = talk.pick(talk.org.deals, lambda d: won_without_contract(talk, d))
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    plan = house.new_contract(talk, deal)
    made = talk.turn(
        "contract_make.short",
        {"deal": named.slot},
        calls=[*named.reads, look_at_contracts(deal), *plan.calls],
        rules=plan.rules,
        tags=(*named.tags, "multi_hop"),
    )
    talk.turn_to(talk.row("Contract", made["contract_id"]))
    if talk.rng.random() < 0.6:
        talk.turn(
            "contract_make.then_dates",
            calls=[call("contract_search", contract_id=made["contract_id"])],
            facts=[
                talk.fact("date", made["start_date"], "start"),
                talk.fact("date", made["end_date"], "end"),
            ],
            tags=(*AGAIN, "about_change"),
        )


@family(CATEGORY, 12)
def contract_with_terms(talk: Talk) -> None:
    """A contract with a start and a term of its own: the end is the last day of the last month, and
    the value is the deal's amount (CONTRACT-1, CONTRACT-2).
    """
    deal = talk.pick(talk.org.deals, lambda d: won_without_contract(talk, d))
    named = describe.deal(talk, deal, avoid=("amount",))
    talk.turn_to(deal)
    start = month_start(talk.today, talk.choose(2, 3, 4))
    term = talk.choose(6, 18, 24, 36)
    plan = house.new_contract(talk, deal, start_date=start, months=term)
    made = talk.turn(
        "contract_make.terms",
        {"deal": named.slot, "when": day(start), "number": count(term)},
        calls=[*named.reads, look_at_contracts(deal), *plan.calls],
        facts=[
            talk.fact("date", plan.calls[0].arguments["end_date"].value, "end"),
            talk.fact("money", deal["amount"], "value"),
        ],
        rules=plan.rules,
        tags=(*named.tags, "multi_hop"),
    )
    talk.turn_to(talk.row("Contract", made["contract_id"]))
