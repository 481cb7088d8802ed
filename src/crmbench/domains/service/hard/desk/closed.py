"""A reader who closes every chain by a procedure, and asks no question of the cases.

It searches by the names of every question, by each of their words and by the words of answers;
then for each memo found by its number, its day, its first day, its names and its condition, until
nothing new turns up. It follows every memo on its matter, whether that could decide anything or
not, and is limited by no calls; a search that finds more than is shown it leaves aside. What
decides a task must not lie within its reach, for then nothing has to be thought of.
"""

from __future__ import annotations

from crmbench.domains.service.hard.desk.scout import Scout
from crmbench.domains.service.hard.desk.words import subjects
from crmbench.domains.service.hard.second_truth.desk import Page, handles_of, title_of


class ClosedReader(Scout):
    """Reads the handbook for one mechanism, as `Scout` does, but by names alone."""

    @classmethod
    def instead_of(cls, scout: Scout) -> ClosedReader:
        """Who reads what another is to read."""
        return cls(scout.articles, scout.of, scout.written, scout.asked_of, scout.also, scout.bears)

    def _first(self) -> list[str]:
        terms = [term for s in subjects().values() if s.key in self.mine for term in s.terms]
        words = [word for term in terms for word in term.split() if len(word) > 3]
        return list(dict.fromkeys([*super()._first(), *terms, *words]))

    def _too_many(self, words: str) -> None:
        del words

    def _traits(self, page: Page) -> list[str]:
        del page
        return []

    def _bearing(self, pages: list[Page]) -> list[str]:
        """All memos on its matter, whether they could decide anything or not."""
        known = handles_of(pages)
        found = {p.title for p in pages if any(r.subject in self.mine for r in p.provisions)}
        while True:
            more = {
                page.title
                for page in pages
                if any(title_of(handle, known) in found for _, handle in page.changes)
            } - found
            if not more:
                return [title for title in self.opened if title in found]
            found |= more
