"""New quotes where the client's status or an old note stands in the way."""

from __future__ import annotations

import re

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
    look,
    look_at_notes,
    look_at_quotes,
    quotable,
)
from crmbench.domains.sales.phrases import plain

_AMOUNT = re.compile(r"\$ ?(\d[\d,]*(?:\.\d+)?)(k?)")
_STATES = ("Active", "Prospect", "Inactive")


@family(CATEGORY, 15)
def quote_for_inactive_client(builder: ConversationBuilder) -> None:
    """A quote for an Inactive client is refused (CLIENT-3). The sales manager may have the client
    made Active again and then gets the quote; a representative asks who looks after the client.
    """
    org = builder.org
    deal = builder.pick(org.deals, lambda d: org.client_of(d)["status"] == "Inactive")
    client = org.client_of(deal)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    closed = not is_open(deal)
    builder.refused(
        "quote_new.at_deal_amount",
        {"deal": named.slot},
        calls=[*named.reads, call("client_search", client_id=client["client_id"])],
        rules=("CLIENT-3", *(("DEAL-6",) if closed else ())),
        reasons=("inactive", "CLIENT-3", *(("closed", "DEAL-6") if closed else ())),
        tags=(*named.tags, "multi_hop"),
    )
    search = call("client_search", client_id=client["client_id"])
    if builder.by_manager and not closed:
        active = call("modify_client", client_id=client["client_id"], status="Active")
        plan = policy_actions.new_quote(builder, deal)
        builder.turn(
            "quote_new.then_active",
            calls=[look(deal), look_at_quotes(deal), active, *plan.calls],
            rules=("CLIENT-3", *plan.rules),
            tags=AGAIN,
        )
    elif client["owner"]:
        facts = [
            builder.fact("choice", client["status"], "status", options=_STATES),
            builder.fact("name", client["owner"], "owner"),
        ]
        slots = {"client": plain(client["name"])}
        builder.turn("quote_new.then_owner", slots, calls=[search], facts=facts, tags=AGAIN)


@family(CATEGORY, 15)
def stale_quote_amount(builder: ConversationBuilder) -> None:
    """A new quote at the deal's amount, where a note gives another amount: the field counts, not
    the note (FIND-3, QUOTE-1).
    """
    deal = builder.pick(
        builder.org.open_deals, lambda d: quotable(builder, d) and bool(_noted_amounts(builder, d))
    )
    named = references.deal(builder, deal, avoid=("amount",))
    builder.turn_to(deal)
    plan = policy_actions.new_quote(builder, deal)
    made = builder.turn(
        "quote_new.what_it_is_worth",
        {"deal": named.slot},
        calls=[*named.reads, look_at_notes(deal), look(deal), look_at_quotes(deal), *plan.calls],
        facts=[builder.fact("money", deal["amount"], "amount")],
        rules=("FIND-3", *plan.rules),
        tags=(*named.tags, "misleading_note"),
    )
    builder.turn_to(builder.row("Quote", made["quote_id"]))


def _noted_amounts(builder: ConversationBuilder, deal: Row) -> list[float]:
    """Amounts that notes on the deal give and the deal does not have."""
    found = [
        float(match[1].replace(",", "")) * (1000 if match[2] else 1)
        for note in builder.org.notes_of(deal, "opportunity_id")
        for match in _AMOUNT.finditer(note["content"])
    ]
    return [amount for amount in found if abs(amount - deal["amount"]) > 1]
