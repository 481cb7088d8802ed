"""Opening a deal."""

from __future__ import annotations

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.phrases import money, percent, plain
from crmbench.domains.sales.talk import Derived, NoFit, Talk, call, describe, family, house
from crmbench.domains.sales.talk.org import Row, product_of
from crmbench.domains.sales.talk.relative import relative_date


def _new_product(talk: Talk, client: Row) -> str:
    """A product that the client has no deal for yet."""
    org = talk.org
    sold = {product_of(deal) for deal in org.deals_of(client)}
    others = sorted({product_of(deal) for deal in org.deals} - sold)
    if not others:
        raise NoFit
    return str(talk.rng.choice(others))


def _usable(client: Row) -> bool:
    return client["status"] != "Inactive" and bool(client["owner"])


def _amount(talk: Talk) -> float:
    return float(talk.rng.randint(16, 480) * 500)


@family("Opportunity Management", 40)
def new_deal_by_rule(talk: Talk) -> None:
    """A deal of which only client, product and amount are said: name, stage, probability, owner and
    close date follow from DEAL-1 and DEAL-2.
    """
    client = talk.pick(talk.org.clients, _usable)
    named = describe.client(talk, client)
    talk.turn_to(client)
    product, amount = _new_product(talk, client), _amount(talk)
    plan = house.new_deal(talk, client, product, amount)
    slots = {"client": named.slot, "product": plain(product), "amount": money(amount)}
    made = talk.turn(
        "new_deal.short",
        slots,
        calls=[*named.reads, *plan.calls],
        rules=plan.rules,
        tags=named.tags,
    )
    talk.turn_to(talk.row("Opportunity", made["opportunity_id"]))


@family("Opportunity Management", 40)
def new_deal_in_full(talk: Talk) -> None:
    """A deal with stage, probability and a close date given in relation to today: what is said goes
    before what DEAL-1 and DEAL-2 would fill in.
    """
    client = talk.pick(talk.org.clients, _usable)
    named = describe.client(talk, client)
    talk.turn_to(client)
    product, amount = _new_product(talk, client), _amount(talk)
    stage = talk.choose("Qualification", "Proposal", "Negotiation")
    chance = talk.choose(30, 35, 40, 45, 55, 60, 65, 70, 80)
    when = relative_date(talk)
    given = {"stage": stage, "probability": chance, "close_date": when.iso}
    plan = house.new_deal(talk, client, product, amount, **given)
    slots = {
        "client": named.slot,
        "product": plain(product),
        "amount": money(amount),
        "stage": plain(stage),
        "chance": percent(chance),
        "when": when.slot,
    }
    made = talk.turn(
        "new_deal.full",
        slots,
        calls=[*named.reads, *plan.calls],
        rules=(*plan.rules, "DATE-1"),
        tags=(*named.tags, *when.tags),
    )
    talk.turn_to(talk.row("Opportunity", made["opportunity_id"]))


@family("Opportunity Management", 30)
def new_deal_without_amount(talk: Talk) -> None:
    """The amount of a new deal is not said and nothing gives it: the agent must ask (ASK-1)."""
    client = talk.pick(talk.org.clients, _usable)
    named = describe.client(talk, client)
    talk.turn_to(client)
    product, amount = _new_product(talk, client), _amount(talk)
    plan = house.new_deal(talk, client, product, amount)
    about = ("amount", "value", "much", "worth", "figure", "size", "price", "budget", "volume")
    made = talk.turn(
        "new_deal.no_amount",
        {"client": named.slot, "product": plain(product)},
        calls=[*named.reads, *plan.calls],
        rules=("ASK-1", *plan.rules),
        tags=named.tags,
        asks=("answer.amount", {"amount": money(amount)}, about),
    )
    talk.turn_to(talk.row("Opportunity", made["opportunity_id"]))


@family("Opportunity Management", 30)
def new_deal_like_the_last(talk: Talk) -> None:
    """The amount of a new deal is a percentage more than that of the client's won deal."""
    org = talk.org

    def one_won(client: Row) -> bool:
        won = [d for d in org.deals_of(client) if d["stage"] == "Closed-Won"]
        return _usable(client) and len(won) == 1

    client = talk.pick(org.clients, one_won)
    named = describe.client(talk, client)
    talk.turn_to(client)
    won = next(d for d in org.deals_of(client) if d["stage"] == "Closed-Won")
    rate = talk.choose(4, 5, 8, 12, 15, 20)
    amount = Derived(f"round({won['amount']!r} * (100 + {rate}) / 100)")
    product = _new_product(talk, client)
    plan = house.new_deal(talk, client, product, amount)
    slots = {"client": named.slot, "product": plain(product), "rate": percent(rate)}
    history = call("opportunity_search", client_id=client["client_id"], stage="Closed-Won")
    made = talk.turn(
        "new_deal.like_last",
        slots,
        calls=[*named.reads, history, *plan.calls],
        rules=("MONEY-1", *plan.rules),
        tags=(*named.tags, "multi_hop"),
        facts=[talk.fact("money", half_up(amount.value), "amount")],
    )
    talk.turn_to(talk.row("Opportunity", made["opportunity_id"]))
