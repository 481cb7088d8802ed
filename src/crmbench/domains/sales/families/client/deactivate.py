"""Clients that become Inactive."""

from __future__ import annotations

from crmbench.domains.sales.phrases import plain
from crmbench.domains.sales.talk import Talk, call, describe, family, house
from crmbench.domains.sales.talk.moves.registry import STAGES
from crmbench.domains.sales.talk.org import Row, is_open

CLIENT_STATES = ("Active", "Prospect", "Inactive")
AGAIN = ("cross_turn_reference",)
LOSSES = (
    *house.LOSSES,
    house.Loss("they will build it themselves", "themselves", ("in-house", "own", "build")),
    house.Loss("their parent company buys elsewhere", "parent"),
    house.Loss("they are closing that site", "site", ("location",)),
)


@family("Client Management", 12)
def deactivate_with_open_deal(talk: Talk) -> None:
    """A client with an open deal is not made Inactive (CLIENT-5). The user asks which deal that is,
    then has it closed as lost, with all that DEAL-4 adds, and the client made Inactive.
    """
    org = talk.org

    def one_open(client: Row) -> bool:
        deals = [deal for deal in org.deals_of(client) if is_open(deal)]
        return client["status"] != "Inactive" and len(deals) == 1

    client = talk.pick(org.clients, one_open)
    named = describe.client(talk, client)
    talk.turn_to(client)
    deal = next(deal for deal in org.deals_of(client) if is_open(deal))
    deals = call("opportunity_search", client_id=client["client_id"])
    talk.refused(
        "client.inactivate",
        {"client": named.slot},
        calls=[*named.reads, deals],
        rules=("CLIENT-5",),
        reasons=("open deal", "open opportunit", "still open", "CLIENT-5", "active deal"),
        tags=named.tags,
    )
    details = call("opportunity_details", opportunity_id=deal["opportunity_id"])
    facts = [
        talk.fact("money", deal["amount"], "amount"),
        talk.fact("choice", deal["stage"], "stage", options=STAGES),
    ]
    talk.turn("client.the_open_deal", calls=[details], facts=facts, tags=AGAIN)
    talk.turn_to(deal)
    loss = talk.choose(*LOSSES)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    plan = house.lose(talk, deal, loss)
    inactive = call("modify_client", client_id=client["client_id"], status="Inactive")
    talk.turn(
        "client.lose_and_inactivate",
        {"reason": plain(loss.said)},
        calls=[quotes, *plan.calls, inactive],
        rules=(*plan.rules, "CLIENT-5"),
        note_facts=plan.note_facts,
        tags=(*AGAIN, "batch"),
    )


@family("Client Management", 10)
def deactivate_client(talk: Talk) -> None:
    """A client without open deals becomes Inactive. Who wants it back has to be the sales manager:
    "undo" does not go before CLIENT-3.
    """
    org = talk.org

    def none_open(client: Row) -> bool:
        return client["status"] == "Active" and not any(map(is_open, org.deals_of(client)))

    client = talk.pick(org.clients, none_open)
    named = describe.client(talk, client)
    talk.turn_to(client)
    key = client["client_id"]
    talk.turn(
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
    if talk.by_manager:
        back = call("modify_client", client_id=key, status="Active")
        talk.turn("client.back", calls=[back], rules=("DO-2", "CLIENT-3"), tags=(*AGAIN, "undo"))
        facts = [
            talk.fact("choice", "Active", "status", options=("Active", "Prospect", "Inactive"))
        ]
        if client["owner"]:
            facts.append(talk.fact("name", client["owner"], "owner"))
        look = call("client_search", client_id=key)
        intent = "client.status_now" if client["owner"] else "client.only_status_now"
        talk.turn(intent, calls=[look], facts=facts, tags=(*AGAIN, "about_change"))
    elif talk.rng.random() < 0.6:
        talk.refused(
            "client.back",
            calls=[call("client_search", client_id=key)],
            rules=("CLIENT-3",),
            reasons=("manager", org.manager, "CLIENT-3"),
            tags=(*AGAIN, "undo"),
        )
