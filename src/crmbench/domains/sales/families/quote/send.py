"""A quote goes out, or is approved."""

from __future__ import annotations

from datetime import date

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.org import Row
from crmbench.domains.sales.families.quote.common import AGAIN, CATEGORY, fair, look, quotable


@family(CATEGORY, 25)
def send_quote(builder: ConversationBuilder) -> None:
    """A Draft is marked Sent where something follows that the user does not say: it would expire
    too soon, another quote is out, or the deal is still in an early stage (QUOTE-5).
    """
    org = builder.org

    def has_consequences(quote: Row) -> bool:
        deal = org.deal_of(quote)
        if quote["status"] != "Draft" or not quotable(builder, deal) or not quote["valid_until"]:
            return False
        left = (date.fromisoformat(quote["valid_until"]) - org.today).days
        out = any(q["status"] == "Sent" for q in org.quotes_of(deal))
        early = deal["stage"] in ("Prospecting", "Qualification")
        clear = left not in (6, 7)  # "7 more days" may or may not count today
        return fair(deal, quote["amount"]) and clear and (left < 7 or out or early)

    quote = builder.pick(org.quotes, has_consequences)
    deal = org.deal_of(quote)
    named = references.quote(builder, quote, avoid=("amount",))
    builder.turn_to(quote)
    plan = policy_actions.send(builder, deal, quote)
    builder.turn(
        "quote_send.sent",
        {"quote": named.slot},
        calls=[*named.reads, look(deal), *plan.calls],
        rules=plan.rules,
        tags=(*named.tags, "multi_hop"),
    )
    if builder.rng.random() < 0.5:
        sent = builder.row("Quote", quote["quote_id"])
        builder.turn(
            "quote_send.then_until",
            calls=[call("quote_details", quote_id=quote["quote_id"])],
            facts=[
                builder.fact("date", sent["valid_until"], "valid until"),
                builder.fact("money", sent["amount"], "amount"),
            ],
            tags=(*AGAIN, "about_change"),
        )


@family(CATEGORY, 15, by_manager=True)
def approve_quote(builder: ConversationBuilder) -> None:
    """The sales manager has a Sent quote marked Approved, which nobody else may (QUOTE-6), and then
    perhaps the deal won at its amount (DEAL-3).
    """
    org = builder.org

    def waiting(quote: Row) -> bool:
        deal = org.deal_of(quote)
        states = {q["status"] for q in org.quotes_of(deal)}
        cheap = policy_actions.discount(deal, quote["amount"]) > policy_actions.MOST_DISCOUNT
        fitting = quotable(builder, deal) and not cheap and "Approved" not in states
        return quote["status"] == "Sent" and fitting

    quote = builder.pick(org.quotes, waiting)
    deal, key = org.deal_of(quote), quote["quote_id"]
    named = references.quote(builder, quote)
    builder.turn_to(quote)
    builder.turn(
        "quote_approve.approve",
        {"quote": named.slot},
        calls=[*named.reads, call("modify_quote", quote_id=key, status="Approved")],
        rules=("QUOTE-6",),
        tags=named.tags,
    )
    if builder.rng.random() < 0.6:
        plan = policy_actions.win(builder, deal, builder.row("Quote", key))
        builder.turn(
            "quote_approve.then_won",
            calls=[look(deal), *plan.calls],
            facts=[builder.fact("money", quote["amount"], "amount")],
            rules=plan.rules,
            tags=AGAIN,
        )


@family(CATEGORY, 12, by_manager=False)
def approve_quote_by_rep(builder: ConversationBuilder) -> None:
    """A representative wants a quote marked Approved, which is refused (QUOTE-6), and then asks
    what the manager needs to know of it.
    """
    org = builder.org

    def waiting(quote: Row) -> bool:
        deal = org.deal_of(quote)
        differs = quote["amount"] != deal["amount"]
        return quote["status"] in ("Sent", "Draft") and quotable(builder, deal) and differs

    quote = builder.pick(org.quotes, waiting)
    deal = org.deal_of(quote)
    named = references.quote(builder, quote, avoid=("amount",))
    builder.turn_to(quote)
    builder.refused(
        "quote_approve.approve",
        {"quote": named.slot},
        calls=named.reads,
        rules=("QUOTE-6",),
        reasons=("manager", org.manager, org.manager.split()[0], "authori", "permi", "QUOTE-6"),
        tags=named.tags,
    )
    builder.turn(
        "quote_approve.what_to_tell",
        calls=[look(deal), call("quote_details", quote_id=quote["quote_id"])],
        facts=[
            builder.fact("money", quote["amount"], "quote"),
            builder.fact("money", deal["amount"], "deal"),
        ],
        tags=AGAIN,
    )
