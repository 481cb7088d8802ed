"""Questions about what is being discussed."""

from __future__ import annotations

from datetime import date

from crmbench.authoring.derive import half_up
from crmbench.core.task import GoldCall
from crmbench.domains.sales.phrases import plain
from crmbench.domains.sales.talk.moves.registry import QUOTE_STATES, STAGES, move
from crmbench.domains.sales.talk.org import Row, full_name, is_open, version_of
from crmbench.domains.sales.talk.talk import NoFit, Talk, call

AGAIN = ("cross_turn_reference",)


def need(condition: object) -> None:
    """Stop a move that does not fit.

    Raises:
        NoFit: The condition does not hold.
    """
    if not condition:
        raise NoFit


def look(talk: Talk) -> GoldCall:
    """A look at the deal."""
    return call("opportunity_details", opportunity_id=talk.deal["opportunity_id"])


def quotes_of(talk: Talk) -> list[Row]:
    """The deal's quotes as they stand."""
    return talk.find("Quote", "opportunity_id", talk.deal["opportunity_id"])


def look_at_quotes(talk: Talk) -> GoldCall:
    return call("quote_search", opportunity_id=talk.deal["opportunity_id"])


def touched(talk: Talk) -> tuple[str, ...]:
    """The tags of a question about the deal: whether the turn before has changed it."""
    return AGAIN if talk.last_change is None else (*AGAIN, "about_change")


def unchanged() -> tuple[Row, Row]:
    raise NoFit


@move(7)
def amount_and_close(talk: Talk) -> None:
    """What is it worth and when does it close?"""
    deal = talk.deal
    need(is_open(deal) and deal["close_date"])
    facts = [
        talk.fact("money", deal["amount"], "amount"),
        talk.fact("date", deal["close_date"], "close date"),
    ]
    talk.turn("ask.amount_and_close", calls=[look(talk)], facts=facts, tags=touched(talk))


@move(6)
def owner_and_stage(talk: Talk) -> None:
    """Who has it, and where does it stand?"""
    deal = talk.deal
    need(deal["owner"])
    facts = [
        talk.fact("name", deal["owner"], "owner"),
        talk.fact("choice", deal["stage"], "stage", options=STAGES),
    ]
    talk.turn("ask.owner_and_stage", calls=[look(talk)], facts=facts, tags=touched(talk))


@move(5)
def weighted(talk: Talk) -> None:
    """Amount times probability."""
    deal = talk.deal
    need(is_open(deal) and deal["probability"])
    value = half_up(deal["amount"] * deal["probability"] / 100)
    facts = [talk.fact("money", value, "weighted value")]
    tags = (*touched(talk), "computed_value")
    talk.turn("ask.weighted", calls=[look(talk)], facts=facts, rules=("MONEY-1",), tags=tags)


@move(5)
def days_left(talk: Talk) -> None:
    """How many days until it closes?"""
    deal = talk.deal
    need(is_open(deal) and deal["close_date"])
    left = (date.fromisoformat(deal["close_date"]) - talk.org.today).days
    need(left > 12)
    facts = [talk.fact("number", left, "days left", unit="days")]
    tags = (*touched(talk), "computed_value")
    talk.turn("ask.days_left", calls=[look(talk)], facts=facts, tags=tags)


@move(5)
def quotes_so_far(talk: Talk) -> None:
    """How many quotes, and which is the highest?"""
    quotes = quotes_of(talk)
    need(len(quotes) >= 2)
    facts = [
        talk.fact("count", len(quotes), "quotes"),
        talk.fact("money", max(q["amount"] for q in quotes), "highest quote"),
    ]
    talk.turn("ask.quotes_so_far", calls=[look_at_quotes(talk)], facts=facts, tags=AGAIN)


@move(6)
def latest_quote(talk: Talk) -> None:
    """What became of the latest quote, and how long is it good for?"""
    quotes = quotes_of(talk)
    need(quotes)
    latest = max(quotes, key=version_of)
    need(latest["valid_until"] and version_of(latest))
    facts = [
        talk.fact("choice", latest["status"], "status", options=QUOTE_STATES),
        talk.fact("date", latest["valid_until"], "valid until"),
    ]
    talk.turn(
        "ask.latest_quote", calls=[look_at_quotes(talk)], facts=facts, rules=("FIND-4",), tags=AGAIN
    )


@move(5)
def quote_gap(talk: Talk) -> None:
    """How far is the latest quote from the deal's amount?"""
    deal, quotes = talk.deal, quotes_of(talk)
    need(quotes)
    latest = max(quotes, key=version_of)
    gap = abs(deal["amount"] - latest["amount"])
    need(gap >= 100 and version_of(latest))
    talk.turn(
        "ask.quote_gap",
        calls=[look(talk), look_at_quotes(talk)],
        facts=[talk.fact("money", gap, "difference")],
        rules=("FIND-4",),
        tags=(*AGAIN, "computed_value"),
    )


def _open_of_client(talk: Talk) -> list[Row]:
    deals = talk.find("Opportunity", "client_id", talk.client["client_id"])
    return [deal for deal in deals if is_open(deal)]


