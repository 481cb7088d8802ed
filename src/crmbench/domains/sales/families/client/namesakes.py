"""Clients whose names begin alike."""

from __future__ import annotations

from crmbench.domains.sales.authoring import ConversationBuilder, call, family
from crmbench.domains.sales.authoring.follow_ups.people import another_number
from crmbench.domains.sales.authoring.org import Row
from crmbench.domains.sales.phrases import plain

AGAIN = ("cross_turn_reference",)


def _first_word(client: Row) -> str:
    return str(client["name"]).split()[0]


def _town(client: Row) -> str:
    """The town of an address: behind the last comma, without the postcode."""
    tail = str(client["address"] or "").rpartition(",")[2].split()
    return " ".join(w for w in tail if w.isalpha() and not w.isupper())


def _told_apart(builder: ConversationBuilder, client: Row) -> list[tuple[str, str]]:
    """How a client differs from all others with its first word: by its industry or its town."""
    first = _first_word(client).casefold()
    others = [
        c for c in builder.org.clients if first in str(c["name"]).casefold() and c is not client
    ]
    if not any(_first_word(c).casefold() == first for c in others):
        return []
    ways = [("industry", str(client["industry"] or "")), ("town", _town(client))]
    said = {
        "industry": {str(c["industry"]) for c in others},
        "town": {_town(c) for c in others},
    }
    return [(how, value) for how, value in ways if value and value not in said[how]]


@family("Client Management", 14)
def client_among_namesakes(builder: ConversationBuilder) -> None:
    """Several clients share a first word; the industry or the town tells which is meant. Its data
    are told, not the others', and then its number changes.
    """
    org = builder.org
    client = builder.pick(org.clients, lambda c: bool(c["owner"]) and bool(_told_apart(builder, c)))
    how, value = builder.choose(*_told_apart(builder, client))
    builder.turn_to(client)
    first = _first_word(client)
    alike = [c for c in org.clients if _first_word(c) == first and c is not client]
    facts = [
        builder.fact("text", client["email"], "e-mail"),
        builder.fact("name", client["owner"], "owner"),
    ]
    builder.turn(
        f"client.namesake_{how}",
        {"first": plain(first), how: plain(value)},
        calls=[call("client_search", name=first)],
        facts=facts,
        forbidden=[builder.fact("text", c["email"], "another client's e-mail") for c in alike],
        rules=("FIND-2", "SAY-3"),
        tags=("near_duplicate", "by_description"),
    )
    number = another_number(builder, client)
    changed = call("modify_client", client_id=client["client_id"], phone=number)
    builder.turn("client.their_phone", {"phone": plain(number)}, calls=[changed], tags=AGAIN)
