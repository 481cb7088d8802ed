"""New prices: some percent on the last quote, and another one for a quote that is out."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    Derived,
    NoCandidate,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.org import version_of
from crmbench.domains.sales.families.quote.common import (
    CATEGORY,
    fair,
    look_at_quotes,
    new_price,
    quotable,
)
from crmbench.domains.sales.phrases import money, percent


@family(CATEGORY, 30)
def reprice_last_quote(builder: ConversationBuilder) -> None:
    """A new quote some percent above the last one, which is that of the highest version and not the
    highest amount (FIND-4, QUOTE-1, MONEY-1).
    """
    deal = builder.pick(
        builder.org.open_deals, lambda d: quotable(builder, d) and len(builder.org.quotes_of(d)) > 0
    )
    last = max(builder.org.quotes_of(deal), key=version_of)
    rate = builder.choose(3, 4, 5, 6, 8, 12)
    amount = Derived(f"round({last['amount']!r} * (100 + {rate}) / 100)")
    if not fair(deal, amount.value):
        raise NoCandidate
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    plan = policy_actions.new_quote(builder, deal, amount=amount)
    made = builder.turn(
        "quote_reprice.more",
        {"deal": named.slot, "rate": percent(rate)},
        calls=[*named.reads, look_at_quotes(deal), *plan.calls],
        facts=[builder.fact("money", amount.value, "amount")],
        rules=("FIND-4", "MONEY-1", *plan.rules),
        tags=(*named.tags, "multi_hop"),
    )
    builder.turn_to(builder.row("Quote", made["quote_id"]))


@family(CATEGORY, 20)
def change_sent_quote(builder: ConversationBuilder) -> None:
    """Another amount for a quote that has been sent: it is canceled and a new version made instead,
    which the user does not say (QUOTE-2).
    """
    org = builder.org
    quote = builder.pick(
        org.quotes, lambda q: q["status"] == "Sent" and quotable(builder, org.deal_of(q))
    )
    deal = org.deal_of(quote)
    amount = new_price(builder, deal, quote["amount"])
    named = references.quote(builder, quote, avoid=("amount",))
    builder.turn_to(quote)
    plan = policy_actions.new_quote(builder, deal, amount=amount)
    made = builder.turn(
        "quote_reprice.set",
        {"quote": named.slot, "amount": money(amount)},
        calls=[*named.reads, *policy_actions.cancel([quote]), *plan.calls],
        rules=("QUOTE-2", *plan.rules),
        tags=named.tags,
    )
    builder.turn_to(builder.row("Quote", made["quote_id"]))
