"""Firms that are not in the CRM yet, and what new clients have in common."""

from __future__ import annotations

from typing import NamedTuple

from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring import ConversationBuilder, NoCandidate, call, policy_actions
from crmbench.domains.sales.authoring.follow_ups.people import domain_of
from crmbench.domains.sales.authoring.org import Row, product_of
from crmbench.domains.sales.phrases import Slot, money, plain

_FIRST = (
    "Calderstone",
    "Haldane",
    "Osterby",
    "Pellworth",
    "Tarnbrook",
    "Vesperal",
    "Quillfeather",
    "Marrowgate",
    "Lindenholt",
    "Sablewick",
    "Thornquay",
    "Brennacker",
    "Ostrava Hill",
    "Kestrelmoor",
    "Dunmarrow",
    "Fennimore",
    "Ravelstone",
    "Corvendale",
    "Halvard & Rye",
    "Wexcombe",
)
_TRADES = (
    ("Freight", "Freight"),
    ("Foods", "Food Wholesale"),
    ("Pharma", "Pharmaceuticals"),
    ("Timber", "Timber"),
    ("Textiles", "Textiles"),
    ("Breweries", "Beverages"),
    ("Components", "Automotive Parts"),
    ("Plastics", "Plastics"),
    ("Retail Group", "Retail"),
    ("Instruments", "Medical Devices"),
)
_LEGAL = {
    *("inc", "ltd", "llc", "corp", "co", "plc", "dac", "gmbh", "ag", "kg", "bv", "nv"),
    *("sa", "sas", "sarl", "srl", "spa", "sl", "lda", "a/s", "aps", "as", "asa", "ab", "oy"),
}
_STREETS = ("Wharf Road", "Foundry Lane", "Station Street", "Millrace Way", "Orchard Avenue")
_TOWNS = ("Ellesby", "Port Carrow", "Hallendorf", "Saint Brevin", "Marlow Bridge", "Norrvik")


class NewFirm(NamedTuple):
    """A company as the user names it."""

    name: str
    email: str
    industry: str

    @property
    def slots(self) -> dict[str, Slot]:
        """What the phrases need of it."""
        return {
            "name": plain(self.name),
            "email": plain(self.email),
            "industry": plain(self.industry),
        }


def new_firm(builder: ConversationBuilder) -> NewFirm:
    """A firm of which neither clients nor companies have the name or the address.

    Raises:
        NoCandidate: The one that was drawn is known.
    """
    first = builder.choose(*_FIRST)
    trade, industry = builder.choose(*_TRADES)
    known = [*builder.org.clients, *builder.org.companies]
    if any(first.casefold() in str(row["name"]).casefold() for row in known):
        raise NoCandidate
    legal = builder.choose("", "", " Ltd", " Inc", " GmbH")
    site = "".join(c for c in f"{first}{trade}".casefold() if c.isalnum())
    box = builder.choose("info", "office", "contact", "hello")
    return NewFirm(f"{first} {trade}{legal}", f"{box}@{site}.{top_domain(builder)}", industry)


def top_domain(builder: ConversationBuilder) -> str:
    """The ending of addresses in this world."""
    return domain_of(builder.org.clients[0]).rpartition(".")[2]


def stem(name: str) -> str:
    """A name without its legal form (CLIENT-1)."""
    words = name.replace(",", "").split()
    while len(words) > 1 and words[-1].strip(".").casefold() in _LEGAL:
        words.pop()
    return " ".join(words)


def street_address(builder: ConversationBuilder) -> str:
    """A made-up address in a made-up town."""
    number = builder.rng.randint(2, 198)
    return f"{number} {builder.choose(*_STREETS)}, {builder.choose(*_TOWNS)}"


def look_first(firm: NewFirm) -> tuple[GoldCall, ...]:
    """CLIENT-1 and CLIENT-4: the name and the address among clients, the name among companies."""
    name = stem(firm.name)
    return (
        call("client_search", name=name),
        call("client_search", email=firm.email),
        call("company_search", name=name),
    )


def create(builder: ConversationBuilder, firm: NewFirm, **given: str) -> tuple[GoldCall, ...]:
    """CLIENT-2: a new client, with what the user gave and the rest as the rule fixes it."""
    values = {"status": "Prospect", "owner": builder.speaker, "industry": firm.industry, **given}
    made = call("create_new_client", name=firm.name, email=firm.email, **values)
    return (*look_first(firm), made)


def new_product(builder: ConversationBuilder, client: Row) -> str:
    """A product line that the client has no deal for; "Route Planner", not "Route Planner pilot".

    Raises:
        NoCandidate: There is none.
    """
    deals = builder.find("Opportunity", "client_id", client["client_id"])
    every = {product_of(deal) for deal in builder.org.deals}
    lines = {p for p in every if not any(p.startswith(f"{other} ") for other in every)}
    free = sorted(p for p in lines if not any(p in deal["name"] for deal in deals))
    if not free:
        raise NoCandidate
    return builder.rng.choice(free)


def deal_amount(builder: ConversationBuilder) -> float:
    """A round amount for a new deal, in dollars."""
    return float(builder.rng.randint(16, 360) * 500)


def first_deal(
    builder: ConversationBuilder, client: Row, intent: str = "client.first_deal"
) -> None:
    """A deal for the client in discussion: all but product and amount follows from DEAL-1."""
    product, amount = new_product(builder, client), deal_amount(builder)
    plan = policy_actions.new_deal(builder, client, product, amount)
    made = builder.turn(
        intent,
        {"product": plain(product), "amount": money(amount)},
        calls=plan.calls,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )
    builder.turn_to(builder.row("Opportunity", made["opportunity_id"]))
