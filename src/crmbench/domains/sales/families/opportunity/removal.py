"""Deleting and copying deals."""

from __future__ import annotations

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.phrases import money, plain
from crmbench.domains.sales.talk import Talk, call, describe, family, house
from crmbench.domains.sales.talk.org import Row, is_open
from crmbench.domains.sales.talk.relative import relative_date


@family("Opportunity Management", 20)
def delete_bare_deal(talk: Talk) -> None:
    """A deal on which nothing hangs may be deleted while it is in Prospecting (DEAL-5)."""
    org = talk.org
    deal = talk.pick(org.open_deals, lambda d: d["stage"] == "Prospecting" and not org.attached(d))
    named = describe.deal(talk, deal)
    talk.turn_to(org.client_of(deal))
    key = deal["opportunity_id"]
    look = call("view_opportunity_details", opportunity_id=key)
    gone = call("delete_opportunity", opportunity_id=key)
    talk.turn(
        "remove.delete",
        {"deal": named.slot},
        calls=[*named.reads, look, gone],
        rules=("DEAL-5",),
        tags=named.tags,
    )


@family("Opportunity Management", 28)
def delete_then_lose(talk: Talk) -> None:
    """A deal that has quotes is not deleted (DEAL-5); the user takes the offer to mark it lost and
    gives the reason.
    """
    org = talk.org
    deal = talk.pick(org.open_deals, lambda d: len(org.quotes_of(d)) > 0)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    key = deal["opportunity_id"]
    talk.refused(
        "remove.delete",
        {"deal": named.slot},
        calls=[*named.reads, call("view_opportunity_details", opportunity_id=key)],
        rules=("DEAL-5",),
        reasons=("quote", "stage", "Prospecting", "DEAL-5", "lost", "note", "document"),
        tags=named.tags,
    )
    loss = talk.choose(*house.LOSSES)
    plan = house.lose(talk, deal, loss)
    talk.turn(
        "remove.then_lost",
        {"reason": plain(loss.said)},
        calls=plan.calls,
        note_facts=plan.note_facts,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )


@family("Opportunity Management", 30)
def copy_deal(talk: Talk) -> None:
    """An open deal is copied, starts again in Prospecting (DEAL-9), and then gets its own name,
    amount and close date: "the copy" refers to a record that the turn before has made.
    """
    deal = talk.pick(
        talk.org.open_deals, lambda d: d["stage"] != "Prospecting" and d["close_date"] >= talk.today
    )
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    product = deal["name"].rpartition(" - ")[0]
    name = f"{product} - {talk.choose('Second Site', 'Phase Two', 'New Depot', 'Extension')}"
    copied = talk.turn(
        "remove.copy",
        {"deal": named.slot, "name": plain(name)},
        calls=[*named.reads, *house.copy(deal, name).calls],
        rules=("DEAL-9",),
        tags=named.tags,
    )
    new = talk.row("Opportunity", copied["opportunity_id"])
    talk.turn_to(new)
    amount = half_up(deal["amount"] * talk.choose(0.9, 1.1, 1.2) / 500) * 500 + 500
    when = relative_date(talk)
    plan = house.change_amount(talk, new, amount)
    changed = call(
        "modify_opportunity",
        opportunity_id=new["opportunity_id"],
        amount=amount,
        close_date=when.iso,
    )
    talk.turn(
        "remove.copy_differs",
        {"amount": money(amount), "when": when.slot},
        calls=[changed, *plan.calls[1:]],
        note_facts=plan.note_facts,
        rules=(*plan.rules, "DATE-1"),
        tags=("cross_turn_reference", *when.tags),
    )


@family("Opportunity Management", 16)
def copy_closed_deal(talk: Talk) -> None:
    """A closed deal is not copied (DEAL-9); the user has a new one opened instead."""
    org = talk.org

    def fits(deal: Row) -> bool:
        client = org.client_of(deal)
        return not is_open(deal) and client["status"] != "Inactive" and bool(client["owner"])

    deal = talk.pick(org.deals, fits)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    talk.refused(
        "remove.copy_closed",
        {"deal": named.slot},
        calls=named.reads,
        rules=("DEAL-9",),
        reasons=("closed", "lost", "DEAL-9"),
        tags=named.tags,
    )
    client = org.client_of(deal)
    product = talk.choose("Second Site", "Follow-up Order", "Extension", "New Depot")
    amount = half_up(deal["amount"] * talk.choose(0.8, 1.1, 1.3) / 500) * 500 + 500
    plan = house.new_deal(talk, client, product, amount)
    made = talk.turn(
        "remove.then_new",
        {"product": plain(product), "amount": money(amount)},
        calls=plan.calls,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )
    talk.turn_to(talk.row("Opportunity", made["opportunity_id"]))
