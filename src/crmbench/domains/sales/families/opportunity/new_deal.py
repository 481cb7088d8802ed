"""Opening a deal."""

from __future__ import annotations

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
from crmbench.domains.sales.authoring.org import Row, product_of
from crmbench.domains.sales.authoring.relative_dates import relative_date
from crmbench.domains.sales.phrases import money, percent, plain


def _new_product(builder: ConversationBuilder, client: Row) -> str:
    """A product that the client has no deal for yet."""
    org = builder.org
    sold = {product_of(deal) for deal in org.deals_of(client)}
    others = sorted({product_of(deal) for deal in org.deals} - sold)
    if not others:
        raise NoCandidate
    return str(builder.rng.choice(others))


def _usable(client: Row) -> bool:
    return client["status"] != "Inactive" and bool(client["owner"])


def _amount(builder: ConversationBuilder) -> float:
    return float(builder.rng.randint(16, 480) * 500)


@family("Opportunity Management", 40)
def new_deal_by_rule(builder: ConversationBuilder) -> None:
    """A deal of which only client, product and amount are said: name, stage, probability, owner and
    close date follow from DEAL-1 and DEAL-2.
    """
    client = builder.pick(builder.org.clients, _usable)
    named = references.client(builder, client)
    builder.turn_to(client)
    product, amount = _new_product(builder, client), _amount(builder)
    plan = policy_actions.new_deal(builder, client, product, amount)
    slots = {"client": named.slot, "product": plain(product), "amount": money(amount)}
    made = builder.turn(
        "new_deal.short",
        slots,
        calls=[*named.reads, *plan.calls],
        rules=plan.rules,
        tags=named.tags,
    )
    builder.turn_to(builder.row("Opportunity", made["opportunity_id"]))


@family("Opportunity Management", 40)
def new_deal_in_full(builder: ConversationBuilder) -> None:
    """A deal with stage, probability and a close date given in relation to today: what is said goes
    before what DEAL-1 and DEAL-2 would fill in.
    """
    client = builder.pick(builder.org.clients, _usable)
    named = references.client(builder, client)
    builder.turn_to(client)
    product, amount = _new_product(builder, client), _amount(builder)
    stage = builder.choose("Qualification", "Proposal", "Negotiation")
    chance = builder.choose(30, 35, 40, 45, 55, 60, 65, 70, 80)
    when = relative_date(builder)
    given = {"stage": stage, "probability": chance, "close_date": when.iso}
    plan = policy_actions.new_deal(builder, client, product, amount, **given)
    slots = {
        "client": named.slot,
        "product": plain(product),
        "amount": money(amount),
        "stage": plain(stage),
        "chance": percent(chance),
        "when": when.slot,
    }
    made = builder.turn(
        "new_deal.full",
        slots,
        calls=[*named.reads, *plan.calls],
        rules=(*plan.rules, "DATE-1"),
        tags=(*named.tags, *when.tags),
    )
    builder.turn_to(builder.row("Opportunity", made["opportunity_id"]))


@family("Opportunity Management", 30)
def new_deal_without_amount(builder: ConversationBuilder) -> None:
    """The amount of a new deal is not said and nothing gives it: the agent must ask (ASK-1)."""
    client = builder.pick(builder.org.clients, _usable)
    named = references.client(builder, client)
    builder.turn_to(client)
    product, amount = _new_product(builder, client), _amount(builder)
    plan = policy_actions.new_deal(builder, client, product, amount)
    about = ("amount", "value", "much", "worth", "figure", "size", "price", "budget", "volume")
    made = builder.turn(
        "new_deal.no_amount",
        {"client": named.slot, "product": plain(product)},
        calls=[*named.reads, *plan.calls],
        rules=("ASK-1", *plan.rules),
        tags=named.tags,
        asks=("answer.amount", {"amount": money(amount)}, about),
    )
    builder.turn_to(builder.row("Opportunity", made["opportunity_id"]))


@family("Opportunity Management", 30)
def new_deal_like_the_last(builder: ConversationBuilder) -> None:
    """The amount of a new deal is a percentage more than that of the client's won deal."""
    org = builder.org

    def one_won(client: Row) -> bool:
        won = [d for d in org.deals_of(client) if d["stage"] == "Closed-Won"]
        return _usable(client) and len(won) == 1

    client = builder.pick(org.clients, one_won)
    named = references.client(builder, client)
    builder.turn_to(client)
    won = next(d for d in org.deals_of(client) if d["stage"] == "Closed-Won")
    rate = builder.choose(4, 5, 8, 12, 15, 20)
    amount = Derived(f"round({won['amount']!r} * (100 + {rate}) / 100)")
    product = _new_product(builder, client)
    plan = policy_actions.new_deal(builder, client, product, amount)
    slots = {"client": named.slot, "product": plain(product), "rate": percent(rate)}
    history = call("opportunity_search", client_id=client["client_id"], stage="Closed-Won")
    made = builder.turn(
        "new_deal.like_last",
        slots,
        calls=[*named.reads, history, *plan.calls],
        rules=("MONEY-1", *plan.rules),
        tags=(*named.tags, "multi_hop"),
        facts=[builder.fact("money", half_up(amount.value), "amount")],
    )
    builder.turn_to(builder.row("Opportunity", made["opportunity_id"]))
