"""Where the gold's values come from: said by the user, read from records, or fixed by policy.

For every value that a gold call writes, one of these must hold:

* the user said it, in this turn or before, in whatever form people write such a value;
* it stands in a record that the gold path read before, or is the id of a record of the world;
* it follows from such values by a formula that the task states (`GoldTurn.derivations`), which is
  evaluated again here;
* a policy rule that the turn cites fixes it;
* it is the name of the person who is speaking, which the agent is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from crmbench.authoring.derive import evaluate, literals
from crmbench.authoring.relative import days_named
from crmbench.core.domain import Domain
from crmbench.core.fact import Fact, Kind
from crmbench.core.journal import Change
from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.grading.facts import mentions
from crmbench.grading.gold import GoldRun
from crmbench.grading.grader import Grader
from crmbench.grading.state import normalise
from crmbench.validity.gate import GateResult, Offender, none_wrong


def values_traceable(tasks: Sequence[Task], found: Sequence[tuple[list[str], int]]) -> GateResult:
    """The gate over what `values_lost` found."""
    offenders = [
        Offender(task.task_id, text)
        for task, (texts, _) in zip(tasks, found, strict=True)
        for text in texts
    ]
    total = sum(count for _, count in found)
    question = "Which written values were neither said nor read nor fixed by policy?"
    return none_wrong("values traceable", question, offenders, total, applies=total > 0)


def values_lost(tasks: Sequence[Task], grader: Grader) -> list[tuple[list[str], int]]:
    """What `untraceable` finds for each task."""
    return [
        untraceable(load_domain(task.domain), task, grader.gold_runs(task)[0]) for task in tasks
    ]


def untraceable(domain: Domain, task: Task, gold: GoldRun) -> tuple[list[str], int]:
    """The written values of a task that come from nowhere, and how many were written."""
    known = _Known(domain, task, domain.world(task.world).now.date())
    lost, total = [], 0
    for number, calls in enumerate(gold.calls, start=1):
        known.hear(number)
        turn = task.gold.turns[number - 1]
        for place, call in enumerate(calls, start=1):
            for name, value in _written(domain, call.changes, call.arguments):
                total += 1
                formula = turn.derivations.get(f"{place}.{name}")
                if formula is None:
                    fine = known.value(call.changes[-1].table, name, value, turn.rules)
                else:
                    fine = known.derived(formula, value, turn.rules)
                if not fine:
                    lost.append(f"turn {number}: {call.tool} {name} = {value!r} {formula or ''}")
            known.read.update(map(_key, _scalars(call.result)))
            for change in call.changes:
                known.read.update(map(_key, _scalars(change.before)))
    return lost, total


class _Known:
    """What an agent can know by a turn: words heard, records read, rules, the day."""

    def __init__(self, domain: Domain, task: Task, today: date) -> None:
        self.domain = domain
        self.task = task
        self.today = today
        self.words = task.persona
        self.read: set[str] = set()
        self.days: set[str] = set()

    def hear(self, number: int) -> None:
        """What the user says in a turn, answers to questions included."""
        turn = self.task.turns[number - 1]
        heard = [turn.utterance]
        if turn.clarification:
            heard.append(turn.clarification.answer)
        self.words = "\n".join((self.words, *heard))
        self.days |= days_named("\n".join(heard), self.today)

    def value(self, table: str, name: str, value: Any, rules: Sequence[str]) -> bool:
        """Whether a column's value was said, read, or fixed by one of the rules."""
        return (
            _stands_in(value, self.read)
            or value in self.days
            or said(self.domain, table, name, value, self.words, self.today)
            or _fixed_by_policy(self.domain, rules, value)
        )

    def derived(self, formula: str, value: Any, rules: Sequence[str]) -> bool:
        """Whether a formula gives the value and starts from nothing but what is known."""
        found = evaluate(formula)
        same = abs(found - value) < 0.005 if isinstance(found, float) else found == value
        return same and all(self._literal(item, rules) for item in literals(formula))

    def _literal(self, value: Any, rules: Sequence[str]) -> bool:
        if value in _STRUCTURAL or value == self.today.isoformat():
            return True
        if isinstance(value, str):
            text = value.strip()
            return (
                not text.strip("-")
                or _stands_in(text, self.read)
                or text in self.days
                or _heard_text(text, self.words)
                or (_is_date(text) and _mentions("date", text, self.words, self.today))
                or _fixed_by_policy(self.domain, rules, text)
            )
        kinds: tuple[Kind, ...] = ("percent", "number", "money", "count")
        return (
            _stands_in(value, self.read)
            or _within_texts(value, self.read)
            or any(_mentions(kind, value, self.words, self.today) for kind in kinds)
            or _fixed_by_policy(self.domain, rules, value)
        )


_STRUCTURAL = (0, 1, 100)
"""Numbers that a formula may hold without a source: one more, one less, percent."""


def _heard_text(text: str, words: str) -> bool:
    return str(normalise("text", text)) in str(normalise("text", words))


def _within_texts(number: Any, read: set[str]) -> bool:
    """Whether a whole number stands inside a text that was read, as in "v2" or "up to 15 %"."""
    pattern = re.compile(rf"(?<!\d){number}(?![\d.,]\d)")
    return isinstance(number, int) and any(pattern.search(text) for text in read)


def _written(
    domain: Domain, changes: Sequence[Change], arguments: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The fields that a call set, as its arguments gave them; ids and free text aside."""
    if not changes:
        return
    info = domain.schema[changes[-1].table]
    flat = {**arguments, **(arguments.get("updates") or {})}
    for name, value in flat.items():
        if name not in info.columns or name in info.assigned or value is None:
            continue
        if name == info.key or name in info.references or name in _attachment(domain, info.name):
            continue
        if info.compare[name] != "note":
            yield name, value


def _attachment(domain: Domain, table: str) -> tuple[str, ...]:
    """The columns that say what an attachment belongs to: a reference, not a value."""
    found: tuple[str, ...] = domain.schema[table].table.info.get("attached_to", ())
    return found


def _stands_in(value: Any, read: set[str]) -> bool:
    """Whether a value is one of those read, or a word or more of a text among them."""
    key = _key(value)
    return key in read or (isinstance(value, str) and any(f" {key} " in f" {t} " for t in read))


def said(domain: Domain, table: str, name: str, value: Any, words: str, today: date) -> bool:
    """Whether the user's words name the value of a column, in a form that people use."""
    compare = domain.schema[table].compare[name]
    if isinstance(value, str):
        if _is_date(value):
            return _mentions("date", value, words, today)
        return str(normalise("text", value)) in str(normalise("text", words)) or _mentions(
            "choice", value, words, today
        )
    kinds: tuple[Kind, ...] = ("money", "number") if compare == "money" else ("percent", "number")
    return any(_mentions(kind, value, words, today) for kind in kinds)


def _mentions(kind: Kind, value: Any, words: str, today: date) -> bool:
    return mentions(words, Fact(kind, value, today=today.isoformat())).ok


def _is_date(value: str) -> bool:
    return len(value) == 10 and value[4] == value[7] == "-" and value[:4].isdigit()


def _fixed_by_policy(domain: Domain, rules: Sequence[str], value: Any) -> bool:
    """Whether a rule that is cited names the value."""
    return any(
        str(value).casefold() in line.casefold()
        for line in domain.policy.split("\n- ")
        if any(f"**{rule}**" in line for rule in rules)
    )


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _scalars(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _scalars(item)
    elif value is not None:
        yield value


def _key(value: Any) -> str:
    """A value such that 125000 and 125000.0 are one."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{float(value):.2f}"
    return str(normalise("text", value))
