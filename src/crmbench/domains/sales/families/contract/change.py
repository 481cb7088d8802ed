"""Contracts that run: extended, locked, asked about."""

from __future__ import annotations

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    NoCandidate,
    call,
    family,
    references,
)
from crmbench.domains.sales.authoring.org import Row
from crmbench.domains.sales.families.contract.common import (
    AGAIN,
    CATEGORY,
    later_end,
    running,
    turn_to,
)
from crmbench.domains.sales.phrases import count, money, plain


@family(CATEGORY, 12)
def extend_contract(builder: ConversationBuilder) -> None:
    """The end of an Active contract moves so many months later than where it stands, and not so
    many months from today (CONTRACT-3).
    """
    contract = builder.pick(builder.org.contracts, lambda c: running(builder, c))
    number, end = later_end(builder, contract)
    named = references.contract(builder, contract)
    turn_to(builder, contract)
    changed = call("modify_contract", contract_id=contract["contract_id"], end_date=end)
    builder.turn(
        "contract_extend.months",
        {"contract": named.slot, "number": count(number)},
        calls=[*named.reads, changed],
        facts=[builder.fact("date", end.value, "new end")],
        rules=("CONTRACT-3",),
        tags=named.tags,
    )


@family(CATEGORY, 10)
def contract_value_locked(builder: ConversationBuilder) -> None:
    """Another value for an Active contract is refused (CONTRACT-3); the user has its end moved
    later instead.
    """
    contract = builder.pick(builder.org.contracts, lambda c: running(builder, c))
    number, end = later_end(builder, contract)
    value = half_up(contract["value"] * builder.choose(0.9, 1.05, 1.1, 1.2) / 500) * 500
    if value in (0, contract["value"]):
        raise NoCandidate
    named = references.contract(builder, contract)
    turn_to(builder, contract)
    builder.refused(
        "contract_extend.value",
        {"contract": named.slot, "amount": money(value)},
        calls=named.reads,
        rules=("CONTRACT-3",),
        reasons=("active", "CONTRACT-3", "locked", "fixed", "keeps", "running", "in force"),
        tags=named.tags,
    )
    changed = call("modify_contract", contract_id=contract["contract_id"], end_date=end)
    builder.turn(
        "contract_extend.then_months",
        {"number": count(number)},
        calls=[changed],
        facts=[builder.fact("date", end.value, "new end")],
        rules=("CONTRACT-3",),
        tags=AGAIN,
    )


@family(CATEGORY, 10)
def contract_end_question(builder: ConversationBuilder) -> None:
    """Value and end of the contract of a client whose name begins like that of another (FIND-1)."""
    org = builder.org
    firsts = [str(client["name"]).split()[0].casefold() for client in org.clients]

    def alike(contract: Row) -> bool:
        client = org.client_of(contract)
        only = len(org.children("Contract", client["client_id"])) == 1
        same = firsts.count(str(client["name"]).split()[0].casefold()) > 1
        return only and same and bool(contract["value"] and contract["end_date"])

    contract = builder.pick(org.contracts, alike)
    client = org.client_of(contract)
    turn_to(builder, contract)
    calls = [
        call("client_search", name=client["name"]),
        call("contract_search", client_id=client["client_id"]),
    ]
    facts = [
        builder.fact("money", contract["value"], "value"),
        builder.fact("date", contract["end_date"], "end"),
    ]
    builder.turn(
        "contract_ask.value_and_end",
        {"client": plain(client["name"])},
        calls=calls,
        facts=facts,
        rules=("FIND-1",),
        tags=("near_duplicate",),
    )
    if running(builder, contract) and builder.rng.random() < 0.4:
        number, end = later_end(builder, contract)
        changed = call("modify_contract", contract_id=contract["contract_id"], end_date=end)
        slots = {"number": count(number)}
        builder.turn(
            "contract_ask.then_longer", slots, calls=[changed], rules=("CONTRACT-3",), tags=AGAIN
        )


@family(CATEGORY, 8)
def contracts_of_client_total(builder: ConversationBuilder) -> None:
    """How many contracts a client has and what they come to together, whatever their status."""
    org = builder.org

    def several(client: Row) -> bool:
        found = org.children("Contract", client["client_id"])
        return 2 <= len(found) <= 12 and all(contract["value"] for contract in found)

    client = builder.pick(org.clients, several)
    found = org.children("Contract", client["client_id"])
    named = references.client(builder, client)
    builder.turn_to(client)
    builder.turn(
        "contract_ask.total",
        {"client": named.slot},
        calls=[*named.reads, call("contract_search", client_id=client["client_id"])],
        facts=[
            builder.fact("count", len(found), "contracts"),
            builder.fact("money", sum(contract["value"] for contract in found), "total"),
        ],
        tags=(*named.tags, "computed_value"),
    )
