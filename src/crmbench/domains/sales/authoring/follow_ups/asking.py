"""Questions about what is being discussed."""

from __future__ import annotations

from datetime import date

from crmbench.authoring.calls import call
from crmbench.authoring.derive import half_up
from crmbench.authoring.family import NoCandidate
from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring.builder import ConversationBuilder
from crmbench.domains.sales.authoring.follow_ups.registry import QUOTE_STATES, STAGES, follow_up
from crmbench.domains.sales.authoring.org import Row, full_name, is_open, version_of
from crmbench.domains.sales.phrases import plain

AGAIN = ("cross_turn_reference",)


def need(condition: object) -> None:
    """Stop a follow-up that does not fit.

    Raises:
        NoCandidate: The condition does not hold.
    """
    if not condition:
        raise NoCandidate


def look(builder: ConversationBuilder) -> GoldCall:
    """A look at the deal."""
    return call("opportunity_details", opportunity_id=builder.deal["opportunity_id"])


def quotes_of(builder: ConversationBuilder) -> list[Row]:
    """The deal's quotes as they stand."""
    return builder.find("Quote", "opportunity_id", builder.deal["opportunity_id"])


def look_at_quotes(builder: ConversationBuilder) -> GoldCall:
    """The look-up of the deal's quotes."""
    return call("quote_search", opportunity_id=builder.deal["opportunity_id"])


def touched(builder: ConversationBuilder) -> tuple[str, ...]:
    """The tags of a question about the deal: whether the turn before has changed it."""
    return AGAIN if builder.last_change is None else (*AGAIN, "about_change")


def unchanged() -> tuple[Row, Row]:
    """For a turn that has changed nothing: the follow-up does not fit.

    Raises:
        NoCandidate: Always.
    """
    raise NoCandidate


@follow_up(7)
def amount_and_close(builder: ConversationBuilder) -> None:
    """What is it worth and when does it close?"""
    deal = builder.deal
    need(is_open(deal) and deal["close_date"])
    facts = [
        builder.fact("money", deal["amount"], "amount"),
        builder.fact("date", deal["close_date"], "close date"),
    ]
    builder.turn("ask.amount_and_close", calls=[look(builder)], facts=facts, tags=touched(builder))


@follow_up(6)
def owner_and_stage(builder: ConversationBuilder) -> None:
    """Who has it, and where does it stand?"""
    deal = builder.deal
    need(deal["owner"])
    facts = [
        builder.fact("name", deal["owner"], "owner"),
        builder.fact("choice", deal["stage"], "stage", options=STAGES),
    ]
    builder.turn("ask.owner_and_stage", calls=[look(builder)], facts=facts, tags=touched(builder))


@follow_up(5)
def weighted(builder: ConversationBuilder) -> None:
    """Amount times probability."""
    deal = builder.deal
    need(is_open(deal) and deal["probability"])
    value = half_up(deal["amount"] * deal["probability"] / 100)
    facts = [builder.fact("money", value, "weighted value")]
    tags = (*touched(builder), "computed_value")
    builder.turn("ask.weighted", calls=[look(builder)], facts=facts, rules=("MONEY-1",), tags=tags)


@follow_up(5)
def days_left(builder: ConversationBuilder) -> None:
    """How many days until it closes?"""
    deal = builder.deal
    need(is_open(deal) and deal["close_date"])
    left = (date.fromisoformat(deal["close_date"]) - builder.org.today).days
    need(left > 12)
    facts = [builder.fact("number", left, "days left", unit="days")]
    tags = (*touched(builder), "computed_value")
    builder.turn("ask.days_left", calls=[look(builder)], facts=facts, tags=tags)


@follow_up(5)
def quotes_so_far(builder: ConversationBuilder) -> None:
    """How many quotes, and which is the highest?"""
    quotes = quotes_of(builder)
    need(len(quotes) >= 2)
    facts = [
        builder.fact("count", len(quotes), "quotes"),
        builder.fact("money", max(q["amount"] for q in quotes), "highest quote"),
    ]
    builder.turn("ask.quotes_so_far", calls=[look_at_quotes(builder)], facts=facts, tags=AGAIN)


@follow_up(6)
def latest_quote(builder: ConversationBuilder) -> None:
    """What became of the latest quote, and how long is it good for?"""
    quotes = quotes_of(builder)
    need(quotes)
    latest = max(quotes, key=version_of)
    need(latest["valid_until"] and version_of(latest))
    facts = [
        builder.fact("choice", latest["status"], "status", options=QUOTE_STATES),
        builder.fact("date", latest["valid_until"], "valid until"),
    ]
    builder.turn(
        "ask.latest_quote",
        calls=[look_at_quotes(builder)],
        facts=facts,
        rules=("FIND-4",),
        tags=AGAIN,
    )


@follow_up(5)
def quote_gap(builder: ConversationBuilder) -> None:
    """How far is the latest quote from the deal's amount?"""
    deal, quotes = builder.deal, quotes_of(builder)
    need(quotes)
    latest = max(quotes, key=version_of)
    gap = abs(deal["amount"] - latest["amount"])
    need(gap >= 100 and version_of(latest))
    builder.turn(
        "ask.quote_gap",
        calls=[look(builder), look_at_quotes(builder)],
        facts=[builder.fact("money", gap, "difference")],
        rules=("FIND-4",),
        tags=(*AGAIN, "computed_value"),
    )


