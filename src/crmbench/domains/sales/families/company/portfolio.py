"""Portfolios: what a colleague has open, and the clients of an industry."""

from __future__ import annotations

from collections import Counter

from crmbench.domains.sales.families.company.bridge import on_to_a_deal, total_of
from crmbench.domains.sales.phrases import Slot, plain
from crmbench.domains.sales.talk import NoFit, Talk, call, family
from crmbench.domains.sales.talk.org import Row

AGAIN = ("cross_turn_reference",)


@family("Company & Account", 12)
def owner_portfolio(talk: Talk) -> None:
    """How many open deals a colleague has and what they come to, in all and in one stage: closed
    deals do not count.
    """
    org = talk.org
    by_owner: dict[str, list[Row]] = {}
    for deal in org.open_deals:
        by_owner.setdefault(str(deal["owner"]), []).append(deal)
    fitting = [
        owner
        for owner in org.owners[1:]
        if owner != talk.speaker and len({d["stage"] for d in by_owner.get(owner, ())}) >= 2
    ]
    if not fitting:
        raise NoFit
    owner = talk.choose(*fitting)
    deals = by_owner[owner]
    stages = sorted({d["stage"] for d in deals})
    summary = call("summarize_opportunities", owner=owner)
    facts = [
        talk.fact("count", len(deals), "open deals"),
        talk.fact("money", total_of(deals), "total"),
    ]
    talk.turn(
        "account.portfolio",
        {"owner": plain(owner)},
        calls=[summary],
        facts=facts,
        rules=("FIND-4",),
        tags=("computed_value",),
    )
    stage = talk.choose(*stages)
    there = [d for d in deals if d["stage"] == stage]
    facts = [
        talk.fact("count", len(there), "deals"),
        talk.fact("money", total_of(there), f"total in {stage}"),
    ]
    slots: dict[str, Slot] = {"owner": plain(owner), "stage": plain(stage)}
    talk.turn("account.portfolio_stage", slots, calls=[summary], facts=facts, tags=AGAIN)
    if talk.rng.random() < 0.6:
        on_to_a_deal(talk)


@family("Company & Account", 10)
def industry_accounts(talk: Talk) -> None:
    """Which clients of an industry are Active (a search for "Active" finds the Inactive too), and
    who of us owns most of them.
    """
    org = talk.org
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
        raise NoFit
    industry = talk.choose(*fitting)
    every = [c for c in org.clients if c["industry"] == industry]
    look = call("client_search", industry=industry)
    clients = active(industry)
    for client in every:
        talk.turn_to(client)
    names = tuple(str(c["name"]) for c in clients)
    options = tuple(str(c["name"]) for c in every)
    facts = [
        talk.fact("count", len(clients), "active clients"),
        talk.fact("list", names, "active clients", options=options, only=True),
    ]
    tags = ("by_description", "computed_value")
    slots = {"industry": plain(industry)}
    talk.turn("account.industry", slots, calls=[look], facts=facts, tags=tags)
    owners = Counter(str(c["owner"]) for c in clients).most_common()
    if len(owners) > 1 and owners[0][1] > owners[1][1]:
        top, number = owners[0]
        facts = [talk.fact("name", top, "owner"), talk.fact("count", number, "clients")]
        talk.turn("account.industry_owner", calls=[look], facts=facts, tags=AGAIN)
    on_to_a_deal(talk)
