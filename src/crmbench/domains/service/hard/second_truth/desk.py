"""The desk's memos read back into rules, from the stored articles alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from crmbench.authoring.handbook import Amendment, Condition, Provision, Rulebook, Said
from crmbench.authoring.handbook.days import long_date, read_date
from crmbench.core.schema import Row
from crmbench.domains.service.hard.desk.content import Content, find_contents
from crmbench.domains.service.hard.desk.words import (
    AND,
    CHANGES,
    phrasebook,
    read_conditions,
    subjects,
)
from crmbench.errors import HarnessError

_DAY = r"(\d+ [a-z]+ \d{4})"
HANDLES: Mapping[str, tuple[str, str, str]] = {
    "number": (r"memo (\d+)$", "memo 1204", "the memo of 4 May 2024"),
    "day": (
        rf"(?:the memo of|the memo dated|what we wrote on) {_DAY}$",
        "what we wrote on 4 May 2024",
        "what began on 4 May 2024",
    ),
    "first": (rf"[^(]* {_DAY}$", "what began on 4 May 2024", "memo 1204"),
    "condition": (r"[^(]*\(([^()]+)\)$", "the memo for this (it comes from Texas)", "memo 1204"),
    "name": (r"the ([a-z]+) [a-z]+$", "the kite rule", "memo 1204"),
}
"""For each way to speak of a memo its pattern, what it matches, and what not; the first counts."""


@dataclass
class Page:
    """What one article says of rules."""

    title: str
    day: str = ""
    """When it was written, in lower case."""
    first: str = ""
    """The first day that it gives, in lower case; none where it moves another's."""
    condition: tuple[str, ...] = ()
    """What must hold for its rule, in its own words."""
    traits: tuple[Condition, ...] = ()
    """What must hold for its rule, or for what it takes in or out."""
    provisions: list[Provision] = field(default_factory=list)
    changes: list[tuple[Said, str | Content]] = field(default_factory=list)
    """What is changed, and what the changed memo is called there."""
    called: str = ""
    names: list[tuple[str, str]] = field(default_factory=list)
    """Handle of another memo, and its nickname."""
    words: list[tuple[str, str]] = field(default_factory=list)

    @property
    def rules(self) -> bool:
        """Whether it rules on something."""
        return bool(self.provisions or self.changes)


def read_page(article: Row) -> Page:
    """The rules in one article; read once, as long as those of a few worlds are remembered."""
    return _page(article["Title"], article["CreatedDate"][:10], article["FAQ_Answer__c"])


@lru_cache(maxsize=4096)
def _page(title: str, created: str, answer: str) -> Page:
    written = date.fromisoformat(created)
    page = Page(title, long_date(written).lower())
    text, contents = _with_marks(answer)
    said = phrasebook().read(text)
    days = [read_date(each.gaps["date"]) for each in said if each.kind == "starts"]
    since = days[0] if days else written
    for each in said:
        kind, gaps = each.kind, each.gaps
        if kind in CHANGES:
            target = gaps["target"]
            page.changes.append((each, contents.get(target, target)))
            page.first = "" if kind == "since" else gaps["date"].lower()
            page.traits = read_conditions(gaps["cond"]) if "cond" in gaps else ()
        elif kind == "called":
            page.called = gaps["nick"]
        elif kind == "named":
            page.names.append((gaps["target"], gaps["nick"]))
        elif kind == "word":
            page.words.append((gaps["word"], gaps["known"]))
        elif kind != "starts":
            page.provisions.append(_provision(page.title, each, since))
            page.first = long_date(since).lower()
            page.condition = tuple(gaps["cond"].split(AND)) if "cond" in gaps else ()
            page.traits = page.provisions[-1].when
    return page


def _with_marks(text: str) -> tuple[str, Mapping[str, Content]]:
    """The text with a number in brackets for every memo that it calls by what that lays down."""
    contents: dict[str, Content] = {}
    for start, end, content in reversed(find_contents(text)):
        mark = f"⟦{len(contents)}⟧"
        contents[mark] = content
        text = f"{text[:start]}{mark}{text[end:]}"
    return text, contents


