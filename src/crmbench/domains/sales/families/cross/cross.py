"""Work that touches several kinds of records."""

from __future__ import annotations

from datetime import timedelta

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
from crmbench.domains.sales.authoring.follow_ups.people import TITLES, another_number
from crmbench.domains.sales.authoring.org import Row, full_name, is_open, product_of
from crmbench.domains.sales.authoring.relative_dates import relative_date
from crmbench.domains.sales.phrases import money, percent, plain

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
    # Not "closed": every lost deal is.
    policy_actions.Loss(
        "they are closing down",
        "closing down",
        (
            *("close down", "closes down", "closed down", "shutting", "shut down", "closure"),
            *("going out of business", "out of business", "ceasing", "winding up", "wind up"),
            *("liquidation", "closing its doors", "closing their doors", "going under"),
        ),
    ),
    policy_actions.Loss(
        "they were bought",
        # Not "bought" alone: "they bought elsewhere" is another reason.
        "were bought",
        (
            *("was bought", "been bought", "being bought", "got bought", "bought up", "bought by"),
            *("bought out", "buyout", "acquired", "acquisition", "taken over", "takeover"),
        ),
    ),
    policy_actions.Loss(
        "they have gone in-house", "in-house", ("in house", "internally", "themselves")
    ),
)


@family("Cross-entity", 40)
def onboard_client(builder: ConversationBuilder) -> None:
    """A new client, its first contact, its first deal: each refers to what the turn before made,
    and the owner, stage and close date follow from rules.
    """
    org = builder.org
    trade = builder.choose(*_TRADES)
    industry = _TRADES[trade]
    name = f"{builder.choose(*_FIRMS)} {trade}"
    host = f"{name.casefold().replace(' ', '')}.example"
    taken = {str(c["name"]).casefold() for c in (*org.clients, *org.companies)}
    if name.casefold() in taken or any(host in str(c["email"]) for c in org.clients):
        raise NoCandidate
    made = builder.turn(
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
                owner=builder.speaker,
            ),
        ],
        rules=("CLIENT-1", "CLIENT-2", "CLIENT-4"),
    )
    client = builder.row("Client", made["client_id"])
    builder.turn_to(client)
    first, last, title = builder.choose(*_FIRST), builder.choose(*_LAST), builder.choose(*TITLES)
    address = f"{first}.{last}@{host}".casefold()
    builder.turn(
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
    product = builder.choose(*sorted({product_of(d) for d in org.deals}))
    amount = float(builder.rng.randint(16, 300) * 500)
    plan = policy_actions.new_deal(builder, client, product, amount)
    deal = builder.turn(
        "cross.first_deal",
        {"product": plain(product), "amount": money(amount)},
        calls=plan.calls,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )
    builder.turn_to(builder.row("Opportunity", deal["opportunity_id"]))


@family("Cross-entity", 36)
def win_and_contract(builder: ConversationBuilder) -> None:
    """A deal is won, its contract is made by the rules, and the signed copy goes onto that
    contract: each step rests on the one before.
    """
    org = builder.org

    def ready(deal: Row) -> bool:
        states = [q["status"] for q in org.quotes_of(deal)]
        return states.count("Approved") == 1

    deal = builder.pick(org.open_deals, ready)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    key = deal["opportunity_id"]
    approved = next(q for q in org.quotes_of(deal) if q["status"] == "Approved")
    plan = policy_actions.win(builder, deal, approved)
    builder.turn(
        "mark_won.won",
        {"deal": named.slot},
        calls=[*named.reads, call("quote_search", opportunity_id=key), *plan.calls],
        rules=plan.rules,
        tags=named.tags,
    )
    signed = policy_actions.new_contract(builder, builder.row("Opportunity", key))
    made = builder.turn(
        "cross.then_contract",
        calls=[call("contract_search", opportunity_id=key), *signed.calls],
        facts=[builder.fact("money", approved["amount"], "contract value")],
        rules=signed.rules,
        tags=("cross_turn_reference",),
    )
    name = f"contract_{builder.today}_{builder.choose('signed', 'countersigned', 'final')}.pdf"
    builder.turn(
        "cross.signed_copy",
        {"file": plain(name)},
        calls=[policy_actions.upload(builder, "Contract", made["contract_id"], name)],
        rules=("DOC-2",),
        tags=("cross_turn_reference",),
    )
    builder.turn_to(builder.row("Opportunity", key))


@family("Cross-entity", 30)
def renew_contract_as_deal(builder: ConversationBuilder) -> None:
    """A new deal from a contract that runs out: value plus a percentage, closing when the contract
    ends, for the contract's client.
    """
    org = builder.org

    def ending(contract: Row) -> bool:
        client = org.client_of(contract)
        ends = contract["end_date"]
        alive = client["status"] != "Inactive" and bool(client["owner"])
        # Nobody renews what has not run for a while.
        settled = str(contract["start_date"]) <= (org.today - timedelta(days=60)).isoformat()
        later = bool(ends) and ends > builder.today and bool(contract["value"])
        return alive and settled and later

    contract = builder.pick(org.contracts, ending)
    named = references.contract(builder, contract)
    client = org.client_of(contract)
    builder.turn_to(contract)
    rate = builder.choose(3, 5, 6, 8, 10)
    amount = Derived(f"round({contract['value']!r} * (100 + {rate}) / 100)")
    end = contract["end_date"]
    plan = policy_actions.new_deal(builder, client, "Renewal", amount, close_date=end)
    look = call("client_search", client_id=client["client_id"])
    made = builder.turn(
        "cross.renewal",
        {"contract": named.slot, "rate": percent(rate)},
        calls=[*named.reads, look, *plan.calls],
        facts=[
            builder.fact("money", amount.value, "amount"),
            builder.fact("date", end, "close date"),
        ],
        rules=("MONEY-1", *plan.rules),
        tags=(*named.tags, "multi_hop"),
    )
    builder.turn_to(builder.row("Opportunity", made["opportunity_id"]))


@family("Cross-entity", 30)
def quote_for_contacts_deal(builder: ConversationBuilder) -> None:
    """From a person to their company, to its one open deal, to a new quote and a note on it."""
    org = builder.org

    def known(contact: Row) -> bool:
        client = org.client_of(contact)
        single = sum(map(is_open, org.deals_of(client))) == 1
        return (
            single and client["status"] != "Inactive" and org.contact_names[full_name(contact)] == 1
        )

    contact = builder.pick(org.contacts, known)
    client = org.client_of(contact)
    deal = next(d for d in org.deals_of(client) if is_open(d))
    builder.turn_to(deal)
    key = deal["opportunity_id"]
    rate = builder.choose(3, 4, 5, 6, 7, 8, 9)
    plan = policy_actions.new_quote(builder, deal, amount=policy_actions.under(deal, rate))
    made = builder.turn(
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
    when = relative_date(builder, spoken=False)
    content = f"{full_name(contact)} was promised an answer by {when.iso}."
    builder.turn(
        "cross.note_on_that_quote",
        {"contact": plain(full_name(contact)), "when": when.slot},
        calls=[policy_actions.note(builder, "Quote", made["quote_id"], content)],
        note_facts=[builder.fact("name", full_name(contact)), builder.fact("date", when.iso)],
        rules=("NOTE-1",),
        tags=("cross_turn_reference",),
    )


@family("Cross-entity", 26)
def lose_all_and_close_account(builder: ConversationBuilder) -> None:
    """A client may only become Inactive when no deal is open (CLIENT-5): refused at first, then the
    one open deal is lost, then it works.
    """
    org = builder.org
    client = builder.pick(
        org.clients,
        lambda c: c["status"] == "Active" and sum(map(is_open, org.deals_of(c))) == 1,
    )
    named = references.client(builder, client)
    deal = next(d for d in org.deals_of(client) if is_open(d))
    builder.turn_to(deal)
    look = call("opportunity_search", client_id=client["client_id"])
    builder.refused(
        "cross.inactive",
        {"client": named.slot},
        calls=[*named.reads, look],
        rules=("CLIENT-5",),
        reasons=(
            "open",
            "CLIENT-5",
            "active deal",
            "active opportunit",
            "live deal",
            deal["stage"],
        ),
        tags=named.tags,
    )
    loss = builder.choose(*_ENDINGS)
    plan = policy_actions.lose(builder, deal, loss)
    quotes = call("quote_search", opportunity_id=deal["opportunity_id"])
    builder.turn(
        "cross.lose_open_one",
        {"reason": plain(loss.said)},
        calls=[quotes, *plan.calls],
        note_facts=plan.note_facts,
        rules=plan.rules,
        tags=("cross_turn_reference",),
    )
    changed = call("modify_client", client_id=client["client_id"], status="Inactive")
    builder.turn(
        "cross.now_inactive",
        calls=[changed],
        rules=("CLIENT-5",),
        tags=("cross_turn_reference",),
    )


@family("Cross-entity", 26)
def quotes_worth(builder: ConversationBuilder) -> None:
    """What the pending quotes of a client add up to, over all its open deals; then the highest of
    them is withdrawn.
    """
    org = builder.org

    def pending(client: Row) -> list[Row]:
        deals = [d for d in org.deals_of(client) if is_open(d)]
        return [q for d in deals for q in org.quotes_of(d) if q["status"] in ("Draft", "Sent")]

    def several(client: Row) -> bool:
        amounts = [q["amount"] for q in pending(client)]
        return 2 <= len(amounts) <= 6 and amounts.count(max(amounts)) == 1

    client = builder.pick(org.clients, several)
    named = references.client(builder, client)
    quotes = pending(client)
    highest = max(quotes, key=lambda q: float(q["amount"]))
    builder.turn_to(org.deal_of(highest))
    deals = [d for d in org.deals_of(client) if is_open(d)]
    looks = [call("quote_search", opportunity_id=d["opportunity_id"]) for d in deals]
    facts = [
        builder.fact("count", len(quotes), "quotes"),
        builder.fact("money", sum(q["amount"] for q in quotes), "total"),
    ]
    search = call("opportunity_search", client_id=client["client_id"])
    builder.turn(
        "cross.pending_quotes",
        {"client": named.slot},
        calls=[*named.reads, search, *looks],
        facts=facts,
        rules=("FIND-4",),
        tags=(*named.tags, "multi_hop", "computed_value"),
    )
    builder.turn(
        "cross.cancel_highest",
        calls=policy_actions.cancel([highest]),
        tags=("cross_turn_reference", "by_description"),
    )


@family("Cross-entity", 24)
def move_contact_and_deal(builder: ConversationBuilder) -> None:
    """Two corrections in one breath: the client's number and the deal's amount, then half of it is
    taken back.
    """
    org = builder.org
    deal = builder.pick(
        org.open_deals, lambda d: d["amount"] < 2_000_000 and bool(org.client_of(d)["phone"])
    )
    named = references.deal(builder, deal)
    client = org.client_of(deal)
    builder.turn_to(deal)
    number = another_number(builder, client)
    amount = half_up(deal["amount"] * builder.choose(0.85, 0.9, 1.1, 1.2) / 500) * 500
    if amount == deal["amount"] or amount < 500:
        raise NoCandidate
    plan = policy_actions.change_amount(builder, deal, amount)
    if len(plan.calls) > 1:
        raise NoCandidate
    phone = call("modify_client", client_id=client["client_id"], phone=number)
    builder.turn(
        "cross.two_changes",
        {"deal": named.slot, "amount": money(amount), "phone": plain(number)},
        calls=[*named.reads, *plan.calls, phone],
        rules=plan.rules,
        tags=(*named.tags, "batch"),
    )
    back = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=deal["amount"])
    builder.turn(
        "cross.amount_back",
        calls=[back],
        rules=("DO-2",),
        tags=("cross_turn_reference", "undo", "correction"),
    )
