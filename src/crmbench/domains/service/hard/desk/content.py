"""What a memo lays down, in words that it does not use itself: how others may speak of it.

A memo is told from all others by its kind, its question and its conditions. The words for these
share no phrase; what every one has is a word of the row that the memo bears on, as the row or one
of its records has it or as the desk calls it: its state, its carrier, its issue.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import yaml

from crmbench.authoring.handbook import Condition
from crmbench.core.answer import STATES
from crmbench.domains.service.hard.desk.words import ISSUES, data, subjects

Content = tuple[tuple[str, ...], str, frozenset[Condition]]
"""What a memo lays down: of what kind it is and, where it has no conditions of its own, of what
kind is what it changes (("repeal", "except")); its question; its conditions.
"""
PLAIN, AROUND = ("rule", "except", "extend"), ("value", "repeal", "since")
LOOSE: Mapping[str, tuple[str, ...]] = {
    "price": ("dear",),
    "cheap": ("pennyware",),
    "plus": ("Plus", "pin"),
    "member": ("member", "pin"),
    "several": ("bundle", "several pieces"),
    "clearance": ("Clearance", "bargain"),
}
"""Words of which one stands wherever a memo speaks of such a trait."""


@cache
def words_of_content() -> Mapping[str, Any]:
    """The data file."""
    file = resources.files("crmbench.domains.service.hard") / "data" / "content.yaml"
    loaded: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return loaded


# --- said -----------------------------------------------------------------------------------------


def say_content(content: Content, order: Sequence[Condition], rng: random.Random) -> str:
    """Such a memo, as another speaks of it.

    Args:
        content: What it lays down.
        order: Its conditions, in the order in which they are said.
        rng: Of the words.
    """
    kinds, subject, _ = content
    known = words_of_content()
    frame: str = rng.choice(known["frames"][kinds[-1]])
    traits = " ".join(_say_trait(condition, rng) for condition in order)
    said = frame.format(topic=rng.choice(known["topics"][subject]), traits=traits)
    for kind in reversed(kinds[:-1]):
        around: str = rng.choice(known["frames"][kind])
        said = around.format(it=said)
    return said


def _say_trait(condition: Condition, rng: random.Random) -> str:
    name = name_of(condition)
    wording: str = rng.choice(words_of_content()["traits"][name])
    return wording.format(rng.choice(forms_of(condition)))


def name_of(condition: Condition) -> str:
    """The kind of a trait, as the data files call it."""
    return "cheap" if condition.op == "below" else condition.attribute


def forms_of(condition: Condition) -> tuple[str, ...]:
    """The stored word, and the desk's name for it."""
    if condition.attribute == "price":
        return (f"${condition.value}",)
    name = data()["names"].get(condition.attribute, {}).get(condition.value)
    return (str(condition.value), name) if name else (str(condition.value),)


# --- looked for -----------------------------------------------------------------------------------


def looked_for(condition: Condition) -> tuple[str, ...]:
    """Words of which one stands wherever a memo speaks of such a trait."""
    return LOOSE.get(name_of(condition)) or forms_of(condition)


# --- read -----------------------------------------------------------------------------------------

_MONEY = r"\$\d+"


@cache
def _values() -> Mapping[str, Sequence[str]]:
    """What each trait can be, in all of its words."""
    names = data()["names"]
    stored: Mapping[str, Sequence[str]] = {
        "state": sorted(STATES),
        "issue": ISSUES,
        "origin": ("Email", "Phone", "Chat", "Web"),
        "status": ("New", "Working", "Waiting on Customer", "Escalated"),
        "shift": ("Early", "Late", "Full"),
        "method": ("Standard", "Express", "Freight"),
        "carrier": tuple(names["carrier"]),
        "priority": tuple(names["priority"]),
    }
    return {key: [*found, *names.get(key, {}).values()] for key, found in stored.items()}


