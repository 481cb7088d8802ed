"""The lists of all memos that name another by a day or by its condition, asked for once."""

from __future__ import annotations

from collections.abc import Iterator

from crmbench.domains.service.hard.desk.shelf import Hit, Shelf
from crmbench.domains.service.hard.desk.words import AND, data
from crmbench.domains.service.hard.reading import HITS, PAGES
from crmbench.domains.service.hard.second_truth.desk import Page
from crmbench.salesforce.sosl.words import words_of

KINDS = ("day", "first", "condition")


class Phrases:
    """Looks for what names a memo by a day or by its condition.

    The desk has few phrases for that, and an excerpt shows what follows one: so a list for each of
    them serves for all memos.
    """

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def naming(self, page: Page) -> list[Hit]:
        """What may speak of a memo so, written after it."""
        wanted = {
            "day": words_of(page.day),
            "first": words_of(page.first),
            "condition": words_of(AND.join(page.condition)) if len(page.condition) > 1 else [],
        }
        written = self.shelf.written(page.title)
        return [
            (title, shown)
            for kind in KINDS
            if wanted[kind]
            for title, said, shown in self._said(kind, page)
            if self.shelf.written(title) > written
            and all(one == other for one, other in zip(said, wanted[kind], strict=False))
        ]

    def _said(self, kind: str, page: Page) -> Iterator[tuple[str, list[str], str]]:
        """Of each hit of the phrases of a kind the title, the words after it, and the excerpt."""
        day = page.first if kind == "first" else page.day
        for wording in data()["handles"][kind]:
            phrase = words_of(wording.split("{")[0])
            for title, shown in self._list(f'"{" ".join(phrase)}"', day.split()[-1]):
                words = words_of(shown)
                for n in range(len(words)):
                    if words[n : n + len(phrase)] == phrase:
                        yield title, words[n + len(phrase) :], shown

    def _list(self, words: str, year: str) -> list[Hit]:
        """All hits, or those with the year that the phrase would name."""
        many = self.shelf.count(words) > HITS * PAGES
        return self.shelf.shown(f"{words} {year}" if many else words)
