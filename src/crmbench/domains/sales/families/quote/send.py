"""A quote goes out, or is approved."""

from __future__ import annotations

from datetime import date

from crmbench.domains.sales.families.quote.common import AGAIN, CATEGORY, fair, look, quotable
from crmbench.domains.sales.talk import Talk, call, describe, family, house
from crmbench.domains.sales.talk.org import Row


@family(CATEGORY, 25)
def send_quote(talk: Talk) -> None:
    """A Draft is marked Sent where something follows that the user does not say: it would expire
    too soon, another quote is out, or the deal is still in an early stage (QUOTE-5).
    """
    org = talk.org

    def has_consequences(quote: Row) -> bool:
        deal = org.deal_of(quote)
        if quote["status"] != "Draft" or not quotable(talk, deal) or not quote["valid_until"]:
            return False
        left = (date.fromisoformat(quote["valid_until"]) - org.today).days
        out = any(q["status"] == "Sent" for q in org.quotes_of(deal))
        early = deal["stage"] in ("Prospecting", "Qualification")
        clear = left not in (6, 7)  # "7 more days" may or may not count today
        return fair(deal, quote["amount"]) and clear and (left < 7 or out or early)

    quote = talk.pick(org.quotes, has_consequences)
    deal = org.deal_of(quote)
    named = describe.quote(talk, quote)
    talk.turn_to(quote)
    plan = house.send(talk, deal, quote)
    talk.turn(
        "quote_send.sent",
        {"quote": named.slot},
        calls=[*named.reads, look(deal), *plan.calls],
        rules=plan.rules,
        tags=(*named.tags, "multi_hop"),
    )
    if talk.rng.random() < 0.5:
        sent = talk.row("Quote", quote["quote_id"])
        talk.turn(
            "quote_send.then_until",
            calls=[call("quote_details", quote_id=quote["quote_id"])],
            facts=[
                talk.fact("date", sent["valid_until"], "valid until"),
                talk.fact("money", sent["amount"], "amount"),
            ],
            tags=(*AGAIN, "about_change"),
        )


@family(CATEGORY, 15, by_manager=True)
def approve_quote(talk: Talk) -> None:
    """The sales manager has a Sent quote marked Approved, which nobody else may (QUOTE-6), and then
    perhaps the deal won at its amount (DEAL-3).
    """
    org = talk.org

    def waiting(quote: Row) -> bool:
        deal = org.deal_of(quote)
        states = {q["status"] for q in org.quotes_of(deal)}
        cheap = house.discount(deal, quote["amount"]) > house.MOST_DISCOUNT
        fitting = quotable(talk, deal) and not cheap and "Approved" not in states
        return quote["status"] == "Sent" and fitting

    quote = talk.pick(org.quotes, waiting)
    deal, key = org.deal_of(quote), quote["quote_id"]
    named = describe.quote(talk, quote)
    talk.turn_to(quote)
    talk.turn(
        "quote_approve.approve",
        {"quote": named.slot},
        calls=[*named.reads, call("modify_quote", quote_id=key, status="Approved")],
        rules=("QUOTE-6",),
        tags=named.tags,
    )
    if talk.rng.random() < 0.6:
        plan = house.win(talk, deal, talk.row("Quote", key))
        talk.turn(
            "quote_approve.then_won",
            calls=[look(deal), *plan.calls],
            facts=[talk.fact("money", quote["amount"], "amount")],
            rules=plan.rules,
            tags=AGAIN,
        )


@family(CATEGORY, 12, by_manager=False)
def approve_quote_by_rep(talk: Talk) -> None:
    """A representative wants a quote marked Approved, which is refused (QUOTE-6), and then asks
    what the manager needs to know of it.
    """
    org = talk.org

    def waiting(quote: Row) -> bool:
        deal = org.deal_of(quote)
        differs = quote["amount"] != deal["amount"]
        return quote["status"] in ("Sent", "Draft") and quotable(talk, deal) and differs

    quote = talk.pick(org.quotes, waiting)
    deal = org.deal_of(quote)
    named = describe.quote(talk, quote, avoid=("amount",))
    talk.turn_to(quote)
    talk.refused(
        "quote_approve.approve",
        {"quote": named.slot},
        calls=named.reads,
        rules=("QUOTE-6",),
        reasons=("manager", org.manager, "authori", "permi", "QUOTE-6"),
        tags=named.tags,
    )
    talk.turn(
        "quote_approve.what_to_tell",
        calls=[look(deal), call("quote_details", quote_id=quote["quote_id"])],
        facts=[
            talk.fact("money", quote["amount"], "quote"),
            talk.fact("money", deal["amount"], "deal"),
        ],
        tags=AGAIN,
    )
