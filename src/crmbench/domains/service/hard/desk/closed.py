"""A reader who closes every chain by a procedure, and asks no question of the cases.

It searches by the names of every question, by each of their words and by the words of answers;
then for each memo found by its number, its day, its first day, its names and its condition, until
nothing new turns up. It follows every memo on its matter, whether that could decide anything or
not, and is limited by no calls; a search that finds more than is shown it leaves aside. What
decides a task must not lie within its reach, for then nothing has to be thought of.
"""

from __future__ import annotations

from crmbench.domains.service.hard.desk.glance import is_foreign
from crmbench.domains.service.hard.desk.scout import Scout
from crmbench.domains.service.hard.desk.shelf import Shelf
from crmbench.domains.service.hard.desk.words import subjects
from crmbench.domains.service.hard.reading import HITS, PAGES
from crmbench.domains.service.hard.second_truth.desk import Page, handles_of, title_of

FEW = 2
"""So many hits are opened whatever their excerpts say."""


class ClosedReader:
    """Reads the handbook for one mechanism by names alone.

    Args:
        scout: Who is to read the same for the same cases.
    """

    def __init__(self, scout: Scout) -> None:
        self.shelf = Shelf(scout.articles)
        self.of, self.written, self.also = scout.of, scout.written, scout.also
        self.mine = [s for s in subjects().values() if s.of == scout.of]
        self.asked: set[str] = set()

    @property
    def opened(self) -> dict[str, Page]:
        """What it opened, by title and in order."""
        return self.shelf.opened

    def read(self) -> None:
        """Open all that its procedure leads to."""
        for title in self.written:
            self.shelf.open(title)
        waiting = self._first()
        while waiting:
            for words in waiting:
                self._search(words)
            waiting = [w for w in dict.fromkeys(self._leads()) if w not in self.asked]

    def _first(self) -> list[str]:
        terms = [term for s in self.mine for term in s.terms]
        single = [word for term in terms for word in term.split() if len(word) > 3]
        look = [word for s in self.mine for word in s.look]
        return list(dict.fromkeys([*terms, *look, *self.also, *single]))

    def _search(self, words: str) -> None:
        self.asked.add(words)
        count = self.shelf.count(words)
        if count > HITS * PAGES:
            return
        for title, shown in self.shelf.shown(words):
            if not title.startswith("Memo ") or title in self.opened:
                continue
            if count <= FEW or not is_foreign(shown, self.of):
                self.shelf.open(title)

    def _leads(self) -> list[str]:
        """What the pages read so far give to look for."""
        pages = list(self.opened.values())
        terms = {term for s in self.mine for term in s.terms}
        leads = [word for page in pages for word, known in page.words if known in terms]
        known = handles_of(pages)
        for title in self._bearing(pages):
            page = self.opened[title]
            leads += [title, f'"{page.day}"']
            leads += [f'"{page.first}"'] if page.first else []
            leads += [page.called] if page.called else []
            if len(page.condition) > 1:
                leads.append(" ".join(f'"{words}"' for words in page.condition))
            leads += [
                nickname
                for other in pages
                for handle, nickname in other.names
                if title_of(handle, known) == title
            ]
        return leads

    def _bearing(self, pages: list[Page]) -> list[str]:
        """All memos on its matter, whether they could decide anything or not."""
        known = handles_of(pages)
        mine = {s.key for s in self.mine}
        found = {p.title for p in pages if any(r.subject in mine for r in p.provisions)}
        while True:
            more = {
                page.title
                for page in pages
                if any(title_of(handle, known) in found for _, handle in page.changes)
            } - found
            if not more:
                return [title for title in self.opened if title in found]
            found |= more
