"""Gates on what the tasks hold: criteria that test something, answers that cannot be guessed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from crmbench.core.task import GoldTurn, Task
from crmbench.validity.gate import GateResult, Offender, none_wrong

GUESSABLE = ("choice", "boolean", "count")
"""Kinds of facts with few possible values, which a constant answer could hit."""
MAX_CONSTANT = 0.20
MIN_ANSWERS = 20
"""With fewer answers a share says nothing."""


def criteria_test_something(tasks: Sequence[Task]) -> GateResult:
    """Every conversation has a turn that only work can pass."""
    offenders = [
        Offender(task.task_id, "no turn requires a write or a fact")
        for task in tasks
        if task.gold.grading == "state" and not any(map(_requires_work, task.gold.turns))
    ]
    question = "Does every conversation require a write or a fact?"
    return none_wrong("criteria", question, offenders, len(tasks))


def _requires_work(gold: GoldTurn) -> bool:
    return bool(gold.facts or gold.note_facts or (gold.calls and gold.expect_success))


def answers_balanced(tasks: Sequence[Task]) -> GateResult:
    """No constant answer is right too often, where an answer is one of a few values.

    What counts is the turn's whole answer: a stage alone could be guessed, a stage with an amount
    could not.
    """
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for task in tasks:
        for gold in task.gold.turns:
            if gold.facts and all(fact.kind in GUESSABLE for fact in gold.facts):
                asked = ", ".join(f"{fact.kind} {fact.label}".strip() for fact in gold.facts)
                answers[asked][", ".join(str(fact.value) for fact in gold.facts)] += 1
    counted = {label: c for label, c in answers.items() if sum(c.values()) >= MIN_ANSWERS}
    shares = {label: c.most_common(1)[0][1] / sum(c.values()) for label, c in counted.items()}
    offenders = tuple(
        Offender("", f"{label}: {counted[label].most_common(1)[0][0]!r} is right in {share:.0%}")
        for label, share in sorted(shares.items())
        if share > MAX_CONSTANT
    )
    return GateResult(
        "answers balanced",
        "How often is the best constant answer right, for answers with few values?",
        not offenders,
        round(max(shares.values(), default=0.0), 3),
        None,
        f"≤ {MAX_CONSTANT:.0%}",
        offenders,
        bool(counted),
    )


def failures_present(tasks: Sequence[Task], share: float = 0.20) -> GateResult:
    """Enough conversations have a turn that must fail."""
    with_failure = sum(any(not gold.expect_success for gold in t.gold.turns) for t in tasks)
    return GateResult(
        "failure turns",
        "How many conversations have a turn that must fail?",
        with_failure >= share * len(tasks),
        with_failure,
        len(tasks),
        f"≥ {share:.0%}",
    )
