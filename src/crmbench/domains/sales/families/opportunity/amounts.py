"""Amounts, dates and what the notes say about them."""

from __future__ import annotations

import re

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.families.company.bridge import on_to_a_deal
from crmbench.domains.sales.phrases import money, percent, plain
from crmbench.domains.sales.talk import Derived, NoFit, Talk, call, describe, family, house
from crmbench.domains.sales.talk.org import Row, full_name, is_open, product_of
from crmbench.domains.sales.talk.relative import relative_date

_AMOUNT = re.compile(r"\$\s?([\d,]+)(k)?")


@family("Opportunity Management", 30)
def amount_up_with_note(talk: Talk) -> None:
    """An amount grows by more than a quarter: the note that DEAL-7 asks for is nobody's request.
    Then a correction, which again is measured against the record.
    """
    deal = talk.pick(talk.org.open_deals, lambda d: d["amount"] < 2_000_000)
    named = describe.deal(talk, deal, ("amount",))
    talk.turn_to(deal)
    rate = talk.choose(28, 30, 35, 40, 50)
    amount = Derived(f"round({deal['amount']!r} * (100 + {rate}) / 100)")
    plan = house.change_amount(talk, deal, amount)
    talk.turn(
        "amount.up",
        {"deal": named.slot, "rate": percent(rate)},
        calls=[*named.reads, *plan.calls],
        facts=[talk.fact("money", amount.value, "amount")],
        note_facts=plan.note_facts,
        rules=("MONEY-1", *plan.rules),
        tags=named.tags,
    )
    exact = half_up(amount.value / 1000) * 1000 + talk.choose(0, 500, 1000)
    second = house.change_amount(talk, talk.deal, exact)
    if exact == amount.value or len(second.calls) > 1:
        return
    talk.turn(
        "amount.round_it",
        {"amount": money(exact)},
        calls=second.calls,
        rules=second.rules,
        tags=("cross_turn_reference", "correction"),
    )


@family("Opportunity Management", 24)
def stale_note(talk: Talk) -> None:
    """A note on the deal gives another amount than the record; the record is right (FIND-3)."""
    org = talk.org

    def contradicted(deal: Row) -> bool:
        return is_open(deal) and _noted_amount(talk, deal) is not None

    deal = talk.pick(org.deals, contradicted)
    named = describe.deal(talk, deal, ("amount", "biggest", "month"))
    talk.turn_to(deal)
    old = _noted_amount(talk, deal)
    if old is None or deal["close_date"] is None:
        raise NoFit
    key = deal["opportunity_id"]
    looks = [*named.reads, call("note_search", entity_id=key)]
    facts = [
        talk.fact("money", deal["amount"], "amount"),
        talk.fact("date", deal["close_date"], "close date"),
    ]
    talk.turn(
        "amount.what_counts",
        {"deal": named.slot},
        calls=looks,
        facts=facts,
        rules=("FIND-3",),
        tags=(*named.tags, "misleading_note"),
    )
    rate = talk.choose(5, 6, 8, 10)
    amount = Derived(f"round({deal['amount']!r} * (100 - {rate}) / 100)")
    plan = house.change_amount(talk, deal, amount)
    talk.turn(
        "amount.less",
        {"rate": percent(rate)},
        calls=plan.calls,
        rules=("MONEY-1", *plan.rules),
        tags=("cross_turn_reference", "misleading_note"),
    )


def _noted_amount(talk: Talk, deal: Row) -> float | None:
    """An amount that a note on the deal gives and the deal does not have."""
    for note in talk.org.notes_of(deal, "opportunity_id"):
        for found in _AMOUNT.finditer(note["content"]):
            value = float(found[1].replace(",", "")) * (1000 if found[2] else 1)
            if abs(value - deal["amount"]) > 1:
                return value
    return None


@family("Opportunity Management", 24)
def two_deals_one_product(talk: Talk) -> None:
    """A client has two open deals for one product; the user tells them apart by the amount, then
    asks about "the other one".
    """
    org = talk.org

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

    deal = talk.pick(org.open_deals, apart)
    pair = twins(deal)
    other = pair[1] if pair[0] is deal else pair[0]
    talk.turn_to(deal)
    client = org.client_of(deal)
    word = product_of(deal).split()[0]
    when = relative_date(talk)
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
    talk.turn(
        "amount.of_two",
        slots,
        calls=[*reads, changed],
        rules=("FIND-1", "DATE-1"),
        tags=("near_duplicate", "by_description", *when.tags),
    )
    facts = [
        talk.fact("money", other["amount"], "amount"),
        talk.fact("date", other["close_date"], "close date"),
    ]
    look = call("opportunity_details", opportunity_id=other["opportunity_id"])
    talk.turn(
        "amount.the_other",
        calls=[look],
        facts=facts,
        tags=("near_duplicate", "cross_turn_reference"),
    )
    talk.turn_to(other)


