"""Contacts that go to work for another client."""

from __future__ import annotations

from crmbench.domains.sales.authoring import ConversationBuilder, NoCandidate, call, family
from crmbench.domains.sales.authoring.follow_ups.people import TITLES, domain_of
from crmbench.domains.sales.authoring.org import Row, full_name
from crmbench.domains.sales.phrases import Slot, plain

AGAIN = ("cross_turn_reference",)


def _mailbox(person: Row) -> str:
    """What stands before the @: first and last name, in plain letters."""
    name = f"{person['first_name']}.{person['last_name']}".casefold()
    return "".join(c for c in name if c.isalnum() or c == ".")


@family("Contact Management", 14)
def contact_changes_job(builder: ConversationBuilder) -> None:
    """A contact goes to work for another client: the record moves there with a new title and an
    address at that client's domain; then the user asks who is left at the old one.
    """
    org = builder.org

    def fits(person: Row) -> bool:
        staff = org.contacts_of(org.client_of(person))
        alone = org.contact_names[full_name(person)] == 1
        return alone and _mailbox(person).isascii() and 2 <= len(staff) <= 6

    person = builder.pick(org.contacts, fits)
    old = org.client_of(person)
    new = builder.pick(
        org.clients, lambda c: c["client_id"] != old["client_id"] and c["status"] != "Inactive"
    )
    if sum(str(new["name"]).casefold() in str(c["name"]).casefold() for c in org.clients) > 1:
        raise NoCandidate
    title = builder.choose(*[t for t in TITLES if t != person["title"]])
    address = f"{_mailbox(person)}@{domain_of(new)}"
    builder.turn_to(new)
    slots: dict[str, Slot] = {
        "contact": plain(full_name(person)),
        "client": plain(old["name"]),
        "new": plain(new["name"]),
        "title": plain(title),
        "email": plain(address),
    }
    changed = call(
        "modify_contact",
        contact_id=person["contact_id"],
        client_id=new["client_id"],
        title=title,
        email=address,
    )
    reads = (
        call("client_search", name=old["name"]),
        call("contact_search", client_id=old["client_id"]),
        call("client_search", name=new["name"]),
    )
    builder.turn(
        "contact.changes_job",
        slots,
        calls=[*reads, changed],
        rules=("CONTACT-2",),
        tags=("multi_hop",),
    )
    builder.turn_to(person)
    builder.turn_to(old)
    left = tuple(full_name(c) for c in org.contacts_of(old) if c is not person)
    builder.memory.setdefault("follow_ups", set()).add("people_there")
    builder.turn(
        "contact.who_is_left",
        {"client": plain(old["name"])},
        calls=[call("contact_search", client_id=old["client_id"])],
        facts=[
            builder.fact("count", len(left), "contacts"),
            builder.fact("list", left, "contacts left"),
        ],
        tags=(*AGAIN, "about_change"),
    )
