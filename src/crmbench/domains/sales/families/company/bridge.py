"""Steps on from a company or a portfolio to one client or deal, so that the talk can go on."""

from __future__ import annotations

from contextlib import suppress

from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring import ConversationBuilder, NoCandidate, call, references
from crmbench.domains.sales.authoring.follow_ups.registry import STAGES
from crmbench.domains.sales.authoring.org import Row, is_open
from crmbench.domains.sales.phrases import plain

AGAIN = ("cross_turn_reference",)
CLIENT_STATES = ("Active", "Prospect", "Inactive")


def on_to_a_deal(builder: ConversationBuilder) -> None:
    """Another matter: how a deal stands."""
    deal, named = _some_deal(builder)
    builder.turn_to(deal)
    facts = [
        builder.fact("money", deal["amount"], "amount"),
        builder.fact("choice", deal["stage"], "stage", options=STAGES),
    ]
    builder.turn(
        "company.on_to_deal",
        {"deal": named.slot},
        calls=named.reads,
        facts=facts,
        tags=named.tags,
    )


def _some_deal(builder: ConversationBuilder) -> tuple[Row, references.Reference]:
    """An open deal that can be told apart without its amount and stage."""
    for _ in range(8):
        deal = builder.pick(builder.org.open_deals)
        with suppress(NoCandidate):
            return deal, references.deal(builder, deal, ("amount", "stage"))
    raise NoCandidate


def on_to_a_client(builder: ConversationBuilder) -> None:
    """And a client by name: what is it to us, and whose is it?"""
    client = builder.pick(builder.org.clients, lambda c: bool(c["owner"]))
    builder.turn_to(client)
    facts = [
        builder.fact("choice", client["status"], "status", options=CLIENT_STATES),
        builder.fact("name", client["owner"], "owner"),
    ]
    builder.turn(
        "company.on_to_client",
        {"client": plain(client["name"])},
        calls=[call("client_search", name=client["name"])],
        facts=facts,
    )


def open_of(builder: ConversationBuilder, client: Row) -> list[Row]:
    """The client's open deals, as the gold has left them."""
    return [d for d in builder.find("Opportunity", "client_id", client["client_id"]) if is_open(d)]


def total_of(deals: list[Row]) -> float:
    """The sum of the deals' amounts, in dollars."""
    return round(sum(float(deal["amount"]) for deal in deals), 2)


def look_at_deals(client: Row) -> GoldCall:
    """The look-up of a client's deals."""
    return call("opportunity_search", client_id=client["client_id"])


def biggest_of(deals: list[Row]) -> Row | None:
    """The deal of the highest amount, if there is one such (FIND-4)."""
    ordered = sorted(deals, key=lambda deal: -float(deal["amount"]))
    if len(ordered) > 1 and ordered[0]["amount"] == ordered[1]["amount"]:
        return None
    return ordered[0] if ordered else None
