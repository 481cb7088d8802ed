"""Contracts that run: extended, locked, asked about."""

from __future__ import annotations

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.families.contract.common import (
    AGAIN,
    CATEGORY,
    later_end,
    running,
    turn_to,
)
from crmbench.domains.sales.phrases import count, money, plain
from crmbench.domains.sales.talk import NoFit, Talk, call, describe, family
from crmbench.domains.sales.talk.org import Row


@family(CATEGORY, 12)
def extend_contract(talk: Talk) -> None:
    """The end of an Active contract moves so many months later than where it stands, and not so
    many months from today (CONTRACT-3).
    """
    contract = talk.pick(talk.org.contracts, lambda c: running(talk, c))
    number, end = later_end(talk, contract)
    named = describe.contract(talk, contract)
    turn_to(talk, contract)
    changed = call("modify_contract", contract_id=contract["contract_id"], end_date=end)
    talk.turn(
        "contract_extend.months",
        {"contract": named.slot, "number": count(number)},
        calls=[*named.reads, changed],
        facts=[talk.fact("date", end.value, "new end")],
        rules=("CONTRACT-3",),
        tags=named.tags,
    )


@family(CATEGORY, 10)
def contract_value_locked(talk: Talk) -> None:
    """Another value for an Active contract is refused (CONTRACT-3); the user has its end moved
    later instead.
    """
    contract = talk.pick(talk.org.contracts, lambda c: running(talk, c))
    number, end = later_end(talk, contract)
    value = half_up(contract["value"] * talk.choose(0.9, 1.05, 1.1, 1.2) / 500) * 500
    if value in (0, contract["value"]):
        raise NoFit
    named = describe.contract(talk, contract)
    turn_to(talk, contract)
    talk.refused(
        "contract_extend.value",
        {"contract": named.slot, "amount": money(value)},
        calls=named.reads,
        rules=("CONTRACT-3",),
        reasons=("active", "CONTRACT-3", "locked", "fixed"),
        tags=named.tags,
    )
    changed = call("modify_contract", contract_id=contract["contract_id"], end_date=end)
    talk.turn(
        "contract_extend.then_months",
        {"number": count(number)},
        calls=[changed],
        facts=[talk.fact("date", end.value, "new end")],
        rules=("CONTRACT-3",),
        tags=AGAIN,
    )


@family(CATEGORY, 10)
def contract_end_question(talk: Talk) -> None:
    """Value and end of the contract of a client whose name begins like that of another (FIND-1)."""
    org = talk.org
    firsts = [str(client["name"]).split()[0].casefold() for client in org.clients]

    def alike(contract: Row) -> bool:
        client = org.client_of(contract)
        only = len(org.children("Contract", client["client_id"])) == 1
        same = firsts.count(str(client["name"]).split()[0].casefold()) > 1
        return only and same and bool(contract["value"] and contract["end_date"])

    contract = talk.pick(org.contracts, alike)
    client = org.client_of(contract)
    turn_to(talk, contract)
    calls = [
        call("client_search", name=client["name"]),
        call("contract_search", client_id=client["client_id"]),
    ]
    facts = [
        talk.fact("money", contract["value"], "value"),
        talk.fact("date", contract["end_date"], "end"),
    ]
    talk.turn(
        "contract_ask.value_and_end",
        {"client": plain(client["name"])},
        calls=calls,
        facts=facts,
        rules=("FIND-1",),
        tags=("near_duplicate",),
    )
    if running(talk, contract) and talk.rng.random() < 0.4:
        number, end = later_end(talk, contract)
        changed = call("modify_contract", contract_id=contract["contract_id"], end_date=end)
        slots = {"number": count(number)}
        talk.turn(
            "contract_ask.then_longer", slots, calls=[changed], rules=("CONTRACT-3",), tags=AGAIN
        )


@family(CATEGORY, 8)
def contracts_of_client_total(talk: Talk) -> None:
    """How many contracts a client has and what they come to together, whatever their status."""
    org = talk.org

    def several(client: Row) -> bool:
        found = org.children("Contract", client["client_id"])
        return 2 <= len(found) <= 12 and all(contract["value"] for contract in found)

    client = talk.pick(org.clients, several)
    found = org.children("Contract", client["client_id"])
    named = describe.client(talk, client)
    talk.turn_to(client)
    talk.turn(
        "contract_ask.total",
        {"client": named.slot},
        calls=[*named.reads, call("contract_search", client_id=client["client_id"])],
        facts=[
            talk.fact("count", len(found), "contracts"),
            talk.fact("money", sum(contract["value"] for contract in found), "total"),
        ],
        tags=(*named.tags, "computed_value"),
    )
