"""Creating clients."""

from __future__ import annotations

from crmbench.domains.sales.authoring import ConversationBuilder, family
from crmbench.domains.sales.families.client.firms import (
    create,
    first_deal,
    new_firm,
    street_address,
)
from crmbench.domains.sales.phrases import plain

RULES = ("CLIENT-1", "CLIENT-2", "CLIENT-4")


@family("Client Management", 16)
def new_client(builder: ConversationBuilder) -> None:
    """A new client: status and owner follow from CLIENT-2, after a look for its name and address;
    a deal for it follows, whose name, owner, stage and date the rules fix.
    """
    firm = new_firm(builder)
    made = builder.turn("client.new", firm.slots, calls=create(builder, firm), rules=RULES)
    client = builder.row("Client", made["client_id"])
    builder.turn_to(client)
    first_deal(builder, client)


@family("Client Management", 12)
def new_client_other_owner(builder: ConversationBuilder) -> None:
    """A new client that a colleague will look after, with its address; the deal that follows
    belongs to that colleague too (DEAL-1), though somebody else asks for it.
    """
    firm, address = new_firm(builder), street_address(builder)
    owner = builder.choose(*[o for o in builder.org.owners[1:] if o != builder.speaker])
    calls = create(builder, firm, owner=owner, address=address)
    slots = {**firm.slots, "owner": plain(owner), "address": plain(address)}
    made = builder.turn("client.new_for", slots, calls=calls, rules=RULES)
    client = builder.row("Client", made["client_id"])
    builder.turn_to(client)
    first_deal(builder, client)


@family("Client Management", 12)
def new_client_without_email(builder: ConversationBuilder) -> None:
    """A new client whose e-mail address nobody has said: the agent must ask (ASK-1)."""
    firm = new_firm(builder)
    slots = {"name": plain(firm.name), "industry": plain(firm.industry)}
    made = builder.turn(
        "client.new_without_email",
        slots,
        calls=create(builder, firm),
        rules=(*RULES, "ASK-1"),
        asks=("answer.email", {"email": plain(firm.email)}, ("mail", "address")),
    )
    client = builder.row("Client", made["client_id"])
    builder.turn_to(client)
    first_deal(builder, client)
