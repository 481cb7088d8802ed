"""The directory of partners, vendors and competitors."""

from __future__ import annotations

import re

from crmbench.core.fact import Fact
from crmbench.domains.sales.authoring import ConversationBuilder, call, family
from crmbench.domains.sales.authoring.org import Row
from crmbench.domains.sales.families.company.bridge import on_to_a_client, on_to_a_deal
from crmbench.domains.sales.phrases import plain

AGAIN = ("cross_turn_reference",)
TYPES = ("Partner", "Vendor", "Competitor")


def people_of(company: Row) -> tuple[str, ...]:
    """The names of a company's contacts, without what may stand behind them."""
    names = (re.split(r"[,;(<]| - ", str(entry))[0].strip() for entry in company["contacts"] or ())
    return tuple(name for name in names if name and "@" not in name)


def people_fact(builder: ConversationBuilder, company: Row) -> Fact:
    """Who is known there; nobody of the other companies may be named."""
    names = people_of(company)
    others = {name for c in builder.org.companies for name in people_of(c)}
    return builder.fact("list", names, "contacts", options=tuple(sorted(others)), only=True)


def _only_word(builder: ConversationBuilder, company: Row) -> str:
    """A word of a company's name that no other company or client has in its name."""
    names = [str(r["name"]).casefold() for r in (*builder.org.companies, *builder.org.clients)]
    words = [w for w in str(company["name"]).split() if len(w) >= 5 and w.isalpha()]
    alone = [w for w in words if sum(w.casefold() in name for name in names) == 1]
    return alone[0] if alone else ""


@family("Company & Account", 12)
def partner_lookup(builder: ConversationBuilder) -> None:
    """A company of the directory is found by a part of its name: where it is, and in what
    business.
    """
    company = builder.pick(
        builder.org.companies,
        lambda c: bool(c["address"] and c["industry"]) and bool(_only_word(builder, c)),
    )
    word = _only_word(builder, company)
    facts = [
        builder.fact("text", company["address"], "address"),
        builder.fact("text", company["industry"], "industry"),
    ]
    builder.turn(
        "company.lookup",
        {"word": plain(word), "type": plain(str(company["type"]).casefold())},
        calls=[call("company_search", name=word)],
        facts=facts,
        tags=("by_description",),
    )
    if people_of(company) and builder.rng.random() < 0.6:
        builder.turn(
            "company.who_there",
            calls=[call("company_search", company_id=company["company_id"])],
            facts=[people_fact(builder, company)],
            tags=AGAIN,
        )
    if builder.rng.random() < 0.7:
        on_to_a_deal(builder)


@family("Company & Account", 12)
def competitor_or_client(builder: ConversationBuilder) -> None:
    """Is a company a partner, a vendor or a competitor, and whom do we know there? Then the same of
    a name that is a client and stands in no directory.
    """
    kind = builder.choose(*TYPES)
    clients = {str(c["name"]).casefold() for c in builder.org.clients}
    company = builder.pick(
        builder.org.companies,
        lambda c: (
            c["type"] == kind and bool(people_of(c)) and str(c["name"]).casefold() not in clients
        ),
    )
    facts = [
        builder.fact("choice", kind, "type", options=TYPES),
        people_fact(builder, company),
    ]
    builder.turn(
        "company.what_is_it",
        {"name": plain(company["name"])},
        calls=[
            call("client_search", name=company["name"]),
            call("company_search", name=company["name"]),
        ],
        facts=facts,
        tags=("multi_hop",),
    )
    on_to_a_client(builder)
