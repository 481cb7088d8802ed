"""Firms that are not in the CRM yet, and what new clients have in common."""

from __future__ import annotations

from typing import NamedTuple

from crmbench.core.task import GoldCall
from crmbench.domains.sales.phrases import Slot, money, plain
from crmbench.domains.sales.talk import NoFit, Talk, call, house
from crmbench.domains.sales.talk.moves.people import domain_of
from crmbench.domains.sales.talk.org import Row, product_of

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


class Firm(NamedTuple):
    """A company as the user names it."""

    name: str
    email: str
    industry: str

    @property
    def slots(self) -> dict[str, Slot]:
        return {
            "name": plain(self.name),
            "email": plain(self.email),
            "industry": plain(self.industry),
        }


def new_firm(talk: Talk) -> Firm:
    """A firm of which neither clients nor companies have the name or the address.

    Raises:
        NoFit: The one that was drawn is known.
    """
    first = talk.choose(*_FIRST)
    trade, industry = talk.choose(*_TRADES)
    known = [*talk.org.clients, *talk.org.companies]
    if any(first.casefold() in str(row["name"]).casefold() for row in known):
        raise NoFit
    legal = talk.choose("", "", " Ltd", " Inc", " GmbH")
    site = "".join(c for c in f"{first}{trade}".casefold() if c.isalnum())
    box = talk.choose("info", "office", "contact", "hello")
    return Firm(f"{first} {trade}{legal}", f"{box}@{site}.{top_domain(talk)}", industry)


def top_domain(talk: Talk) -> str:
    """The ending of addresses in this world."""
    return domain_of(talk.org.clients[0]).rpartition(".")[2]


def stem(name: str) -> str:
    """A name without its legal form (CLIENT-1)."""
    words = name.replace(",", "").split()
    while len(words) > 1 and words[-1].strip(".").casefold() in _LEGAL:
        words.pop()
    return " ".join(words)


def street_address(talk: Talk) -> str:
    number = talk.rng.randint(2, 198)
    return f"{number} {talk.choose(*_STREETS)}, {talk.choose(*_TOWNS)}"


def phone_number(talk: Talk) -> str:
    return f"+1 555 01{talk.rng.randint(10, 99)} {talk.rng.randint(100, 999)}"


def look_first(firm: Firm) -> tuple[GoldCall, ...]:
    """CLIENT-1 and CLIENT-4: the name and the address among clients, the name among companies."""
    name = stem(firm.name)
    return (
        call("client_search", name=name),
        call("client_search", email=firm.email),
        call("company_search", name=name),
    )


def create(talk: Talk, firm: Firm, **given: str) -> tuple[GoldCall, ...]:
    """CLIENT-2: a new client, with what the user gave and the rest as the rule fixes it."""
    values = {"status": "Prospect", "owner": talk.speaker, "industry": firm.industry, **given}
    made = call("create_new_client", name=firm.name, email=firm.email, **values)
    return (*look_first(firm), made)


def new_product(talk: Talk, client: Row) -> str:
    """A product line that the client has no deal for; "Route Planner", not "Route Planner pilot".

    Raises:
        NoFit: There is none.
    """
    deals = talk.find("Opportunity", "client_id", client["client_id"])
    every = {product_of(deal) for deal in talk.org.deals}
    lines = {p for p in every if not any(p.startswith(f"{other} ") for other in every)}
    free = sorted(p for p in lines if not any(p in deal["name"] for deal in deals))
    if not free:
        raise NoFit
    return talk.rng.choice(free)


def deal_amount(talk: Talk) -> float:
    return float(talk.rng.randint(16, 360) * 500)


def first_deal(talk: Talk, client: Row, intent: str = "client.first_deal") -> None:
    """A deal for the client in discussion: all but product and amount follows from DEAL-1."""
    product, amount = new_product(talk, client), deal_amount(talk)
    plan = house.new_deal(talk, client, product, amount)
    made = talk.turn(
        intent,
        {"product": plain(product), "amount": money(amount)},
        calls=plan.calls,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )
    talk.turn_to(talk.row("Opportunity", made["opportunity_id"]))
