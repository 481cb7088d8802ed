"""Portfolios: what a colleague has open, and the clients of an industry."""

from __future__ import annotations

from collections import Counter

from crmbench.domains.sales.authoring import ConversationBuilder, NoCandidate, call, family
from crmbench.domains.sales.authoring.org import Row
from crmbench.domains.sales.families.company.bridge import on_to_a_deal, total_of
from crmbench.domains.sales.phrases import Slot, plain

AGAIN = ("cross_turn_reference",)


@family("Company & Account", 12)
def owner_portfolio(builder: ConversationBuilder) -> None:
    """How many open deals a colleague has and what they come to, in all and in one stage: closed
    deals do not count.
    """
    org = builder.org
    by_owner: dict[str, list[Row]] = {}
    for deal in org.open_deals:
        by_owner.setdefault(str(deal["owner"]), []).append(deal)
    fitting = [
        owner
        for owner in org.owners[1:]
        if owner != builder.speaker and len({d["stage"] for d in by_owner.get(owner, ())}) >= 2
    ]
    if not fitting:
        raise NoCandidate
    owner = builder.choose(*fitting)
    deals = by_owner[owner]
    stages = sorted({d["stage"] for d in deals})
    summary = call("summarize_opportunities", owner=owner)
    facts = [
        builder.fact("count", len(deals), "open deals"),
        builder.fact("money", total_of(deals), "total"),
    ]
    builder.turn(
        "account.portfolio",
        {"owner": plain(owner)},
        calls=[summary],
        facts=facts,
        rules=("FIND-4",),
        tags=("computed_value",),
    )
    stage = builder.choose(*stages)
    there = [d for d in deals if d["stage"] == stage]
    facts = [
        builder.fact("count", len(there), "deals"),
        builder.fact("money", total_of(there), f"total in {stage}"),
    ]
    slots: dict[str, Slot] = {"owner": plain(owner), "stage": plain(stage)}
    builder.turn("account.portfolio_stage", slots, calls=[summary], facts=facts, tags=AGAIN)
    if builder.rng.random() < 0.6:
        on_to_a_deal(builder)


@family("Company & Account", 10)
def industry_accounts(builder: ConversationBuilder) -> None:
    """Which clients of an industry are Active (a search for "Active" finds the Inactive too), and
    who of us owns most of them.
    """
    org = builder.org
    industries = sorted({str(c["industry"]) for c in org.clients if c["industry"]})

    def active(industry: str) -> list[Row]:
        return [c for c in org.clients if c["industry"] == industry and c["status"] == "Active"]

    def fits(industry: str) -> bool:
        names = [str(c["name"]) for c in active(industry)]
        alone = not any(industry in other for other in industries if other != industry)
        apart = not any(a != b and a in b for a in names for b in names)
        return alone and apart and 2 <= len(names) <= 6

    fitting = [industry for industry in industries if fits(industry)]
    if not fitting:
        raise NoCandidate
    industry = builder.choose(*fitting)
    every = [c for c in org.clients if c["industry"] == industry]
    look = call("client_search", industry=industry)
    clients = active(industry)
    for client in every:
        builder.turn_to(client)
    names = tuple(str(c["name"]) for c in clients)
    options = tuple(str(c["name"]) for c in every)
    facts = [
        builder.fact("count", len(clients), "active clients"),
        builder.fact("list", names, "active clients", options=options, only=True),
    ]
    tags = ("by_description", "computed_value")
    slots = {"industry": plain(industry)}
    builder.turn("account.industry", slots, calls=[look], facts=facts, tags=tags)
    owners = Counter(str(c["owner"]) for c in clients).most_common()
    if len(owners) > 1 and owners[0][1] > owners[1][1]:
        top, number = owners[0]
        facts = [builder.fact("name", top, "owner"), builder.fact("count", number, "clients")]
        builder.turn("account.industry_owner", calls=[look], facts=facts, tags=AGAIN)
    on_to_a_deal(builder)
