"""Changes to what is being discussed."""

from __future__ import annotations

from datetime import date

from crmbench.authoring.calls import Derived, call
from crmbench.authoring.derive import half_up
from crmbench.domains.sales.authoring import policy_actions
from crmbench.domains.sales.authoring.builder import ConversationBuilder
from crmbench.domains.sales.authoring.follow_ups.asking import (
    AGAIN,
    look,
    look_at_quotes,
    need,
    quotes_of,
    unchanged,
)
from crmbench.domains.sales.authoring.follow_ups.people import people
from crmbench.domains.sales.authoring.follow_ups.registry import follow_up
from crmbench.domains.sales.authoring.org import full_name, is_open, version_of
from crmbench.domains.sales.authoring.relative_dates import relative_date
from crmbench.domains.sales.phrases import money, percent, plain

_NEXT = {
    "Prospecting": "Qualification",
    "Qualification": "Proposal",
    "Proposal": "Negotiation",
}


@follow_up(8)
def close_date(builder: ConversationBuilder) -> None:
    """The close date moves to a day that is said in relation to today, or by its date."""
    deal = builder.deal
    need(is_open(deal))
    when = relative_date(builder)
    need(when.iso >= builder.today and when.iso > str(deal["close_date"] or ""))
    need(not builder.was_set(deal["opportunity_id"], "close_date"))
    builder.turn(
        "do.close_date",
        {"when": when.slot},
        calls=[
            call("modify_opportunity", opportunity_id=deal["opportunity_id"], close_date=when.iso)
        ],
        rules=("DATE-1",),
        tags=(*AGAIN, *when.tags),
    )


@follow_up(7)
def raise_by_percent(builder: ConversationBuilder) -> None:
    """The amount goes up by a percentage of what it is."""
    deal = builder.deal
    need(is_open(deal))
    need(not builder.was_set(deal["opportunity_id"], "amount") and not _has_budget(builder))
    rate = builder.choose(3, 4, 5, 6, 8, 10, 12, 15, 30)
    amount = Derived(f"round({deal['amount']!r} * (100 + {rate}) / 100)")
    need(amount.value <= 9_000_000)
    plan = policy_actions.change_amount(builder, deal, amount)
    builder.turn(
        "do.raise_by_percent",
        {"rate": percent(rate)},
        calls=[look(builder), *plan.calls],
        rules=("MONEY-1", *plan.rules),
        note_facts=plan.note_facts,
        tags=AGAIN,
    )


@follow_up(6)
def set_amount(builder: ConversationBuilder) -> None:
    """The amount becomes another one, some way up or down."""
    deal = builder.deal
    need(is_open(deal))
    need(not builder.was_set(deal["opportunity_id"], "amount") and not _has_budget(builder))
    share = builder.choose(0.6, 0.8, 0.85, 0.9, 1.1, 1.15, 1.2, 1.4)
    amount = half_up(deal["amount"] * share / 500) * 500
    need(500 <= amount <= 9_000_000 and amount != deal["amount"])
    plan = policy_actions.change_amount(builder, deal, amount)
    builder.turn(
        "do.set_amount",
        {"amount": money(amount)},
        calls=[look(builder), *plan.calls],
        rules=plan.rules,
        note_facts=plan.note_facts,
        tags=AGAIN,
    )


@follow_up(10)
def correct_amount(builder: ConversationBuilder) -> None:
    """The amount that was just given was wrong."""
    before, after = builder.last_change or unchanged()
    need(after["amount"] != before["amount"] and is_open(after))
    need(builder.memory.get("undone") != builder.length)
    step = max(500.0, half_up(after["amount"] * 0.04 / 500) * 500)
    amount = half_up(after["amount"] / 500) * 500 + builder.choose(-1, 1, 2) * step
    need(0 < amount <= 9_000_000 and amount != after["amount"])
    plan = policy_actions.change_amount(builder, builder.deal, amount)
    need(len(plan.calls) == 1)
    builder.turn(
        "do.correct_amount",
        {"amount": money(amount)},
        calls=plan.calls,
        rules=plan.rules,
        tags=(*AGAIN, "correction"),
    )


@follow_up(10)
def undo(builder: ConversationBuilder) -> None:
    """The last change is taken back."""
    before, after = builder.last_change or unchanged()
    fields = {n: before[n] for n in before if before[n] != after[n]}
    need(is_open(before) and is_open(after) and None not in fields.values())
    need(fields.keys() <= {"stage", "probability", "amount", "close_date", "owner"})
    need(str(fields.get("close_date", builder.today)) >= builder.today)
    if "amount" in fields:
        need(abs(fields["amount"] - after["amount"]) <= policy_actions.NOTE_LIMIT * after["amount"])
    restore = call("modify_opportunity", opportunity_id=builder.focus.deal, **fields)
    builder.turn("do.undo", calls=[restore], rules=("DO-2",), tags=(*AGAIN, "undo"))
    builder.memory["undone"] = builder.length


def _has_budget(builder: ConversationBuilder) -> bool:
    """Whether a note has given the client's budget: amounts then stay as they are."""
    return "note_budget" in builder.memory.get("follow_ups", ())


@follow_up(7)
def next_stage(builder: ConversationBuilder) -> None:
    """The deal moves on, and its probability with it."""
    deal = builder.deal
    need(deal["stage"] in _NEXT)
    stage = _NEXT[deal["stage"]]
    plan = policy_actions.set_stage(deal, stage)
    builder.turn(
        "do.next_stage", {"stage": plain(stage)}, calls=plan.calls, rules=plan.rules, tags=AGAIN
    )


