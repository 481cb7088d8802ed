"""A new quote for a deal that what was said does not tell from another."""

from __future__ import annotations

from itertools import takewhile

from crmbench.domains.sales.authoring import ConversationBuilder, call, family, policy_actions
from crmbench.domains.sales.authoring.org import Row, is_open, product_of
from crmbench.domains.sales.families.quote.common import CATEGORY, look_at_quotes, quotable
from crmbench.domains.sales.phrases import money, plain


@family(CATEGORY, 18)
def quote_for_which_deal(builder: ConversationBuilder) -> None:
    """A quote for "the deal" about a product of which the client has two open ones: the agent must
    ask, and the user tells them apart by the amount (FIND-2).
    """
    org = builder.org

    def twin(deal: Row) -> Row | None:
        others = [d for d in org.deals_of(org.client_of(deal)) if d is not deal and is_open(d)]
        alike = [d for d in others if _shared_product(deal, d)]
        return alike[0] if len(alike) == 1 else None

    def ambiguous(deal: Row) -> bool:
        other = twin(deal)
        return other is not None and quotable(builder, deal) and deal["amount"] != other["amount"]

    deal = builder.pick(org.open_deals, ambiguous)
    other = twin(deal) or deal
    client = org.client_of(deal)
    builder.turn_to(deal)
    reads = [
        call("client_search", name=client["name"]),
        call("opportunity_search", client_id=client["client_id"]),
    ]
    about = ("which", "two", "several", "both", "more than one", "multiple", "mean")
    plan = policy_actions.new_quote(builder, deal)
    made = builder.turn(
        "quote_new.for_product",
        {"client": plain(client["name"]), "product": plain(_shared_product(deal, other))},
        calls=[*reads, look_at_quotes(deal), *plan.calls],
        rules=("FIND-2", *plan.rules),
        tags=("near_duplicate", "by_description"),
        asks=("answer.deal_of_amount", {"amount": money(deal["amount"])}, about),
    )
    builder.turn_to(builder.row("Quote", made["quote_id"]))


def _shared_product(one: Row, other: Row) -> str:
    """The product that two deals are about, where their names tell no more of the one than of the
    other; empty where they are about different ones.
    """
    first, second = product_of(one), product_of(other)
    if first.casefold() == second.casefold():
        return first
    pairs = zip(first.split(), second.split(), strict=False)
    shared = [word for word, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    while shared and shared[-1].islower():
        shared.pop()  # "phase", of "phase 1" and "phase 2"
    name = " ".join(shared)
    return name if len(shared) >= 2 and name not in (first, second) else ""
