"""Gates on what the tasks hold: criteria that test something, answers that cannot be guessed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from crmbench.core.task import GoldTurn, Task
from crmbench.domains.registry import load_domain
from crmbench.validity.gate import GateResult, Offender, none_wrong

GUESSABLE = ("choice", "boolean", "count")
"""Kinds of facts with few possible values, which a constant answer could hit."""
MAX_CONSTANT = 0.20
MAX_CONSTANT_OVERALL = 0.12
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
    could not. A turn in which something is to be written as well is passed by no answer alone.
    """
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for task in tasks:
        for gold in task.gold.turns:
            told = gold.facts and all(fact.kind in GUESSABLE for fact in gold.facts)
            if told and not _writes(task, gold):
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


def _writes(task: Task, gold: GoldTurn) -> bool:
    toolbox = load_domain(task.domain).toolbox
    return gold.expect_success and any(toolbox.get(call.tool).writes for call in gold.calls)


def constant_answers(tasks: Sequence[Task]) -> list[GateResult]:
    """No constant is the right answer too often: in any category, and over all.

    Counted are the answers that the turns ask for (`GoldTurn.answer`); "None" is one of them. Sets
    without such turns have no gate of this kind.
    """
    by_category: dict[str, Counter[str]] = defaultdict(Counter)
    for task in tasks:
        for gold in task.gold.turns:
            if gold.answer is not None:
                by_category[task.category][gold.answer.said] += 1
    if not by_category:
        return []
    overall = sum(by_category.values(), Counter[str]())
    gates = [
        _constant(f"constant answer, {category}", answers, MAX_CONSTANT)
        for category, answers in sorted(by_category.items())
    ]
    return [*gates, _constant("constant answer, all tasks", overall, MAX_CONSTANT_OVERALL)]


def _constant(gate: str, answers: Counter[str], most: float) -> GateResult:
    ((answer, count),) = answers.most_common(1)
    total = answers.total()
    passed = total < MIN_ANSWERS or count <= most * total
    offender = Offender("", f"{answer!r} is right {count:,} times of {total:,}")
    return GateResult(
        gate,
        f"How often is the best constant answer right? It is {answer!r}.",
        passed,
        round(count / total, 3),
        None,
        f"≤ {most:.0%}",
        () if passed else (offender,),
        total >= MIN_ANSWERS,
    )


def failures_present(tasks: Sequence[Task], share: float = 0.20) -> GateResult:
    """Enough conversations have a turn that must fail.

    Not asked of sets in which most conversations ask for an answer: what fails there is a question
    to which nothing fits, and the right answer to it is "None".
    """
    with_failure = sum(any(not gold.expect_success for gold in t.gold.turns) for t in tasks)
    asking = sum(any(gold.answer is not None for gold in t.gold.turns) for t in tasks)
    applies = 2 * asking <= len(tasks)
    return GateResult(
        "failure turns",
        "How many conversations have a turn that must fail?",
        with_failure >= share * len(tasks) or not applies,
        with_failure,
        len(tasks),
        f"≥ {share:.0%}",
        applies=applies,
    )
