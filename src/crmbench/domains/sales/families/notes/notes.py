"""Writing notes, and reading them with care."""

from __future__ import annotations

import re

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.phrases import money, percent, plain
from crmbench.domains.sales.talk import NoFit, Talk, call, describe, family, house
from crmbench.domains.sales.talk.org import Row, full_name, is_open
from crmbench.domains.sales.talk.relative import relative_date

_LEAVE = re.compile(r"Discount approved: up to (\d+) %")


def _leave(talk: Talk, deal: Row) -> int | None:
    """The percentage that the one discount approval on a deal allows."""
    found = [
        m[1]
        for note in talk.org.notes_of(deal, "opportunity_id")
        if (m := _LEAVE.search(note["content"])) and note["created_by"] == talk.org.manager
    ]
    return int(found[0]) if len(found) == 1 else None


@family("Notes & Communication", 24)
def log_call(talk: Talk) -> None:
    """A call is logged on a contact, with what was agreed: who, how much, until when (NOTE-1)."""
    org = talk.org
    contact = talk.pick(org.contacts)
    named = describe.contact(talk, contact)
    talk.turn_to(contact)
    amount = float(talk.rng.randint(20, 400) * 500)
    when = relative_date(talk, spoken=False)
    content = f"Call: they have a budget of ${amount:,.0f} and want our offer by {when.iso}."
    talk.turn(
        "note.call",
        {"contact": named.slot, "amount": money(amount), "when": when.slot},
        calls=[*named.reads, house.note(talk, "Contact", contact["contact_id"], content)],
        note_facts=[talk.fact("money", amount), talk.fact("date", when.iso)],
        rules=("NOTE-1",),
        tags=named.tags,
    )


@family("Notes & Communication", 20)
def private_then_proper(talk: Talk) -> None:
    """A note about somebody's health is refused (NOTE-2); one that only says when they are back is
    not.
    """
    contact = talk.pick(talk.org.contacts)
    named = describe.contact(talk, contact)
    talk.turn_to(contact)
    talk.refused(
        "note.private",
        {"contact": named.slot},
        calls=named.reads,
        rules=("NOTE-2",),
        reasons=(
            "health",
            "medical",
            "private",
            "personal",
            "sensitive",
            "family",
            "religio",
            "policy",
            "rule",
        ),
        tags=named.tags,
    )
    when = relative_date(talk, spoken=False)
    content = f"Out of the office until {when.iso}."
    talk.turn(
        "note.away",
        {"when": when.slot},
        calls=[house.note(talk, "Contact", contact["contact_id"], content)],
        note_facts=[talk.fact("date", when.iso)],
        rules=("NOTE-1",),
        tags=("cross_turn_reference",),
    )


@family("Notes & Communication", 24)
def approved_discount(talk: Talk) -> None:
    """Up to which discount has the manager given leave, and what is the lowest amount then? The
    answer stands in a note, the base in the record.
    """
    org = talk.org
    deal = talk.pick(org.open_deals, lambda d: _leave(talk, d) is not None)
    rate = _leave(talk, deal)
    if rate is None:
        raise NoFit
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    floor = half_up(deal["amount"] * (100 - rate) / 100)
    notes = call("note_search", entity_id=deal["opportunity_id"])
    facts = [
        talk.fact("percent", rate, "approved discount"),
        talk.fact("money", floor, "lowest amount"),
    ]
    talk.turn(
        "note.leave",
        {"deal": named.slot},
        calls=[*named.reads, notes],
        facts=facts,
        rules=("DISC-1", "MONEY-1"),
        tags=(*named.tags, "multi_hop", "computed_value"),
    )
    if org.client_of(deal)["status"] == "Inactive":
        return
    plan = house.new_quote(talk, deal, amount=house.under(deal, rate))
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    talk.turn(
        "note.quote_at_floor",
        calls=[quotes, *plan.calls],
        rules=(*plan.rules, "DISC-1", "MONEY-1"),
        tags=("cross_turn_reference",),
    )


@family("Notes & Communication", 18)
def note_on_every_deal(talk: Talk) -> None:
    """A batch: the same note on each open deal of a client."""
    org = talk.org

    def few(client: Row) -> bool:
        return 2 <= sum(map(is_open, org.deals_of(client))) <= 4

    client = talk.pick(org.clients, few)
    named = describe.client(talk, client)
    deals = [d for d in org.deals_of(client) if is_open(d)]
    talk.turn_to(deals[0])
    when = relative_date(talk, spoken=False)
    content = f"Their purchasing is closed until {when.iso}."
    search = call("opportunity_search", client_id=client["client_id"])
    notes = [house.note(talk, "Opportunity", d["opportunity_id"], content) for d in deals]
    talk.turn(
        "note.every_deal",
        {"client": named.slot, "when": when.slot},
        calls=[*named.reads, search, *notes],
        note_facts=[talk.fact("date", when.iso)],
        rules=("NOTE-1", "FIND-4"),
        tags=(*named.tags, "batch"),
    )
    talk.turn_to(client)


@family("Notes & Communication", 20)
def note_author_question(talk: Talk) -> None:
    """How many notes a deal has, who wrote the first, and a further note for the record."""
    org = talk.org

    def told(deal: Row) -> bool:
        notes = org.notes_of(deal, "opportunity_id")
        times = [note["created_at"] for note in notes]
        return len(notes) >= 2 and len(set(times)) == len(times) and bool(notes[0]["created_by"])

    deal = talk.pick(org.open_deals, told)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    key = deal["opportunity_id"]
    notes = org.notes_of(deal, "opportunity_id")
    first = min(notes, key=lambda note: str(note["created_at"]))
    facts = [
        talk.fact("count", len(notes), "notes"),
        talk.fact("name", first["created_by"], "author of the first"),
        talk.fact("date", first["created_at"][:10], "date of the first"),
    ]
    talk.turn(
        "note.first_author",
        {"deal": named.slot},
        calls=[*named.reads, call("note_search", entity_id=key)],
        facts=facts,
        tags=(*named.tags, "multi_hop"),
    )
    colleague = talk.choose(*(o for o in org.owners if o != talk.speaker))
    content = f"{colleague} joins for the next visit."
    talk.turn(
        "note.colleague",
        {"colleague": plain(colleague)},
        calls=[house.note(talk, "Opportunity", key, content)],
        note_facts=[talk.fact("name", colleague)],
        rules=("NOTE-1",),
        tags=("cross_turn_reference",),
    )


@family("Notes & Communication", 16)
def note_on_quote(talk: Talk) -> None:
    """A note belongs on the quote that was described, not on its deal."""
    quote = talk.pick(talk.org.quotes)
    named = describe.quote(talk, quote)
    talk.turn_to(quote)
    rate = talk.choose(2, 3, 4, 5)
    person = _somebody(talk)
    content = f"{full_name(person)} asks for {rate} % off for payment within 14 days."
    talk.turn(
        "note.on_quote",
        {"quote": named.slot, "rate": percent(rate), "contact": plain(full_name(person))},
        calls=[*named.reads, house.note(talk, "Quote", quote["quote_id"], content)],
        note_facts=[talk.fact("percent", rate), talk.fact("name", full_name(person))],
        rules=("NOTE-1",),
        tags=named.tags,
    )


def _somebody(talk: Talk) -> Row:
    people = talk.org.contacts_of(talk.client)
    if not people:
        raise NoFit
    return talk.rng.choice(people)
