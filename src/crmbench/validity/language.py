"""What the users say: no placeholders, no echoes of each other, and every value that is needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crmbench.authoring.masking import mask
from crmbench.core.task import Task
from crmbench.grading.gold import REFERENCE
from crmbench.validity.gate import GateResult, Offender, at_least, none_wrong

_PLACEHOLDER = re.compile(r"\{[^{}]*\}|<[A-Z_]{3,}>|\[(?:[A-Z][A-Z_ ]{2,}|[a-z]+_[a-z_]+)\]")


def placeholders(tasks: Sequence[Task]) -> GateResult:
    """Slots of a template that nobody filled."""
    offenders = [
        Offender(task.task_id, f"turn {turn.turn_id}: {found[0]} in {turn.utterance[:80]!r}")
        for task in tasks
        for turn in task.turns
        if (found := _PLACEHOLDER.search(turn.utterance))
    ]
    turns = sum(len(task.turns) for task in tasks)
    return none_wrong("placeholders", "Does a user say a template's slot?", offenders, turns)


def distinct_turns(tasks: Sequence[Task], share: float = 0.95) -> GateResult:
    """How many of the user's turns are said once only, word for word."""
    said = [turn.utterance for task in tasks for turn in task.turns]
    return at_least(
        "distinct turns", "How many user turns are distinct?", len(set(said)), len(said), share
    )


def distinct_phrasings(tasks: Sequence[Task], minimum: int) -> GateResult:
    """How many ways of saying things there are once the values are masked."""
    masked = {mask(turn.utterance) for task in tasks for turn in task.turns}
    turns = sum(len(task.turns) for task in tasks)
    return GateResult(
        "distinct phrasings",
        "How many ways of speaking remain when names, numbers, dates and ids are masked?",
        len(masked) >= minimum,
        len(masked),
        turns,
        f"≥ {minimum:,}",
    )


def commonest_phrasing(tasks: Sequence[Task], share: float = 0.005) -> GateResult:
    """No masked phrasing may be heard too often."""
    masked = Counter(mask(turn.utterance) for task in tasks for turn in task.turns)
    turns = sum(masked.values())
    allowed = max(1, int(share * turns))
    often = [(text, n) for text, n in masked.most_common(20) if n > allowed]
    return GateResult(
        "commonest phrasing",
        "How often is the commonest masked phrasing heard?",
        not often,
        masked.most_common(1)[0][1] if masked else 0,
        turns,
        f"≤ {share:.1%} of turns",
        tuple(Offender("", f"{n} times: {text}") for text, n in often),
    )


def leaves(value: Any) -> Iterator[Any]:
    """The values at the ends of a JSON value, without nulls and booleans."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield value


def never_said(task: Task) -> tuple[list[str], int]:
    """The gold argument values that appear nowhere in the user's words so far, and how many there
    are in all. References to earlier results are not counted.

    This is the plain test that applies to any file: a value counts as said when its text stands in
    an utterance, thousands separators and currency signs aside.
    """
    heard, unsaid, total = "", [], 0
    for turn, gold in zip(task.turns, task.gold.turns, strict=True):
        heard += " " + turn.utterance.casefold()
        plain = re.sub(r"[,$]", "", heard)
        for call in gold.calls:
            for value in leaves(call.arguments):
                text = str(value).casefold()
                if isinstance(value, str) and "{{" in value and _refers(value):
                    continue
                total += 1
                if text not in heard and text not in plain:
                    unsaid.append(f"turn {turn.turn_id}: {call.tool} {value!r}")
    return unsaid, total


def _refers(value: str) -> bool:
    return bool(REFERENCE.search(value)) or value.startswith("{{")


def values_said(tasks: Sequence[Task]) -> GateResult:
    """For files without provenance: every value of the ground truth, word for word."""
    offenders, total = [], 0
    for task in tasks:
        unsaid, count = never_said(task)
        total += count
        offenders += [Offender(task.task_id, text) for text in unsaid]
    question = "Which argument values did the user never say?"
    return none_wrong("values said", question, offenders, total, applies=total > 0)
