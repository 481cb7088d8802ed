"""Quotes that go: deleted, canceled, or several canceled at once."""

from __future__ import annotations

from crmbench.domains.sales.families.quote.common import (
    AGAIN,
    CATEGORY,
    look_at_quotes,
    looks_at_all,
    quotable,
)
from crmbench.domains.sales.talk import Talk, call, describe, family, house
from crmbench.domains.sales.talk.org import Row, is_open


@family(CATEGORY, 18)
def delete_sent_quote(talk: Talk) -> None:
    """A Sent quote is not deleted (QUOTE-4); the user settles for canceling it."""
    org = talk.org
    quote = talk.pick(
        org.quotes, lambda q: q["status"] == "Sent" and quotable(talk, org.deal_of(q))
    )
    named = describe.quote(talk, quote, avoid=("status",))
    talk.turn_to(quote)
    talk.refused(
        "quote_delete.delete",
        {"quote": named.slot},
        calls=named.reads,
        rules=("QUOTE-4",),
        reasons=("sent", "draft", "QUOTE-4"),
        tags=named.tags,
    )
    talk.turn(
        "quote_delete.then_cancel", calls=house.cancel([quote]), rules=("QUOTE-4",), tags=AGAIN
    )


@family(CATEGORY, 15)
def delete_draft_quote(talk: Talk) -> None:
    """A Draft is deleted, and what is left on the deal is counted afterwards (QUOTE-4)."""
    org = talk.org

    def spare(quote: Row) -> bool:
        deal = org.deal_of(quote)
        return quote["status"] == "Draft" and quotable(talk, deal) and len(org.quotes_of(deal)) >= 2

    quote = talk.pick(org.quotes, spare)
    deal = org.deal_of(quote)
    named = describe.quote(talk, quote)
    talk.turn_to(deal)
    talk.turn(
        "quote_delete.delete",
        {"quote": named.slot},
        calls=[*named.reads, call("delete_quote", quote_id=quote["quote_id"])],
        rules=("QUOTE-4",),
        tags=named.tags,
    )
    left = talk.find("Quote", "opportunity_id", deal["opportunity_id"])
    talk.turn(
        "quote_delete.what_is_left",
        calls=[look_at_quotes(deal)],
        facts=[
            talk.fact("count", len(left), "quotes"),
            talk.fact("money", max(q["amount"] for q in left), "highest quote"),
        ],
        tags=(*AGAIN, "about_change"),
    )


@family(CATEGORY, 15)
def cancel_drafts_of_client(talk: Talk) -> None:
    """All Drafts of a client, or all its quotes in Draft or Sent, are canceled, whichever deals
    they hang on, and none besides.
    """
    org = talk.org
    states = talk.choose(("Draft",), ("Draft", "Sent"))

    def pending(client: Row) -> list[Row]:
        quotes = [q for deal in org.deals_of(client) for q in org.quotes_of(deal)]
        return [q for q in quotes if q["status"] in states]

    def several(client: Row) -> bool:
        found = pending(client)
        return 2 <= len(found) <= 6 and all(is_open(org.deal_of(q)) for q in found)

    client = talk.pick(org.clients, several)
    quotes = pending(client)
    named = describe.client(talk, client)
    talk.turn_to(client)
    facts = [
        talk.fact("count", len(quotes), "quotes"),
        talk.fact("money", sum(q["amount"] for q in quotes), "total"),
    ]
    talk.turn(
        "quote_cancel.drafts" if len(states) == 1 else "quote_cancel.pending",
        {"client": named.slot},
        calls=[*named.reads, *looks_at_all(talk, client), *house.cancel(quotes)],
        facts=facts,
        tags=(*named.tags, "batch", "multi_hop", "computed_value"),
    )
