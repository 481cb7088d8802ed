"""Deleting and copying deals."""

from __future__ import annotations

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.org import Row, is_open
from crmbench.domains.sales.authoring.relative_dates import relative_date
from crmbench.domains.sales.phrases import money, plain


@family("Opportunity Management", 20)
def delete_bare_deal(builder: ConversationBuilder) -> None:
    """A deal on which nothing hangs may be deleted while it is in Prospecting (DEAL-5)."""
    org = builder.org
    deal = builder.pick(
        org.open_deals, lambda d: d["stage"] == "Prospecting" and not org.attached(d)
    )
    named = references.deal(builder, deal)
    builder.turn_to(org.client_of(deal))
    key = deal["opportunity_id"]
    look = call("view_opportunity_details", opportunity_id=key)
    gone = call("delete_opportunity", opportunity_id=key)
    builder.turn(
        "remove.delete",
        {"deal": named.slot},
        calls=[*named.reads, look, gone],
        rules=("DEAL-5",),
        tags=named.tags,
    )


@family("Opportunity Management", 28)
def delete_then_lose(builder: ConversationBuilder) -> None:
    """A deal that has quotes is not deleted (DEAL-5); the user takes the offer to mark it lost and
    gives the reason.
    """
    org = builder.org
    deal = builder.pick(org.open_deals, lambda d: len(org.quotes_of(d)) > 0)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    key = deal["opportunity_id"]
    builder.refused(
        "remove.delete",
        {"deal": named.slot},
        calls=[*named.reads, call("view_opportunity_details", opportunity_id=key)],
        rules=("DEAL-5",),
        reasons=(
            "quote",
            "stage",
            "Prospecting",
            "DEAL-5",
            "lost",
            "note",
            "document",
            deal["stage"],
        ),
        tags=named.tags,
    )
    loss = builder.choose(*policy_actions.LOSSES)
    plan = policy_actions.lose(builder, deal, loss)
    builder.turn(
        "remove.then_lost",
        {"reason": plain(loss.said)},
        calls=plan.calls,
        note_facts=plan.note_facts,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )


@family("Opportunity Management", 30)
def copy_deal(builder: ConversationBuilder) -> None:
    """An open deal is copied, starts again in Prospecting (DEAL-9), and then gets its own name,
    amount and close date: "the copy" refers to a record that the turn before has made.
    """
    deal = builder.pick(
        builder.org.open_deals,
        lambda d: d["stage"] != "Prospecting" and d["close_date"] >= builder.today,
    )
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    product = deal["name"].rpartition(" - ")[0]
    name = f"{product} - {builder.choose('Second Site', 'Phase Two', 'New Depot', 'Extension')}"
    copied = builder.turn(
        "remove.copy",
        {"deal": named.slot, "name": plain(name)},
        calls=[*named.reads, *policy_actions.copy(deal, name).calls],
        # The copy keeps the deal's own notes, word for word.
        note_facts=[builder.fact("text", deal["notes"], "notes")] if deal["notes"] else (),
        rules=("DEAL-9",),
        tags=named.tags,
    )
    new = builder.row("Opportunity", copied["opportunity_id"])
    builder.turn_to(new)
    amount = half_up(deal["amount"] * builder.choose(0.9, 1.1, 1.2) / 500) * 500 + 500
    when = relative_date(builder)
    plan = policy_actions.change_amount(builder, new, amount)
    changed = call(
        "modify_opportunity",
        opportunity_id=new["opportunity_id"],
        amount=amount,
        close_date=when.iso,
    )
    builder.turn(
        "remove.copy_differs",
        {"amount": money(amount), "when": when.slot},
        calls=[changed, *plan.calls[1:]],
        note_facts=plan.note_facts,
        rules=(*plan.rules, "DATE-1"),
        tags=("cross_turn_reference", *when.tags),
    )


@family("Opportunity Management", 16)
def copy_closed_deal(builder: ConversationBuilder) -> None:
    """A closed deal is not copied (DEAL-9); the user has a new one opened instead."""
    org = builder.org

    def fits(deal: Row) -> bool:
        client = org.client_of(deal)
        return not is_open(deal) and client["status"] != "Inactive" and bool(client["owner"])

    deal = builder.pick(org.deals, fits)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    builder.refused(
        "remove.copy_closed",
        {"deal": named.slot},
        calls=named.reads,
        rules=("DEAL-9",),
        reasons=("closed", "lost", "won", "DEAL-9", deal["stage"]),
        tags=named.tags,
    )
    client = org.client_of(deal)
    product = builder.choose("Second Site", "Follow-up Order", "Extension", "New Depot")
    amount = half_up(deal["amount"] * builder.choose(0.8, 1.1, 1.3) / 500) * 500 + 500
    plan = policy_actions.new_deal(builder, client, product, amount)
    made = builder.turn(
        "remove.then_new",
        {"product": plain(product), "amount": money(amount)},
        calls=plan.calls,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )
    builder.turn_to(builder.row("Opportunity", made["opportunity_id"]))
