"""Details that are not told, and addresses that are not at the client."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    NoCandidate,
    call,
    family,
    references,
)
from crmbench.domains.sales.authoring.follow_ups.people import TITLES, domain_of, may_be_told
from crmbench.domains.sales.authoring.org import Row, full_name
from crmbench.domains.sales.phrases import plain

AGAIN = ("cross_turn_reference",)
REASONS = (
    "share",
    "CONTACT-1",
    "confidential",
    "privacy",
    "private",
    "note",
    "disclos",
    "pass on",
    "give out",
    "policy",
    "rule",
    "not allowed to tell",
)


@family("Contact Management", 12)
def contact_private(builder: ConversationBuilder) -> None:
    """A contact whose notes say "do not share": the title may be told, the number and the address
    may not (CONTACT-1); a new title may be entered.
    """
    org = builder.org
    person = builder.pick(
        org.contacts,
        lambda c: not may_be_told(c) and bool(c["title"]) and bool(c["email"] or c["phone"]),
    )
    employer = org.client_of(person)
    if sum(full_name(c) == full_name(person) for c in org.contacts_of(employer)) > 1:
        raise NoCandidate
    builder.turn_to(person)
    hidden = [
        builder.fact("text", person[field], field) for field in ("email", "phone") if person[field]
    ]
    builder.turn(
        "contact.what_title",
        {"contact": plain(full_name(person)), "client": plain(employer["name"])},
        calls=[
            call("client_search", name=employer["name"]),
            call("contact_search", client_id=employer["client_id"]),
        ],
        facts=[builder.fact("text", person["title"], "title")],
        forbidden=hidden,
    )
    builder.memory.setdefault("follow_ups", set()).add("private_address")
    builder.refused(
        "contact.how_to_reach_them",
        calls=[call("contact_search", contact_id=person["contact_id"])],
        rules=("CONTACT-1",),
        reasons=REASONS,
        forbidden=hidden,
        tags=AGAIN,
    )
    title = builder.choose(*TITLES)
    if title != person["title"] and builder.rng.random() < 0.6:
        changed = call("modify_contact", contact_id=person["contact_id"], title=title)
        builder.turn("contact.title_then", {"title": plain(title)}, calls=[changed], tags=AGAIN)


@family("Contact Management", 12)
def contact_foreign_domain(builder: ConversationBuilder) -> None:
    """An address that is not at the client's own domain is refused (CONTACT-2); the one at the
    client's domain that follows is entered.
    """
    org = builder.org

    def plain_name(person: Row) -> bool:
        return full_name(person).replace(" ", "").isascii() and bool(
            domain_of(org.client_of(person))
        )

    person = builder.pick(org.contacts, plain_name)
    first, last = str(person["first_name"]).casefold(), str(person["last_name"]).casefold()
    last = "".join(c for c in last if c.isalnum())
    domain = domain_of(org.client_of(person))
    right = f"{first[0]}.{last}@{domain}"
    if right == person["email"]:
        right = f"{last}@{domain}"
    named = references.contact(builder, person)
    builder.turn_to(person)
    wrong = (
        f"{first}.{last}@{builder.choose('mailbox.example', 'postfach.example', 'inbox.example')}"
    )
    builder.memory.setdefault("follow_ups", set()).add("other_domain")
    builder.refused(
        "contact.new_email",
        {"contact": named.slot, "email": plain(wrong)},
        calls=[*named.reads, call("client_search", client_id=person["client_id"])],
        rules=("CONTACT-2",),
        reasons=("domain", "company address", "own address", "work address", "CONTACT-2", domain),
        tags=named.tags,
    )
    changed = call("modify_contact", contact_id=person["contact_id"], email=right)
    builder.turn(
        "contact.right_email",
        {"email": plain(right)},
        calls=[changed],
        rules=("CONTACT-2",),
        tags=(*AGAIN, "correction"),
    )
