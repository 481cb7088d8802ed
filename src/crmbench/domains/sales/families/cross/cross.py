"""Work that touches several kinds of records."""

from __future__ import annotations

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.phrases import money, percent, plain
from crmbench.domains.sales.talk import Derived, NoFit, Talk, call, describe, family, house
from crmbench.domains.sales.talk.moves.people import TITLES
from crmbench.domains.sales.talk.org import Row, full_name, is_open, product_of
from crmbench.domains.sales.talk.relative import relative_date

_FIRST = ("Greta", "Luca", "Amina", "Pavel", "Ingrid", "Marcus", "Yuki", "Odette", "Rafael", "Hana")
_LAST = ("Castell", "Oduya", "Lindgren", "Varga", "Okoro", "Steiner", "Marchetti", "Nilsen")
_FIRMS = ("Bramwell", "Castlegate", "Dunmore", "Elverton", "Foxhollow", "Glenrowan", "Hathersage")
_TRADES = {
    "Bakeries": "Bakery",
    "Ceramics": "Building Materials",
    "Cold Storage": "Grocery",
    "Freight": "Freight",
    "Instruments": "Machinery",
    "Textiles": "Textiles",
    "Timber": "Timber",
}
"""What a new firm is called, and its industry."""
_ENDINGS = (
    house.Loss("they are closing down", "closing", ("close", "closure", "shutting", "closed")),
    house.Loss("they were bought", "bought", ("acquired", "acquisition", "taken over")),
    house.Loss("they have gone in-house", "in-house", ("in house", "internally", "themselves")),
)


@family("Cross-entity", 40)
def onboard_client(talk: Talk) -> None:
    """A new client, its first contact, its first deal: each refers to what the turn before made,
    and the owner, stage and close date follow from rules.
    """
    org = talk.org
    trade = talk.choose(*_TRADES)
    industry = _TRADES[trade]
    name = f"{talk.choose(*_FIRMS)} {trade}"
    host = f"{name.casefold().replace(' ', '')}.example"
    taken = {str(c["name"]).casefold() for c in (*org.clients, *org.companies)}
    if name.casefold() in taken or any(host in str(c["email"]) for c in org.clients):
        raise NoFit
    made = talk.turn(
        "cross.new_client",
        {"client": plain(name), "email": plain(f"office@{host}"), "industry": plain(industry)},
        calls=[
            call("client_search", name=name),
            call("company_search", name=name),
            call(
                "create_new_client",
                name=name,
                email=f"office@{host}",
                status="Prospect",
                industry=industry,
                owner=talk.speaker,
            ),
        ],
        rules=("CLIENT-1", "CLIENT-2", "CLIENT-4"),
    )
    client = talk.row("Client", made["client_id"])
    talk.turn_to(client)
    first, last, title = talk.choose(*_FIRST), talk.choose(*_LAST), talk.choose(*TITLES)
    address = f"{first}.{last}@{host}".casefold()
    talk.turn(
        "cross.first_contact",
        {"contact": plain(f"{first} {last}"), "title": plain(title), "email": plain(address)},
        calls=[
            call(
                "create_new_contact",
                first_name=first,
                last_name=last,
                client_id=client["client_id"],
                title=title,
                email=address,
            )
        ],
        rules=("CONTACT-2", "CONTACT-3"),
        tags=("cross_turn_reference",),
    )
    product = talk.choose(*sorted({product_of(d) for d in org.deals}))
    amount = float(talk.rng.randint(16, 300) * 500)
    plan = house.new_deal(talk, client, product, amount)
    deal = talk.turn(
        "cross.first_deal",
        {"product": plain(product), "amount": money(amount)},
        calls=plan.calls,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )
    talk.turn_to(talk.row("Opportunity", deal["opportunity_id"]))


