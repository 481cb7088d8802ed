"""The desk's memos read back into rules, from the stored articles alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from crmbench.authoring.handbook import Amendment, Provision, Rulebook, Said
from crmbench.core.schema import Row
from crmbench.domains.service.hard.desk.words import (
    CHANGES,
    long_date,
    phrasebook,
    read_conditions,
    read_date,
    subjects,
)

_NUMBER = re.compile(r"memo (\d+)", re.IGNORECASE)
_OF_DAY = re.compile(r"the memo of (\d+ [a-z]+ \d{4})", re.IGNORECASE)
_NICKNAME = re.compile(r"the ([a-z]+) \w+", re.IGNORECASE)


@dataclass
class Page:
    """What one article says of rules."""

    title: str
    day: str = ""
    """When it was written, in lower case."""
    provisions: list[Provision] = field(default_factory=list)
    changes: list[tuple[Said, str]] = field(default_factory=list)
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
    """The rules in one article."""
    written = date.fromisoformat(article["CreatedDate"][:10])
    page = Page(article["Title"], long_date(written).lower())
    said = phrasebook().read(article["FAQ_Answer__c"])
    days = [read_date(each.gaps["date"]) for each in said if each.kind == "starts"]
    since = days[0] if days else written
    for each in said:
        kind, gaps = each.kind, each.gaps
        if kind in CHANGES:
            page.changes.append((each, gaps["target"].lower()))
        elif kind == "called":
            page.called = gaps["nick"]
        elif kind == "named":
            page.names.append((gaps["target"].lower(), gaps["nick"]))
        elif kind == "word":
            page.words.append((gaps["word"], gaps["known"]))
        elif kind != "starts":
            page.provisions.append(_provision(page.title, each, since))
    return page


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
    nicknames = {page.called: page.title for page in pages if page.called}
    nicknames |= {page.day: page.title for page in pages if page.rules}
    for page in pages:
        for handle, nickname in page.names:
            nicknames[nickname] = title_of(handle, nicknames)
    changes = [
        _change(page.title, each, title_of(handle, nicknames))
        for page in pages
        for each, handle in page.changes
    ]
    return Rulebook((p for page in pages for p in page.provisions), changes)


def title_of(handle: str, nicknames: Mapping[str, str]) -> str:
    """The title of the memo that is called so; the handle itself if nobody knows it."""
    number = _NUMBER.match(handle)
    if number:
        return f"Memo {number[1]}"
    day = _OF_DAY.match(handle)
    if day:
        return nicknames.get(day[1].lower(), handle)
    nickname = _NICKNAME.match(handle)
    return nicknames.get(nickname[1], handle) if nickname else handle


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


__all__ = ["Page", "book_of", "read_desk", "read_page", "subjects", "title_of"]