def _open_of_client(builder: ConversationBuilder) -> list[Row]:
    deals = builder.find("Opportunity", "client_id", builder.client["client_id"])
    return [deal for deal in deals if is_open(deal)]


@follow_up(5)
def open_total(builder: ConversationBuilder) -> None:
    """How much is open with the client?"""
    deals = _open_of_client(builder)
    need(len(deals) >= 2)
    client = builder.client
    facts = [
        builder.fact("count", len(deals), "open deals"),
        builder.fact("money", sum(d["amount"] for d in deals), "total"),
    ]
    builder.turn(
        "ask.open_total",
        {"client": plain(builder.client["name"])},
        calls=[call("opportunity_search", client_id=builder.client["client_id"])],
        facts=facts,
        rules=("FIND-4",),
        tags=(*AGAIN, "computed_value"),
    )
    # With several deals on the table, "the deal" says nothing any more.
    builder.turn_to(client)


@follow_up(4)
def open_list(builder: ConversationBuilder) -> None:
    """Which deals are open with the client? Closed ones may not be listed."""
    every = builder.find("Opportunity", "client_id", builder.client["client_id"])
    still = [deal["name"] for deal in every if is_open(deal)]
    need(2 <= len(still) <= 6 and len({d["name"] for d in every}) == len(every))
    need(not any(a != b and a in b for a in still for b in still))
    fact = builder.fact(
        "list", tuple(still), "open deals", options=tuple(d["name"] for d in every), only=True
    )
    client = builder.client
    builder.turn(
        "ask.open_list",
        {"client": plain(builder.client["name"])},
        calls=[call("opportunity_search", client_id=builder.client["client_id"])],
        facts=[fact],
        rules=("FIND-4",),
        tags=AGAIN,
    )
    builder.turn_to(client)


@follow_up(8)
def what_was_before(builder: ConversationBuilder) -> None:
    """What did it say before that change?"""
    before, after = builder.last_change or unchanged()
    kinds = {"amount": "money", "close_date": "date"}
    changed = [name for name in kinds if before[name] and before[name] != after[name]]
    need(len(changed) == 1)
    name = changed[0]
    label = name.replace("_", " ")
    builder.turn(
        "ask.what_was_before",
        {"field": plain(label)},
        facts=[builder.fact(kinds[name], before[name], f"previous {label}")],
        tags=(*AGAIN, "about_change"),
    )


@follow_up(4)
def people_there(builder: ConversationBuilder) -> None:
    """Whom do we know at the client?"""
    contacts = builder.find("Contact", "client_id", builder.client["client_id"])
    need(2 <= len(contacts) <= 5)
    fact = builder.fact("list", tuple(map(full_name, contacts)), "contacts")
    builder.turn(
        "ask.people_there",
        {"client": plain(builder.client["name"])},
        calls=[call("contact_search", client_id=builder.client["client_id"])],
        facts=[fact],
        tags=AGAIN,
    )


@follow_up(4)
def contract_terms(builder: ConversationBuilder) -> None:
    """What is the client's contract worth, and until when does it run?"""
    contracts = builder.find("Contract", "client_id", builder.client["client_id"])
    need(len(contracts) == 1 and contracts[0]["end_date"] and contracts[0]["value"])
    need(contracts[0]["end_date"] >= builder.today)
    facts = [
        builder.fact("money", contracts[0]["value"], "contract value"),
        builder.fact("date", contracts[0]["end_date"], "end date"),
    ]
    builder.turn(
        "ask.contract_terms",
        {"client": plain(builder.client["name"])},
        calls=[call("contract_search", client_id=builder.client["client_id"])],
        facts=facts,
        tags=AGAIN,
    )


@follow_up(4)
def files_there(builder: ConversationBuilder) -> None:
    """Which files hang on the deal?"""
    found = builder.find("Document", "entity_id", builder.deal["opportunity_id"])
    need(1 <= len(found) <= 4)
    fact = builder.fact("list", tuple(d["file_name"] for d in found), "files", item="text")
    search = call("document_search", entity_id=builder.deal["opportunity_id"])
    builder.turn("ask.files_there", calls=[search], facts=[fact], tags=AGAIN)


@follow_up(4)
def last_note(builder: ConversationBuilder) -> None:
    """Who wrote the last note on the deal, and when?"""
    notes = builder.find("Note", "entity_id", builder.deal["opportunity_id"])
    need(notes)
    latest = max(notes, key=lambda note: str(note["created_at"]))
    times = [note["created_at"] for note in notes]
    need(latest["created_by"] and times.count(latest["created_at"]) == 1)
    facts = [
        builder.fact("name", latest["created_by"], "author"),
        builder.fact("date", latest["created_at"][:10], "date of the note"),
    ]
    search = call("note_search", entity_id=builder.deal["opportunity_id"])
    builder.turn("ask.last_note", calls=[search], facts=facts, tags=AGAIN)


@follow_up(4)
def client_details(builder: ConversationBuilder) -> None:
    """What is the client's number and who looks after it?"""
    client = builder.client
    need(client["phone"] and client["owner"])
    facts = [
        builder.fact("text", client["phone"], "phone"),
        builder.fact("name", client["owner"], "owner"),
    ]
    search = call("client_search", client_id=client["client_id"])
    slots = {"client": plain(client["name"])}
    builder.turn("ask.client_details", slots, calls=[search], facts=facts, tags=AGAIN)