@follow_up(4)
def set_probability(builder: ConversationBuilder) -> None:
    """A probability that goes before the table's."""
    deal = builder.deal
    need(is_open(deal))
    chance = builder.choose(15, 20, 35, 40, 55, 60, 65, 80, 85, 90)
    need(chance != deal["probability"])
    # Right after "move it to Proposal" another figure would only puzzle.
    need(not builder.was_set(deal["opportunity_id"], "probability"))
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], probability=chance)
    slots = {"chance": percent(chance)}
    builder.turn("do.set_probability", slots, calls=[changed], rules=("DEAL-2",), tags=AGAIN)


@follow_up(7)
def quote_again(builder: ConversationBuilder) -> None:
    """A new quote, a few percent under the deal's amount or at that amount."""
    deal = builder.deal
    need(is_open(deal) and builder.client["status"] != "Inactive" and quotes_of(builder))
    rate = builder.choose(0, 0, 2, 3, 4, 5, 6, 8)
    given = {"amount": Derived(f"round({deal['amount']!r} * (100 - {rate}) / 100)")} if rate else {}
    plan = policy_actions.new_quote(builder, deal, **given)
    builder.turn(
        "do.quote_less" if rate else "do.quote_same",
        {"rate": percent(rate)} if rate else {},
        calls=[look(builder), look_at_quotes(builder), *plan.calls],
        rules=("MONEY-1", *plan.rules) if rate else plan.rules,
        tags=AGAIN,
    )


@follow_up(5)
def send_draft(builder: ConversationBuilder) -> None:
    """The deal's only Draft goes out, with what follows from it."""
    deal, quotes = builder.deal, quotes_of(builder)
    drafts = [q for q in quotes if q["status"] == "Draft"]
    need(is_open(deal) and len(drafts) == 1 and drafts[0]["valid_until"])
    left = (date.fromisoformat(drafts[0]["valid_until"]) - builder.org.today).days
    # Whether today counts among seven days is nobody's business here.
    need(left not in (6, 7))
    need(policy_actions.discount(deal, drafts[0]["amount"]) <= policy_actions.FREE_DISCOUNT)
    plan = policy_actions.send(builder, deal, drafts[0])
    calls = [look(builder), look_at_quotes(builder), *plan.calls]
    builder.turn("do.send_draft", calls=calls, rules=plan.rules, tags=AGAIN)


@follow_up(4)
def cancel_sent(builder: ConversationBuilder) -> None:
    """The quote that is out is withdrawn."""
    sent = [q for q in quotes_of(builder) if q["status"] == "Sent"]
    need(is_open(builder.deal) and len(sent) == 1)
    calls = [look_at_quotes(builder), *policy_actions.cancel(sent)]
    builder.turn("do.cancel_sent", calls=calls, tags=AGAIN)


@follow_up(6)
def note_decision(builder: ConversationBuilder) -> None:
    """A note: somebody at the client wants something by a day."""
    known = people(builder)
    need(known and is_open(builder.deal))
    person = full_name(builder.rng.choice(known))
    when = relative_date(builder, spoken=False)
    need(when.iso > builder.today)
    key = builder.deal["opportunity_id"]
    content = f"{person} wants to decide by {when.iso}."
    builder.turn(
        "do.note_decision",
        {"contact": plain(person), "when": when.slot},
        calls=[policy_actions.note(builder, "Opportunity", key, content)],
        note_facts=[builder.fact("name", person), builder.fact("date", when.iso)],
        rules=("NOTE-1",),
        tags=AGAIN,
    )


@follow_up(5)
def note_budget(builder: ConversationBuilder) -> None:
    """A note: what budget the client has."""
    deal = builder.deal
    need(is_open(deal))
    amount = half_up(deal["amount"] * builder.choose(1.05, 1.1, 1.2, 1.25) / 1000) * 1000 + 500
    need(amount > deal["amount"])
    content = f"The client's budget is ${amount:,.0f}."
    builder.turn(
        "do.note_budget",
        {"amount": money(amount)},
        calls=[policy_actions.note(builder, "Opportunity", deal["opportunity_id"], content)],
        note_facts=[builder.fact("money", amount)],
        rules=("NOTE-1",),
        tags=AGAIN,
    )


_FILES = (
    "offer",
    "proposal",
    "requirements",
    "site_survey",
    "meeting_minutes",
    "price_sheet",
    "rollout_plan",
    "references",
    "nda_signed",
    "floor_plan",
)


@follow_up(7)
def upload_file(builder: ConversationBuilder) -> None:
    """A file goes onto the deal."""
    deal = builder.deal
    stem = builder.choose(*_FILES)
    tail = builder.choose("", "_final", "_v2", f"_{builder.today[:7]}", "-signed")
    name = f"{stem}{tail}.{builder.choose('pdf', 'docx', 'pptx', 'xlsx')}"
    uploaded = policy_actions.upload(builder, "Opportunity", deal["opportunity_id"], name)
    slots = {"file": plain(name)}
    builder.turn("do.upload_file", slots, calls=[uploaded], rules=("DOC-2",), tags=AGAIN)


@follow_up(5)
def latest_quote_until(builder: ConversationBuilder) -> None:
    """The latest quote is good for longer."""
    quotes = quotes_of(builder)
    need(quotes and is_open(builder.deal))
    latest = max(quotes, key=version_of)
    need(latest["status"] in ("Draft", "Sent") and version_of(latest))
    when = relative_date(builder)
    need(when.iso > max(builder.today, str(latest["valid_until"] or "")))
    need(not builder.was_set(latest["quote_id"], "valid_until"))
    changed = call("modify_quote", quote_id=latest["quote_id"], valid_until=when.iso)
    builder.turn(
        "do.latest_quote_until",
        {"when": when.slot},
        calls=[look_at_quotes(builder), changed],
        rules=("FIND-4", "DATE-1"),
        tags=(*AGAIN, *when.tags),
    )
