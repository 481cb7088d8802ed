"""Changes to what is being discussed."""

from __future__ import annotations

from datetime import date

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.phrases import money, percent, plain
from crmbench.domains.sales.talk import house
from crmbench.domains.sales.talk.moves.asking import (
    AGAIN,
    look,
    look_at_quotes,
    need,
    quotes_of,
    unchanged,
)
from crmbench.domains.sales.talk.moves.people import people
from crmbench.domains.sales.talk.moves.registry import move
from crmbench.domains.sales.talk.org import full_name, is_open, version_of
from crmbench.domains.sales.talk.relative import relative_date
from crmbench.domains.sales.talk.talk import Derived, Talk, call

_NEXT = {
    "Prospecting": "Qualification",
    "Qualification": "Proposal",
    "Proposal": "Negotiation",
}


@move(8)
def close_date(talk: Talk) -> None:
    """The close date moves to a day that is said in relation to today, or by its date."""
    deal = talk.deal
    need(is_open(deal))
    when = relative_date(talk)
    need(when.iso >= talk.today and when.iso > str(deal["close_date"] or ""))
    talk.turn(
        "do.close_date",
        {"when": when.slot},
        calls=[
            call("modify_opportunity", opportunity_id=deal["opportunity_id"], close_date=when.iso)
        ],
        rules=("DATE-1",),
        tags=(*AGAIN, *when.tags),
    )


@move(7)
def raise_by_percent(talk: Talk) -> None:
    """The amount goes up by a percentage of what it is."""
    deal = talk.deal
    need(is_open(deal))
    rate = talk.choose(3, 4, 5, 6, 8, 10, 12, 15, 30)
    amount = Derived(f"round({deal['amount']!r} * (100 + {rate}) / 100)")
    need(amount.value <= 9_000_000)
    plan = house.change_amount(talk, deal, amount)
    talk.turn(
        "do.raise_by_percent",
        {"rate": percent(rate)},
        calls=[look(talk), *plan.calls],
        rules=("MONEY-1", *plan.rules),
        note_facts=plan.note_facts,
        tags=AGAIN,
    )


@move(6)
def set_amount(talk: Talk) -> None:
    """The amount becomes another one, some way up or down."""
    deal = talk.deal
    need(is_open(deal))
    share = talk.choose(0.6, 0.8, 0.85, 0.9, 1.1, 1.15, 1.2, 1.4)
    amount = half_up(deal["amount"] * share / 500) * 500
    need(500 <= amount <= 9_000_000 and amount != deal["amount"])
    plan = house.change_amount(talk, deal, amount)
    talk.turn(
        "do.set_amount",
        {"amount": money(amount)},
        calls=[look(talk), *plan.calls],
        rules=plan.rules,
        note_facts=plan.note_facts,
        tags=AGAIN,
    )


@move(10)
def correct_amount(talk: Talk) -> None:
    """The amount that was just given was wrong."""
    before, after = talk.last_change or unchanged()
    need(after["amount"] != before["amount"] and is_open(after))
    need(talk.memory.get("undone") != talk.length)
    step = max(500.0, half_up(after["amount"] * 0.04 / 500) * 500)
    amount = half_up(after["amount"] / 500) * 500 + talk.choose(-1, 1, 2) * step
    need(0 < amount <= 9_000_000 and amount != after["amount"])
    plan = house.change_amount(talk, talk.deal, amount)
    need(len(plan.calls) == 1)
    talk.turn(
        "do.correct_amount",
        {"amount": money(amount)},
        calls=plan.calls,
        rules=plan.rules,
        tags=(*AGAIN, "correction"),
    )


@move(10)
def undo(talk: Talk) -> None:
    """The last change is taken back."""
    before, after = talk.last_change or unchanged()
    fields = {n: before[n] for n in before if before[n] != after[n]}
    need(is_open(before) and is_open(after) and None not in fields.values())
    need(fields.keys() <= {"stage", "probability", "amount", "close_date", "owner"})
    need(str(fields.get("close_date", talk.today)) >= talk.today)
    if "amount" in fields:
        need(abs(fields["amount"] - after["amount"]) <= house.NOTE_LIMIT * after["amount"])
    restore = call("modify_opportunity", opportunity_id=talk.focus.deal, **fields)
    talk.turn("do.undo", calls=[restore], rules=("DO-2",), tags=(*AGAIN, "undo"))
    talk.memory["undone"] = talk.length


@move(7)
def next_stage(talk: Talk) -> None:
    """The deal moves on, and its probability with it."""
    deal = talk.deal
    need(deal["stage"] in _NEXT)
    stage = _NEXT[deal["stage"]]
    plan = house.set_stage(deal, stage)
    talk.turn(
        "do.next_stage", {"stage": plain(stage)}, calls=plan.calls, rules=plan.rules, tags=AGAIN
    )


