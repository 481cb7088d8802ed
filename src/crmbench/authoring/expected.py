"""What a good agent would reply in a turn, and in words what a reply is judged by.

Written of what the gold's calls changed and of what has to be told; for the readers of the files,
for judges, and never for an agent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from crmbench.core.answer import STATES, Answer
from crmbench.core.fact import Fact
from crmbench.core.journal import Change, fold
from crmbench.core.schema import Row
from crmbench.core.task import GoldTurn
from crmbench.core.trace import CallRecord
from crmbench.language.legal_forms import without_legal_forms

NOUNS: Mapping[str, str] = {
    "Opportunity": "deal", "Client": "client", "Contact": "contact", "Quote": "quote",
    "Contract": "contract", "Document": "file", "Note": "note", "Case": "case",
    "CaseComment": "comment", "Knowledge__kav": "article",
}  # fmt: skip
"""What people call a row of a table; rows of others are by-products, and not spoken of."""
TOLD: Mapping[str, str] = {
    "stage": "stage", "status": "status", "Status": "status", "Priority": "priority",
    "PublishStatus": "status", "amount": "amount", "value": "value", "probability": "probability",
    "close_date": "close date", "valid_until": "validity", "start_date": "start",
    "end_date": "end", "owner": "owner", "OwnerId": "owner", "name": "name", "title": "title",
    "email": "e-mail address", "phone": "phone number", "address": "address",
    "industry": "industry", "version": "version", "IssueId__c": "issue", "Subject": "subject",
}  # fmt: skip
"""The columns that a reply speaks of, and how."""
LABELS: Mapping[str, str] = {"phone": "phone number", "e-mail": "e-mail address"}
DATED: Mapping[str, str] = {
    "valid until": "It is valid until {}.", "end": "It ends on {}.", "start": "It starts on {}.",
    "end date": "It ends on {}.", "new end": "It now ends on {}.",
    "close date": "It closes on {}.",
}  # fmt: skip
CANDIDATES: Mapping[str, str] = {
    "005": "agent", "ka0": "article", "a00": "issue", "01t": "product", "500": "case",
}  # fmt: skip
UNCHANGED = "It stands as you want it already, so nothing had to be changed."


def expected_response(
    gold: GoldTurn,
    made: Sequence[CallRecord] = (),
    names: Mapping[str, str] | None = None,
    reasons: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A good reply to a turn, and what counts in it.

    Args:
        made: The gold's calls with what they changed.
        names: The names of the world's records, by id.
        reasons: For a rule of the policy, or several joined by "+", why it forbids what was asked.
    """
    names = names or {}
    told = [*map(_sentence, gold.facts)]
    if not gold.expect_success:
        text = " ".join([_refusal(gold, made, reasons or {}), *told])
    else:
        done = list(_deeds(made, names))
        answered = [_answer(gold.answer, names)] if gold.answer is not None else []
        # A domain of somebody else's has tables that nobody here has words for.
        wrote = fold(change for call in made for change in call.changes)
        text = " ".join([*answered, *done, *told]) or ("Done." if wrote else UNCHANGED)
    return {"text": text, "evaluation": criteria(gold)}


def criteria(gold: GoldTurn) -> str:
    """In words what a reply to the turn is judged by."""
    told = "; ".join(f"{fact.label or fact.kind} {_shown(fact)}" for fact in gold.facts)
    parts = []
    if not gold.expect_success:
        why = gold.error_substring or " and ".join(gold.rules)
        parts.append(f"The reply says that it was not done, and why ({why}). Nothing is changed.")
    elif any(True for _ in gold.calls) and not gold.facts and gold.answer is None:
        parts.append(
            "The CRM holds what was asked for and nothing else; the reply does not misreport it."
        )
    if told:
        parts.append(f"The reply tells: {told}.")
    if gold.answer is not None:
        parts.append(f"The answer is {gold.answer.said}; the reply does not say otherwise.")
    if gold.forbidden:
        kept = ", ".join(fact.label or fact.kind for fact in gold.forbidden)
        parts.append(f"It does not tell {kept}.")
    return " ".join(parts) or "The reply does not misreport what was done."


def _shown(fact: Fact) -> str:
    if fact.kind == "list":
        return ", ".join(str(item.value) for item in fact.items()) or "none"
    return f"{fact.value:,}" if isinstance(fact.value, int | float) else str(fact.value)


# --- refusing -------------------------------------------------------------------------------------


def _refusal(gold: GoldTurn, made: Sequence[CallRecord], reasons: Mapping[str, str]) -> str:
    error = next((call.error for call in reversed(made) if not call.ok), None)
    if error:
        return f"I couldn't do that: the CRM refused it. {error.rstrip('.')}. Nothing was changed."
    why = reasons.get("+".join(gold.rules)) or next(
        (reasons[rule] for rule in gold.rules if rule in reasons), ""
    )
    why = why or next(iter(gold.refusal_reasons), "the house rules forbid it")
    return f"I can't do that: {why} ({', '.join(gold.rules)}). Nothing was changed."


# --- telling --------------------------------------------------------------------------------------


