"""Whether a rewrite says the same as the original, as far as rules can tell.

What is looked at: every value (names, amounts, numbers, percentages, dates, days named in
relation to today, addresses, ids, file names, quoted text), the words on which a request turns
(`meaning`), every text and fact of the ground truth that the original says, and the form. A
rewrite may leave none of it out and add none.

What is not: the rest of the meaning. A rewrite that keeps all of this and still asks for another
thing passes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.fact import Fact
from crmbench.core.task import Task
from crmbench.grading.facts import mentions
from crmbench.grading.gold import REFERENCE
from crmbench.grading.state import normalise
from crmbench.paraphrase.meaning import lost_meanings
from crmbench.paraphrase.names import (
    Names,
    flat,
    holds,
    missing,
    names_of,
    options_of,
    words_of,
)
from crmbench.paraphrase.values import Kind, Read, Value, order_of, read_values

LONGER, AND_MORE = 2, 80
"""A rewrite has at most twice the characters of the original and this many more …"""
SHORTER = 0.4
"""… and at least this share of them."""
_BRACKETS = re.compile(r"\{[^{}]*\}|<[^<>\n]*>|\[[^\[\]\n]*\]|_{3,}")
_FILLER = re.compile(r"\b(?:x{3,}|tbd|tba|lorem|placeholder)\b", re.IGNORECASE)
_OUTSIDE = re.compile(
    r"\b(?:rewrit\w+|rewrote|rephras\w+|paraphras\w+|reword\w+|original (?:message|text)|"
    r"as an ai|language model|here(?: is|'s) (?:the|a|my|your)[^.\n]*:)|```",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Known:
    """What the check of a conversation's rewrites goes by."""

    names: Names
    today: date
    options: tuple[str, ...]
    """Statuses and stages."""
    texts: tuple[str, ...]
    """Of the ground truth: each stays where the original says it."""
    facts: tuple[Fact, ...]
    """The same for facts."""


def known_of(domain: Domain, task: Task, names: Names | None = None) -> Known:
    """What the check goes by.

    Args:
        names: Of the task's world, if they are at hand.
    """
    today = domain.world(task.world).now.date()
    exact = task.gold.grading == "tool_match"
    texts: dict[str, None] = {}
    for gold in task.gold.turns:
        for call in gold.calls:
            for value in _leaves(call.arguments):
                if isinstance(value, str) or exact:
                    texts[str(value)] = None
    return Known(
        names or names_of(domain, task),
        today,
        tuple(options_of(domain)),
        tuple(text for text in texts if text.strip() and not REFERENCE.search(text)),
        tuple(fact for gold in task.gold.turns for fact in (*gold.facts, *gold.note_facts)),
    )


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield value


def values_said(original: str, known: Known) -> list[str]:
    """The values of a text as they are written, each once."""
    found = read_values(original, known.names, known.today).values
    return list(dict.fromkeys(value.shown for value in found))


def complaints(original: str, rewrite: str, known: Known) -> list[str]:
    """What is wrong with a rewrite, in words that its writer can act on; empty if nothing is."""
    if not rewrite.strip():
        return ["it is empty"]
    found = list(_form(original, rewrite))
    before = read_values(original, known.names, known.today)
    after = read_values(rewrite, known.names, known.today)
    found += _lost(before.values, after.values, rewrite)
    found += _added(before.values, after.values, original, rewrite, known.names)
    found += _turned_round(before.values, after.values)
    found += _ground_truth(original, rewrite, known)
    percent = any(value.key.endswith(" percent") for value in before.values)
    found += lost_meanings(_residue(before), _residue(after), known.options, percent=percent)
    return list(dict.fromkeys(found))


def _residue(read: Read) -> str:
    return " ".join(read.words.split())


def _form(original: str, rewrite: str) -> Iterator[str]:
    if [w.text for w in words_of(flat(rewrite))] == [w.text for w in words_of(flat(original))]:
        yield "it has the same words as the message"
    if len(rewrite) > LONGER * len(original) + AND_MORE:
        yield "it is too long"
    if len(rewrite) < SHORTER * len(original):
        yield "it is so short that something must be missing"
    for pattern in (_BRACKETS, _FILLER, _OUTSIDE):
        for match in pattern.finditer(rewrite):
            if match[0].casefold() not in original.casefold():
                yield f"'{match[0][:40]}' does not belong into it"


