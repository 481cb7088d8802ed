"""What the house rules make of a request: the calls, computed values and notes that they add.

One function a rule, so that every family obeys it alike; the rules' ids are those of policy.md.
"""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple

from crmbench.authoring.calls import JUST_MADE, Derived, call
from crmbench.core.fact import Fact
from crmbench.core.task import GoldCall
from crmbench.domains.sales.authoring.builder import ConversationBuilder
from crmbench.domains.sales.authoring.org import Row, version_of
from crmbench.language.legal_forms import without_legal_forms

PROBABILITY = {"Prospecting": 10, "Qualification": 25, "Proposal": 50, "Negotiation": 75}
"""DEAL-2."""
NOTE_LIMIT = 0.25
"""DEAL-7: a change of the amount beyond this share is noted."""
FREE_DISCOUNT = 10
"""DISC-1: percent under the deal's amount that need no leave."""
MOST_DISCOUNT = 30
"""DISC-2."""


class PolicyActions(NamedTuple):
    """What has to be done for a request."""

    calls: tuple[GoldCall, ...]
    rules: tuple[str, ...]
    note_facts: tuple[Fact, ...] = ()


def new_quote(builder: ConversationBuilder, deal: Row, **given: Any) -> PolicyActions:
    """QUOTE-1: a quote with what the user gave, the rest as the rule fixes it."""
    quotes = builder.find("Quote", "opportunity_id", deal["opportunity_id"])
    highest = max(map(version_of, quotes), default=0)
    values: dict[str, Any] = {
        "amount": deal["amount"],
        "status": "Draft",
        "version": Derived(f"join('v', {highest} + 1)"),
        "name": Derived(f"join({deal['name']!r}, ' v', {highest} + 1)"),
        "valid_until": Derived(f"days('{builder.today}', 30)"),
        **given,
    }
    made = call("create_quote", opportunity_id=deal["opportunity_id"], **values)
    return PolicyActions((made,), ("QUOTE-1",))


def set_stage(deal: Row, stage: str, probability: int | None = None) -> PolicyActions:
    """DEAL-2: the stage with the probability that goes with it, or the one that was named."""
    chance = PROBABILITY[stage] if probability is None else probability
    changed = call(
        "modify_opportunity", opportunity_id=deal["opportunity_id"], stage=stage, probability=chance
    )
    return PolicyActions((changed,), ("DEAL-2",))


def change_amount(
    builder: ConversationBuilder, deal: Row, amount: float | Derived
) -> PolicyActions:
    """A deal's new amount, with the note that DEAL-7 asks for."""
    key, old = deal["opportunity_id"], deal["amount"]
    new = amount.value if isinstance(amount, Derived) else amount
    changed = call("modify_opportunity", opportunity_id=key, amount=amount)
    if abs(new - old) <= NOTE_LIMIT * old:
        return PolicyActions((changed,), ("DEAL-7",))
    written = note(builder, "Opportunity", key, f"Amount changed from ${old:,.2f} to ${new:,.2f}.")
    facts = (builder.fact("money", old, "old amount"), builder.fact("money", new, "new amount"))
    return PolicyActions((changed, written), ("DEAL-7", "NOTE-1"), facts)


def note(builder: ConversationBuilder, entity: str, key: str, content: str) -> GoldCall:
    """NOTE-1: a note by the person who asks."""
    return call(
        "add_note", entity_type=entity, entity_id=key, content=content, created_by=builder.speaker
    )


def upload(builder: ConversationBuilder, entity: str, key: str, file_name: str) -> GoldCall:
    """DOC-2: a file on the record it is about, uploaded by the person who asks."""
    return call(
        "upload_document",
        entity_type=entity,
        entity_id=key,
        file_name=file_name,
        uploaded_by=builder.speaker,
    )


def pending_quotes(builder: ConversationBuilder, deal: Row, but: str = "") -> list[Row]:
    """The deal's quotes in Draft or Sent."""
    quotes = builder.find("Quote", "opportunity_id", deal["opportunity_id"])
    return [q for q in quotes if q["status"] in ("Draft", "Sent") and q["quote_id"] != but]


def cancel(quotes: list[Row]) -> tuple[GoldCall, ...]:
    """The calls that cancel some quotes."""
    return tuple(call("cancel_quote", quote_id=quote["quote_id"]) for quote in quotes)


def win(builder: ConversationBuilder, deal: Row, approved: Row) -> PolicyActions:
    """DEAL-3: the deal is won at the amount of its Approved quote."""
    changed = call(
        "modify_opportunity",
        opportunity_id=deal["opportunity_id"],
        stage="Closed-Won",
        amount=approved["amount"],
        probability=99,
    )
    return PolicyActions((changed, *cancel(pending_quotes(builder, deal))), ("DEAL-3",))


class Loss(NamedTuple):
    """Why a deal is lost."""

    said: str
    word: str
    """What a note that gives the reason will hold, whatever its other words."""
    others: tuple[str, ...] = ()
    """What it may hold instead."""