def _sentence(fact: Fact) -> str:
    label = LABELS.get(fact.label, fact.label or fact.kind)
    if fact.kind == "list":
        listed = _joined([_written(item) for item in fact.items()])
        return f"The {label} are {listed}." if listed else f"There are no {label}."
    if fact.kind in ("count", "number") and (fact.kind == "count" or fact.unit):
        verb, shown = ("is", label.removesuffix("s")) if fact.value == 1 else ("are", label)
        return f"There {verb} {fact.value:,} {shown}."
    if fact.kind == "date" and label in DATED:
        return DATED[label].format(_written(fact))
    return f"The {label} is {_written(fact)}."


def _written(fact: Fact) -> str:
    if fact.kind == "money":
        return _money(fact.value)
    if fact.kind == "percent":
        return f"{fact.value:g} %"
    if fact.kind == "date" and len(fact.value) >= 10:
        return _day(fact.value)
    return f"{fact.value:,}" if isinstance(fact.value, int | float) else str(fact.value)


def _money(value: float) -> str:
    return f"${value:,.0f}" if float(value).is_integer() else f"${value:,.2f}"


def _day(value: str) -> str:
    day = date.fromisoformat(value[:10])
    return f"{day:%B} {day.day}, {day.year}"


def _joined(items: Sequence[str]) -> str:
    return (
        items[0]
        if len(items) == 1
        else " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
    )


def _answer(answer: Answer, names: Mapping[str, str]) -> str:
    if not answer.values:
        noun = CANDIDATES.get(answer.prefix, answer.kind)
        return f"None: there is no such {noun}."
    if answer.kind == "text":
        return answer.values[0]
    if answer.kind == "state":
        told = {code: name for name, code in STATES.items()}
        return f"It is {_joined([f'{told[value]} ({value})' for value in answer.values])}."
    told = {key: f"{names[key]} ({key})" for key in answer.values if key in names}
    return f"It is {_joined([told.get(value, value) for value in answer.values])}."


# --- doing ----------------------------------------------------------------------------------------


def _deeds(made: Sequence[CallRecord], names: Mapping[str, str]) -> Iterator[str]:
    effect = fold(change for call in made for change in call.changes)
    order = {change.key: n for n, call in enumerate(made) for change in call.changes}
    spoken = [change for change in effect if change.table in NOUNS]
    spoken.sort(key=lambda change: order[change.key])
    deleted = [change for change in spoken if change.after is None]
    if deleted:
        # What goes with the record that a call names is not spoken of.
        named = {str(value) for call in made for value in call.arguments.values()}
        meant = next((change for change in deleted if change.key in named), deleted[0])
        yield f"I've removed the {_called(meant, names)}."
    updated: dict[tuple[str, str], list[Change]] = {}
    for change in spoken:
        if change.before is not None and change.after is not None:
            updated.setdefault((change.table, _changed(change, names)), []).append(change)
    for (table, told), changes in updated.items():
        yield f"I've updated {_all_called(table, changes, names)}{told}."
    for change in spoken:
        if change.before is None and change.after is not None:
            yield _created(change.table, _called(change, names), change.after, names)


def _changed(change: Change, names: Mapping[str, str]) -> str:
    before, after = change.before or {}, change.after or {}
    told = [
        f"{TOLD[name]} {_value(name, value, names)}"
        for name, value in after.items()
        if name in TOLD and value not in (None, "") and value != before.get(name)
    ]
    return f": {', '.join(told)}" if told else ""


def _all_called(table: str, changes: Sequence[Change], names: Mapping[str, str]) -> str:
    if len(changes) == 1:
        return f"the {_called(changes[0], names)}"
    if table == "Quote":
        versions = [str((change.after or {}).get("version")) for change in changes]
        return f"the quotes {_joined(versions)}"
    return f"the {len(changes)} {NOUNS[table]}s"


def _called(change: Change, names: Mapping[str, str]) -> str:
    row = change.after or change.before or {}
    return f"{NOUNS[change.table]} {_name(change.table, row, names)}".strip()


def _created(table: str, called: str, row: Row, names: Mapping[str, str]) -> str:
    text = row.get("content") or row.get("CommentBody")
    if text and "'" in text:
        # Names in quotation marks within a quotation read badly.
        return f"I've added the {NOUNS[table]} that you asked for."
    if text:
        return f"I've added the {NOUNS[table]}: \u201c{text}\u201d"
    if table == "Document":
        return f"I've stored {row['file_name']}."
    told = [
        f"{TOLD[name]} {_value(name, value, names)}"
        for name, value in row.items()
        if name in TOLD and name not in ("name", "version") and value not in (None, "")
    ]
    return f"I've created the {called}: {', '.join(told)}."


def _name(table: str, row: Row, names: Mapping[str, str]) -> str:
    if table == "Quote" and row.get("version"):
        return str(row["version"])
    if row.get("first_name"):
        return f"{row['first_name']} {row['last_name']}"
    if table == "Client":
        return without_legal_forms(str(row["name"]))
    own = row.get("name") or row.get("file_name") or row.get("Title")
    key = str(next(iter(row.values()), ""))
    if own or key in names:
        return str(own or names[key])
    client = names.get(str(row.get("client_id")))
    if client:
        return f"with {client}"
    return key if "Subject" in row else ""


def _value(name: str, value: Any, names: Mapping[str, str]) -> str:
    if name in ("amount", "value"):
        return _money(value)
    if name == "probability":
        return f"{value} %"
    if name.endswith("_date") or name == "valid_until":
        return _day(str(value))
    return names.get(str(value), str(value))
