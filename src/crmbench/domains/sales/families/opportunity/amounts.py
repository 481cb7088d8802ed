"""Amounts, dates and what the notes say about them."""

from __future__ import annotations

import re

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    Derived,
    NoCandidate,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.org import Row, full_name, is_open, product_of
from crmbench.domains.sales.authoring.relative_dates import relative_date
from crmbench.domains.sales.families.company.bridge import on_to_a_deal
from crmbench.domains.sales.phrases import money, percent, plain

_AMOUNT = re.compile(r"\$\s?([\d,]+)(k)?")


@family("Opportunity Management", 30)
def amount_up_with_note(builder: ConversationBuilder) -> None:
    """An amount grows by more than a quarter: the note that DEAL-7 asks for is nobody's request.
    Then a correction, which again is measured against the record.
    """
    deal = builder.pick(builder.org.open_deals, lambda d: d["amount"] < 2_000_000)
    named = references.deal(builder, deal, ("amount",))
    builder.turn_to(deal)
    rate = builder.choose(28, 30, 35, 40, 50)
    amount = Derived(f"round({deal['amount']!r} * (100 + {rate}) / 100)")
    plan = policy_actions.change_amount(builder, deal, amount)
    builder.turn(
        "amount.up",
        {"deal": named.slot, "rate": percent(rate)},
        calls=[*named.reads, *plan.calls],
        facts=[builder.fact("money", amount.value, "amount")],
        note_facts=plan.note_facts,
        rules=("MONEY-1", *plan.rules),
        tags=named.tags,
    )
    # Rounded as people round: 98,700 becomes 98,500 or 99,000, never 99,500.
    step = builder.choose(500, 1000) if amount.value < 200_000 else 1000
    exact = half_up(amount.value / step) * step
    second = policy_actions.change_amount(builder, builder.deal, exact)
    if exact == amount.value or len(second.calls) > 1:
        return
    builder.turn(
        "amount.round_it",
        {"amount": money(exact)},
        calls=second.calls,
        rules=second.rules,
        tags=("cross_turn_reference", "correction"),
    )


@family("Opportunity Management", 24)
def stale_note(builder: ConversationBuilder) -> None:
    """A note on the deal gives another amount than the record; the record is right (FIND-3)."""
    org = builder.org

    def contradicted(deal: Row) -> bool:
        return is_open(deal) and _noted_amount(builder, deal) is not None

    deal = builder.pick(org.deals, contradicted)
    named = references.deal(builder, deal, ("amount", "biggest", "month"))
    builder.turn_to(deal)
    old = _noted_amount(builder, deal)
    if old is None or deal["close_date"] is None:
        raise NoCandidate
    key = deal["opportunity_id"]
    looks = [*named.reads, call("note_search", entity_id=key)]
    facts = [
        builder.fact("money", deal["amount"], "amount"),
        builder.fact("date", deal["close_date"], "close date"),
    ]
    builder.turn(
        "amount.what_counts",
        {"deal": named.slot},
        calls=looks,
        facts=facts,
        rules=("FIND-3",),
        tags=(*named.tags, "misleading_note"),
    )
    rate = builder.choose(5, 6, 8, 10)
    amount = Derived(f"round({deal['amount']!r} * (100 - {rate}) / 100)")
    plan = policy_actions.change_amount(builder, deal, amount)
    builder.turn(
        "amount.less",
        {"rate": percent(rate)},
        calls=plan.calls,
        rules=("MONEY-1", *plan.rules),
        tags=("cross_turn_reference", "misleading_note"),
    )


def _noted_amount(builder: ConversationBuilder, deal: Row) -> float | None:
    """An amount that a note on the deal gives and the deal does not have."""
    for note in builder.org.notes_of(deal, "opportunity_id"):
        for found in _AMOUNT.finditer(note["content"]):
            value = float(found[1].replace(",", "")) * (1000 if found[2] else 1)
            if abs(value - deal["amount"]) > 1:
                return value
    return None


@family("Opportunity Management", 24)
def two_deals_one_product(builder: ConversationBuilder) -> None:
    """A client has two open deals for one product; the user tells them apart by the amount, then
    asks about "the other one".
    """
    org = builder.org

    def twins(deal: Row) -> list[Row]:
        word = product_of(deal).split()[0]
        return [
            d
            for d in org.deals_of(org.client_of(deal))
            if is_open(d) and product_of(d).split()[0] == word and d["close_date"]
        ]

    def apart(deal: Row) -> bool:
        pair = twins(deal)
        return deal in pair and len(pair) == 2 and pair[0]["amount"] != pair[1]["amount"]

    deal = builder.pick(org.open_deals, apart)
    pair = twins(deal)
    other = pair[1] if pair[0] is deal else pair[0]
    builder.turn_to(deal)
    client = org.client_of(deal)
    word = product_of(deal).split()[0]
    when = relative_date(builder)
    reads = [
        call("client_search", name=client["name"]),
        call("opportunity_search", client_id=client["client_id"]),
    ]
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], close_date=when.iso)
    bigger = deal["amount"] > other["amount"]
    slots = {
        "client": plain(client["name"]),
        "product": plain(word),
        "which": plain("bigger" if bigger else "smaller"),
        "when": when.slot,
    }
    builder.turn(
        "amount.of_two",
        slots,
        calls=[*reads, changed],
        rules=("FIND-1", "DATE-1"),
        tags=("near_duplicate", "by_description", *when.tags),
    )
    facts = [
        builder.fact("money", other["amount"], "amount"),
        builder.fact("date", other["close_date"], "close date"),
    ]
    look = call("opportunity_details", opportunity_id=other["opportunity_id"])
    builder.turn(
        "amount.the_other",
        calls=[look],
        facts=facts,
        tags=("near_duplicate", "cross_turn_reference"),
    )
    builder.turn_to(other)


