"""The people and the company behind what is being discussed."""

from __future__ import annotations

from crmbench.core.task import GoldCall
from crmbench.domains.sales.phrases import Slot, plain
from crmbench.domains.sales.talk.moves.asking import AGAIN, need
from crmbench.domains.sales.talk.moves.registry import move
from crmbench.domains.sales.talk.org import Row, full_name, is_open
from crmbench.domains.sales.talk.talk import Talk, call

TITLES = (
    "Head of Procurement",
    "Operations Manager",
    "Chief Financial Officer",
    "IT Director",
    "Supply Chain Lead",
    "Plant Manager",
    "Purchasing Manager",
    "Logistics Director",
    "Quality Manager",
    "Head of Fleet",
)
_FIRST = (
    "Ines",
    "Tobias",
    "Akua",
    "Renata",
    "Dmitri",
    "Saoirse",
    "Kenji",
    "Palesa",
    "Emil",
    "Noor",
)
_LAST = ("Halvorsen", "Quist", "Baptiste", "Moreau", "Tanaka", "Adeyemi", "Petrov", "Lindqvist")


def everybody(talk: Talk) -> list[Row]:
    """The client's contacts, as they stand."""
    return talk.find("Contact", "client_id", talk.client["client_id"])


def people(talk: Talk) -> list[Row]:
    """Those of them whom a name alone tells apart, and who were not added a minute ago."""
    names = talk.org.contact_names
    return [c for c in everybody(talk) if names[full_name(c)] == 1]


def look_at_people(talk: Talk) -> GoldCall:
    return call("contact_search", client_id=talk.client["client_id"])


def may_be_told(contact: Row) -> bool:
    """CONTACT-1: whether the contact's number and address may be given out."""
    return "do not share" not in str(contact["notes"] or "").casefold()


def domain_of(client: Row) -> str:
    return str(client["email"]).partition("@")[2]


@move(6)
def how_to_reach(talk: Talk) -> None:
    """How can a contact be reached?"""
    found = [c for c in people(talk) if c["phone"] and c["email"] and may_be_told(c)]
    need(found)
    person = talk.rng.choice(found)
    facts = [
        talk.fact("text", person["phone"], "phone"),
        talk.fact("text", person["email"], "e-mail"),
    ]
    slots = {"contact": plain(full_name(person)), "client": plain(talk.client["name"])}
    talk.turn("ask.how_to_reach", slots, calls=[look_at_people(talk)], facts=facts, tags=AGAIN)


@move(4)
def who_holds_title(talk: Talk) -> None:
    """Who has a certain job at the client?"""
    every = everybody(talk)
    titled = [c for c in people(talk) if c["title"]]
    need(len(every) >= 2 and titled)
    person = talk.rng.choice(titled)
    need(sum(c["title"] == person["title"] for c in every) == 1)
    slots = {"title": plain(person["title"]), "client": plain(talk.client["name"])}
    fact = talk.fact("name", full_name(person), person["title"])
    talk.turn("ask.who_holds_title", slots, calls=[look_at_people(talk)], facts=[fact], tags=AGAIN)


@move(5)
def new_title(talk: Talk) -> None:
    """A contact has been given another job."""
    person = talk.rng.choice(people(talk) or _nobody())
    title = talk.choose(*TITLES)
    need(title != person["title"])
    changed = call("modify_contact", contact_id=person["contact_id"], title=title)
    slots = {"contact": plain(full_name(person)), "title": plain(title)}
    talk.turn("do.new_title", slots, calls=[look_at_people(talk), changed], tags=AGAIN)


def _nobody() -> list[Row]:
    need(False)
    return []


@move(5)
def new_contact(talk: Talk) -> None:
    """Somebody new at the client, with all that is needed."""
    made, slots, title = _entered(talk)
    slots["title"] = plain(title)
    talk.turn("do.new_contact", slots, calls=[made], rules=("CONTACT-2", "CONTACT-3"), tags=AGAIN)


@move(5)
def new_contact_without_title(talk: Talk) -> None:
    """Somebody new at the client; the title is missing and must be asked for."""
    made, slots, title = _entered(talk)
    about = ("title", "role", "job", "position")
    asked = ("answer.title", {"title": plain(title)}, about)
    rules = ("CONTACT-3", "CONTACT-2", "ASK-1")
    talk.turn("do.new_contact_untitled", slots, calls=[made], rules=rules, tags=AGAIN, asks=asked)


def _entered(talk: Talk) -> tuple[GoldCall, dict[str, Slot], str]:
    """The call that enters somebody new, the words about them but the title, and the title."""
    first, last, address = _somebody(talk)
    title = talk.choose(*TITLES)
    made = call(
        "create_new_contact",
        first_name=first,
        last_name=last,
        client_id=talk.client["client_id"],
        title=title,
        email=address,
    )
    slots = {
        "contact": plain(f"{first} {last}"),
        "email": plain(address),
        "client": plain(talk.client["name"]),
    }
    return made, slots, title


def _somebody(talk: Talk) -> tuple[str, str, str]:
    """A name that nobody at the client has, and an address at the client's domain."""
    first, last = talk.choose(*_FIRST), talk.choose(*_LAST)
    need(talk.org.contact_names[f"{first} {last}"] == 0)
    need(all(full_name(c) != f"{first} {last}" for c in everybody(talk)))
    need(talk.client["status"] != "Inactive")
    return first, last, f"{first}.{last}@{domain_of(talk.client)}".casefold()


@move(4)
def new_phone(talk: Talk) -> None:
    """The client has another number."""
    number = f"+1 555 01{talk.rng.randint(10, 99)} {talk.rng.randint(100, 999)}"
    changed = call("modify_client", client_id=talk.client["client_id"], phone=number)
    slots = {"client": plain(talk.client["name"]), "phone": plain(number)}
    talk.turn("do.new_phone", slots, calls=[changed], tags=AGAIN)


@move(5)
def hand_over(talk: Talk) -> None:
    """The deal goes to somebody else: by the manager, or by its owner (DEAL-8)."""
    deal = talk.deal
    need(is_open(deal) and (talk.by_manager or deal["owner"] == talk.speaker))
    others = [o for o in talk.org.owners[1:] if o not in (deal["owner"], talk.speaker)]
    owner = talk.rng.choice(others)
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], owner=owner)
    slots = {"owner": plain(owner)}
    talk.turn("do.hand_over", slots, calls=[changed], rules=("DEAL-8",), tags=AGAIN)
