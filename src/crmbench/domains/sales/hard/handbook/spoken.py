"""Articles spoken of by what they lay down: what stands for which rule, said and read back."""

from __future__ import annotations

import random
import re
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache

from crmbench.authoring.handbook import Amendment, Provision, Rulebook
from crmbench.domains.sales.hard.conditions import (
    CASE,
    FIGURE,
    NOUNS,
    OTHER_WORDS,
    read_conditions,
    say_case,
)
from crmbench.domains.sales.hard.handbook.contents import CHANGED, DEFINED, RENEWAL_CONTENTS
from crmbench.domains.sales.hard.handbook.questions import YES_NO
from crmbench.domains.sales.hard.handbook.work_contents import DUPLICATE_CONTENTS, SHIFT_CONTENTS

CONTENTS: Mapping[str, Sequence[str]] = {
    **RENEWAL_CONTENTS,
    **SHIFT_CONTENTS,
    **DUPLICATE_CONTENTS,
}
"""Kind of provision to the ways in which one is spoken of by what it says."""
DEFINITIONS = ("public body", "long-standing", "large account", "slow payer", "changed hands")
_GAP = re.compile(r"\{(\w+)\}")
_NOUN = "|".join([*NOUNS.values(), *(word for words in OTHER_WORDS.values() for word in words)])
_KIND_OF_NOUN = {noun: kind for kind, noun in NOUNS.items()} | {
    word: kind for kind, words in OTHER_WORDS.items() for word in words
}


def kind_of(provision: Provision) -> str:
    """Its subject; where that is answered by yes or no, each is a kind of its own."""
    kinds = YES_NO.get(provision.subject)
    return provision.subject if kinds is None else kinds[0 if provision.value else 1]


def _spelled(pattern: str, gaps: Mapping[str, str]) -> str:
    """The pattern of a wording, which may begin a sentence; named gaps only where asked for."""
    parts = _GAP.split(pattern)
    text = "".join(gaps[p] if place % 2 else re.escape(p) for place, p in enumerate(parts))
    return f"[{text[0]}{text[0].upper()}]{text[1:]}"


_PLAIN = {"case": CASE, "noun": f"(?:{_NOUN})", "cond": CASE, "figure": FIGURE}
_OPENING = "[tT]he|[oO]ur"
SPOKEN_OF = rf"(?:{_OPENING}) (?:[^.;\n]|\.(?=\d))+"
"""A pattern of what an article is spoken of as: "the cap on our price rise where the client is a
laggard"; not "Circular 19/2024". As much as there is: a case may hold the words that follow it.
"""


class Contents:
    """The rules of a handbook by what they say, where only one of them says so."""

    def __init__(self, book: Rulebook) -> None:
        self._roots = {p.article: _of_provision(p) for p in book.provisions}
        self._provisions = {p.article: p for p in book.provisions}
        self._amendments = {a.article: a for a in book.amendments}
        said: dict[Hashable, list[str]] = {}
        for article, root in self._roots.items():
            if root is not None:
                said.setdefault(root, []).append(article)
        for amendment in book.amendments:
            root = self._roots.get(amendment.target)
            if root is not None:
                said.setdefault(_of_change(amendment, root), []).append(amendment.article)
        self._by_content = {key: found[0] for key, found in said.items() if len(found) == 1}
        self._told_apart = {article: key for key, article in self._by_content.items()}

    def say(self, article: str, rng: random.Random, words: Mapping[str, str]) -> str:
        """An article as what it says; empty if that does not tell it apart."""
        if article not in self._told_apart:
            return ""
        if article in self._provisions:
            return self._root(article, rng, words)
        amendment = self._amendments[article]
        if amendment.target not in self._told_apart:
            return ""
        condition = amendment.unless or amendment.also
        return rng.choice(CHANGED[amendment.change]).format(
            figure=amendment.value,
            cond=say_case(rng, [condition], words) if condition else "",
            root=self._root(amendment.target, rng, words),
        )

    def tells_apart(self, article: str) -> bool:
        """Whether what an article says is said by no other one."""
        return article in self._told_apart

    def _root(self, article: str, rng: random.Random, words: Mapping[str, str]) -> str:
        provision = self._provisions[article]
        if provision.subject in DEFINITIONS:
            kind = provision.subject
            noun = rng.choice((NOUNS[kind], words.get(kind, NOUNS[kind])))
            return rng.choice(DEFINED).format(noun=noun)
        case = say_case(rng, provision.when, words)
        return rng.choice(CONTENTS[kind_of(provision)]).format(case=case)

    def article(self, text: str) -> str | None:
        """The number of the one article that these words speak of."""
        content = _read(text[:1].lower() + text[1:])
        return None if content is None else self._by_content.get(content)


def _of_provision(provision: Provision) -> Hashable:
    if provision.subject in DEFINITIONS:
        return provision.subject
    kind = kind_of(provision)
    return (kind, frozenset(provision.when)) if kind in CONTENTS and provision.when else None


def _of_change(amendment: Amendment, root: Hashable) -> Hashable:
    what = amendment.unless or amendment.also or str(amendment.value or "")
    return amendment.change, root, what


def _readers(
    wordings: Mapping[str, Sequence[str]], **gaps: str
) -> list[tuple[str, re.Pattern[str]]]:
    named = {name: f"(?P<{name}>{pattern})" for name, pattern in {**_PLAIN, **gaps}.items()}
    return [
        (kind, re.compile(_spelled(each, named))) for kind in wordings for each in wordings[kind]
    ]


_OF_ROOTS = _readers({**CONTENTS, "defined": DEFINED})
_OF_CHANGES = _readers(CHANGED, root=f"(?:{_OPENING}) .+")


@lru_cache(maxsize=8192)
def _read(text: str) -> Hashable:
    """What such words say; nothing if they are none."""
    for kind, reader in _OF_CHANGES:
        match = reader.fullmatch(text)
        if match:
            gaps = match.groupdict()
            root = _read_root(gaps["root"])
            condition = read_conditions(gaps["cond"])[0] if gaps.get("cond") else None
            return kind, root, condition or gaps.get("figure") or ""
    return _read_root(text)


def _read_root(text: str) -> Hashable:
    for kind, reader in _OF_ROOTS:
        match = reader.fullmatch(text)
        if match and kind == "defined":
            return _KIND_OF_NOUN[match["noun"]]
        if match:
            return kind, frozenset(read_conditions(match["case"]))
    return None
