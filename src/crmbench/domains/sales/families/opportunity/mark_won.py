"""Winning a deal."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.org import Row
from crmbench.domains.sales.phrases import percent


@family("Opportunity Management", 30)
def mark_won(builder: ConversationBuilder) -> None:
    """The deal is won: its amount becomes that of the Approved quote, which the user does not say,
    and the quotes still pending are canceled (DEAL-3).
    """

    def ready(deal: Row) -> bool:
        approved = [q for q in builder.org.quotes_of(deal) if q["status"] == "Approved"]
        return len(approved) == 1 and approved[0]["amount"] != deal["amount"]

    deal = builder.pick(builder.org.open_deals, ready)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    approved = next(q for q in builder.org.quotes_of(deal) if q["status"] == "Approved")
    plan = policy_actions.win(builder, deal, approved)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    builder.turn(
        "mark_won.won",
        {"deal": named.slot},
        calls=[*named.reads, quotes, *plan.calls],
        rules=plan.rules,
        tags=named.tags,
    )
    if builder.rng.random() < 0.6:
        details = call("opportunity_details", opportunity_id=deal["opportunity_id"])
        builder.turn(
            "mark_won.booked",
            calls=[details],
            facts=[builder.fact("money", approved["amount"], "amount")],
            tags=("cross_turn_reference", "about_change"),
        )


@family("Opportunity Management", 22)
def mark_won_without_quote(builder: ConversationBuilder) -> None:
    """Winning a deal of which no quote is Approved is refused (DEAL-3); the user then settles for
    the next stage, or asks how the quotes stand.
    """
    org = builder.org

    def unready(deal: Row) -> bool:
        states = {q["status"] for q in org.quotes_of(deal)}
        return "Approved" not in states and deal["stage"] in ("Proposal", "Negotiation")

    deal = builder.pick(org.open_deals, unready)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    builder.refused(
        "mark_won.won",
        {"deal": named.slot},
        calls=[*named.reads, quotes],
        rules=("DEAL-3",),
        reasons=("approv", "DEAL-3", "accepted quote"),
        tags=named.tags,
    )
    if deal["stage"] == "Negotiation":
        raise_to = 90 if deal["probability"] != 90 else 85
        changed = call(
            "modify_opportunity", opportunity_id=deal["opportunity_id"], probability=raise_to
        )
        builder.turn(
            "mark_won.then_probability",
            {"chance": percent(raise_to)},
            calls=[changed],
            rules=("DEAL-2",),
            tags=("cross_turn_reference",),
        )
        return
    plan = policy_actions.set_stage(deal, "Negotiation")
    builder.turn(
        "mark_won.then_negotiation",
        calls=plan.calls,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )
