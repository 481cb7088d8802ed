"""Clients that are Inactive, and may become Active again."""

from __future__ import annotations

from crmbench.domains.sales.families.client.firms import deal_amount, new_product, phone_number
from crmbench.domains.sales.phrases import money, plain
from crmbench.domains.sales.talk import Talk, call, describe, family, house

AGAIN = ("cross_turn_reference",)


@family("Client Management", 10, by_manager=True)
def reactivate_client(talk: Talk) -> None:
    """An Inactive client gets no deal, not even for the sales manager (CLIENT-3), until the manager
    has it made Active again.
    """
    client = talk.pick(talk.org.clients, lambda c: c["status"] == "Inactive" and bool(c["owner"]))
    named = describe.client(talk, client)
    talk.turn_to(client)
    product, amount = new_product(talk, client), deal_amount(talk)
    slots = {"client": named.slot, "product": plain(product), "amount": money(amount)}
    talk.refused(
        "new_deal.short",
        slots,
        calls=named.reads,
        rules=("CLIENT-3",),
        reasons=("inactive", "CLIENT-3", "not active", "reactivat"),
        tags=named.tags,
    )
    active = call("modify_client", client_id=client["client_id"], status="Active")
    plan = house.new_deal(talk, client, product, amount)
    if talk.rng.random() < 0.5:
        talk.turn("client.active_again", calls=[active], rules=("CLIENT-3",), tags=AGAIN)
        made = talk.turn("client.now_that_deal", calls=plan.calls, rules=plan.rules, tags=AGAIN)
    else:
        made = talk.turn(
            "client.active_and_deal",
            calls=[active, *plan.calls],
            rules=("CLIENT-3", *plan.rules),
            tags=(*AGAIN, "batch"),
        )
    talk.turn_to(talk.row("Opportunity", made["opportunity_id"]))


@family("Client Management", 10, by_manager=False)
def reactivate_by_rep(talk: Talk) -> None:
    """A representative may not make an Inactive client Active (CLIENT-3), but may change its
    number.
    """
    client = talk.pick(talk.org.clients, lambda c: c["status"] == "Inactive")
    named = describe.client(talk, client)
    talk.turn_to(client)
    talk.refused(
        "client.activate",
        {"client": named.slot},
        calls=named.reads,
        rules=("CLIENT-3",),
        reasons=("manager", talk.org.manager, "CLIENT-3"),
        tags=named.tags,
    )
    number = phone_number(talk)
    changed = call("modify_client", client_id=client["client_id"], phone=number)
    talk.turn("client.phone_at_least", {"phone": plain(number)}, calls=[changed], tags=AGAIN)
