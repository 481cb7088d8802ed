"""The people and the company behind what is being discussed."""

from __future__ import annotations

from crmbench.authoring.calls import call
from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring.builder import ConversationBuilder
from crmbench.domains.sales.authoring.follow_ups.asking import AGAIN, need
from crmbench.domains.sales.authoring.follow_ups.registry import follow_up
from crmbench.domains.sales.authoring.org import Row, full_name, is_open
from crmbench.domains.sales.phrases import Slot, plain

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


def everybody(builder: ConversationBuilder) -> list[Row]:
    """The client's contacts, as they stand."""
    return builder.find("Contact", "client_id", builder.client["client_id"])


def people(builder: ConversationBuilder) -> list[Row]:
    """Those of them whom a name alone tells apart, and who were not added a minute ago."""
    names = builder.org.contact_names
    return [c for c in everybody(builder) if names[full_name(c)] == 1]


def look_at_people(builder: ConversationBuilder) -> GoldCall:
    """The look-up of the client's contacts."""
    return call("contact_search", client_id=builder.client["client_id"])


def may_be_told(contact: Row) -> bool:
    """CONTACT-1: whether the contact's number and address may be given out."""
    return "do not share" not in str(contact["notes"] or "").casefold()


def another_number(builder: ConversationBuilder, row: Row) -> str:
    """A number in the country and town of the one that a client or contact has, or somebody there.

    Raises:
        NoCandidate: There is no number to go by.
    """
    there = builder.find("Contact", "client_id", row["client_id"])
    known = [r["phone"] for r in (row, builder.row("Client", row["client_id"]), *there)]
    numbers = [str(number) for number in known if number]
    need(numbers)
    number = f"{numbers[0][:-4]}{builder.rng.randint(100, 9899):04}"
    need(number not in numbers)
    return number


def domain_of(client: Row) -> str:
    """What the e-mail addresses of a client's people end in."""
    return str(client["email"]).partition("@")[2]


@follow_up(6)
def how_to_reach(builder: ConversationBuilder) -> None:
    """How can a contact be reached?"""
    found = [c for c in people(builder) if c["phone"] and c["email"] and may_be_told(c)]
    need(found)
    person = builder.rng.choice(found)
    facts = [
        builder.fact("text", person["phone"], "phone"),
        builder.fact("text", person["email"], "e-mail"),
    ]
    slots = {"contact": plain(full_name(person)), "client": plain(builder.client["name"])}
    builder.turn(
        "ask.how_to_reach", slots, calls=[look_at_people(builder)], facts=facts, tags=AGAIN
    )


@follow_up(4)
def who_holds_title(builder: ConversationBuilder) -> None:
    """Who has a certain job at the client?"""
    every = everybody(builder)
    titled = [c for c in people(builder) if c["title"]]
    need(len(every) >= 2 and titled)
    person = builder.rng.choice(titled)
    need(sum(c["title"] == person["title"] for c in every) == 1)
    slots = {"title": plain(person["title"]), "client": plain(builder.client["name"])}
    fact = builder.fact("name", full_name(person), person["title"])
    builder.turn(
        "ask.who_holds_title", slots, calls=[look_at_people(builder)], facts=[fact], tags=AGAIN
    )


@follow_up(5)
def new_title(builder: ConversationBuilder) -> None:
    """A contact has been given another job."""
    person = builder.rng.choice(people(builder) or _nobody())
    title = builder.choose(*TITLES)
    # Nobody has two jobs in one conversation, and no two people the same one.
    need(all(title != c["title"] for c in everybody(builder)))
    need(not builder.was_set(person["contact_id"], "title"))
    changed = call("modify_contact", contact_id=person["contact_id"], title=title)
    slots = {"contact": plain(full_name(person)), "title": plain(title)}
    builder.turn("do.new_title", slots, calls=[look_at_people(builder), changed], tags=AGAIN)


def _nobody() -> list[Row]:
    need(False)
    return []


@follow_up(5)
def new_contact(builder: ConversationBuilder) -> None:
    """Somebody new at the client, with all that is needed."""
    made, slots, title = _entered(builder)
    slots["title"] = plain(title)
    builder.turn(
        "do.new_contact", slots, calls=[made], rules=("CONTACT-2", "CONTACT-3"), tags=AGAIN
    )


@follow_up(5)
def new_contact_without_title(builder: ConversationBuilder) -> None:
    """Somebody new at the client; the title is missing and must be asked for."""
    made, slots, title = _entered(builder)
    about = ("title", "role", "job", "position", "function", "capacity")
    asked = ("answer.title", {"title": plain(title)}, about)
    rules = ("CONTACT-3", "CONTACT-2", "ASK-1")
    builder.turn(
        "do.new_contact_untitled", slots, calls=[made], rules=rules, tags=AGAIN, asks=asked
    )


def _entered(builder: ConversationBuilder) -> tuple[GoldCall, dict[str, Slot], str]:
    """The call that enters somebody new, the words about them but the title, and the title."""
    first, last, address = _somebody(builder)
    title = builder.choose(*TITLES)
    need(all(title != c["title"] for c in everybody(builder)))
    made = call(
        "create_new_contact",
        first_name=first,
        last_name=last,
        client_id=builder.client["client_id"],
        title=title,
        email=address,
    )
    slots = {
        "contact": plain(f"{first} {last}"),
        "email": plain(address),
        "client": plain(builder.client["name"]),
    }
    return made, slots, title


def _somebody(builder: ConversationBuilder) -> tuple[str, str, str]:
    """A name that nobody at the client has, and an address at the client's domain."""
    first, last = builder.choose(*_FIRST), builder.choose(*_LAST)
    need(builder.org.contact_names[f"{first} {last}"] == 0)
    need(all(full_name(c) != f"{first} {last}" for c in everybody(builder)))
    need(builder.client["status"] != "Inactive")
    need(not any(builder.was_set(c["contact_id"], "title") for c in everybody(builder)))
    return first, last, f"{first}.{last}@{domain_of(builder.client)}".casefold()


@follow_up(4)
def new_phone(builder: ConversationBuilder) -> None:
    """The client has another number."""
    need(not builder.was_set(builder.client["client_id"], "phone"))
    number = another_number(builder, builder.client)
    changed = call("modify_client", client_id=builder.client["client_id"], phone=number)
    slots = {"client": plain(builder.client["name"]), "phone": plain(number)}
    builder.turn("do.new_phone", slots, calls=[changed], tags=AGAIN)


@follow_up(5)
def hand_over(builder: ConversationBuilder) -> None:
    """The deal goes to somebody else: by the manager, or by its owner (DEAL-8)."""
    deal = builder.deal
    need(is_open(deal) and (builder.by_manager or deal["owner"] == builder.speaker))
    need(not builder.was_set(deal["opportunity_id"], "owner"))
    others = [o for o in builder.org.owners[1:] if o not in (deal["owner"], builder.speaker)]
    owner = builder.rng.choice(others)
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], owner=owner)
    slots = {"owner": plain(owner)}
    builder.turn("do.hand_over", slots, calls=[changed], rules=("DEAL-8",), tags=AGAIN)
