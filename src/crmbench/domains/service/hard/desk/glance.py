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
COMMON = ("the", "on", "or", "up")
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


def matters_beside(shown: str, trait: Condition) -> set[str]:
    """The questions of which an excerpt shows words before or after those of a trait.

    "One is let near with dear things" shows no "let near with".
    """
    text = f" {' '.join(words_of(shown))} "
    for wording in wordings(trait):
        text = text.replace(f" {wording} ", " | ")
    return {matter for piece in text.split("|") for matter in matters(piece)}


def speaks_of(shown: str, trait: Condition) -> bool:
    """Whether an excerpt may show a trait as one by which another memo is spoken of.

    A memo's own conditions are said otherwise. Where a word of the trait is one that chatter has,
    too ("stayed late"), an excerpt about something else tells nothing of the rest.
    """
    text = f" {' '.join(words_of(shown))} "
    if any(f" {each} " in text for each in wordings(trait)):
        return True
    return not gives(shown, trait) and any(
        f" {' '.join(words_of(form))} " in text and is_chatted(form) for form in forms_of(trait)
    )


def is_chatted(words: str) -> bool:
    """Whether some of these words stand in chatter, too."""
    return not _chatted().isdisjoint(words_of(words))


def wordings(trait: Condition) -> list[str]:
    """All ways to speak of another memo by a trait, in lower case."""
    said = words_of_content()["traits"][name_of(trait)]
    return _filled(said, trait)


def gives(shown: str, trait: Condition) -> bool:
    """Whether an excerpt shows a trait as what a memo itself asks for."""
    text = f" {' '.join(words_of(shown))} "
    said = data()["conditions"][name_of(trait)]["say"]
    return any(f" {each} " in text for each in _filled(said, trait))


def is_trait(shown: str, word: str) -> bool:
    """Whether a word stands in an excerpt where memos say for whom something is."""
    text = f" {' '.join(words_of(shown))} "
    return any(f" {each} " in text for each in _trait_wordings() if word in each.split())


@cache
def _trait_wordings() -> tuple[str, ...]:
    """Ways to say a trait that needs no value, and the ways of sending."""
    traits = [Condition(name) for name in ("plus", "member", "several", "clearance")]
    traits += [Condition("method", method) for method in ("Standard", "Express", "Freight")]
    said = [wording for trait in traits for wording in wordings(trait)]
    own = (_filled(data()["conditions"][name_of(trait)]["say"], trait) for trait in traits)
    return (*said, *(wording for each in own for wording in each))


def is_turn(shown: str, word: str) -> bool:
    """Whether a word stands in an excerpt in a phrase by which memos change each other."""
    words = words_of(shown)
    runs = (tuple(words[n : n + LENGTH]) for n in range(len(words) - LENGTH + 1))
    return any(word in run and run in _turns() for run in runs)


def _filled(said: Iterable[str], trait: Condition) -> list[str]:
    found = (" ".join(words_of(each.format(form))) for each in said for form in forms_of(trait))
    return list(dict.fromkeys(found))


@cache
def _turns() -> frozenset[tuple[str, ...]]:
    """All words in a row of the sentences by which memos change each other."""
    pieces = (
        piece for said in data()["changes"].values() for each in said for piece in _GAP.split(each)
    )
    return frozenset(
        tuple(words[n : n + LENGTH])
        for words in map(words_of, pieces)
        for n in range(len(words) - LENGTH + 1)
    )


@cache
def _chatted() -> frozenset[str]:
    """The words of what memos say beside the matter."""
    said = (word for text in _expanded("memo_aside") for word in words_of(text))
    # "The" tells nothing.
    return frozenset(word for word in said if word not in COMMON)


def _expanded(rule: str) -> Iterator[str]:
    """The fixed words of a rule of the grammar and of those that it names."""
    waiting, known = [rule], {rule}
    while waiting:
        texts = list(_texts(rules()[waiting.pop()]))
        names = {text[1:-1] for text in texts if text.startswith("<")}
        waiting += sorted(names - known)
        known |= names
        yield from (text for text in texts if not text.startswith("<"))


def _texts(node: Node) -> Iterator[str]:
    if isinstance(node, str):
        yield node
        return
    for part in node:
        yield from _texts(part)


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
    for text in _texts(node):
        yield from () if text.startswith("<") else _GAP.split(text)


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