@family("Opportunity Management", 24)
def overdue_deals(talk: Talk) -> None:
    """A batch: all open deals of a colleague that are past their close date get a new one."""
    org = talk.org
    late = [d for d in org.open_deals if d["close_date"] and d["close_date"] < talk.today]
    owners = {d["owner"] for d in late if d["owner"]}
    fitting = sorted(o for o in owners if 1 <= sum(d["owner"] == o for d in late) <= 4)
    if not fitting:
        raise NoFit
    owner = talk.rng.choice(fitting)
    mine = [d for d in late if d["owner"] == owner]
    talk.turn_to(mine[0])
    when = relative_date(talk)
    if when.iso <= talk.today:
        raise NoFit
    search = call("opportunity_search", owner=owner, limit=200)
    names = tuple(d["name"] for d in mine)
    open_names = tuple(d["name"] for d in org.open_deals if d["owner"] == owner)
    if any(a != b and a in b for a in open_names for b in open_names):
        raise NoFit
    fact = talk.fact("list", names, "overdue deals", options=open_names, only=True)
    talk.turn(
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
    talk.turn(
        intent,
        {"when": when.slot},
        calls=changes,
        rules=("DATE-1",),
        tags=("batch", "cross_turn_reference", *when.tags),
    )
    if len(mine) > 1:
        on_to_a_deal(talk)


@family("Opportunity Management", 26)
def find_and_view(talk: Talk) -> None:
    """A described deal, and what a careful reader of its record would tell: amount, owner, close
    date; then who at the client does a certain job.
    """
    org = talk.org
    deal = talk.pick(org.open_deals, lambda d: bool(d["close_date"] and d["owner"]))
    named = describe.deal(talk, deal, ("amount", "owner", "month", "biggest"))
    talk.turn_to(deal)
    view = call("view_opportunity_details", opportunity_id=deal["opportunity_id"])
    facts = [
        talk.fact("money", deal["amount"], "amount"),
        talk.fact("name", deal["owner"], "owner"),
        talk.fact("date", deal["close_date"], "close date"),
    ]
    talk.turn(
        "amount.view",
        {"deal": named.slot},
        calls=[*named.reads, view],
        facts=facts,
        tags=named.tags,
    )
    people = [c for c in org.contacts_of(org.client_of(deal)) if c["title"]]
    if people:
        person = talk.rng.choice(people)
        if sum(c["title"] == person["title"] for c in people) == 1:
            fact = talk.fact("name", full_name(person), person["title"])
            talk.turn(
                "amount.view_person",
                {"title": plain(person["title"])},
                calls=[view],
                facts=[fact],
                tags=("cross_turn_reference", "multi_hop"),
            )


@family("Opportunity Management", 20)
def closed_deal_stays(talk: Talk) -> None:
    """The close date or amount of a closed deal cannot be changed: the CRM refuses. A note may
    still be written (DEAL-6).
    """
    org = talk.org
    deal = talk.pick(org.deals, lambda d: not is_open(d))
    named = describe.deal(talk, deal, ("amount",))
    talk.turn_to(deal)
    amount = half_up(deal["amount"] * talk.choose(0.9, 1.1, 1.25) / 500) * 500 + 500
    if amount == deal["amount"]:
        amount += 500
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=amount)
    talk.rejected(
        "amount.closed",
        {"deal": named.slot, "amount": money(amount)},
        calls=[*named.reads, changed],
        error="Cannot modify closed opportunity fields",
        category="business_rule",
        reasons=("closed", "locked", "lost", "final"),
        tags=named.tags,
    )
    content = f"The invoice amounts to ${amount:,.0f}."
    talk.turn(
        "amount.closed_note",
        {"amount": money(amount)},
        calls=[house.note(talk, "Opportunity", deal["opportunity_id"], content)],
        note_facts=[talk.fact("money", amount)],
        rules=("DEAL-6", "NOTE-1"),
        tags=("cross_turn_reference",),
    )


@family("Opportunity Management", 22)
def hand_over_all(talk: Talk) -> None:
    """A representative hands all their open deals with a client to a colleague; deals of others
    stay where they are (DEAL-8).
    """
    org = talk.org
    mine = [d for d in org.open_deals if d["owner"] == talk.speaker]
    deal = talk.pick(mine)
    client = org.client_of(deal)
    named = describe.client(talk, client)
    talk.turn_to(deal)
    every = [d for d in org.deals_of(client) if is_open(d) and d["owner"] == talk.speaker]
    others = [o for o in org.owners[1:] if o != talk.speaker]
    owner = talk.rng.choice(others)
    changes = [
        call("modify_opportunity", opportunity_id=d["opportunity_id"], owner=owner) for d in every
    ]
    search = call("opportunity_search", client_id=client["client_id"])
    talk.turn(
        "amount.hand_over",
        {"client": named.slot, "owner": plain(owner)},
        calls=[*named.reads, search, *changes],
        rules=("DEAL-8", "FIND-4"),
        tags=(*named.tags, "batch"),
    )
    if len(every) > 1:
        # "The deal" would no longer say which one.
        talk.turn_to(client)
