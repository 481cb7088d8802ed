"""Clients that cannot be created: they exist, their address is taken, or they are competitors."""

from __future__ import annotations

from crmbench.domains.sales.families.client.firms import (
    create,
    first_deal,
    look_first,
    new_firm,
    phone_number,
    stem,
)
from crmbench.domains.sales.phrases import plain
from crmbench.domains.sales.talk import Talk, call, family
from crmbench.domains.sales.talk.moves.people import domain_of
from crmbench.domains.sales.talk.org import Row

AGAIN = ("cross_turn_reference",)


@family("Client Management", 14)
def new_client_exists(talk: Talk) -> None:
    """The client exists under another legal form: refused by CLIENT-1, naming the one there is; the
    user then works with that one.
    """
    org = talk.org

    def alone(client: Row) -> bool:
        name = stem(client["name"]).casefold()
        alike = [c for c in org.clients if name in str(c["name"]).casefold()]
        return len(alike) == 1 and client["status"] != "Inactive" and bool(client["owner"])

    client = talk.pick(org.clients, alone)
    talk.turn_to(client)
    name = stem(client["name"])
    forms = [f for f in ("Ltd", "Inc", "GmbH", "LLC") if not client["name"].endswith(f)]
    address = f"sales-office@{domain_of(client)}"
    said = f"{name} {talk.choose(*forms)}"
    slots = {"name": plain(said), "email": plain(address), "industry": plain(client["industry"])}
    looks = (call("client_search", name=name), call("client_search", email=address))
    talk.refused(
        "client.new" if client["industry"] else "client.new_bare",
        slots if client["industry"] else {"name": plain(said), "email": plain(address)},
        calls=looks,
        rules=("CLIENT-1",),
        reasons=(
            "already",
            "exist",
            "duplicate",
            "same name",
            "CLIENT-1",
            "on file",
            "have a client",
        ),
        facts=[talk.fact("name", client["name"], "existing client")],
        tags=("near_duplicate",),
    )
    if talk.rng.random() < 0.5:
        first_deal(talk, client, "client.deal_with_existing")
        return
    number = phone_number(talk)
    changed = call("modify_client", client_id=client["client_id"], phone=number)
    talk.turn("client.phone_of_existing", {"phone": plain(number)}, calls=[changed], tags=AGAIN)


@family("Client Management", 12)
def new_client_email_taken(talk: Talk) -> None:
    """The address of the new client belongs to another one, so the CRM refuses; then the user has
    the right one.
    """
    holder = talk.pick(talk.org.clients)
    firm = new_firm(talk)
    taken = firm._replace(email=holder["email"])
    talk.turn_to(holder)
    calls = create(talk, taken)
    talk.rejected(
        "client.new",
        taken.slots,
        calls=calls,
        error="Client already exists with email",
        category="duplicate",
        reasons=(
            "already",
            "exist",
            "taken",
            "in use",
            "used by",
            "belongs",
            "duplicate",
            "another",
        ),
    )
    calls = create(talk, firm)
    slots = {"email": plain(firm.email)}
    tags = (*AGAIN, "correction")
    rules = ("CLIENT-1", "CLIENT-2", "CLIENT-4")
    made = talk.turn("client.right_email", slots, calls=calls, rules=rules, tags=tags)
    client = talk.row("Client", made["client_id"])
    talk.turn_to(client)
    if talk.rng.random() < 0.6:
        first_deal(talk, client)


@family("Client Management", 12)
def new_client_is_competitor(talk: Talk) -> None:
    """A company that the directory lists as a Competitor does not become a client (CLIENT-4); the
    user has mixed it up with another one.
    """
    org = talk.org
    clients = [str(c["name"]).casefold() for c in org.clients]

    def rival(company: Row) -> bool:
        name = stem(company["name"]).casefold()
        return company["type"] == "Competitor" and not any(name in c for c in clients)

    company = talk.pick(org.companies, rival)
    firm = new_firm(talk)
    site = "".join(c for c in stem(company["name"]).casefold() if c.isalnum() and c.isascii())
    ending = firm.email.rpartition(".")[2]
    wrong = firm._replace(name=company["name"], email=f"info@{site}.{ending}")
    talk.refused(
        "client.new_bare",
        {"name": plain(wrong.name), "email": plain(wrong.email)},
        calls=look_first(wrong),
        rules=("CLIENT-4", "CLIENT-1"),
        reasons=("compet", "rival", "CLIENT-4"),
        tags=("multi_hop",),
    )
    made = talk.turn(
        "client.other_than_competitor",
        firm.slots,
        calls=create(talk, firm),
        rules=("CLIENT-1", "CLIENT-2", "CLIENT-4"),
        tags=(*AGAIN, "correction"),
    )
    client = talk.row("Client", made["client_id"])
    talk.turn_to(client)
    if talk.rng.random() < 0.6:
        first_deal(talk, client)
