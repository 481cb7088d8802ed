"""Steps on from a company or a portfolio to one client or deal, so that the talk can go on."""

from __future__ import annotations

from contextlib import suppress

from crmbench.core.task import GoldCall
from crmbench.domains.sales.phrases import plain
from crmbench.domains.sales.talk import NoFit, Talk, call, describe
from crmbench.domains.sales.talk.moves.registry import STAGES
from crmbench.domains.sales.talk.org import Row, is_open

AGAIN = ("cross_turn_reference",)
CLIENT_STATES = ("Active", "Prospect", "Inactive")


def on_to_a_deal(talk: Talk) -> None:
    """Another matter: how a deal stands."""
    deal, named = _some_deal(talk)
    talk.turn_to(deal)
    facts = [
        talk.fact("money", deal["amount"], "amount"),
        talk.fact("choice", deal["stage"], "stage", options=STAGES),
    ]
    talk.turn(
        "company.on_to_deal",
        {"deal": named.slot},
        calls=named.reads,
        facts=facts,
        tags=named.tags,
    )


def _some_deal(talk: Talk) -> tuple[Row, describe.Named]:
    """An open deal that can be told apart without its amount and stage."""
    for _ in range(8):
        deal = talk.pick(talk.org.open_deals)
        with suppress(NoFit):
            return deal, describe.deal(talk, deal, ("amount", "stage"))
    raise NoFit


def on_to_a_client(talk: Talk) -> None:
    """And a client by name: what is it to us, and whose is it?"""
    client = talk.pick(talk.org.clients, lambda c: bool(c["owner"]))
    talk.turn_to(client)
    facts = [
        talk.fact("choice", client["status"], "status", options=CLIENT_STATES),
        talk.fact("name", client["owner"], "owner"),
    ]
    talk.turn(
        "company.on_to_client",
        {"client": plain(client["name"])},
        calls=[call("client_search", name=client["name"])],
        facts=facts,
    )


def open_of(talk: Talk, client: Row) -> list[Row]:
    """The client's open deals, as the gold has left them."""
    return [d for d in talk.find("Opportunity", "client_id", client["client_id"]) if is_open(d)]


def total_of(deals: list[Row]) -> float:
    return round(sum(float(deal["amount"]) for deal in deals), 2)


def look_at_deals(client: Row) -> GoldCall:
    return call("opportunity_search", client_id=client["client_id"])


def biggest_of(deals: list[Row]) -> Row | None:
    """The deal of the highest amount, if there is one such (FIND-4)."""
    ordered = sorted(deals, key=lambda deal: -float(deal["amount"]))
    if len(ordered) > 1 and ordered[0]["amount"] == ordered[1]["amount"]:
        return None
    return ordered[0] if ordered else None
