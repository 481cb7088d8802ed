"""How the desk's memos say things, and how they are read back; the words stand in a data file."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import yaml

from crmbench.authoring.handbook import Condition, Phrasebook
from crmbench.errors import HarnessError

AND = " and at the same time "
ISSUES = (
    "Wrong Item Received", "Damaged on Arrival", "Missing Part", "Assembly Difficulty",
    "Defect Under Warranty", "Billing Error", "Return or Refund", "Account Access",
    "Product Question",
)  # fmt: skip
_DATE = r"\d{1,2} [A-Z][a-z]+ \d{4}"
CHANGES = ("value", "repeal", "except", "extend", "since")


@dataclass(frozen=True)
class Subject:
    """A question that memos answer."""

    key: str
    of: str
    """The mechanism that asks it; "other": none does."""
    terms: tuple[str, ...]
    figure: str
    """What an answer looks like, as a regular expression."""
    values: tuple[str, ...]
    base: str
    """What holds unless a memo says otherwise."""
    attributes: tuple[str, ...]
    say: tuple[str, ...]
    short: str
    """How it is said without any of its names; empty: it is not."""
    look: tuple[str, ...]
    """Words of answers, by which the short form is found."""


@cache
def data() -> Mapping[str, Any]:
    """The data file."""
    file = resources.files("crmbench.domains.service.hard") / "data" / "desk_rules.yaml"
    loaded: Mapping[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return loaded


@cache
def subjects() -> Mapping[str, Subject]:
    """All questions by key."""
    return {
        key: Subject(
            key, row["of"], tuple(row["terms"]), row["figure"], tuple(row["values"]), row["base"],
            tuple(row["attributes"]), tuple(row["say"]), row.get("short", ""),
            tuple(row.get("look", ())),
        )
        for key, row in data()["subjects"].items()
    }  # fmt: skip


# --- conditions -----------------------------------------------------------------------------------


def say_conditions(conditions: Sequence[Condition], rng: random.Random) -> str:
    """What must hold, in words."""
    return AND.join(_say(condition, rng) for condition in conditions)


def _say(condition: Condition, rng: random.Random) -> str:
    name = "cheap" if condition.op == "below" else condition.attribute
    wording = rng.choice(data()["conditions"][name]["say"])
    value = condition.value
    if condition.attribute == "price":
        value = f"${value}"
    nickname = data()["names"].get(name, {}).get(value)
    return str(wording.format(nickname if nickname and rng.random() < 0.5 else value))


@lru_cache(maxsize=8192)
def read_conditions(text: str) -> tuple[Condition, ...]:
    """The conditions that `say_conditions` said.

    Raises:
        HarnessError: A part is none.
    """
    return tuple(_read(part) for part in text.split(AND))


@cache
def _condition_readers() -> Sequence[tuple[str, re.Pattern[str]]]:
    return [
        (name, re.compile("(.+)".join(map(re.escape, wording.split("{}")))))
        for name, row in data()["conditions"].items()
        for wording in row["say"]
    ]


def _read(text: str) -> Condition:
    for name, reader in _condition_readers():
        match = reader.fullmatch(text)
        if match is None:
            continue
        if not match.groups():
            return Condition(name)
        if name in ("price", "cheap"):
            price = int(match[1].lstrip("$"))
            return Condition("price", price, "below" if name == "cheap" else "at least")
        official = {v: k for k, v in data()["names"].get(name, {}).items()}
        return Condition(name, official.get(match[1], match[1]))
    raise HarnessError(f"no condition reads {text!r}")


# --- sentences ------------------------------------------------------------------------------------

_NOUNS = "(?:rule|affair|matter|business|thing)"
_NAMED = rf"[Tt]he [a-z]+ {_NOUNS}"


@cache
def target_pattern() -> str:
    """What a memo calls another: "memo 1204", "the kite rule", "what began on 4 May 2024", or a
    number in brackets for what was found before by what it lays down; not "memo".
    """
    gaps = {"number": r"\d{3,4}", "day": _DATE, "cond": r"[^().;]+"}
    wordings = [wording for some in data()["handles"].values() for wording in some]
    return rf"(?:{_NAMED}|⟦\d+⟧|{'|'.join(_either_case(wording, gaps) for wording in wordings)})"


def _either_case(wording: str, gaps: Mapping[str, str]) -> str:
    said = re.escape(wording[1:])
    for gap, pattern in gaps.items():
        said = said.replace(re.escape(f"{{{gap}}}"), pattern)
    return f"[{wording[0].upper()}{wording[0]}]{said}"


@cache
def phrasebook() -> Phrasebook:
    """All sentences that a memo can say on a question, or on another memo."""
    changes = data()["changes"]
    known = subjects().values()
    terms = "|".join(sorted({re.escape(t) for s in known for t in s.terms}))
    patterns = {
        "cond": r"[^.;]+?",
        "date": _DATE,
        "new_day": _DATE,
        "target": target_pattern(),
        "new": f"(?:{'|'.join(s.figure for s in known)})",
        "nick": "[a-z]+",
        "rule": "(?:rule|affair|matter|business|thing)",
        "word": f"(?:{terms})",
        "known": f"(?:{terms})",
    }
    templates = {name: changes[name] for name in CHANGES}
    templates |= {name: changes[name] for name in ("starts", "called", "named", "word")}
    for subject in known:
        patterns[f"{subject.key}_figure"] = subject.figure
        patterns[f"{subject.key}_term"] = f"(?:{'|'.join(map(re.escape, subject.terms))})"
        templates[subject.key] = list(_sentences(subject, changes["frames"]))
        templates[f"{subject.key}, general"] = list(_sentences(subject, changes["general"]))
        if subject.short:
            claim = subject.short.replace("{figure}", f"{{{subject.key}_figure}}")
            templates[f"{subject.key}, short"] = [
                frame.replace("{claim}", claim) for frame in changes["frames"]
            ]
    return Phrasebook(templates, patterns)


def _sentences(subject: Subject, frames: Sequence[str]) -> Iterator[str]:
    for frame in frames:
        for claim in subject.say:
            figure = claim.replace("{figure}", f"{{{subject.key}_figure}}")
            yield frame.replace("{claim}", figure.replace("{term}", f"{{{subject.key}_term}}"))


@cache
def _new_word_readers() -> Sequence[re.Pattern[str]]:
    """The sentences that give a word, from the last word before it on: "say {word}; it is …"."""
    found = []
    for wording in data()["changes"]["word"]:
        before, _, rest = wording.partition("{word}")
        between, _, _ = rest.partition("{known}")
        found.append(re.compile(f"{re.escape(before.split()[-1])} (.+?){re.escape(between)}(.*)"))
    return found


def new_words(shown: str) -> list[tuple[str, str]]:
    """The words that an excerpt gives, each with the one that it is the same as, and more."""
    found = (reader.search(shown) for reader in _new_word_readers())
    return [(match[1], match[2]) for match in found if match]


def say_rule(subject: Subject, condition: str, value: str, term: str, rng: random.Random) -> str:
    """A rule as a sentence; in the short form if no term is given, in general if no condition."""
    gaps = {f"{subject.key}_figure": value, f"{subject.key}_term": term}
    if condition and not term:
        return phrasebook().say(
            f"{subject.key}, short",
            rng,
            cond=condition,
            **{f"{subject.key}_figure": value},
        )
    if condition:
        return phrasebook().say(subject.key, rng, cond=condition, **gaps)
    return phrasebook().say(f"{subject.key}, general", rng, **gaps)


def starts_large(text: str) -> str:
    return text[0].upper() + text[1:]
