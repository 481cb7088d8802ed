"""Clients that are Inactive, and may become Active again."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.follow_ups.people import another_number
from crmbench.domains.sales.families.client.firms import deal_amount, new_product
from crmbench.domains.sales.phrases import money, plain

AGAIN = ("cross_turn_reference",)


@family("Client Management", 10, by_manager=True)
def reactivate_client(builder: ConversationBuilder) -> None:
    """An Inactive client gets no deal, not even for the sales manager (CLIENT-3), until the manager
    has it made Active again.
    """
    client = builder.pick(
        builder.org.clients, lambda c: c["status"] == "Inactive" and bool(c["owner"])
    )
    named = references.client(builder, client)
    builder.turn_to(client)
    product, amount = new_product(builder, client), deal_amount(builder)
    slots = {"client": named.slot, "product": plain(product), "amount": money(amount)}
    builder.refused(
        "new_deal.short",
        slots,
        calls=named.reads,
        rules=("CLIENT-3",),
        reasons=("inactive", "CLIENT-3", "not active", "reactivat"),
        tags=named.tags,
    )
    active = call("modify_client", client_id=client["client_id"], status="Active")
    plan = policy_actions.new_deal(builder, client, product, amount)
    if builder.rng.random() < 0.5:
        builder.turn("client.active_again", calls=[active], rules=("CLIENT-3",), tags=AGAIN)
        made = builder.turn("client.now_that_deal", calls=plan.calls, rules=plan.rules, tags=AGAIN)
    else:
        made = builder.turn(
            "client.active_and_deal",
            calls=[active, *plan.calls],
            rules=("CLIENT-3", *plan.rules),
            tags=(*AGAIN, "batch"),
        )
    builder.turn_to(builder.row("Opportunity", made["opportunity_id"]))


@family("Client Management", 10, by_manager=False)
def reactivate_by_rep(builder: ConversationBuilder) -> None:
    """A representative may not make an Inactive client Active (CLIENT-3), but may change its
    number.
    """
    client = builder.pick(builder.org.clients, lambda c: c["status"] == "Inactive")
    named = references.client(builder, client)
    builder.turn_to(client)
    builder.refused(
        "client.activate",
        {"client": named.slot},
        calls=named.reads,
        rules=("CLIENT-3",),
        reasons=("manager", builder.org.manager, builder.org.manager.split()[0], "CLIENT-3"),
        tags=named.tags,
    )
    number = another_number(builder, client)
    changed = call("modify_client", client_id=client["client_id"], phone=number)
    builder.turn("client.phone_at_least", {"phone": plain(number)}, calls=[changed], tags=AGAIN)
