"""Questions about quotes: versions side by side, and what expires soon."""

from __future__ import annotations

from datetime import timedelta

from crmbench.core.fact import Fact
from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    NoCandidate,
    call,
    family,
    references,
)
from crmbench.domains.sales.authoring.org import Row, is_open, version_of
from crmbench.domains.sales.authoring.relative_dates import relative_date
from crmbench.domains.sales.families.quote.common import (
    AGAIN,
    CATEGORY,
    look_at_quotes,
    looks_at_all,
    quotable,
)
from crmbench.domains.sales.phrases import plain


@family(CATEGORY, 20)
def compare_versions(builder: ConversationBuilder) -> None:
    """Two versions of a deal's quote are compared: what the lower one comes to and how far they are
    apart; then the latest is taken up, which need not be either of them (FIND-4).
    """
    org = builder.org

    def varied(deal: Row) -> bool:
        amounts = [quote["amount"] for quote in org.quotes_of(deal)]
        return quotable(builder, deal) and len(amounts) >= 2 and len(set(amounts)) == len(amounts)

    deal = builder.pick(org.open_deals, varied)
    one, other = builder.rng.sample(org.quotes_of(deal), 2)
    lower, higher = sorted((one["amount"], other["amount"]))
    gap = round(higher - lower, 2)
    if gap in (lower, higher):
        raise NoCandidate
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    ids = [one["quote_id"], other["quote_id"]]
    slots = {
        "deal": named.slot,
        "one": plain(one["version"]),
        "other": plain(other["version"]),
    }
    builder.turn(
        "quote_compare.two",
        slots,
        calls=[*named.reads, look_at_quotes(deal), call("compare_quotes", quote_ids=ids)],
        facts=[
            builder.fact("money", lower, "lower amount"),
            builder.fact("money", gap, "difference"),
        ],
        tags=(*named.tags, "computed_value"),
    )
    latest = max(org.quotes_of(deal), key=version_of)
    when = relative_date(builder)
    usable = latest["status"] in ("Draft", "Sent") and when.iso != latest["valid_until"]
    if usable and when.iso > builder.today and builder.rng.random() < 0.5:
        changed = call("modify_quote", quote_id=latest["quote_id"], valid_until=when.iso)
        builder.turn(
            "quote_compare.then_extend",
            {"when": when.slot},
            calls=[changed],
            rules=("FIND-4", "DATE-1"),
            tags=(*AGAIN, *when.tags),
        )


@family(CATEGORY, 15)
def expiring_quotes(builder: ConversationBuilder) -> None:
    """Which Sent quotes of a client run out within two weeks, leaving those that have run out
    already; then they get another date, all of them and no others (DATE-1).
    """
    some = [client for client in builder.org.clients if 1 <= len(_expiring(builder, client)) <= 5]
    several = [client for client in some if len(_expiring(builder, client)) > 1]
    client = builder.pick(several if several and builder.rng.random() < 0.6 else some)
    expiring = _expiring(builder, client)
    when = relative_date(builder)
    if when.iso <= max(quote["valid_until"] for quote in expiring):
        raise NoCandidate
    named = references.client(builder, client)
    builder.turn_to(client)
    builder.turn(
        "quote_expiring.which",
        {"client": named.slot},
        calls=[*named.reads, *looks_at_all(builder, client)],
        facts=_told(builder, client, expiring),
        rules=("DATE-1",),
        tags=(*named.tags, "multi_hop", "relative_date"),
    )
    calls = [call("modify_quote", quote_id=q["quote_id"], valid_until=when.iso) for q in expiring]
    batch = len(expiring) > 1
    builder.turn(
        "quote_expiring.extend_all" if batch else "quote_expiring.extend",
        {"when": when.slot},
        calls=calls,
        rules=("DATE-1",),
        tags=(*AGAIN, *when.tags, *(("batch",) if batch else ())),
    )


def _expiring(builder: ConversationBuilder, client: Row) -> list[Row]:
    """The client's Sent quotes on open deals that run out within two weeks; none where a day on the
    edge would leave it open which those are.
    """
    org = builder.org
    first, last = builder.today, (org.today + timedelta(days=14)).isoformat()
    sent = [
        q for deal in org.deals_of(client) for q in org.quotes_of(deal) if q["status"] == "Sent"
    ]
    ends = [str(quote["valid_until"]) for quote in sent]
    if first in ends or last in ends or not all(is_open(org.deal_of(q)) for q in sent):
        return []
    return [quote for quote, end in zip(sent, ends, strict=True) if first < end < last]


def _told(builder: ConversationBuilder, client: Row, expiring: list[Row]) -> list[Fact]:
    """The names of the quotes and what they come to together."""
    org = builder.org
    names = [quote["name"] for quote in expiring]
    every = tuple(q["name"] for deal in org.deals_of(client) for q in org.quotes_of(deal))
    if any(a != b and a in b for a in every for b in every) or len(set(every)) != len(every):
        raise NoCandidate
    total = builder.fact("money", sum(quote["amount"] for quote in expiring), "total")
    if len(names) == 1:
        return [builder.fact("name", names[0], "quote"), total]
    fact = builder.fact("list", tuple(names), "quotes", options=every, only=True)
    return [fact, total]
