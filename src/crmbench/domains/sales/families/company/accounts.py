"""Accounts: what is open with a client."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    NoCandidate,
    call,
    family,
    references,
)
from crmbench.domains.sales.authoring.follow_ups.registry import STAGES
from crmbench.domains.sales.authoring.org import Row, full_name, is_open
from crmbench.domains.sales.families.company.bridge import (
    biggest_of,
    look_at_deals,
    open_of,
    total_of,
)
from crmbench.domains.sales.phrases import plain

AGAIN = ("cross_turn_reference",)


@family("Company & Account", 12)
def account_overview(builder: ConversationBuilder) -> None:
    """How much is open with a client and who our contacts are; then which of the open deals is the
    biggest.
    """
    org = builder.org

    def lively(client: Row) -> bool:
        people = [full_name(c) for c in org.contacts_of(client)]
        deals = [d for d in org.deals_of(client) if is_open(d)]
        distinct = len(set(people)) == len(people) and biggest_of(deals) is not None
        return 2 <= len(deals) <= 8 and 1 <= len(people) <= 5 and distinct

    client = builder.pick(org.clients, lively)
    named = references.client(builder, client)
    builder.turn_to(client)
    deals = open_of(builder, client)
    people = tuple(full_name(c) for c in org.contacts_of(client))
    facts = [
        builder.fact("count", len(deals), "open deals"),
        builder.fact("money", total_of(deals), "total"),
        builder.fact("list", people, "contacts"),
    ]
    builder.memory.setdefault("follow_ups", set()).add("people_there")
    staff = call("contact_search", client_id=client["client_id"])
    builder.turn(
        "account.overview",
        {"client": named.slot},
        calls=[*named.reads, look_at_deals(client), staff],
        facts=facts,
        rules=("FIND-4",),
        tags=(*named.tags, "computed_value"),
    )
    biggest_turn(builder, client)


def biggest_turn(builder: ConversationBuilder, client: Row) -> None:
    """Which of the client's open deals is the biggest, and in what stage is it?"""
    deals = open_of(builder, client)
    biggest = biggest_of(deals)
    if biggest is None:
        raise NoCandidate
    facts = [
        builder.fact("money", biggest["amount"], "amount"),
        builder.fact("choice", biggest["stage"], "stage", options=STAGES),
    ]
    tags = (*AGAIN, "by_description")
    calls = [look_at_deals(client)]
    builder.turn("account.biggest_deal", calls=calls, facts=facts, rules=("FIND-4",), tags=tags)
    builder.turn_to(biggest)


@family("Company & Account", 10)
def biggest_account(builder: ConversationBuilder) -> None:
    """Which of three named clients has most open, and how much; then its biggest deal."""
    org = builder.org
    first = builder.pick(org.clients, lambda c: len(open_of(builder, c)) >= 2)
    rest = [c for c in org.clients if c is not first and open_of(builder, c)]
    second = builder.pick(rest)
    three = [first, second, builder.pick(rest, lambda c: c is not second)]
    builder.rng.shuffle(three)
    totals = [total_of(open_of(builder, c)) for c in three]
    place = totals.index(max(totals))
    deals = open_of(builder, three[place])
    if len(set(totals)) < 3 or len(deals) < 2 or biggest_of(deals) is None:
        raise NoCandidate
    for client in (*three, three[place]):
        builder.turn_to(client)
    names = tuple(str(c["name"]) for c in three)
    slots = {slot: plain(name) for slot, name in zip(("one", "two", "three"), names, strict=True)}
    looks = [
        found
        for client in three
        for found in (call("client_search", name=client["name"]), look_at_deals(client))
    ]
    facts = [
        builder.fact("choice", names[place], "biggest client", options=names),
        builder.fact("money", totals[place], "total"),
    ]
    builder.turn(
        "account.biggest_of_three",
        slots,
        calls=looks,
        facts=facts,
        rules=("FIND-4",),
        tags=("computed_value", "batch"),
    )
    biggest_turn(builder, three[place])
