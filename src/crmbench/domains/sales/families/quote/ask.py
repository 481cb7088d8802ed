"""Questions about quotes: versions side by side, and what expires soon."""

from __future__ import annotations

from datetime import timedelta

from crmbench.core.fact import Fact
from crmbench.domains.sales.families.quote.common import (
    AGAIN,
    CATEGORY,
    look_at_quotes,
    looks_at_all,
    quotable,
)
from crmbench.domains.sales.phrases import plain
from crmbench.domains.sales.talk import NoFit, Talk, call, describe, family
from crmbench.domains.sales.talk.org import Row, is_open, version_of
from crmbench.domains.sales.talk.relative import relative_date


@family(CATEGORY, 20)
def compare_versions(talk: Talk) -> None:
    """Two versions of a deal's quote are compared: what the lower one comes to and how far they are
    apart; then the latest is taken up, which need not be either of them (FIND-4).
    """
    org = talk.org

    def varied(deal: Row) -> bool:
        amounts = [quote["amount"] for quote in org.quotes_of(deal)]
        return quotable(talk, deal) and len(amounts) >= 2 and len(set(amounts)) == len(amounts)

    deal = talk.pick(org.open_deals, varied)
    one, other = talk.rng.sample(org.quotes_of(deal), 2)
    lower, higher = sorted((one["amount"], other["amount"]))
    gap = round(higher - lower, 2)
    if gap in (lower, higher):
        raise NoFit
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    ids = [one["quote_id"], other["quote_id"]]
    slots = {
        "deal": named.slot,
        "one": plain(one["version"]),
        "other": plain(other["version"]),
    }
    talk.turn(
        "quote_compare.two",
        slots,
        calls=[*named.reads, look_at_quotes(deal), call("compare_quotes", quote_ids=ids)],
        facts=[
            talk.fact("money", lower, "lower amount"),
            talk.fact("money", gap, "difference"),
        ],
        tags=(*named.tags, "computed_value"),
    )
    latest = max(org.quotes_of(deal), key=version_of)
    when = relative_date(talk)
    usable = latest["status"] in ("Draft", "Sent") and when.iso != latest["valid_until"]
    if usable and when.iso > talk.today and talk.rng.random() < 0.5:
        changed = call("modify_quote", quote_id=latest["quote_id"], valid_until=when.iso)
        talk.turn(
            "quote_compare.then_extend",
            {"when": when.slot},
            calls=[changed],
            rules=("FIND-4", "DATE-1"),
            tags=(*AGAIN, *when.tags),
        )


@family(CATEGORY, 15)
def expiring_quotes(talk: Talk) -> None:
    """Which Sent quotes of a client run out within two weeks, leaving those that have run out
    already; then they get another date, all of them and no others (DATE-1).
    """
    some = [client for client in talk.org.clients if 1 <= len(_expiring(talk, client)) <= 5]
    several = [client for client in some if len(_expiring(talk, client)) > 1]
    client = talk.pick(several if several and talk.rng.random() < 0.6 else some)
    expiring = _expiring(talk, client)
    when = relative_date(talk)
    if when.iso <= max(quote["valid_until"] for quote in expiring):
        raise NoFit
    named = describe.client(talk, client)
    talk.turn_to(client)
    talk.turn(
        "quote_expiring.which",
        {"client": named.slot},
        calls=[*named.reads, *looks_at_all(talk, client)],
        facts=_told(talk, client, expiring),
        rules=("DATE-1",),
        tags=(*named.tags, "multi_hop", "relative_date"),
    )
    calls = [call("modify_quote", quote_id=q["quote_id"], valid_until=when.iso) for q in expiring]
    batch = len(expiring) > 1
    talk.turn(
        "quote_expiring.extend_all" if batch else "quote_expiring.extend",
        {"when": when.slot},
        calls=calls,
        rules=("DATE-1",),
        tags=(*AGAIN, *when.tags, *(("batch",) if batch else ())),
    )


def _expiring(talk: Talk, client: Row) -> list[Row]:
    """The client's Sent quotes on open deals that run out within two weeks; none where a day on the
    edge would leave it open which those are.
    """
    org = talk.org
    first, last = talk.today, (org.today + timedelta(days=14)).isoformat()
    sent = [
        q for deal in org.deals_of(client) for q in org.quotes_of(deal) if q["status"] == "Sent"
    ]
    ends = [str(quote["valid_until"]) for quote in sent]
    if first in ends or last in ends or not all(is_open(org.deal_of(q)) for q in sent):
        return []
    return [quote for quote, end in zip(sent, ends, strict=True) if first < end < last]


def _told(talk: Talk, client: Row, expiring: list[Row]) -> list[Fact]:
    """The names of the quotes and what they come to together."""
    org = talk.org
    names = [quote["name"] for quote in expiring]
    every = tuple(q["name"] for deal in org.deals_of(client) for q in org.quotes_of(deal))
    if any(a != b and a in b for a in every for b in every) or len(set(every)) != len(every):
        raise NoFit
    total = talk.fact("money", sum(quote["amount"] for quote in expiring), "total")
    if len(names) == 1:
        return [talk.fact("name", names[0], "quote"), total]
    fact = talk.fact("list", tuple(names), "quotes", options=every, only=True)
    return [fact, total]
