"""Winning a deal."""

from __future__ import annotations

from crmbench.domains.sales.phrases import percent
from crmbench.domains.sales.talk import Talk, call, describe, family, house
from crmbench.domains.sales.talk.org import Row


@family("Opportunity Management", 30)
def mark_won(talk: Talk) -> None:
    """The deal is won: its amount becomes that of the Approved quote, which the user does not say,
    and the quotes still pending are canceled (DEAL-3).
    """

    def ready(deal: Row) -> bool:
        approved = [q for q in talk.org.quotes_of(deal) if q["status"] == "Approved"]
        return len(approved) == 1 and approved[0]["amount"] != deal["amount"]

    deal = talk.pick(talk.org.open_deals, ready)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    approved = next(q for q in talk.org.quotes_of(deal) if q["status"] == "Approved")
    plan = house.win(talk, deal, approved)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    talk.turn(
        "mark_won.won",
        {"deal": named.slot},
        calls=[*named.reads, quotes, *plan.calls],
        rules=plan.rules,
        tags=named.tags,
    )
    if talk.rng.random() < 0.6:
        details = call("opportunity_details", opportunity_id=deal["opportunity_id"])
        talk.turn(
            "mark_won.booked",
            calls=[details],
            facts=[talk.fact("money", approved["amount"], "amount")],
            tags=("cross_turn_reference", "about_change"),
        )


@family("Opportunity Management", 22)
def mark_won_without_quote(talk: Talk) -> None:
    """Winning a deal of which no quote is Approved is refused (DEAL-3); the user then settles for
    the next stage, or asks how the quotes stand.
    """
    org = talk.org

    def unready(deal: Row) -> bool:
        states = {q["status"] for q in org.quotes_of(deal)}
        return "Approved" not in states and deal["stage"] in ("Proposal", "Negotiation")

    deal = talk.pick(org.open_deals, unready)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    talk.refused(
        "mark_won.won",
        {"deal": named.slot},
        calls=[*named.reads, quotes],
        rules=("DEAL-3",),
        reasons=("approv", "DEAL-3"),
        tags=named.tags,
    )
    if deal["stage"] == "Negotiation":
        raise_to = 90 if deal["probability"] != 90 else 85
        changed = call(
            "modify_opportunity", opportunity_id=deal["opportunity_id"], probability=raise_to
        )
        talk.turn(
            "mark_won.then_probability",
            {"chance": percent(raise_to)},
            calls=[changed],
            rules=("DEAL-2",),
            tags=("cross_turn_reference",),
        )
        return
    plan = house.set_stage(deal, "Negotiation")
    talk.turn(
        "mark_won.then_negotiation",
        calls=plan.calls,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )
