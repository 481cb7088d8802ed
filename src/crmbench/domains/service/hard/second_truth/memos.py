"""The second way to the truth reads the desk's memos: what each changes, by its words alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime

from crmbench.core.answer import STATES
from crmbench.core.schema import Row

DAY = r"(\d{1,2} [A-Z][a-z]+ \d{4})"
BY_WORDS = {"larks": "Skylark", "blue vans": "Bluepost", "hounds": "Parcelhound"}

KINDS: dict[str, tuple[str, str, str]] = {
    "saturdays": (
        r"Saturdays.*\b(?:counts|like any other)\b",
        "When the wait is counted, Saturdays are days like any other.",
        "The Express counter in the lobby opens on Saturdays from 4 May 2024 on.",
    ),
    "freight": (
        r"\blid\b.*?\$(\d+).*Freight|Freight.*\blid\b.*?\$(\d+)",
        "A lid of $110, instead of the ladder's, for all that goes by Freight.",
        "Freight over $50 needs a second signature in the warehouse.",
    ),
    "plus": (
        r"(\d+) points (?:added to the ladder|on top of what the ladder)",
        "not times one and a half any more, but 4 points added to the ladder's figure",
        "Points on the canteen card: 3 more for everybody",
    ),
    "clearance": (
        r"no slow money.*Clearance|Clearance earns no slow money",
        "no slow money on SaleType__c Clearance",
        "Clearance shelves are filled on Saturdays",
    ),
    "base": (
        r"slow money is reckoned on \$(\d+)|a piece that cost more than \$(\d+)",
        "slow money is reckoned on $60 of it at the most",
        "pieces over $60 are wrapped without charge",
    ),
    "base_change": (
        r"Memo (\d+): for \$\d+ read \$(\d+)|The \$\d+ of memo (\d+) are \$(\d+)",
        "Memo 117: for $60 read $90, for what is bought on 4 May 2024 or afterwards.",
        "In memo 117 a word was missing about the parking",
    ),
    "grace": (
        r"in (the [a-z ]+?)(?:\.| \(Ship).*?(?:first (\d+) days of the wait|as (\d+) days shorter)",
        "People in the lakes (ShippingState) know patience: their wait is taken as 2 days shorter",
        "Customers in the lakes get the printed catalogue 3 days earlier",
    ),
    "grace_end": (
        r"Memo (\d+) has had its time|What memo (\d+) says is over",
        "Memo 131 has had its time: it goes for nothing that is bought on 4 May 2024",
        "Memo 131 was about the lockers of the early shift and is done with.",
    ),
    "region": (
        r"(?:On our map )?([A-Z][\w ]+?) (?:belongs|is counted) to (the [a-z ]+?),? (?:from|since)",
        "On our map Texas belongs to the high country since 4 May 2024.",
        "The map of the gulf in the hall is out of date; a new one hangs there since 4 May 2024.",
    ),
    "loyal": (
        r"\$(\d+) higher, whichever|member for 365 days or more: \$(\d+)",
        "have a lid that is $15 higher, whichever lid it is",
        "it cost $15 to mend the lid",
    ),
    "second": (
        r"(\d+) points more, after what membership adds",
        "gets 4 points more, after what membership adds",
        "Points on the canteen card: 4 more for everybody",
    ),
    "stint": (
        r"([A-Z][\w'-]+(?: [A-Z][\w'-]+)+) (?:sits with those|does a clerk's work)",
        "Ada Poe sits with those who ring up the carriers from 4 May 2024 to 9 June 2024",
        "Whoever stands in at the desk from 4 May 2024 to 9 June 2024, please tell your lead.",
    ),
    "hindered": (
        rf"began on {DAY} (?:is to be read with|lasted to) {DAY}",
        "the spell that began on 4 May 2024 is to be read with 9 May 2024 as its last day",
        "No more of what began on 4 May 2024, please, beginning with 9 May 2024.",
    ),
}
"""For each kind of memo its pattern, a text that it finds, and one that it does not."""


def find_kind(name: str, text: str) -> re.Match[str] | None:
    """The first place where a memo says that thing."""
    return re.search(KINDS[name][0], text)


@dataclass
class Memos:
    """What the memos say."""

    saturdays: date = date.max
    freight: tuple[date, int] = (date.max, 0)
    plus: tuple[date, int] = (date.max, 0)
    clearance: date = date.max
    base: list[tuple[date, int]] = field(default_factory=list)
    grace: tuple[date, date, str, int] = (date.max, date.max, "", 0)
    regions: dict[str, frozenset[str]] = field(default_factory=dict)
    moved: list[tuple[date, str, str]] = field(default_factory=list)
    loyal: tuple[date, int] = (date.max, 0)
    second: tuple[date, int] = (date.max, 0)
    stints: dict[str, list[tuple[date, date]]] = field(default_factory=dict)
    hindered: dict[tuple[str, frozenset[str], date], date] = field(default_factory=dict)

    def base_on(self, day: date) -> int | None:
        """What of a price counts at most."""
        known = [most for since, most in sorted(self.base) if since <= day]
        return known[-1] if known else None

    def grace_on(self, day: date, state: str) -> int:
        """The days of waiting that do not count in a state."""
        first, end, region, days = self.grace
        states = set(self.regions.get(region, ()))
        for since, moved, to in self.moved:
            if since <= day:
                (states.add if to == region else states.discard)(moved)
        return days if first <= day < end and state in states else 0

    def stands_in(self, name: str, day: date) -> bool:
        """Whether somebody works for Dispatch on a day."""
        return any(first <= day <= last for first, last in self.stints.get(name, []))


def read_day(text: str) -> date:
    return datetime.strptime(f"{text} +0000", "%d %B %Y %z").date()


def read_memos(articles: list[Row]) -> Memos:
    """What all memos say together."""
    memos = Memos()
    for article in articles:
        title, text = article["Title"], article["FAQ_Answer__c"]
        if title == "How we talk here":
            for name, states in re.findall(r"(the [a-z ]+): ([A-Z][\w ]+)", text):
                memos.regions[name] = states_in(states)
        if not title.startswith("Memo "):
            continue
        for paragraph in text.split("\n\n"):
            for kind in KINDS:
                found = find_kind(kind, paragraph)
                if found:
                    _take(memos, kind, found, paragraph)
    return memos


def states_in(text: str) -> frozenset[str]:
    """The codes of the states that a text names."""
    return frozenset(code for name, code in STATES.items() if re.search(rf"\b{name}\b", text))


def _take(memos: Memos, kind: str, found: re.Match[str], text: str) -> None:
    days = [read_day(each) for each in re.findall(DAY, text)]
    told = [group for group in found.groups() if group]
    day = days[0]
    if kind in ("saturdays", "clearance"):
        setattr(memos, kind, day)
    elif kind in ("freight", "plus", "loyal", "second"):
        setattr(memos, kind, (day, int(told[0])))
    elif kind == "base":
        memos.base.append((day, int(told[0])))
    elif kind == "base_change":
        memos.base.append((day, int(told[1])))
    elif kind == "grace":
        memos.grace = (day, memos.grace[1], told[0], int(told[1]))
    elif kind == "grace_end":
        memos.grace = (memos.grace[0], day, *memos.grace[2:])
    elif kind == "region":
        memos.moved.append((day, STATES[told[0]], told[1]))
    elif kind == "stint":
        memos.stints.setdefault(told[0], []).append((days[0], days[1]))
    else:
        carrier = next(full for short, full in BY_WORDS.items() if short in text.lower())
        memos.hindered[carrier, states_in(text), days[0]] = days[1]