@family("Opportunity Management", 24)
def overdue_deals(builder: ConversationBuilder) -> None:
    """A batch: all open deals of a colleague that are past their close date get a new one."""
    org = builder.org
    late = [d for d in org.open_deals if d["close_date"] and d["close_date"] < builder.today]
    owners = {d["owner"] for d in late if d["owner"]}
    fitting = sorted(o for o in owners if 1 <= sum(d["owner"] == o for d in late) <= 4)
    if not fitting:
        raise NoCandidate
    owner = builder.rng.choice(fitting)
    mine = [d for d in late if d["owner"] == owner]
    builder.turn_to(mine[0])
    when = relative_date(builder)
    if when.iso <= builder.today:
        raise NoCandidate
    search = call("opportunity_search", owner=owner, limit=200)
    names = tuple(d["name"] for d in mine)
    open_names = tuple(d["name"] for d in org.open_deals if d["owner"] == owner)
    if any(a != b and a in b for a in open_names for b in open_names):
        raise NoCandidate
    fact = builder.fact("list", names, "overdue deals", options=open_names, only=True)
    builder.turn(
        "amount.overdue_list",
        {"owner": plain(owner)},
        calls=[search],
        facts=[fact],
        rules=("FIND-4",),
        tags=("by_description",),
    )
    changes = [
        call("modify_opportunity", opportunity_id=d["opportunity_id"], close_date=when.iso)
        for d in mine
    ]
    intent = "amount.overdue_move" if len(mine) > 1 else "amount.overdue_move_one"
    builder.turn(
        intent,
        {"when": when.slot},
        calls=changes,
        rules=("DATE-1",),
        tags=("batch", "cross_turn_reference", *when.tags),
    )
    if len(mine) > 1:
        on_to_a_deal(builder)


@family("Opportunity Management", 26)
def find_and_view(builder: ConversationBuilder) -> None:
    """A described deal, and what a careful reader of its record would tell: amount, owner, close
    date; then who at the client does a certain job.
    """
    org = builder.org
    deal = builder.pick(org.open_deals, lambda d: bool(d["close_date"] and d["owner"]))
    named = references.deal(builder, deal, ("amount", "owner", "month", "biggest"))
    builder.turn_to(deal)
    view = call("view_opportunity_details", opportunity_id=deal["opportunity_id"])
    facts = [
        builder.fact("money", deal["amount"], "amount"),
        builder.fact("name", deal["owner"], "owner"),
        builder.fact("date", deal["close_date"], "close date"),
    ]
    builder.turn(
        "amount.view",
        {"deal": named.slot},
        calls=[*named.reads, view],
        facts=facts,
        tags=named.tags,
    )
    people = [c for c in org.contacts_of(org.client_of(deal)) if c["title"]]
    if people:
        person = builder.rng.choice(people)
        if sum(c["title"] == person["title"] for c in people) == 1:
            fact = builder.fact("name", full_name(person), person["title"])
            builder.turn(
                "amount.view_person",
                {"title": plain(person["title"])},
                calls=[view],
                facts=[fact],
                tags=("cross_turn_reference", "multi_hop"),
            )


@family("Opportunity Management", 20)
def closed_deal_stays(builder: ConversationBuilder) -> None:
    """The close date or amount of a closed deal cannot be changed: the CRM refuses. A note may
    still be written (DEAL-6).
    """
    org = builder.org
    deal = builder.pick(org.deals, lambda d: not is_open(d))
    named = references.deal(builder, deal, ("amount",))
    builder.turn_to(deal)
    amount = half_up(deal["amount"] * builder.choose(0.9, 1.1, 1.25) / 500) * 500 + 500
    if amount == deal["amount"]:
        amount += 500
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=amount)
    builder.rejected(
        "amount.closed",
        {"deal": named.slot, "amount": money(amount)},
        calls=[*named.reads, changed],
        error="Cannot modify closed opportunity fields",
        category="business_rule",
        reasons=("closed", "locked", "lost", "final", "won", "no longer be changed", deal["stage"]),
        tags=named.tags,
    )
    content = f"The invoice amounts to ${amount:,.0f}."
    builder.turn(
        "amount.closed_note",
        {"amount": money(amount)},
        calls=[policy_actions.note(builder, "Opportunity", deal["opportunity_id"], content)],
        note_facts=[builder.fact("money", amount)],
        rules=("DEAL-6", "NOTE-1"),
        tags=("cross_turn_reference",),
    )


@family("Opportunity Management", 22)
def hand_over_all(builder: ConversationBuilder) -> None:
    """A representative hands all their open deals with a client to a colleague; deals of others
    stay where they are (DEAL-8).
    """
    org = builder.org
    mine = [d for d in org.open_deals if d["owner"] == builder.speaker]
    deal = builder.pick(mine)
    client = org.client_of(deal)
    named = references.client(builder, client)
    builder.turn_to(deal)
    every = [d for d in org.deals_of(client) if is_open(d) and d["owner"] == builder.speaker]
    others = [o for o in org.owners[1:] if o != builder.speaker]
    owner = builder.rng.choice(others)
    changes = [
        call("modify_opportunity", opportunity_id=d["opportunity_id"], owner=owner) for d in every
    ]
    search = call("opportunity_search", client_id=client["client_id"])
    builder.turn(
        "amount.hand_over",
        {"client": named.slot, "owner": plain(owner)},
        calls=[*named.reads, search, *changes],
        rules=("DEAL-8", "FIND-4"),
        tags=(*named.tags, "batch"),
    )
    if len(every) > 1:
        # "The deal" would no longer say which one.
        builder.turn_to(client)
