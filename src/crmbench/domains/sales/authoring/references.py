"""Descriptions that fit exactly one record, with the look-ups that a careful person would make.

Each option states, as a condition over all records of its kind, what the words say; it is used only
where that condition holds for the one record that is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from crmbench.authoring.calls import call
from crmbench.authoring.family import NoCandidate
from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring.builder import ConversationBuilder
from crmbench.domains.sales.authoring.org import (
    Row,
    SalesOrg,
    full_name,
    is_open,
    product_of,
    version_of,
)
from crmbench.domains.sales.phrases import Slot, money, noun, plain
from crmbench.domains.sales.phrases.values import month_of


@dataclass(frozen=True)
class Reference:
    """A record as the user names it."""

    slot: Slot
    reads: tuple[GoldCall, ...]
    """How it is found."""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Option:
    named: Reference
    fits: Callable[[Row], bool]
    how: str


def client(builder: ConversationBuilder, row: Row) -> Reference:
    """A client, by name or by somebody who works there."""
    org = builder.org
    reads = (call("client_search", name=row["name"]),)
    options = [
        Reference(noun("the.client.by_name", client=plain(row["name"])), reads, _alike(org, row))
    ]
    contact = _unique_contact(builder, row)
    if contact is not None and builder.rng.random() < 0.3:
        found = (*_contact_reads(contact), call("client_search", client_id=row["client_id"]))
        slot = noun("the.client.by_contact", contact=plain(full_name(contact)))
        options = [Reference(slot, found, ("by_description", "multi_hop"))]
    return options[0]


def deal(builder: ConversationBuilder, row: Row, avoid: Sequence[str] = ()) -> Reference:
    """A deal, by one of the descriptions that fit it and no other.

    Args:
        avoid: Ways not to use, such as "amount" where the amount is what the user asks for:
            name, product, only_open, biggest, stage, amount, contact, owner, month.

    Raises:
        NoCandidate: Nothing tells it apart.
    """
    deals = builder.org.deals
    options = [
        option
        for option in _deal_options(builder, row)
        if option.how not in avoid and [d for d in deals if option.fits(d)] == [row]
    ]
    if not options:
        raise NoCandidate
    hard = [option for option in options if option.how != "name"]
    pool = hard if hard and builder.rng.random() < 0.75 else options
    return builder.rng.choice(pool).named


def _deal_options(builder: ConversationBuilder, row: Row) -> Iterator[_Option]:
    org, owner = builder.org, builder.org.client_of(row)
    cid, name = row["client_id"], plain(owner["name"])
    by_client = (
        call("client_search", name=owner["name"]),
        call("opportunity_search", client_id=cid),
    )
    described = ("by_description", *_alike(org, owner))

    def option(how: str, fits: Callable[[Row], bool], **slots: Slot) -> _Option:
        named = Reference(noun(f"the.deal.{how}", client=name, **slots), by_client, described)
        return _Option(named, lambda d: d["client_id"] == cid and fits(d), how)

    by_name = (call("opportunity_search", name=row["name"]),)
    yield _Option(
        Reference(noun("the.deal.name", deal=plain(row["name"])), by_name),
        lambda d: str(row["name"]).casefold() in str(d["name"]).casefold(),
        "name",
    )
    product = product_of(row)
    yield option(
        "product", lambda d: product.casefold() in d["name"].casefold(), product=plain(product)
    )
    if is_open(row):
        yield option("only_open", is_open)
        yield option("stage", lambda d: d["stage"] == row["stage"], stage=plain(row["stage"]))
        yield option("biggest", lambda d: is_open(d) and d["amount"] >= row["amount"])
        if row["owner"]:
            yield option(
                "owner",
                lambda d: is_open(d) and d["owner"] == row["owner"],
                owner=plain(row["owner"]),
            )
        if row["close_date"]:
            month = row["close_date"][:7]
            yield option(
                "month",
                lambda d: is_open(d) and str(d["close_date"])[:7] == month,
                month=plain(month_of(row["close_date"])),
            )
    yield option("amount", lambda d: d["amount"] == row["amount"], amount=money(row["amount"]))
    contact = _unique_contact(builder, owner)
    if contact is not None:
        slots = {"contact": plain(full_name(contact)), "product": plain(product)}
        found = (*_contact_reads(contact), call("opportunity_search", client_id=cid))
        tags = ("by_description", "multi_hop")
        yield _Option(
            Reference(noun("the.deal.contact", **slots), found, tags),
            lambda d: d["client_id"] == cid and product.casefold() in d["name"].casefold(),
            "contact",
        )


def quote(builder: ConversationBuilder, row: Row, avoid: Sequence[str] = ()) -> Reference:
    """A quote, by its deal and what tells it from the deal's others.

    Raises:
        NoCandidate: Nothing does.
    """
    parent = builder.org.deal_of(row)
    of = deal(builder, parent, avoid)
    others = builder.org.quotes_of(parent)
    ways: list[tuple[str, dict[str, Slot]]] = []
    if row is max(others, key=version_of) and len(others) > 1:
        ways.append(("latest", {}))
    if sum(q["status"] == row["status"] for q in others) == 1 and "status" not in avoid:
        ways.append(("status", {"status": plain(row["status"])}))
    if sum(q["version"] == row["version"] for q in others) == 1 and row["version"]:
        ways.append(("version", {"version": plain(row["version"])}))
    if sum(q["amount"] == row["amount"] for q in others) == 1 and "amount" not in avoid:
        ways.append(("amount", {"amount": money(row["amount"])}))
    if not ways:
        raise NoCandidate
    how, slots = builder.rng.choice(ways)
    reads = (*of.reads, call("quote_search", opportunity_id=row["opportunity_id"]))
    return Reference(
        noun(f"the.quote.{how}", deal=of.slot, **slots), reads, (*of.tags, "by_description")
    )


def contact(builder: ConversationBuilder, row: Row) -> Reference:
    """A contact, by name where only one person has it, else with the client."""
    org, employer = builder.org, builder.org.client_of(row)
    name = plain(full_name(row))
    if org.contact_names[full_name(row)] == 1 and builder.rng.random() < 0.4:
        return Reference(noun("the.contact.name", contact=name), _contact_reads(row))
    reads = (
        call("client_search", name=employer["name"]),
        call("contact_search", client_id=row["client_id"]),
    )
    slots = {"client": plain(employer["name"])}
    titled = [c for c in org.contacts_of(employer) if c["title"] == row["title"]]
    if row["title"] and len(titled) == 1 and builder.rng.random() < 0.35:
        slot = noun("the.contact.title", title=plain(row["title"]), **slots)
        return Reference(slot, reads, ("by_description", *_alike(org, employer)))
    same = [c for c in org.contacts_of(employer) if full_name(c) == full_name(row)]
    if len(same) != 1:
        raise NoCandidate
    tags = ("near_duplicate",) if org.contact_names[full_name(row)] > 1 else ()
    return Reference(noun("the.contact.at", contact=name, **slots), reads, tags)


def contract(builder: ConversationBuilder, row: Row) -> Reference:
    """A contract, by its deal or, where it is the only one, by its client.

    Raises:
        NoCandidate: Nothing tells it apart.
    """
    org, partner = builder.org, builder.org.client_of(row)
    look = (
        call("client_search", name=partner["name"]),
        call("contract_search", client_id=row["client_id"]),
    )
    name = plain(partner["name"])
    of_client = [c for c in org.contracts if c["client_id"] == row["client_id"]]
    if len(of_client) == 1 and (builder.rng.random() < 0.6 or not row["opportunity_id"]):
        return Reference(noun("the.contract.client", client=name), look, _alike(org, partner))
    same_status = [c for c in of_client if c["status"] == row["status"]]
    if len(same_status) == 1 and builder.rng.random() < 0.5:
        slot = noun("the.contract.status", client=name, status=plain(row["status"]))
        return Reference(slot, look, ("by_description",))
    if not row["opportunity_id"]:
        raise NoCandidate
    of = deal(builder, org.deal_of(row), ("amount", "contact"))
    reads = (*of.reads, call("contract_search", opportunity_id=row["opportunity_id"]))
    return Reference(noun("the.contract.deal", deal=of.slot), reads, (*of.tags, "multi_hop"))


def _contact_reads(row: Row) -> tuple[GoldCall, ...]:
    return (call("contact_search", first_name=row["first_name"], last_name=row["last_name"]),)


def _unique_contact(builder: ConversationBuilder, employer: Row) -> Row | None:
    """Somebody at the client whose name nobody else has."""
    names = builder.org.contact_names
    found = [c for c in builder.org.contacts_of(employer) if names[full_name(c)] == 1]
    return builder.rng.choice(found) if found else None


def _alike(org: SalesOrg, row: Row) -> tuple[str, ...]:
    """The tag of clients whose name begins like another's."""
    first = str(row["name"]).split()[0].casefold()
    same = sum(str(c["name"]).split()[0].casefold() == first for c in org.clients)
    return ("near_duplicate",) if same > 1 else ()
