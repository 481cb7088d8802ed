"""People of one name at different clients."""

from __future__ import annotations

from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring import ConversationBuilder, NoCandidate, call, family
from crmbench.domains.sales.authoring.follow_ups.people import TITLES, another_number
from crmbench.domains.sales.authoring.org import Row, full_name
from crmbench.domains.sales.phrases import Slot, plain

AGAIN = ("cross_turn_reference",)


def _namesakes(builder: ConversationBuilder, person: Row) -> list[Row]:
    """The others of that name; several of them at one client would not be told apart."""
    return [
        c for c in builder.org.contacts if full_name(c) == full_name(person) and c is not person
    ]


def _one_other(builder: ConversationBuilder, person: Row) -> bool:
    others = _namesakes(builder, person)
    return len(others) == 1 and others[0]["client_id"] != person["client_id"]


def look_for(person: Row) -> GoldCall:
    """A search by full name."""
    return call("contact_search", first_name=person["first_name"], last_name=person["last_name"])


@family("Contact Management", 14)
def contact_of_two_namesakes(builder: ConversationBuilder) -> None:
    """Two people of one name: the client that is said tells whose title changes; then the user asks
    about the other one.
    """
    org = builder.org
    person = builder.pick(org.contacts, lambda c: _one_other(builder, c))
    other = _namesakes(builder, person)[0]
    employer, elsewhere = org.client_of(person), org.client_of(other)
    builder.turn_to(person)
    title = builder.choose(*TITLES)
    if title in (person["title"], other["title"]):
        raise NoCandidate
    slots: dict[str, Slot] = {
        "contact": plain(full_name(person)),
        "client": plain(employer["name"]),
        "title": plain(title),
    }
    reads = (call("client_search", name=employer["name"]), look_for(person))
    changed = call("modify_contact", contact_id=person["contact_id"], title=title)
    builder.turn("contact.title_at", slots, calls=[*reads, changed], tags=("near_duplicate",))
    facts = [builder.fact("name", elsewhere["name"], "client")]
    if other["title"]:
        facts.append(builder.fact("text", other["title"], "title"))
    reads = (look_for(person), call("client_search", client_id=other["client_id"]))
    builder.turn(
        "contact.the_other_one" if other["title"] else "contact.where_the_other_one",
        {"contact": plain(full_name(person))},
        calls=reads,
        facts=facts,
        tags=(*AGAIN, "near_duplicate", "multi_hop"),
    )


@family("Contact Management", 14)
def contact_which_one(builder: ConversationBuilder) -> None:
    """The name alone fits two people: the agent must ask which one is meant (FIND-2)."""
    org = builder.org
    person = builder.pick(org.contacts, lambda c: _one_other(builder, c))
    employer = org.client_of(person)
    elsewhere = org.client_of(_namesakes(builder, person)[0])
    builder.turn_to(person)
    number = another_number(builder, person)
    slots: dict[str, Slot] = {"contact": plain(full_name(person)), "phone": plain(number)}
    changed = call("modify_contact", contact_id=person["contact_id"], phone=number)
    about = ("which", "two", "client", "company", "whom", employer["name"], elsewhere["name"])
    builder.turn(
        "contact.phone_of_whom",
        slots,
        calls=[look_for(person), call("client_search", client_id=employer["client_id"]), changed],
        rules=("FIND-2",),
        tags=("near_duplicate",),
        asks=("answer.the_one_at", {"client": plain(employer["name"])}, about),
    )
