"""Who works at a client, and as what."""

from __future__ import annotations

from crmbench.domains.sales.authoring import ConversationBuilder, call, family, references
from crmbench.domains.sales.authoring.follow_ups.people import TITLES, another_number, may_be_told
from crmbench.domains.sales.authoring.org import Row, full_name
from crmbench.domains.sales.phrases import Slot, plain

AGAIN = ("cross_turn_reference",)


@family("Contact Management", 14)
def contact_by_deal(builder: ConversationBuilder) -> None:
    """From a deal that is described to its client, and to the person there who holds a title: the
    name and the address are told, and the number changes.
    """
    org = builder.org

    def known(deal: Row) -> list[Row]:
        staff = org.contacts_of(org.client_of(deal))
        titles = [c["title"] for c in staff]
        return [
            c
            for c in staff
            if c["title"] and titles.count(c["title"]) == 1 and c["email"] and may_be_told(c)
        ]

    deal = builder.pick(
        org.deals, lambda d: bool(known(d)) and len(org.contacts_of(org.client_of(d))) >= 2
    )
    person = builder.choose(*known(deal))
    named = references.deal(builder, deal, ("contact",))
    builder.turn_to({**deal, "contact_id": person["contact_id"]})
    staff = call("contact_search", client_id=deal["client_id"])
    facts = [
        builder.fact("name", full_name(person), person["title"]),
        builder.fact("text", person["email"], "e-mail"),
    ]
    builder.turn(
        "contact.by_deal",
        {"deal": named.slot, "title": plain(person["title"])},
        calls=[*named.reads, staff],
        facts=facts,
        rules=("FIND-2",),
        tags=(*named.tags, "multi_hop", "by_description"),
    )
    if builder.rng.random() < 0.6:
        number = another_number(builder, person)
        changed = call("modify_contact", contact_id=person["contact_id"], phone=number)
        builder.turn("contact.their_number", {"phone": plain(number)}, calls=[changed], tags=AGAIN)


@family("Contact Management", 10)
def contact_count_and_titles(builder: ConversationBuilder) -> None:
    """How many contacts a client has, and who they are; then the title of one of them, who is named
    by the title held so far, changes.
    """
    org = builder.org

    def several(client: Row) -> bool:
        names = [full_name(c) for c in org.contacts_of(client)]
        return 2 <= len(names) <= 6 and len(set(names)) == len(names)

    client = builder.pick(org.clients, several)
    named = references.client(builder, client)
    builder.turn_to(client)
    staff = org.contacts_of(client)
    look = call("contact_search", client_id=client["client_id"])
    names = tuple(full_name(c) for c in staff)
    facts = [
        builder.fact("count", len(staff), "contacts"),
        builder.fact("list", names, "contacts"),
    ]
    builder.memory.setdefault("follow_ups", set()).add("people_there")
    builder.turn(
        "contact.count_and_names",
        {"client": named.slot},
        calls=[*named.reads, look],
        facts=facts,
        tags=named.tags,
    )
    titles = [c["title"] for c in staff]
    single = [c for c in staff if c["title"] and titles.count(c["title"]) == 1]
    free = [t for t in TITLES if t not in titles]
    if single and free:
        person, title = builder.choose(*single), builder.choose(*free)
        builder.turn_to(person)
        changed = call("modify_contact", contact_id=person["contact_id"], title=title)
        slots: dict[str, Slot] = {"old": plain(person["title"]), "title": plain(title)}
        tags = (*AGAIN, "by_description")
        builder.turn("contact.title_by_title", slots, calls=[look, changed], tags=tags)
