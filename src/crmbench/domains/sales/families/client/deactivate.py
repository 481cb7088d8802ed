"""Clients that become Inactive."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.follow_ups.registry import STAGES
from crmbench.domains.sales.authoring.org import Row, is_open
from crmbench.domains.sales.phrases import plain

CLIENT_STATES = ("Active", "Prospect", "Inactive")
AGAIN = ("cross_turn_reference",)
OPEN_DEAL = (
    *("open deal", "open opportunit", "still open", "is open", "CLIENT-5", "active deal"),
    *("active opportunit", "live deal", "live opportunit", "running deal", "not closed"),
)
LOSSES = (
    *policy_actions.LOSSES,
    policy_actions.Loss(
        "they will build it themselves", "themselves", ("in-house", "own", "build")
    ),
    policy_actions.Loss("their parent company buys elsewhere", "parent"),
    policy_actions.Loss("they are closing that site", "site", ("location", "plant", "branch")),
)


@family("Client Management", 12)
def deactivate_with_open_deal(builder: ConversationBuilder) -> None:
    """A client with an open deal is not made Inactive (CLIENT-5). The user asks which deal that is,
    then has it closed as lost, with all that DEAL-4 adds, and the client made Inactive.
    """
    org = builder.org

    def one_open(client: Row) -> bool:
        deals = [deal for deal in org.deals_of(client) if is_open(deal)]
        return client["status"] != "Inactive" and len(deals) == 1

    client = builder.pick(org.clients, one_open)
    named = references.client(builder, client)
    builder.turn_to(client)
    deal = next(deal for deal in org.deals_of(client) if is_open(deal))
    deals = call("opportunity_search", client_id=client["client_id"])
    builder.refused(
        "client.inactivate",
        {"client": named.slot},
        calls=[*named.reads, deals],
        rules=("CLIENT-5",),
        reasons=OPEN_DEAL,
        tags=named.tags,
    )
    details = call("opportunity_details", opportunity_id=deal["opportunity_id"])
    facts = [
        builder.fact("money", deal["amount"], "amount"),
        builder.fact("choice", deal["stage"], "stage", options=STAGES),
    ]
    builder.turn("client.the_open_deal", calls=[details], facts=facts, tags=AGAIN)
    builder.turn_to(deal)
    loss = builder.choose(*LOSSES)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    plan = policy_actions.lose(builder, deal, loss)
    inactive = call("modify_client", client_id=client["client_id"], status="Inactive")
    builder.turn(
        "client.lose_and_inactivate",
        {"reason": plain(loss.said)},
        calls=[quotes, *plan.calls, inactive],
        rules=(*plan.rules, "CLIENT-5"),
        note_facts=plan.note_facts,
        tags=(*AGAIN, "batch"),
    )


@family("Client Management", 10)
def deactivate_client(builder: ConversationBuilder) -> None:
    """A client without open deals becomes Inactive. Who wants it back has to be the sales manager:
    "undo" does not go before CLIENT-3.
    """
    org = builder.org

    def none_open(client: Row) -> bool:
        return client["status"] == "Active" and not any(map(is_open, org.deals_of(client)))

    client = builder.pick(org.clients, none_open)
    named = references.client(builder, client)
    builder.turn_to(client)
    key = client["client_id"]
    builder.turn(
        "client.inactivate",
        {"client": named.slot},
        calls=[
            *named.reads,
            call("opportunity_search", client_id=key),
            call("modify_client", client_id=key, status="Inactive"),
        ],
        rules=("CLIENT-5",),
        tags=named.tags,
    )
    if builder.by_manager:
        back = call("modify_client", client_id=key, status="Active")
        builder.turn("client.back", calls=[back], rules=("DO-2", "CLIENT-3"), tags=(*AGAIN, "undo"))
        if client["owner"] and client["owner"] != builder.speaker:
            facts = [builder.fact("name", client["owner"], "owner")]
            look = call("client_search", client_id=key)
            builder.turn("client.whose_now", calls=[look], facts=facts, tags=AGAIN)
    elif builder.rng.random() < 0.6:
        builder.refused(
            "client.back",
            calls=[call("client_search", client_id=key)],
            rules=("CLIENT-3",),
            reasons=("manager", org.manager, org.manager.split()[0], "CLIENT-3"),
            tags=(*AGAIN, "undo"),
        )