def _provision(title: str, said: Said, since: date) -> Provision:
    key = said.kind.removesuffix(", general").removesuffix(", short")
    when = read_conditions(said.gaps["cond"]) if "cond" in said.gaps else ()
    return Provision(title, key, said.gaps[f"{key}_figure"], since, when)


def read_desk(articles: Iterable[Row]) -> Rulebook:
    """All rules in the articles that are no drafts."""
    pages = [read_page(row) for row in articles if row["PublishStatus"] != "Draft"]
    return book_of(pages)


def book_of(pages: Iterable[Page]) -> Rulebook:
    """The rules on some pages; what speaks of a memo that is not among them changes nothing."""
    pages = list(pages)
    known = handles_of(pages)
    changes = [
        _change(page.title, each, title_of(handle, known))
        for page in pages
        for each, handle in page.changes
    ]
    return Rulebook((p for page in pages for p in page.provisions), changes)


def handles_of(pages: Iterable[Page]) -> dict[tuple[str, object], str]:
    """What each page that rules on something can be called, and its title."""
    pages = list(pages)
    known: dict[tuple[str, object], str] = {}
    for page in pages:
        if page.called:
            known["name", page.called] = page.title
        if page.rules:
            known["day", page.day] = page.title
            known["number", page.title.removeprefix("Memo ")] = page.title
            known["first", page.first] = page.title
        if len(page.condition) > 1:
            known["condition", _conditions(AND.join(page.condition))] = page.title
    for page in pages:
        for handle, nickname in page.names:
            known["name", nickname] = title_of(handle, known)
    _add_contents(known, pages)
    return known


def _add_contents(known: dict[tuple[str, object], str], pages: Sequence[Page]) -> None:
    """What the pages lay down: of a change only once it is known what it changes."""
    found: dict[str, Content] = {}
    for page in pages:
        for rule in page.provisions:
            found[page.title] = ("rule",), rule.subject, frozenset(rule.when)
            known["content", found[page.title]] = page.title
    waiting = [page for page in pages if page.changes]
    while waiting:
        left = []
        for page in waiting:
            ((said, handle),) = page.changes
            target = title_of(handle, known)
            if target in found:
                content = found[page.title] = _laid_down(said, found[target])
                known["content", content] = page.title
            else:
                left.append(page)
        if len(left) == len(waiting):
            return
        waiting = left


def _laid_down(said: Said, target: Content) -> Content:
    """What a change lays down: it has conditions of its own, or those of what it changes."""
    kinds, question, when = target
    if "cond" in said.gaps:
        return (said.kind,), question, _conditions(said.gaps["cond"])
    return (said.kind, *kinds), question, when


def _conditions(text: str) -> frozenset[Condition]:
    return frozenset(read_conditions(text))


def title_of(handle: str | Content, known: Mapping[tuple[str, object], str]) -> str:
    """The title of the memo that is called so; the handle itself if nobody knows it."""
    return known.get(kind_of(handle), str(handle))


def kind_of(handle: str | Content) -> tuple[str, object]:
    """By what it speaks of a memo, and what it says of that.

    Raises:
        HarnessError: It is no handle.
    """
    if not isinstance(handle, str):
        return "content", handle
    for kind, (pattern, _, _) in HANDLES.items():
        found = re.match(pattern, handle, re.IGNORECASE)
        if found:
            return kind, _conditions(found[1]) if kind == "condition" else found[1].lower()
    raise HarnessError(f"no memo is called {handle!r}")


def _change(title: str, said: Said, target: str) -> Amendment:
    gaps: Mapping[str, Any] = said.gaps
    since = read_date(gaps["date"])
    if said.kind == "value":
        return Amendment(title, target, since, "value", value=gaps["new"])
    if said.kind == "since":
        return Amendment(title, target, since, "since", value=read_date(gaps["new_day"]))
    if said.kind == "repeal":
        return Amendment(title, target, since, "repeal")
    (condition,) = read_conditions(gaps["cond"])
    if said.kind == "except":
        return Amendment(title, target, since, "except", unless=condition)
    return Amendment(title, target, since, "extend", also=condition)


__all__ = [
    "Page", "book_of", "handles_of", "kind_of", "read_desk", "read_page", "subjects", "title_of",
]  # fmt: skip
