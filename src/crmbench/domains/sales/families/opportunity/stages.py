"""Moving a deal along, and losing it."""

from __future__ import annotations

from crmbench.domains.sales.phrases import plain
from crmbench.domains.sales.talk import Talk, call, describe, family, house

_NEXT = {
    "Prospecting": ("Qualification", "Proposal"),
    "Qualification": ("Proposal",),
    "Proposal": ("Negotiation", "Qualification"),
    "Negotiation": ("Proposal",),
}


@family("Opportunity Management", 40)
def advance_stage(talk: Talk) -> None:
    """A described deal changes its stage; the probability of the table goes with it, unsaid
    (DEAL-2). The user then asks what it says now.
    """
    deal = talk.pick(talk.org.open_deals)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    stage = talk.choose(*_NEXT[deal["stage"]])
    plan = house.set_stage(deal, stage)
    talk.turn(
        "stage.move",
        {"deal": named.slot, "stage": plain(stage)},
        calls=[*named.reads, *plan.calls],
        rules=plan.rules,
        tags=named.tags,
    )
    details = call("opportunity_details", opportunity_id=deal["opportunity_id"])
    facts = [
        talk.fact("percent", house.PROBABILITY[stage], "probability"),
        talk.fact("money", deal["amount"], "amount"),
    ]
    talk.turn(
        "stage.then_numbers",
        calls=[details],
        facts=facts,
        rules=("DEAL-2",),
        tags=("cross_turn_reference", "about_change"),
    )


@family("Opportunity Management", 28)
def lose_with_reason(talk: Talk) -> None:
    """A deal is lost and the reason is said: stage, probability, pending quotes and a note follow
    from DEAL-4.
    """
    org = talk.org
    deal = talk.pick(
        org.open_deals,
        lambda d: any(q["status"] in ("Draft", "Sent") for q in org.quotes_of(d)),
    )
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    loss = talk.choose(*house.LOSSES)
    plan = house.lose(talk, deal, loss)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    talk.turn(
        "stage.lost_because",
        {"deal": named.slot, "reason": plain(loss.said)},
        calls=[*named.reads, quotes, *plan.calls],
        note_facts=plan.note_facts,
        rules=plan.rules,
        tags=named.tags,
    )


@family("Opportunity Management", 28)
def lose_without_reason(talk: Talk) -> None:
    """A deal is lost but nobody said why: the agent must ask before it does anything (DEAL-4)."""
    deal = talk.pick(talk.org.open_deals)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    loss = talk.choose(*house.LOSSES)
    plan = house.lose(talk, deal, loss)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    talk.turn(
        "stage.lost",
        {"deal": named.slot},
        calls=[*named.reads, quotes, *plan.calls],
        note_facts=plan.note_facts,
        rules=(*plan.rules, "ASK-1"),
        tags=named.tags,
        asks=("answer.reason", {"reason": plain(loss.said)}, ("reason", "why", "lost", "happened")),
    )
