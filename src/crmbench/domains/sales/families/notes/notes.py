"""Writing notes, and reading them with care."""

from __future__ import annotations

import re

from crmbench.authoring.derive import half_up
from crmbench.core.fact import Fact
from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    NoCandidate,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.follow_ups.refusing import PRIVATE
from crmbench.domains.sales.authoring.org import Row, full_name, is_open
from crmbench.domains.sales.authoring.relative_dates import relative_date
from crmbench.domains.sales.phrases import money, percent, plain

_AWAY = Fact(
    "text",
    "out of the office",
    "absence",
    aliases=(
        "away",
        "out of office",
        "absent",
        "not in",
        "back",
        "return",
        "returns",
        "unavailable",
    ),
)
_CLOSED = Fact(
    "text",
    "purchasing",
    "what is closed",
    aliases=("procurement", "purchases", "buying", "buy", "orders", "purchase", "purchasers"),
)
_VISIT = Fact("text", "visit", "occasion", aliases=("visits", "visiting", "visited"))

_LEAVE = re.compile(r"Discount approved: up to (\d+) %")


def _leave(builder: ConversationBuilder, deal: Row) -> int | None:
    """The percentage that the one discount approval on a deal allows."""
    found = [
        m[1]
        for note in builder.org.notes_of(deal, "opportunity_id")
        if (m := _LEAVE.search(note["content"])) and note["created_by"] == builder.org.manager
    ]
    return int(found[0]) if len(found) == 1 else None


@family("Notes & Communication", 24)
def log_call(builder: ConversationBuilder) -> None:
    """A call is logged on a contact, with what was agreed: who, how much, until when (NOTE-1)."""
    org = builder.org
    contact = builder.pick(org.contacts)
    named = references.contact(builder, contact)
    builder.turn_to(contact)
    amount = float(builder.rng.randint(20, 400) * 500)
    when = relative_date(builder, spoken=False)
    content = f"Call: they have a budget of ${amount:,.0f} and want our offer by {when.iso}."
    builder.turn(
        "note.call",
        {"contact": named.slot, "amount": money(amount), "when": when.slot},
        calls=[
            *named.reads,
            policy_actions.note(builder, "Contact", contact["contact_id"], content),
        ],
        note_facts=[builder.fact("money", amount), builder.fact("date", when.iso)],
        rules=("NOTE-1",),
        tags=named.tags,
    )


@family("Notes & Communication", 20)
def private_then_proper(builder: ConversationBuilder) -> None:
    """A note about somebody's health is refused (NOTE-2); one that only says when they are back is
    not.
    """
    contact = builder.pick(builder.org.contacts)
    named = references.contact(builder, contact)
    builder.turn_to(contact)
    builder.refused(
        "note.private",
        {"contact": named.slot},
        calls=named.reads,
        rules=("NOTE-2",),
        reasons=PRIVATE,
        tags=named.tags,
    )
    when = relative_date(builder, spoken=False)
    content = f"Out of the office until {when.iso}."
    builder.turn(
        "note.away",
        {"when": when.slot},
        calls=[policy_actions.note(builder, "Contact", contact["contact_id"], content)],
        note_facts=[_AWAY, builder.fact("date", when.iso)],
        rules=("NOTE-1",),
        tags=("cross_turn_reference",),
    )


@family("Notes & Communication", 24)
def approved_discount(builder: ConversationBuilder) -> None:
    """Up to which discount has the manager given leave, and what is the lowest amount then? The
    answer stands in a note, the base in the record.
    """
    org = builder.org
    deal = builder.pick(org.open_deals, lambda d: _leave(builder, d) is not None)
    rate = _leave(builder, deal)
    if rate is None:
        raise NoCandidate
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    floor = half_up(deal["amount"] * (100 - rate) / 100)
    notes = call("note_search", entity_id=deal["opportunity_id"])
    facts = [
        builder.fact("percent", rate, "maximum discount"),
        builder.fact("money", floor, "lowest amount"),
    ]
    builder.turn(
        "note.leave",
        {"deal": named.slot},
        calls=[*named.reads, notes],
        facts=facts,
        rules=("DISC-1", "MONEY-1"),
        tags=(*named.tags, "multi_hop", "computed_value"),
    )
    if org.client_of(deal)["status"] == "Inactive":
        return
    plan = policy_actions.new_quote(builder, deal, amount=policy_actions.under(deal, rate))
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    builder.turn(
        "note.quote_at_floor",
        calls=[quotes, *plan.calls],
        rules=(*plan.rules, "DISC-1", "MONEY-1"),
        tags=("cross_turn_reference",),
    )


