"""An agent that follows words, numbers and titles, and does not ask what may bear on a row.

It is a measure of the sets and plays no part in them: with as many calls as it likes it opens what
the words for the matter find, and searches the number and the title of every article that it has
opened, until nothing new comes. What is spoken of by its case alone it does not meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from crmbench.domains.sales.hard.agents.careful import CarefulList, Writes, list_calls
from crmbench.domains.sales.hard.agents.careful_handbook import Asked, CarefulHandbook
from crmbench.domains.sales.hard.articles import read_article

TOPICS = ("uplift", "ceiling", '"on hold"', "signed", "whose")
"""Words by which the house rules name the questions, beside those of `CarefulHandbook`."""


class ClosedHandbook(CarefulHandbook):
    """Looks up a handbook by a procedure that closes."""

    def settle(self, asked: Iterable[Asked]) -> bool:
        """Search number and title of all that was opened; whether there was more."""
        del asked
        for words in TOPICS:
            self._open_all(self.search(words))
        fresh = sorted(
            number for number in self.articles.keys() - self._checked if self._on(number)
        )
        for number in fresh:
            self._checked.add(number)
            self._open_all(self.search(number))
            self._open_all(self.search(f'"{self.articles[number]["title"]}"'))
        if fresh:
            self._follow_words()
        return bool(fresh)

    def _on(self, number: str) -> bool:
        """Whether an article says anything on the matter, or changes another one."""
        return bool(read_article(self.articles[number]["text"]))


class ClosedList(CarefulList):
    """Prepares, or reviews, renewals by that procedure."""

    handbook = ClosedHandbook


def closed_writes(
    tables: Mapping[str, Iterable[Mapping[str, Any]]], today: date, deals: Iterable[str]
) -> tuple[Writes, int]:
    """What such an agent writes on renewals of these names, and how many calls it makes."""
    found = list_calls(tables, today, [deals], ClosedList)
    return found.writes, found.calls
