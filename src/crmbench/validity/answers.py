"""Answers: right ones in other words must pass, wrong ones must fail.

For turns that ask for one thing (`GoldTurn.answer`). The variants are written without the scorer's
readers, so that the two check each other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from zlib import crc32

from crmbench.core.answer import MONTHS, STATES, Answer
from crmbench.core.task import Task
from crmbench.grading.answer import judge
from crmbench.grading.grader import Grader
from crmbench.language.number_words import UNDER_TWENTY
from crmbench.validity.gate import GateResult
from crmbench.validity.replies import ReplyResult, gates_on

NOBODY = (
    "None",
    "none.",
    "None of them does.",
    "No agent fits.",
    "There is no such article.",
    "No matching records were found.",
    "N/A",
)
SILENT = ("", "Done.", "I was not able to find out.")
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
NUMBERS = UNDER_TWENTY[:13]
NAMES = {code: name for name, code in STATES.items()}


def answers_tried(tasks: Sequence[Task], grader: Grader | None = None) -> list[ReplyResult]:
    """Try the answers of every task; nothing is played."""
    del grader
    return [_result(task) for task in tasks]


def answer_gates(tasks: Sequence[Task], results: Sequence[ReplyResult]) -> list[GateResult]:
    """The two gates on answers; none where no turn asks for one.

    Args:
        results: What `answers_tried` found.
    """
    if not any(result.right for result in results):
        return []
    wrong = "another's, one more, one less, none, off by a figure?"
    return gates_on("answers", wrong, tasks, results)


def _result(task: Task) -> ReplyResult:
    rng = random.Random(crc32(f"{task.task_id} answers".encode()))
    right = wrong = 0
    refused: list[str] = []
    survivors: list[str] = []
    for number, gold in enumerate(task.gold.turns, start=1):
        if gold.answer is None:
            continue
        for text in right_answers(gold.answer, rng):
            right += 1
            verdict = judge(gold.answer, text)
            if not verdict.ok:
                refused.append(f"turn {number}: {text!r} {verdict.why}")
        for what, text in wrong_answers(gold.answer, rng):
            wrong += 1
            if judge(gold.answer, text).ok:
                survivors.append(f"turn {number}: {what}: {text!r}")
    return ReplyResult(right, wrong, tuple(refused), tuple(survivors))


def right_answers(answer: Answer, rng: random.Random) -> list[str]:
    """The right answer as people and models write it."""
    if not answer.values:
        return list(NOBODY)
    if answer.kind == "text":
        return list(_right_texts(answer))
    forms = {"id": _id_forms, "month": _month_forms, "state": _state_forms}[answer.kind]
    told = [forms(value) for value in answer.values]
    # All values in their first form, then all in their second, and so on.
    plain = [", ".join(way) for way in zip(*told, strict=True)]
    first = plain[0]
    sentences = [f"The answer is {first}.", f'"{first}"', f"**{first}**", f"Answer: {first}\n"]
    if answer.kind == "id" and answer.prefix:
        sentences.append(f"I looked at {_other_id(rng, '500')}; the answer is {first}.")
    return [*plain, *sentences]


def _id_forms(value: str) -> tuple[str, ...]:
    return value, value[:15]


def _month_forms(value: str) -> tuple[str, ...]:
    return value, value[:3], value.lower(), value.upper()


def _state_forms(value: str) -> tuple[str, ...]:
    return value, NAMES[value], f"{NAMES[value]} ({value})", NAMES[value].lower()


def _right_texts(answer: Answer) -> Iterator[str]:
    value = answer.values[0]
    yield from (value, value.rstrip("."), value.lower(), f"Answer: {value}")
    yield f"By the article it is: {value}"
    yield from answer.values[1:]
    if answer.facts:
        yield ", ".join(map(_respelled, answer.facts))
        yield " and ".join(reversed(answer.facts))


def _respelled(text: str) -> str:
    """The text with figures for number words and words for figures."""
    words = dict(enumerate(NUMBERS))
    figures = {word: str(number) for number, word in words.items()}
    swapped = re.sub(r"[A-Za-z]+", lambda m: figures.get(m[0].lower(), m[0]), text)
    if swapped != text:
        return swapped
    alone = r"(?<![\w.,$-])\d{1,2}(?![\w.,%])"
    return re.sub(alone, lambda m: words.get(int(m[0]), m[0]), text)


def wrong_answers(answer: Answer, rng: random.Random) -> list[tuple[str, str]]:
    """Answers with one thing wrong, each with what that is."""
    silent = [("no answer", text) for text in SILENT]
    if not answer.values:
        other = _another(answer, rng)
        guessed = [("a value", other), ("a value after all", f"None, unless it is {other}.")]
        return [*guessed, *silent]
    none = [("None", text) for text in NOBODY[:2]]
    wrong = _wrong_texts(answer) if answer.kind == "text" else _wrong_values(answer, rng)
    return [*wrong, *none, *silent]


def _wrong_values(answer: Answer, rng: random.Random) -> Iterator[tuple[str, str]]:
    values, other = answer.values, _another(answer, rng)
    yield "another", ", ".join((other, *values[1:]))
    yield "another in a sentence", f"The answer is {', '.join((other, *values[1:]))}."
    yield "one more", ", ".join((*values, other))
    if len(values) > 1:
        yield "one less", ", ".join(values[1:])
    if answer.kind == "id":
        yield "off by a character", ", ".join((*values[1:], _off_by_one(values[0])))
    if answer.kind == "month":
        place = MONTHS.index(values[0])
        yield "the month before", MONTHS[place - 1]
        yield "the month after", MONTHS[(place + 1) % 12]
    if answer.kind == "state":
        yield "another's name", NAMES[other]


def _another(answer: Answer, rng: random.Random) -> str:
    """Another value of the answer's kind."""
    if answer.kind == "id":
        return _other_id(rng, answer.prefix or "001")
    known = MONTHS if answer.kind == "month" else tuple(NAMES)
    return rng.choice([value for value in known if value not in answer.values])


def _other_id(rng: random.Random, prefix: str) -> str:
    """An id of a record that no world has."""
    return f"{prefix}Zz0000{''.join(rng.choices(LETTERS, k=6))}AA0"


def _off_by_one(value: str) -> str:
    """An id with the last character before its checksum changed."""
    last = "1" if value[14] == "0" else "0"
    return value[:14] + last + value[15:]


def _wrong_texts(answer: Answer) -> Iterator[tuple[str, str]]:
    value = answer.values[0]
    for fact in answer.facts:
        others = ", ".join(other for other in answer.facts if other != fact)
        yield f"{fact!r} left out", others or "It depends on the case."
        changed = _other_figure(fact)
        if changed != fact:
            yield f"{fact!r} changed", re.sub(re.escape(fact), changed, value, flags=re.I)
            yield (
                f"{fact!r} changed in the list",
                ", ".join(changed if other == fact else other for other in answer.facts),
            )


def _other_figure(fact: str) -> str:
    """A fact with its first number one higher; the fact itself if it has none."""
    words = {word: NUMBERS[(place + 1) % len(NUMBERS)] for place, word in enumerate(NUMBERS)}
    pattern = re.compile(rf"\d+|\b(?:{'|'.join(NUMBERS)})\b", re.IGNORECASE)

    def higher(match: re.Match[str]) -> str:
        found = match[0]
        return str(int(found) + 1) if found.isdigit() else words[found.lower()]

    return pattern.sub(higher, fact, count=1)
