"""Quotes that go: deleted, canceled, or several canceled at once."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.org import Row, is_open
from crmbench.domains.sales.families.quote.common import (
    AGAIN,
    CATEGORY,
    look_at_quotes,
    looks_at_all,
    quotable,
)


@family(CATEGORY, 18)
def delete_sent_quote(builder: ConversationBuilder) -> None:
    """A Sent quote is not deleted (QUOTE-4); the user settles for canceling it."""
    org = builder.org
    quote = builder.pick(
        org.quotes, lambda q: q["status"] == "Sent" and quotable(builder, org.deal_of(q))
    )
    named = references.quote(builder, quote, avoid=("status",))
    builder.turn_to(quote)
    builder.refused(
        "quote_delete.delete",
        {"quote": named.slot},
        calls=named.reads,
        rules=("QUOTE-4",),
        reasons=("sent", "draft", "QUOTE-4", "gone out", "already out"),
        tags=named.tags,
    )
    builder.turn(
        "quote_delete.then_cancel",
        calls=policy_actions.cancel([quote]),
        rules=("QUOTE-4",),
        tags=AGAIN,
    )


@family(CATEGORY, 15)
def delete_draft_quote(builder: ConversationBuilder) -> None:
    """A Draft is deleted, and what is left on the deal is counted afterwards (QUOTE-4)."""
    org = builder.org

    def spare(quote: Row) -> bool:
        deal = org.deal_of(quote)
        return (
            quote["status"] == "Draft" and quotable(builder, deal) and len(org.quotes_of(deal)) >= 2
        )

    quote = builder.pick(org.quotes, spare)
    deal = org.deal_of(quote)
    named = references.quote(builder, quote)
    builder.turn_to(deal)
    builder.turn(
        "quote_delete.delete",
        {"quote": named.slot},
        calls=[*named.reads, call("delete_quote", quote_id=quote["quote_id"])],
        rules=("QUOTE-4",),
        tags=named.tags,
    )
    left = builder.find("Quote", "opportunity_id", deal["opportunity_id"])
    builder.turn(
        "quote_delete.what_is_left",
        calls=[look_at_quotes(deal)],
        facts=[
            builder.fact("count", len(left), "quotes"),
            builder.fact("money", max(q["amount"] for q in left), "highest quote"),
        ],
        tags=(*AGAIN, "about_change"),
    )


@family(CATEGORY, 15)
def cancel_drafts_of_client(builder: ConversationBuilder) -> None:
    """All Drafts of a client, or all its quotes in Draft or Sent, are canceled, whichever deals
    they hang on, and none besides.
    """
    org = builder.org
    states = builder.choose(("Draft",), ("Draft", "Sent"))

    def pending(client: Row) -> list[Row]:
        quotes = [q for deal in org.deals_of(client) for q in org.quotes_of(deal)]
        return [q for q in quotes if q["status"] in states]

    def several(client: Row) -> bool:
        found = pending(client)
        return 2 <= len(found) <= 6 and all(is_open(org.deal_of(q)) for q in found)

    client = builder.pick(org.clients, several)
    quotes = pending(client)
    named = references.client(builder, client)
    builder.turn_to(client)
    facts = [
        builder.fact("count", len(quotes), "quotes"),
        builder.fact("money", sum(q["amount"] for q in quotes), "total"),
    ]
    builder.turn(
        "quote_cancel.drafts" if len(states) == 1 else "quote_cancel.pending",
        {"client": named.slot},
        calls=[*named.reads, *looks_at_all(builder, client), *policy_actions.cancel(quotes)],
        facts=facts,
        tags=(*named.tags, "batch", "multi_hop", "computed_value"),
    )