@family("Cross-entity", 36)
def win_and_contract(talk: Talk) -> None:
    """A deal is won, its contract is made by the rules, and the signed copy goes onto that
    contract: each step rests on the one before.
    """
    org = talk.org

    def ready(deal: Row) -> bool:
        states = [q["status"] for q in org.quotes_of(deal)]
        return states.count("Approved") == 1

    deal = talk.pick(org.open_deals, ready)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    key = deal["opportunity_id"]
    approved = next(q for q in org.quotes_of(deal) if q["status"] == "Approved")
    plan = house.win(talk, deal, approved)
    talk.turn(
        "mark_won.won",
        {"deal": named.slot},
        calls=[*named.reads, call("quote_search", opportunity_id=key), *plan.calls],
        rules=plan.rules,
        tags=named.tags,
    )
    signed = house.new_contract(talk, talk.row("Opportunity", key))
    made = talk.turn(
        "cross.then_contract",
        calls=[call("contract_search", opportunity_id=key), *signed.calls],
        facts=[talk.fact("money", approved["amount"], "contract value")],
        rules=signed.rules,
        tags=("cross_turn_reference",),
    )
    name = f"contract_{talk.today}_{talk.choose('signed', 'countersigned', 'final')}.pdf"
    talk.turn(
        "cross.signed_copy",
        {"file": plain(name)},
        calls=[house.upload(talk, "Contract", made["contract_id"], name)],
        rules=("DOC-2",),
        tags=("cross_turn_reference",),
    )
    talk.turn_to(talk.row("Opportunity", key))


@family("Cross-entity", 30)
def renew_contract_as_deal(talk: Talk) -> None:
    """A new deal from a contract that runs out: value plus a percentage, closing when the contract
    ends, for the contract's client.
    """
    org = talk.org

    def ending(contract: Row) -> bool:
        client = org.client_of(contract)
        ends = contract["end_date"]
        alive = client["status"] != "Inactive" and bool(client["owner"])
        return alive and bool(ends) and ends > talk.today and bool(contract["value"])

    contract = talk.pick(org.contracts, ending)
    named = describe.contract(talk, contract)
    client = org.client_of(contract)
    talk.turn_to(contract)
    rate = talk.choose(3, 5, 6, 8, 10)
    amount = Derived(f"round({contract['value']!r} * (100 + {rate}) / 100)")
    end = contract["end_date"]
    plan = house.new_deal(talk, client, "Renewal", amount, close_date=end)
    look = call("client_search", client_id=client["client_id"])
    made = talk.turn(
        "cross.renewal",
        {"contract": named.slot, "rate": percent(rate)},
        calls=[*named.reads, look, *plan.calls],
        facts=[talk.fact("money", amount.value, "amount"), talk.fact("date", end, "close date")],
        rules=("MONEY-1", *plan.rules),
        tags=(*named.tags, "multi_hop"),
    )
    talk.turn_to(talk.row("Opportunity", made["opportunity_id"]))


@family("Cross-entity", 30)
def quote_for_contacts_deal(talk: Talk) -> None:
    """From a person to their company, to its one open deal, to a new quote and a note on it."""
    org = talk.org

    def known(contact: Row) -> bool:
        client = org.client_of(contact)
        single = sum(map(is_open, org.deals_of(client))) == 1
        return (
            single and client["status"] != "Inactive" and org.contact_names[full_name(contact)] == 1
        )

    contact = talk.pick(org.contacts, known)
    client = org.client_of(contact)
    deal = next(d for d in org.deals_of(client) if is_open(d))
    talk.turn_to(deal)
    key = deal["opportunity_id"]
    rate = talk.choose(3, 4, 5, 6, 7, 8, 9)
    plan = house.new_quote(talk, deal, amount=house.under(deal, rate))
    made = talk.turn(
        "cross.quote_for_person",
        {"contact": plain(full_name(contact)), "rate": percent(rate)},
        calls=[
            call(
                "contact_search", first_name=contact["first_name"], last_name=contact["last_name"]
            ),
            call("opportunity_search", client_id=client["client_id"]),
            call("quote_search", opportunity_id=key),
            *plan.calls,
        ],
        rules=("MONEY-1", *plan.rules),
        tags=("multi_hop", "by_description"),
    )
    when = relative_date(talk, spoken=False)
    content = f"{full_name(contact)} was promised an answer by {when.iso}."
    talk.turn(
        "cross.note_on_that_quote",
        {"contact": plain(full_name(contact)), "when": when.slot},
        calls=[house.note(talk, "Quote", made["quote_id"], content)],
        note_facts=[talk.fact("name", full_name(contact)), talk.fact("date", when.iso)],
        rules=("NOTE-1",),
        tags=("cross_turn_reference",),
    )