_VERBATIM: tuple[Kind, ...] = ("name", "quoted text")
"""Kinds that stand for nothing but their words."""


def _lost(before: Sequence[Value], after: Sequence[Value], rewrite: str) -> Iterator[str]:
    """The values that are missing; one that was said twice has to be said twice."""
    words = words_of(flat(rewrite))
    verbatim = [value for value in before if value.kind in _VERBATIM]
    lost = [verbatim[place] for place in missing(words, [v.key.split() for v in verbatim])]
    kept = Counter((value.kind, value.key) for value in after)
    for value in before:
        if value.kind != "name":
            kept[value.kind, value.key] -= 1
            if kept[value.kind, value.key] < 0:
                lost.append(value)
    for value in sorted(lost, key=lambda value: value.start):
        yield f"the {value.kind} '{value.shown}' is missing"


def _added(
    before: Sequence[Value], after: Sequence[Value], original: str, rewrite: str, names: Names
) -> Iterator[str]:
    said = {(value.kind, value.key) for value in before}
    words = words_of(flat(original))
    for value in after:
        if value.kind in _VERBATIM:
            fine = holds(words, value.key.split())
        else:
            fine = (value.kind, value.key) in said
        if not fine:
            yield f"the {value.kind} '{value.shown}' was not said"
    strange = names.strange(flat(rewrite), (word.text for word in words))
    if strange:
        yield f"the name '{strange}' was not said"
    yield from _currencies(before, after)


def _currencies(before: Sequence[Value], after: Sequence[Value]) -> Iterator[str]:
    """Amounts whose currency has changed; one that was left open may be said to be in dollars."""
    given = {(value.key, value.currency) for value in before if value.kind == "number"}
    for value in after:
        allowed = {currency for key, currency in given if key == value.key}
        if not value.currency or not allowed or value.currency in allowed:
            continue
        if allowed != {""} or value.currency != "USD":
            yield f"'{value.shown}' is in another currency"


def _turned_round(before: list[Value], after: list[Value]) -> Iterator[str]:
    """Two values of a kind that have changed places: they may have changed parts as well."""
    kinds: tuple[Kind, ...] = ("name", "number", "day")
    for kind in kinds:
        both = {v.key for v in before if v.kind == kind} & {v.key for v in after if v.kind == kind}
        first, second = (list(order_of(values, kind, both)) for values in (before, after))
        if first != second:
            yield f"the {kind}s do not come in the order in which they were said"


def _ground_truth(original: str, rewrite: str, known: Known) -> Iterator[str]:
    was, now = (str(normalise("text", text)) for text in (original, rewrite))
    for text in known.texts:
        wanted = str(normalise("text", text))
        if _stands(wanted, was) and not _stands(wanted, now):
            yield f"'{text}' is missing"
    today = known.today.isoformat()
    for fact in known.facts:
        if fact.kind in ("boolean", "list"):
            continue
        dated = fact if fact.today else Fact(**{**fact.to_json(), "today": today})
        if mentions(original, dated).ok and not mentions(rewrite, dated).ok:
            yield f"'{fact.value}' is missing"


def _stands(wanted: str, text: str) -> bool:
    """Whether a text stands in another as words of its own, thousands separators aside."""
    pattern = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    return bool(pattern.search(text) or pattern.search(re.sub(r"[,$]", "", text)))


def bare_text(text: str) -> str:
    """A model's reply without what models put around a text: quotes, code fences, spaces."""
    bare = text.strip()
    fence = re.fullmatch(r"```\w*\n(.*?)\n?```", bare, re.DOTALL)
    bare = fence[1].strip() if fence else bare
    if len(bare) > 1 and (bare[0], bare[-1]) in {('"', '"'), ("“", "”")} and '"' not in bare[1:-1]:
        bare = bare[1:-1].strip()
    return bare