@move(4)
def set_probability(talk: Talk) -> None:
    """A probability that goes before the table's."""
    deal = talk.deal
    need(is_open(deal))
    chance = talk.choose(15, 20, 35, 40, 55, 60, 65, 80, 85, 90)
    need(chance != deal["probability"])
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], probability=chance)
    slots = {"chance": percent(chance)}
    talk.turn("do.set_probability", slots, calls=[changed], rules=("DEAL-2",), tags=AGAIN)


@move(7)
def quote_again(talk: Talk) -> None:
    """A new quote, a few percent under the deal's amount or at that amount."""
    deal = talk.deal
    need(is_open(deal) and talk.client["status"] != "Inactive" and quotes_of(talk))
    rate = talk.choose(0, 0, 2, 3, 4, 5, 6, 8)
    given = {"amount": Derived(f"round({deal['amount']!r} * (100 - {rate}) / 100)")} if rate else {}
    plan = house.new_quote(talk, deal, **given)
    talk.turn(
        "do.quote_less" if rate else "do.quote_same",
        {"rate": percent(rate)} if rate else {},
        calls=[look(talk), look_at_quotes(talk), *plan.calls],
        rules=("MONEY-1", *plan.rules) if rate else plan.rules,
        tags=AGAIN,
    )


@move(5)
def send_draft(talk: Talk) -> None:
    """The deal's only Draft goes out, with what follows from it."""
    deal, quotes = talk.deal, quotes_of(talk)
    drafts = [q for q in quotes if q["status"] == "Draft"]
    need(is_open(deal) and len(drafts) == 1 and drafts[0]["valid_until"])
    left = (date.fromisoformat(drafts[0]["valid_until"]) - talk.org.today).days
    # Whether today counts among seven days is nobody's business here.
    need(left not in (6, 7))
    need(house.discount(deal, drafts[0]["amount"]) <= house.FREE_DISCOUNT)
    plan = house.send(talk, deal, drafts[0])
    calls = [look(talk), look_at_quotes(talk), *plan.calls]
    talk.turn("do.send_draft", calls=calls, rules=plan.rules, tags=AGAIN)


@move(4)
def cancel_sent(talk: Talk) -> None:
    """The quote that is out is withdrawn."""
    sent = [q for q in quotes_of(talk) if q["status"] == "Sent"]
    need(is_open(talk.deal) and len(sent) == 1)
    calls = [look_at_quotes(talk), *house.cancel(sent)]
    talk.turn("do.cancel_sent", calls=calls, tags=AGAIN)


@move(6)
def note_decision(talk: Talk) -> None:
    """A note: somebody at the client wants something by a day."""
    known = people(talk)
    need(known and is_open(talk.deal))
    person = full_name(talk.rng.choice(known))
    when = relative_date(talk, spoken=False)
    need(when.iso > talk.today)
    key = talk.deal["opportunity_id"]
    content = f"{person} wants to decide by {when.iso}."
    talk.turn(
        "do.note_decision",
        {"contact": plain(person), "when": when.slot},
        calls=[house.note(talk, "Opportunity", key, content)],
        note_facts=[talk.fact("name", person), talk.fact("date", when.iso)],
        rules=("NOTE-1",),
        tags=AGAIN,
    )


@move(5)
def note_budget(talk: Talk) -> None:
    """A note: what budget the client has."""
    deal = talk.deal
    need(is_open(deal))
    amount = half_up(deal["amount"] * talk.choose(0.8, 0.9, 1.1, 1.25) / 1000) * 1000 + 500
    content = f"The client's budget is ${amount:,.0f}."
    talk.turn(
        "do.note_budget",
        {"amount": money(amount)},
        calls=[house.note(talk, "Opportunity", deal["opportunity_id"], content)],
        note_facts=[talk.fact("money", amount)],
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


@move(7)
def upload_file(talk: Talk) -> None:
    """A file goes onto the deal."""
    deal = talk.deal
    stem = talk.choose(*_FILES)
    tail = talk.choose("", "_final", "_v2", f"_{talk.today[:7]}", "-signed")
    name = f"{stem}{tail}.{talk.choose('pdf', 'docx', 'pptx', 'xlsx')}"
    uploaded = house.upload(talk, "Opportunity", deal["opportunity_id"], name)
    slots = {"file": plain(name)}
    talk.turn("do.upload_file", slots, calls=[uploaded], rules=("DOC-2",), tags=AGAIN)


@move(5)
def latest_quote_until(talk: Talk) -> None:
    """The latest quote is good for longer."""
    quotes = quotes_of(talk)
    need(quotes and is_open(talk.deal))
    latest = max(quotes, key=version_of)
    need(latest["status"] in ("Draft", "Sent") and version_of(latest))
    when = relative_date(talk)
    need(when.iso > max(talk.today, str(latest["valid_until"] or "")))
    changed = call("modify_quote", quote_id=latest["quote_id"], valid_until=when.iso)
    talk.turn(
        "do.latest_quote_until",
        {"when": when.slot},
        calls=[look_at_quotes(talk), changed],
        rules=("FIND-4", "DATE-1"),
        tags=(*AGAIN, *when.tags),
    )
