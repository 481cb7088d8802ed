"""Contacts' numbers."""

from __future__ import annotations

from crmbench.domains.sales.authoring import ConversationBuilder, call, family, references
from crmbench.domains.sales.authoring.follow_ups.people import another_number, may_be_told
from crmbench.domains.sales.phrases import plain

AGAIN = ("cross_turn_reference",)


@family("Contact Management", 10)
def contact_phone_undo(builder: ConversationBuilder) -> None:
    """A contact's number changes and the change is taken back (DO-2); which number is there now is
    asked afterwards.
    """
    person = builder.pick(builder.org.contacts, lambda c: bool(c["phone"]) and may_be_told(c))
    named = references.contact(builder, person)
    builder.turn_to(person)
    key, number = person["contact_id"], another_number(builder, person)
    builder.turn(
        "contact.new_phone",
        {"contact": named.slot, "phone": plain(number)},
        calls=[*named.reads, call("modify_contact", contact_id=key, phone=number)],
        tags=named.tags,
    )
    back = call("modify_contact", contact_id=key, phone=person["phone"])
    builder.turn("contact.phone_back", calls=[back], rules=("DO-2",), tags=(*AGAIN, "undo"))
    builder.turn(
        "contact.which_phone_now",
        calls=[call("contact_search", contact_id=key)],
        facts=[builder.fact("text", person["phone"], "phone")],
        tags=(*AGAIN, "about_change"),
    )