LOSSES = (
    Loss(
        "they chose a cheaper supplier",
        "cheaper",
        ("lower price", "on price", "less expensive", "lower cost", "undercut"),
    ),
    Loss(
        "the project has been put on hold",
        "on hold",
        ("hold", "paused", "postponed", "suspended", "shelved"),
    ),
    Loss("they lost their funding", "funding", ("funds", "funded", "financing")),
    Loss(
        "they are staying with the system they have",
        "stay",
        ("staying", "existing", "current", "keep", "keeping", "present"),
    ),
    Loss(
        "a competitor could deliver sooner",
        "sooner",
        ("faster", "earlier", "quicker", "quick", "delivery time", "lead time", "deliver first"),
    ),
    Loss(
        "the buyer left the company",
        "left",
        ("leaving", "departed", "no longer works", "no longer with"),
    ),
    Loss(
        "head office bought for everybody",
        "head office",
        ("headquarters", "central", "centrally", "HQ"),
    ),
    Loss(
        "they stopped answering",
        "answering",
        ("answer", "responding", "respond", "unresponsive", "no response", "silent", "reply"),
    ),
    Loss("their budget was cut", "budget", ("budgets", "budgetary")),
    Loss(
        "they went with another vendor",
        "vendor",
        ("competitor", "supplier", "elsewhere", "vendors", "provider"),
    ),
)


def lose(builder: ConversationBuilder, deal: Row, loss: Loss) -> PolicyActions:
    """DEAL-4: the deal is lost, its pending quotes are canceled, a note gives the reason."""
    fact = builder.fact("text", loss.word, "reason", aliases=loss.others)
    key = deal["opportunity_id"]
    changed = call("modify_opportunity", opportunity_id=key, stage="Closed-Lost", probability=1)
    written = note(builder, "Opportunity", key, f"Lost: {loss.said}.")
    canceled = cancel(pending_quotes(builder, deal))
    return PolicyActions((changed, *canceled, written), ("DEAL-4", "NOTE-1"), (fact,))


def send(builder: ConversationBuilder, deal: Row, quote: Row) -> PolicyActions:
    """QUOTE-5: a quote goes out; its validity, the other Sent quotes and the stage follow."""
    values: dict[str, Any] = {"quote_id": quote["quote_id"], "status": "Sent"}
    left = (date.fromisoformat(quote["valid_until"]) - builder.org.today).days
    if left < 7:
        values["valid_until"] = Derived(f"days('{builder.today}', 30)")
    sent = [q for q in pending_quotes(builder, deal, quote["quote_id"]) if q["status"] == "Sent"]
    calls = [call("modify_quote", **values), *cancel(sent)]
    if deal["stage"] in ("Prospecting", "Qualification"):
        calls += set_stage(deal, "Proposal").calls
    return PolicyActions(tuple(calls), ("QUOTE-5", "DEAL-2"))


def new_deal(
    builder: ConversationBuilder, client: Row, product: str, amount: float | Derived, **given: Any
) -> PolicyActions:
    """DEAL-1: a deal with what the user gave, the rest as the rule fixes it."""
    stage = given.get("stage", "Prospecting")
    values: dict[str, Any] = {
        "name": Derived(f"join({without_legal_forms(client['name'])!r}, ' - ', {product!r})"),
        "stage": stage,
        "probability": PROBABILITY[stage],
        "owner": client["owner"],
        "close_date": Derived(f"days('{builder.today}', 90)"),
        **given,
    }
    made = call("create_new_opportunity", client_id=client["client_id"], amount=amount, **values)
    return PolicyActions((made,), ("DEAL-1", "DEAL-2"))


def copy(deal: Row, name: str) -> PolicyActions:
    """DEAL-9: a copy of an open deal, back at the start, under the name that was said."""
    copied = call("clone_opportunity", opportunity_id=deal["opportunity_id"])
    reset = call(
        "modify_opportunity",
        opportunity_id=JUST_MADE,
        name=name,
        stage="Prospecting",
        probability=PROBABILITY["Prospecting"],
    )
    return PolicyActions((copied, reset), ("DEAL-9",))


def new_contract(builder: ConversationBuilder, deal: Row, **given: Any) -> PolicyActions:
    """CONTRACT-1 and CONTRACT-2: a won deal's contract."""
    start = given.get("start_date") or Derived(f"month_start('{builder.today}', 1)")
    first = start.value if isinstance(start, Derived) else start
    begin = start.formula if isinstance(start, Derived) else repr(first)
    term = given.pop("months", 12)
    values: dict[str, Any] = {
        "value": deal["amount"],
        "start_date": start,
        "end_date": Derived(f"days(months({begin}, {term}), -1)"),
        "status": "Pending" if first > builder.today else "Active",
        **given,
    }
    made = call(
        "create_contract",
        client_id=deal["client_id"],
        opportunity_id=deal["opportunity_id"],
        **values,
    )
    return PolicyActions((made,), ("CONTRACT-1", "CONTRACT-2"))


def discount(deal: Row, amount: float) -> float:
    """Percent by which an amount is under the deal's."""
    whole = float(deal["amount"])
    return 100 * (whole - amount) / whole


def under(deal: Row, rate: int) -> Derived:
    """MONEY-1: an amount that is `rate` percent under the deal's."""
    return Derived(f"round({deal['amount']!r} * (100 - {rate}) / 100)")
