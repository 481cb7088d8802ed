"""Changes to clients: slips of the tongue, another owner."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    NoCandidate,
    call,
    family,
    references,
)
from crmbench.domains.sales.authoring.org import Row, is_open
from crmbench.domains.sales.families.client.firms import street_address
from crmbench.domains.sales.phrases import Slot, plain

AGAIN = ("cross_turn_reference",)


@family("Client Management", 12)
def client_address_then_correct(builder: ConversationBuilder) -> None:
    """A client has moved; the address that the user gave is wrong and corrected; then the user
    wants to know the one from before both changes.
    """
    client = builder.pick(builder.org.clients, lambda c: bool(c["address"]))
    named = references.client(builder, client)
    builder.turn_to(client)
    key, wrong, right = client["client_id"], street_address(builder), street_address(builder)
    if len({wrong, right, client["address"]}) < 3:
        raise NoCandidate
    builder.turn(
        "client.moved",
        {"client": named.slot, "address": plain(wrong)},
        calls=[*named.reads, call("modify_client", client_id=key, address=wrong)],
        tags=named.tags,
    )
    builder.turn(
        "client.moved_elsewhere",
        {"address": plain(right)},
        calls=[call("modify_client", client_id=key, address=right)],
        tags=(*AGAIN, "correction"),
    )
    if builder.rng.random() < 0.7:
        builder.turn(
            "client.first_address",
            facts=[builder.fact("text", client["address"], "original address")],
            tags=(*AGAIN, "about_change"),
        )


@family("Client Management", 12, by_manager=True)
def client_owner_change(builder: ConversationBuilder) -> None:
    """The sales manager gives a client with all its open deals to somebody else (DEAL-8): the
    closed ones, and those that are that person's already, stay as they are.
    """
    org = builder.org
    owner = builder.choose(*org.owners[1:])

    def to_move(client: Row) -> list[Row]:
        return [d for d in org.deals_of(client) if is_open(d) and d["owner"] != owner]

    def fits(client: Row) -> bool:
        return client["owner"] != owner and 2 <= len(to_move(client)) <= 5

    client = builder.pick(org.clients, fits)
    named = references.client(builder, client)
    builder.turn_to(client)
    slots: dict[str, Slot] = {"client": named.slot, "owner": plain(owner)}
    deals = call("opportunity_search", client_id=client["client_id"])
    moved = [
        call("modify_opportunity", opportunity_id=deal["opportunity_id"], owner=owner)
        for deal in to_move(client)
    ]
    changed = call("modify_client", client_id=client["client_id"], owner=owner)
    builder.turn(
        "client.other_owner",
        slots,
        calls=[*named.reads, deals, *moved, changed],
        rules=("DEAL-8", "FIND-4"),
        tags=(*named.tags, "batch"),
    )
    still = [d for d in org.deals_of(client) if is_open(d)]
    facts = [
        builder.fact("count", len(still), "open deals"),
        builder.fact("money", sum(d["amount"] for d in still), "total"),
    ]
    builder.turn(
        "client.what_they_take_on",
        {"owner": plain(owner)},
        calls=[deals],
        facts=facts,
        tags=(*AGAIN, "computed_value", "about_change"),
    )