@cache
def _traits() -> Sequence[tuple[str, re.Pattern[str]]]:
    found = []
    for name, wordings in words_of_content()["traits"].items():
        value = _MONEY if name in ("price", "cheap") else "|".join(map(re.escape, _values_of(name)))
        for wording in wordings:
            head, gap, tail = wording.partition("{}")
            pattern = re.escape(head) + (f"({value}){re.escape(tail)}" if gap else "")
            found.append((name, re.compile(pattern)))
    return found


def _values_of(name: str) -> Sequence[str]:
    return _values().get(name, ())


@cache
def _readers() -> Sequence[tuple[str, re.Pattern[str]]]:
    """For each frame its kind and what it looks like; a topic is a group, and so are traits."""
    known = words_of_content()
    topics = "|".join(re.escape(topic) for some in known["topics"].values() for topic in some)
    trait = "|".join(pattern.pattern.replace("(", "(?:") for _, pattern in _traits())
    gaps = {"topic": f"(?P<topic>{topics})", "traits": f"(?P<traits>(?:{trait})(?: (?:{trait}))*)"}
    heads = "|".join(map(re.escape, _heads()))
    found = []
    for kind in PLAIN:
        for frame in dict.fromkeys(known["frames"][kind]):
            pattern = re.escape(frame).replace(r"\{topic\}", gaps["topic"])
            pattern = pattern.replace(r"\{traits\}", gaps["traits"])
            # Any case, for a sentence may begin with it.
            whole = re.compile(f"(?P<around>(?:{heads})*){pattern}", re.IGNORECASE)
            found.append((kind, whole))
    return found


@cache
def _heads() -> Mapping[str, str]:
    """The words before what is changed, ended or put off, and which of these they say."""
    frames = words_of_content()["frames"]
    return {frame.removesuffix("{it}"): kind for kind in AROUND for frame in frames[kind]}


def _kinds(around: str) -> list[str]:
    found = []
    rest = around.lower()
    while rest:
        head = next(head for head in _heads() if rest.startswith(head))
        found.append(_heads()[head])
        rest = rest.removeprefix(head)
    return found


@cache
def _subjects() -> Mapping[str, str]:
    return {t.lower(): key for key, some in words_of_content()["topics"].items() for t in some}


def find_contents(text: str) -> list[tuple[int, int, Content]]:
    """Where a text speaks of memos by what they lay down: first and last place, and that."""
    found = []
    for kind, reader in _readers():
        for match in reader.finditer(text):
            subject = _subjects()[match["topic"].lower()]
            kinds = (*_kinds(match["around"]), kind)
            found.append((*match.span(), (kinds, subject, _read_traits(match["traits"]))))
    found.sort(key=lambda each: (each[0], -each[1]))
    kept: list[tuple[int, int, Content]] = []
    for each in found:
        # "the answer to how green a helper may be in Texas" holds what is no memo of its own.
        if not kept or each[0] >= kept[-1][1]:
            kept.append(each)
    return kept


def _read_traits(text: str) -> frozenset[Condition]:
    found = set()
    place = 0
    while place < len(text):
        name, match = max(
            (
                (name, match)
                for name, reader in _traits()
                if (match := re.compile(reader.pattern, re.IGNORECASE).match(text, place))
            ),
            key=lambda pair: pair[1].end(),
        )
        found.add(_condition(name, match[1] if match.groups() else ""))
        place = match.end() + 1
    return frozenset(found)


def _condition(name: str, said: str) -> Condition:
    if name in ("price", "cheap"):
        return Condition("price", int(said.lstrip("$")), "below" if name == "cheap" else "at least")
    if not said:
        return Condition(name)
    stored = {value: key for key, value in data()["names"].get(name, {}).items()}
    return Condition(name, stored.get(said, said))


def fits_topics() -> bool:
    """Whether every question has its words."""
    return set(words_of_content()["topics"]) == set(subjects())
