"""Clients that cannot be created: they exist, their address is taken, or they are competitors."""

from __future__ import annotations

from crmbench.domains.sales.authoring import ConversationBuilder, call, family
from crmbench.domains.sales.authoring.follow_ups.people import another_number, domain_of
from crmbench.domains.sales.authoring.org import Row
from crmbench.domains.sales.families.client.firms import (
    create,
    first_deal,
    look_first,
    new_firm,
    stem,
)
from crmbench.domains.sales.phrases import plain

AGAIN = ("cross_turn_reference",)


@family("Client Management", 14)
def new_client_exists(builder: ConversationBuilder) -> None:
    """The client exists under another legal form: refused by CLIENT-1, naming the one there is; the
    user then works with that one.
    """
    org = builder.org

    def alone(client: Row) -> bool:
        name = stem(client["name"]).casefold()
        alike = [c for c in org.clients if name in str(c["name"]).casefold()]
        return len(alike) == 1 and client["status"] != "Inactive" and bool(client["owner"])

    client = builder.pick(org.clients, alone)
    builder.turn_to(client)
    name = stem(client["name"])
    forms = [f for f in ("Ltd", "Inc", "GmbH", "LLC") if not client["name"].endswith(f)]
    address = f"sales-office@{domain_of(client)}"
    said = f"{name} {builder.choose(*forms)}"
    slots = {"name": plain(said), "email": plain(address), "industry": plain(client["industry"])}
    looks = (call("client_search", name=name), call("client_search", email=address))
    builder.refused(
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
            "same client",
            "same company",
        ),
        facts=[builder.fact("name", client["name"], "existing client")],
        tags=("near_duplicate",),
    )
    if builder.rng.random() < 0.5:
        first_deal(builder, client, "client.deal_with_existing")
        return
    number = another_number(builder, client)
    changed = call("modify_client", client_id=client["client_id"], phone=number)
    builder.turn("client.phone_of_existing", {"phone": plain(number)}, calls=[changed], tags=AGAIN)


@family("Client Management", 12)
def new_client_email_taken(builder: ConversationBuilder) -> None:
    """The address of the new client belongs to another one, so the CRM refuses; then the user has
    the right one.
    """
    holder = builder.pick(builder.org.clients)
    firm = new_firm(builder)
    taken = firm._replace(email=holder["email"])
    builder.turn_to(holder)
    calls = create(builder, taken)
    builder.rejected(
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
    calls = create(builder, firm)
    slots = {"email": plain(firm.email)}
    tags = (*AGAIN, "correction")
    rules = ("CLIENT-1", "CLIENT-2", "CLIENT-4")
    made = builder.turn("client.right_email", slots, calls=calls, rules=rules, tags=tags)
    client = builder.row("Client", made["client_id"])
    builder.turn_to(client)
    if builder.rng.random() < 0.6:
        first_deal(builder, client)


@family("Client Management", 12)
def new_client_is_competitor(builder: ConversationBuilder) -> None:
    """A company that the directory lists as a Competitor does not become a client (CLIENT-4); the
    user has mixed it up with another one.
    """
    org = builder.org
    clients = [str(c["name"]).casefold() for c in org.clients]

    def rival(company: Row) -> bool:
        name = stem(company["name"]).casefold()
        return company["type"] == "Competitor" and not any(name in c for c in clients)

    company = builder.pick(org.companies, rival)
    firm = new_firm(builder)
    site = "".join(c for c in stem(company["name"]).casefold() if c.isalnum() and c.isascii())
    ending = firm.email.rpartition(".")[2]
    wrong = firm._replace(name=company["name"], email=f"info@{site}.{ending}")
    builder.refused(
        "client.new_bare",
        {"name": plain(wrong.name), "email": plain(wrong.email)},
        calls=look_first(wrong),
        rules=("CLIENT-4", "CLIENT-1"),
        reasons=("compet", "rival", "CLIENT-4", "directory"),
        tags=("multi_hop",),
    )
    made = builder.turn(
        "client.other_than_competitor",
        firm.slots,
        calls=create(builder, firm),
        rules=("CLIENT-1", "CLIENT-2", "CLIENT-4"),
        tags=(*AGAIN, "correction"),
    )
    client = builder.row("Client", made["client_id"])
    builder.turn_to(client)
    if builder.rng.random() < 0.6:
        first_deal(builder, client)