@move(5)
def open_total(talk: Talk) -> None:
    """How much is open with the client?"""
    deals = _open_of_client(talk)
    need(len(deals) >= 2)
    client = talk.client
    facts = [
        talk.fact("count", len(deals), "open deals"),
        talk.fact("money", sum(d["amount"] for d in deals), "total"),
    ]
    talk.turn(
        "ask.open_total",
        {"client": plain(talk.client["name"])},
        calls=[call("opportunity_search", client_id=talk.client["client_id"])],
        facts=facts,
        rules=("FIND-4",),
        tags=(*AGAIN, "computed_value"),
    )
    # With several deals on the table, "the deal" says nothing any more.
    talk.turn_to(client)


@move(4)
def open_list(talk: Talk) -> None:
    """Which deals are open with the client? Closed ones may not be listed."""
    every = talk.find("Opportunity", "client_id", talk.client["client_id"])
    still = [deal["name"] for deal in every if is_open(deal)]
    need(2 <= len(still) <= 6 and len({d["name"] for d in every}) == len(every))
    need(not any(a != b and a in b for a in still for b in still))
    fact = talk.fact(
        "list", tuple(still), "open deals", options=tuple(d["name"] for d in every), only=True
    )
    client = talk.client
    talk.turn(
        "ask.open_list",
        {"client": plain(talk.client["name"])},
        calls=[call("opportunity_search", client_id=talk.client["client_id"])],
        facts=[fact],
        rules=("FIND-4",),
        tags=AGAIN,
    )
    talk.turn_to(client)


@move(8)
def what_was_before(talk: Talk) -> None:
    """What did it say before that change?"""
    before, after = talk.last_change or unchanged()
    kinds = {"amount": "money", "close_date": "date"}
    changed = [name for name in kinds if before[name] and before[name] != after[name]]
    need(len(changed) == 1)
    name = changed[0]
    label = name.replace("_", " ")
    talk.turn(
        "ask.what_was_before",
        {"field": plain(label)},
        facts=[talk.fact(kinds[name], before[name], f"previous {label}")],
        tags=(*AGAIN, "about_change"),
    )


@move(4)
def people_there(talk: Talk) -> None:
    """Whom do we know at the client?"""
    contacts = talk.find("Contact", "client_id", talk.client["client_id"])
    need(2 <= len(contacts) <= 5)
    fact = talk.fact("list", tuple(map(full_name, contacts)), "contacts")
    talk.turn(
        "ask.people_there",
        {"client": plain(talk.client["name"])},
        calls=[call("contact_search", client_id=talk.client["client_id"])],
        facts=[fact],
        tags=AGAIN,
    )


@move(4)
def contract_terms(talk: Talk) -> None:
    """What is the client's contract worth, and until when does it run?"""
    contracts = talk.find("Contract", "client_id", talk.client["client_id"])
    need(len(contracts) == 1 and contracts[0]["end_date"] and contracts[0]["value"])
    need(contracts[0]["end_date"] >= talk.today)
    facts = [
        talk.fact("money", contracts[0]["value"], "contract value"),
        talk.fact("date", contracts[0]["end_date"], "end date"),
    ]
    talk.turn(
        "ask.contract_terms",
        {"client": plain(talk.client["name"])},
        calls=[call("contract_search", client_id=talk.client["client_id"])],
        facts=facts,
        tags=AGAIN,
    )


@move(4)
def files_there(talk: Talk) -> None:
    """Which files hang on the deal?"""
    found = talk.find("Document", "entity_id", talk.deal["opportunity_id"])
    need(1 <= len(found) <= 4)
    fact = talk.fact("list", tuple(d["file_name"] for d in found), "files", item="text")
    search = call("document_search", entity_id=talk.deal["opportunity_id"])
    talk.turn("ask.files_there", calls=[search], facts=[fact], tags=AGAIN)


@move(4)
def last_note(talk: Talk) -> None:
    """Who wrote the last note on the deal, and when?"""
    notes = talk.find("Note", "entity_id", talk.deal["opportunity_id"])
    need(notes)
    latest = max(notes, key=lambda note: str(note["created_at"]))
    times = [note["created_at"] for note in notes]
    need(latest["created_by"] and times.count(latest["created_at"]) == 1)
    facts = [
        talk.fact("name", latest["created_by"], "author"),
        talk.fact("date", latest["created_at"][:10], "date of the note"),
    ]
    search = call("note_search", entity_id=talk.deal["opportunity_id"])
    talk.turn("ask.last_note", calls=[search], facts=facts, tags=AGAIN)


@move(4)
def client_details(talk: Talk) -> None:
    """What is the client's number and who looks after it?"""
    client = talk.client
    need(client["phone"] and client["owner"])
    facts = [
        talk.fact("text", client["phone"], "phone"),
        talk.fact("name", client["owner"], "owner"),
    ]
    search = call("client_search", client_id=client["client_id"])
    slots = {"client": plain(client["name"])}
    talk.turn("ask.client_details", slots, calls=[search], facts=facts, tags=AGAIN)
