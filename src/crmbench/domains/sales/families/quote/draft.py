"""New prices for quotes that may be changed, and for one that may not."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    NoCandidate,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.relative_dates import relative_date
from crmbench.domains.sales.families.quote.common import (
    AGAIN,
    CATEGORY,
    look,
    look_at_quotes,
    new_price,
    quotable,
)
from crmbench.domains.sales.phrases import money


@family(CATEGORY, 20)
def edit_draft_then_correct(builder: ConversationBuilder) -> None:
    """A Draft gets another amount and validity; then the amount was wrong and becomes another one,
    while the validity stays (QUOTE-2).
    """
    org = builder.org
    quote = builder.pick(
        org.quotes, lambda q: q["status"] == "Draft" and quotable(builder, org.deal_of(q))
    )
    deal, key = org.deal_of(quote), quote["quote_id"]
    first = new_price(builder, deal, quote["amount"])
    second = new_price(builder, deal, first)
    when = relative_date(builder)
    if second == quote["amount"] or when.iso in (quote["valid_until"], builder.today):
        raise NoCandidate
    named = references.quote(builder, quote, avoid=("amount",))
    builder.turn_to(quote)
    builder.turn(
        "quote_draft.edit",
        {"quote": named.slot, "amount": money(first), "when": when.slot},
        calls=[
            *named.reads,
            call("modify_quote", quote_id=key, amount=first, valid_until=when.iso),
        ],
        rules=("QUOTE-2", "DATE-1"),
        tags=(*named.tags, *when.tags),
    )
    builder.turn(
        "quote_draft.correct",
        {"amount": money(second)},
        calls=[call("modify_quote", quote_id=key, amount=second)],
        rules=("QUOTE-2",),
        tags=(*AGAIN, "correction"),
    )


@family(CATEGORY, 18)
def approved_quote_stays(builder: ConversationBuilder) -> None:
    """An Approved quote is neither changed nor canceled (QUOTE-3); the user then has a new version
    made at the other amount.
    """
    org = builder.org
    quote = builder.pick(
        org.quotes, lambda q: q["status"] == "Approved" and quotable(builder, org.deal_of(q))
    )
    deal = org.deal_of(quote)
    amount = new_price(builder, deal, quote["amount"])
    named = references.quote(builder, quote, avoid=("amount",))
    builder.turn_to(quote)
    told = builder.rng.random() < 0.5
    builder.refused(
        "quote_reprice.set" if told else "quote_approved.withdraw",
        {"quote": named.slot, "amount": money(amount)} if told else {"quote": named.slot},
        calls=named.reads,
        rules=("QUOTE-3",),
        reasons=("approved", "approval", "QUOTE-3"),
        tags=named.tags,
    )
    plan = policy_actions.new_quote(builder, deal, amount=amount)
    made = builder.turn(
        "quote_approved.then_new",
        {"amount": money(amount)},
        calls=[look(deal), look_at_quotes(deal), *plan.calls],
        rules=plan.rules,
        tags=AGAIN,
    )
    builder.turn_to(builder.row("Quote", made["quote_id"]))