@family("Notes & Communication", 18)
def note_on_every_deal(builder: ConversationBuilder) -> None:
    """A batch: the same note on each open deal of a client."""
    org = builder.org

    def few(client: Row) -> bool:
        return 2 <= sum(map(is_open, org.deals_of(client))) <= 4

    client = builder.pick(org.clients, few)
    named = references.client(builder, client)
    deals = [d for d in org.deals_of(client) if is_open(d)]
    builder.turn_to(deals[0])
    when = relative_date(builder, spoken=False)
    content = f"Their purchasing is closed until {when.iso}."
    search = call("opportunity_search", client_id=client["client_id"])
    notes = [
        policy_actions.note(builder, "Opportunity", d["opportunity_id"], content) for d in deals
    ]
    builder.turn(
        "note.every_deal",
        {"client": named.slot, "when": when.slot},
        calls=[*named.reads, search, *notes],
        note_facts=[_CLOSED, builder.fact("date", when.iso)],
        rules=("NOTE-1", "FIND-4"),
        tags=(*named.tags, "batch"),
    )
    builder.turn_to(client)


@family("Notes & Communication", 20)
def note_author_question(builder: ConversationBuilder) -> None:
    """How many notes a deal has, who wrote the first, and a further note for the record."""
    org = builder.org

    def told(deal: Row) -> bool:
        notes = org.notes_of(deal, "opportunity_id")
        times = [note["created_at"] for note in notes]
        return len(notes) >= 2 and len(set(times)) == len(times) and bool(notes[0]["created_by"])

    deal = builder.pick(org.open_deals, told)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    key = deal["opportunity_id"]
    notes = org.notes_of(deal, "opportunity_id")
    first = min(notes, key=lambda note: str(note["created_at"]))
    facts = [
        builder.fact("count", len(notes), "notes"),
        builder.fact("name", first["created_by"], "author of the first"),
        builder.fact("date", first["created_at"][:10], "date of the first"),
    ]
    builder.turn(
        "note.first_author",
        {"deal": named.slot},
        calls=[*named.reads, call("note_search", entity_id=key)],
        facts=facts,
        tags=(*named.tags, "multi_hop"),
    )
    colleague = builder.choose(*(o for o in org.owners if o != builder.speaker))
    content = f"{colleague} joins for the next visit."
    builder.turn(
        "note.colleague",
        {"colleague": plain(colleague)},
        calls=[policy_actions.note(builder, "Opportunity", key, content)],
        note_facts=[builder.fact("name", colleague), _VISIT],
        rules=("NOTE-1",),
        tags=("cross_turn_reference",),
    )


@family("Notes & Communication", 16)
def note_on_quote(builder: ConversationBuilder) -> None:
    """A note belongs on the quote that was described, not on its deal."""
    quote = builder.pick(builder.org.quotes)
    named = references.quote(builder, quote)
    builder.turn_to(quote)
    rate = builder.choose(2, 3, 4, 5)
    person = _somebody(builder)
    content = f"{full_name(person)} asks for {rate} % off for payment within 14 days."
    builder.turn(
        "note.on_quote",
        {"quote": named.slot, "rate": percent(rate), "contact": plain(full_name(person))},
        calls=[*named.reads, policy_actions.note(builder, "Quote", quote["quote_id"], content)],
        note_facts=[builder.fact("percent", rate), builder.fact("name", full_name(person))],
        rules=("NOTE-1",),
        tags=named.tags,
    )


def _somebody(builder: ConversationBuilder) -> Row:
    people = builder.org.contacts_of(builder.client)
    if not people:
        raise NoCandidate
    return builder.rng.choice(people)