@family("Cross-entity", 26)
def lose_all_and_close_account(talk: Talk) -> None:
    """A client may only become Inactive when no deal is open (CLIENT-5): refused at first, then the
    one open deal is lost, then it works.
    """
    org = talk.org
    client = talk.pick(
        org.clients,
        lambda c: c["status"] == "Active" and sum(map(is_open, org.deals_of(c))) == 1,
    )
    named = describe.client(talk, client)
    deal = next(d for d in org.deals_of(client) if is_open(d))
    talk.turn_to(deal)
    look = call("opportunity_search", client_id=client["client_id"])
    talk.refused(
        "cross.inactive",
        {"client": named.slot},
        calls=[*named.reads, look],
        rules=("CLIENT-5",),
        reasons=("open", "CLIENT-5"),
        tags=named.tags,
    )
    loss = talk.choose(*_ENDINGS)
    plan = house.lose(talk, deal, loss)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    talk.turn(
        "cross.lose_open_one",
        {"reason": plain(loss.said)},
        calls=[quotes, *plan.calls],
        note_facts=plan.note_facts,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )
    changed = call("modify_client", client_id=client["client_id"], status="Inactive")
    talk.turn(
        "cross.now_inactive",
        calls=[changed],
        rules=("CLIENT-5",),
        tags=("cross_turn_reference",),
    )


@family("Cross-entity", 26)
def quotes_worth(talk: Talk) -> None:
    """What the pending quotes of a client add up to, over all its open deals; then the highest of
    them is withdrawn.
    """
    org = talk.org

    def pending(client: Row) -> list[Row]:
        deals = [d for d in org.deals_of(client) if is_open(d)]
        return [q for d in deals for q in org.quotes_of(d) if q["status"] in ("Draft", "Sent")]

    def several(client: Row) -> bool:
        amounts = [q["amount"] for q in pending(client)]
        return 2 <= len(amounts) <= 6 and amounts.count(max(amounts)) == 1

    client = talk.pick(org.clients, several)
    named = describe.client(talk, client)
    quotes = pending(client)
    highest = max(quotes, key=lambda q: float(q["amount"]))
    talk.turn_to(org.deal_of(highest))
    deals = [d for d in org.deals_of(client) if is_open(d)]
    looks = [call("quote_search", opportunity_id=d["opportunity_id"]) for d in deals]
    facts = [
        talk.fact("count", len(quotes), "quotes"),
        talk.fact("money", sum(q["amount"] for q in quotes), "total"),
    ]
    search = call("opportunity_search", client_id=client["client_id"])
    talk.turn(
        "cross.pending_quotes",
        {"client": named.slot},
        calls=[*named.reads, search, *looks],
        facts=facts,
        rules=("FIND-4",),
        tags=(*named.tags, "multi_hop", "computed_value"),
    )
    talk.turn(
        "cross.cancel_highest",
        calls=house.cancel([highest]),
        tags=("cross_turn_reference", "by_description"),
    )


@family("Cross-entity", 24)
def move_contact_and_deal(talk: Talk) -> None:
    """Two corrections in one breath: the client's number and the deal's amount, then half of it is
    taken back.
    """
    org = talk.org
    deal = talk.pick(
        org.open_deals, lambda d: d["amount"] < 2_000_000 and bool(org.client_of(d)["phone"])
    )
    named = describe.deal(talk, deal)
    client = org.client_of(deal)
    talk.turn_to(deal)
    number = f"+1 555 01{talk.rng.randint(10, 99)} {talk.rng.randint(100, 999)}"
    amount = half_up(deal["amount"] * talk.choose(0.85, 0.9, 1.1, 1.2) / 500) * 500
    if amount == deal["amount"] or amount < 500:
        raise NoFit
    plan = house.change_amount(talk, deal, amount)
    if len(plan.calls) > 1:
        raise NoFit
    phone = call("modify_client", client_id=client["client_id"], phone=number)
    talk.turn(
        "cross.two_changes",
        {"deal": named.slot, "amount": money(amount), "phone": plain(number)},
        calls=[*named.reads, *plan.calls, phone],
        rules=plan.rules,
        tags=(*named.tags, "batch"),
    )
    back = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=deal["amount"])
    talk.turn(
        "cross.amount_back",
        calls=[back],
        rules=("DO-2",),
        tags=("cross_turn_reference", "undo", "correction"),
    )
