"""Accounts: what is open with a client."""

from __future__ import annotations

from crmbench.domains.sales.families.company.bridge import (
    biggest_of,
    look_at_deals,
    open_of,
    total_of,
)
from crmbench.domains.sales.phrases import plain
from crmbench.domains.sales.talk import NoFit, Talk, call, describe, family
from crmbench.domains.sales.talk.moves.registry import STAGES
from crmbench.domains.sales.talk.org import Row, full_name, is_open

AGAIN = ("cross_turn_reference",)


@family("Company & Account", 12)
def account_overview(talk: Talk) -> None:
    """How much is open with a client and who our contacts are; then which of the open deals is the
    biggest.
    """
    org = talk.org

    def lively(client: Row) -> bool:
        people = [full_name(c) for c in org.contacts_of(client)]
        deals = [d for d in org.deals_of(client) if is_open(d)]
        distinct = len(set(people)) == len(people) and biggest_of(deals) is not None
        return 2 <= len(deals) <= 8 and 1 <= len(people) <= 5 and distinct

    client = talk.pick(org.clients, lively)
    named = describe.client(talk, client)
    talk.turn_to(client)
    deals = open_of(talk, client)
    people = tuple(full_name(c) for c in org.contacts_of(client))
    facts = [
        talk.fact("count", len(deals), "open deals"),
        talk.fact("money", total_of(deals), "total"),
        talk.fact("list", people, "contacts"),
    ]
    talk.memory.setdefault("moves", set()).add("people_there")
    staff = call("contact_search", client_id=client["client_id"])
    talk.turn(
        "account.overview",
        {"client": named.slot},
        calls=[*named.reads, look_at_deals(client), staff],
        facts=facts,
        rules=("FIND-4",),
        tags=(*named.tags, "computed_value"),
    )
    biggest_turn(talk, client)


def biggest_turn(talk: Talk, client: Row) -> None:
    """Which of the client's open deals is the biggest, and in what stage is it?"""
    deals = open_of(talk, client)
    biggest = biggest_of(deals)
    if biggest is None:
        raise NoFit
    facts = [
        talk.fact("money", biggest["amount"], "amount"),
        talk.fact("choice", biggest["stage"], "stage", options=STAGES),
    ]
    tags = (*AGAIN, "by_description")
    calls = [look_at_deals(client)]
    talk.turn("account.biggest_deal", calls=calls, facts=facts, rules=("FIND-4",), tags=tags)
    talk.turn_to(biggest)


@family("Company & Account", 10)
def biggest_account(talk: Talk) -> None:
    """Which of three named clients has most open, and how much; then its biggest deal."""
    org = talk.org
    first = talk.pick(org.clients, lambda c: len(open_of(talk, c)) >= 2)
    rest = [c for c in org.clients if c is not first and open_of(talk, c)]
    second = talk.pick(rest)
    three = [first, second, talk.pick(rest, lambda c: c is not second)]
    talk.rng.shuffle(three)
    totals = [total_of(open_of(talk, c)) for c in three]
    place = totals.index(max(totals))
    deals = open_of(talk, three[place])
    if len(set(totals)) < 3 or len(deals) < 2 or biggest_of(deals) is None:
        raise NoFit
    for client in (*three, three[place]):
        talk.turn_to(client)
    names = tuple(str(c["name"]) for c in three)
    slots = {slot: plain(name) for slot, name in zip(("one", "two", "three"), names, strict=True)}
    looks = [
        found
        for client in three
        for found in (call("client_search", name=client["name"]), look_at_deals(client))
    ]
    facts = [
        talk.fact("choice", names[place], "biggest client", options=names),
        talk.fact("money", totals[place], "total"),
    ]
    talk.turn(
        "account.biggest_of_three",
        slots,
        calls=looks,
        facts=facts,
        rules=("FIND-4",),
        tags=("computed_value", "batch"),
    )
    biggest_turn(talk, three[place])
