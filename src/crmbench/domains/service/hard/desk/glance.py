"""What a person can tell from an excerpt: on which matter a memo is, and what it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from crmbench.authoring.handbook import Condition
from crmbench.domains.service.hard.desk.content import forms_of, name_of, words_of_content
from crmbench.domains.service.hard.desk.words import Subject, data, subjects
from crmbench.domains.service.hard.grammar import Node, rules
from crmbench.salesforce.sosl.words import words_of

LENGTH, LONG = 3, 3
"""So many words in a row tell a question, two of them with more letters than that."""
_GAP = re.compile(r"\{\w+\}")
"""A gap of a sentence: "{figure}"; not "{}"."""


CHATTER, CREDITS = "chatter", "credits"
"""What is no question of the desk's: what rules on nothing, and what rules on credits."""


def is_foreign(shown: str, of: str) -> bool:
    """Whether an excerpt shows words of another mechanism's questions, and none of this one's."""
    owners = {_mechanism(matter) for matter in matters(shown)}
    return bool(owners) and of not in owners


def matters(shown: str) -> set[str]:
    """The questions of which an excerpt shows words; `CHATTER` and `CREDITS` are among them."""
    words = words_of(shown)
    runs = {tuple(words[n : n + LENGTH]) for n in range(len(words) - LENGTH + 1)}
    found = {matter for run in runs for matter in _owners().get(run, ())}
    names = f" {' '.join(words)} "
    return found | {matter for name, matter in _names() if f" {name} " in names}


def gives(shown: str, trait: Condition) -> bool:
    """Whether an excerpt shows a trait as what a memo itself asks for.

    Who speaks of another memo by that trait says it otherwise.
    """
    text = f" {' '.join(words_of(shown))} "
    name, forms = name_of(trait), forms_of(trait)
    return any(
        f" {' '.join(words_of(wording.format(form)))} " in text
        for wording in data()["conditions"][name]["say"]
        for form in forms
    )


def _mechanism(matter: str) -> str:
    if matter == CREDITS:
        return "census"
    return matter if matter == CHATTER else subjects()[matter].of


@cache
def _owners() -> dict[tuple[str, ...], frozenset[str]]:
    """The questions that some words in a row are said of."""
    found: dict[tuple[str, ...], set[str]] = {}
    for subject in subjects().values():
        for run in _runs(_said_of(subject)):
            found.setdefault(run, set()).add(subject.key)
    for rule, sentences in rules().items():
        if rule.startswith("memo_") and rule != "memo_aside":
            matter = CHATTER if rule == "memo_noise" else CREDITS
            for run in _runs(_leaves(sentences)):
                found.setdefault(run, set()).add(matter)
    common = set(_runs(_said_anywhere()))
    return {run: frozenset(owners) for run, owners in found.items() if run not in common}


def _runs(texts: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """All words in a row."""
    for text in texts:
        words = words_of(text)
        for n in range(len(words) - LENGTH + 1):
            run = tuple(words[n : n + LENGTH])
            # "Day of the" tells nothing.
            if sum(len(word) > LONG for word in run) > 1:
                yield run


def _said_anywhere() -> Iterator[str]:
    """What memos on every matter say."""
    for sentences in data()["changes"].values():
        for sentence in sentences:
            yield from _GAP.split(sentence)
    for wordings in data()["handles"].values():
        for wording in wordings:
            yield from _GAP.split(wording)
    for condition in data()["conditions"].values():
        for sentence in condition["say"]:
            yield from _GAP.split(sentence.replace("{}", "{gap}"))
    yield from _leaves(rules()["memo_aside"])
    for name in ("traits", "frames"):
        for sentences in words_of_content()[name].values():
            for sentence in sentences:
                yield from _GAP.split(sentence.replace("{}", "{gap}"))


def _leaves(node: Node) -> Iterator[str]:
    """The fixed words of a rule of the grammar."""
    if isinstance(node, str):
        yield from () if node.startswith("<") else _GAP.split(node)
        return
    for part in node:
        yield from _leaves(part)


def _said_of(subject: Subject) -> Iterator[str]:
    yield from words_of_content()["topics"][subject.key]
    for claim in (*subject.say, subject.short):
        for term in subject.terms:
            yield from _GAP.split(claim.replace("{term}", term))


@cache
def _names() -> tuple[tuple[str, str], ...]:
    """The names of questions, and which each is of."""
    terms = ((" ".join(words_of(term)), s.key) for s in subjects().values() for term in s.terms)
    # "Has a gap from then on" speaks of no days between letters.
    return tuple((term, key) for term, key in terms if " " in term)
