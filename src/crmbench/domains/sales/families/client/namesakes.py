"""Clients whose names begin alike."""

from __future__ import annotations

from crmbench.domains.sales.families.client.firms import phone_number
from crmbench.domains.sales.phrases import plain
from crmbench.domains.sales.talk import Talk, call, family
from crmbench.domains.sales.talk.org import Row

AGAIN = ("cross_turn_reference",)


def _first_word(client: Row) -> str:
    return str(client["name"]).split()[0]


def _town(client: Row) -> str:
    """The town of an address: behind the last comma, without the postcode."""
    tail = str(client["address"] or "").rpartition(",")[2].split()
    return " ".join(w for w in tail if w.isalpha() and not w.isupper())


def _told_apart(talk: Talk, client: Row) -> list[tuple[str, str]]:
    """How a client differs from all others with its first word: by its industry or its town."""
    first = _first_word(client).casefold()
    others = [c for c in talk.org.clients if first in str(c["name"]).casefold() and c is not client]
    if not any(_first_word(c).casefold() == first for c in others):
        return []
    ways = [("industry", str(client["industry"] or "")), ("town", _town(client))]
    said = {
        "industry": {str(c["industry"]) for c in others},
        "town": {_town(c) for c in others},
    }
    return [(how, value) for how, value in ways if value and value not in said[how]]


@family("Client Management", 14)
def client_among_namesakes(talk: Talk) -> None:
    """Several clients share a first word; the industry or the town tells which is meant. Its data
    are told, not the others', and then its number changes.
    """
    org = talk.org
    client = talk.pick(org.clients, lambda c: bool(c["owner"]) and bool(_told_apart(talk, c)))
    how, value = talk.choose(*_told_apart(talk, client))
    talk.turn_to(client)
    first = _first_word(client)
    alike = [c for c in org.clients if _first_word(c) == first and c is not client]
    facts = [
        talk.fact("text", client["email"], "e-mail"),
        talk.fact("name", client["owner"], "owner"),
    ]
    talk.turn(
        f"client.namesake_{how}",
        {"first": plain(first), how: plain(value)},
        calls=[call("client_search", name=first)],
        facts=facts,
        forbidden=[talk.fact("text", c["email"], "another client's e-mail") for c in alike],
        rules=("FIND-2", "SAY-3"),
        tags=("near_duplicate", "by_description"),
    )
    number = phone_number(talk)
    changed = call("modify_client", client_id=client["client_id"], phone=number)
    talk.turn("client.their_phone", {"phone": plain(number)}, calls=[changed], tags=AGAIN)
