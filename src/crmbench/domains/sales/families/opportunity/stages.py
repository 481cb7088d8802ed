"""Moving a deal along, and losing it."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.phrases import plain

_NEXT = {
    "Prospecting": ("Qualification", "Proposal"),
    "Qualification": ("Proposal",),
    "Proposal": ("Negotiation", "Qualification"),
    "Negotiation": ("Proposal",),
}


@family("Opportunity Management", 40)
def advance_stage(builder: ConversationBuilder) -> None:
    """A described deal changes its stage; the probability of the table goes with it, unsaid
    (DEAL-2). The user then asks what it says now.
    """
    deal = builder.pick(builder.org.open_deals)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    stage = builder.choose(*_NEXT[deal["stage"]])
    plan = policy_actions.set_stage(deal, stage)
    builder.turn(
        "stage.move",
        {"deal": named.slot, "stage": plain(stage)},
        calls=[*named.reads, *plan.calls],
        rules=plan.rules,
        tags=named.tags,
    )
    details = call("opportunity_details", opportunity_id=deal["opportunity_id"])
    facts = [
        builder.fact("percent", policy_actions.PROBABILITY[stage], "probability"),
        builder.fact("money", deal["amount"], "amount"),
    ]
    builder.turn(
        "stage.then_numbers",
        calls=[details],
        facts=facts,
        rules=("DEAL-2",),
        tags=("cross_turn_reference", "about_change"),
    )


@family("Opportunity Management", 28)
def lose_with_reason(builder: ConversationBuilder) -> None:
    """A deal is lost and the reason is said: stage, probability, pending quotes and a note follow
    from DEAL-4.
    """
    org = builder.org
    deal = builder.pick(
        org.open_deals,
        lambda d: any(q["status"] in ("Draft", "Sent") for q in org.quotes_of(d)),
    )
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    loss = builder.choose(*policy_actions.LOSSES)
    plan = policy_actions.lose(builder, deal, loss)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    builder.turn(
        "stage.lost_because",
        {"deal": named.slot, "reason": plain(loss.said)},
        calls=[*named.reads, quotes, *plan.calls],
        note_facts=plan.note_facts,
        rules=plan.rules,
        tags=named.tags,
    )


@family("Opportunity Management", 28)
def lose_without_reason(builder: ConversationBuilder) -> None:
    """A deal is lost but nobody said why: the agent must ask before it does anything (DEAL-4)."""
    deal = builder.pick(builder.org.open_deals)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    loss = builder.choose(*policy_actions.LOSSES)
    plan = policy_actions.lose(builder, deal, loss)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    builder.turn(
        "stage.lost",
        {"deal": named.slot},
        calls=[*named.reads, quotes, *plan.calls],
        note_facts=plan.note_facts,
        rules=(*plan.rules, "ASK-1"),
        tags=named.tags,
        asks=("answer.reason", {"reason": plain(loss.said)}, ("reason", "why", "lost", "happened")),
    )
