"""Vendors of an industry."""

from __future__ import annotations

from crmbench.domains.sales.authoring import ConversationBuilder, NoCandidate, call, family
from crmbench.domains.sales.authoring.org import Row
from crmbench.domains.sales.families.company.bridge import on_to_a_deal
from crmbench.domains.sales.families.company.directory import people_fact, people_of
from crmbench.domains.sales.phrases import plain

AGAIN = ("cross_turn_reference",)


@family("Company & Account", 10)
def vendor_contacts(builder: ConversationBuilder) -> None:
    """All vendors of an industry, and no other company; then whom we know at one of them."""
    org = builder.org
    vendors = [c for c in org.companies if c["type"] == "Vendor" and c["industry"]]
    by_industry: dict[str, list[Row]] = {}
    for vendor in vendors:
        by_industry.setdefault(vendor["industry"], []).append(vendor)
    fitting = [
        industry
        for industry, found in by_industry.items()
        if 2 <= len(found) <= 6
        and sum(industry.casefold() in i.casefold() for i in by_industry) == 1
    ]
    if not fitting:
        raise NoCandidate
    industry = builder.choose(*fitting)
    found = by_industry[industry]
    names = tuple(str(v["name"]) for v in found)
    options = tuple(str(c["name"]) for c in org.companies)
    builder.turn(
        "company.vendors_in",
        {"industry": plain(industry)},
        calls=[call("company_search", type="Vendor", industry=industry)],
        facts=[builder.fact("list", names, "vendors", options=options, only=True)],
        tags=("by_description",),
    )
    known = [v for v in found if people_of(v)]
    if known:
        vendor = builder.choose(*known)
        builder.turn(
            "company.people_at",
            {"name": plain(vendor["name"])},
            calls=[call("company_search", name=vendor["name"])],
            facts=[people_fact(builder, vendor)],
            tags=AGAIN,
        )
    if builder.rng.random() < 0.7:
        on_to_a_deal(builder)
