"""A careful reader of the handbook who knows no answers: what it takes to find all that bears.

It searches by the words of the articles, by the words that the desk uses for them and by words of
the answers, and opens every memo that it is shown. Then it plans: a rule that decides nothing, and
that would decide nothing if it reached further, need not be followed up; every other one is, by its
number, its days, its names, its condition and the traits that it is about, and so is what changes
it. Of what it is shown it opens nothing of which the excerpt says that it is on another matter. The
calls that a task allows are a small multiple of what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from math import ceil

from crmbench.authoring.handbook import Facts, Rulebook
from crmbench.core.schema import Row
from crmbench.domains.service.hard.desk.content import searches
from crmbench.domains.service.hard.desk.excerpts import excerpt
from crmbench.domains.service.hard.desk.glance import is_foreign
from crmbench.domains.service.hard.desk.words import subjects
from crmbench.domains.service.hard.reading import HITS, PAGES
from crmbench.domains.service.hard.second_truth.desk import (
    Page,
    book_of,
    handles_of,
    read_page,
    title_of,
)
from crmbench.domains.service.tools.search import terms_with_phrases
from crmbench.salesforce.sosl.words import words_of

Asked = tuple[Facts, date]
"""What a question is asked about: the facts, and the day that counts."""
SLACK = 1.1
"""How many times what it takes a task allows."""
FEW = 2
"""So many hits are opened whatever their excerpts say."""
YEARS = ("2022", "2023", "2024", "2025", "2026")
"""By which a search is narrowed that finds more than is shown."""
OPENED_FIRST = ("How we talk here", "How memos work")


class Scout:
    """Reads the handbook for one mechanism.

    Args:
        articles: All articles.
        of: The mechanism.
        written: The titles of the articles that speak of it.
        asked_of: For each question the facts of all that it is asked about, and the day.
        words: What else to look for.
        bears: Whether a text bears on the matter though it answers none of its questions.

    Attributes:
        searches: Pages of hits that it asked for.
        opened: The titles of all that it opened, in order.
    """

    def __init__(
        self,
        articles: Iterable[Row],
        of: str,
        written: Iterable[str],
        asked_of: Mapping[str, Sequence[Asked]],
        words: Sequence[str] = (),
        bears: Callable[[str], bool] = lambda text: False,
    ) -> None:
        self.articles = list(articles)
        self.rows = {row["Title"]: row for row in self.articles if row["PublishStatus"] != "Draft"}
        self.texts: Mapping[str, str] = {
            title: _folded(f"{title} {row['Summary']} {row['FAQ_Answer__c']}")
            for title, row in self.rows.items()
        }
        self.mine = {s.key for s in subjects().values() if s.of == of}
        self.of = of
        self.opened: dict[str, Page] = {}
        self.searches = 0
        self.asked: set[str] = set()
        self.written = tuple(dict.fromkeys((*written, *OPENED_FIRST)))
        self.asked_of = asked_of
        self.also, self.bears = tuple(words), bears

    def read(self) -> list[Page]:
        """All pages that it opened, once nothing new turns up that could change an answer."""
        for title in self.written:
            self._open(title)
        waiting = self._first()
        while waiting:
            for words in waiting:
                self._search(words)
            waiting = [w for w in dict.fromkeys(self._leads()) if w not in self.asked]
        return list(self.opened.values())

    def _first(self) -> list[str]:
        """What to search for before any memo is known."""
        mine = [s for s in subjects().values() if s.of == self.of]
        found = [term for s in mine for term in s.terms[:2]]
        return [*found, *(word for s in mine for word in s.look), *self.also]

    def limit(self, besides: int) -> int:
        """The calls that a task allows which needs so many beside those for the handbook."""
        return ceil(SLACK * (self.calls + besides))

    @property
    def calls(self) -> int:
        """What it took: one for the list of titles, the searches, and what was opened."""
        return 1 + self.searches + len(self.opened)

    def _open(self, title: str) -> None:
        self.opened[title] = read_page(self.rows[title])

    def _search(self, words: str) -> None:
        self.asked.add(words)
        terms = terms_with_phrases(words)
        wanted = [f" {' '.join(term.words)} " for term in terms]
        hits = [t for t, text in self.texts.items() if all(each in text for each in wanted)]
        if len(hits) > HITS * PAGES and words.split()[-1] not in YEARS:
            self.searches += 1
            self._too_many(words)
            return
        self.searches += max(1, -(-len(hits) // HITS))
        for title in hits:
            if not title.startswith("Memo ") or title in self.opened:
                continue
            shown = excerpt(self.rows[title]["FAQ_Answer__c"], terms)
            if len(hits) <= FEW or not is_foreign(shown, self.of):
                self._open(title)

    def _too_many(self, words: str) -> None:
        """Ask for less at a time where more is found than is shown."""
        for year in YEARS:
            self._search(f"{words} {year}")

    def _leads(self) -> list[str]:
        """What the pages read so far give to look for."""
        pages = list(self.opened.values())
        terms = {t for s in subjects().values() if s.key in self.mine for t in s.terms}
        words = [word for page in pages for word, known in page.words if known in terms]
        if any(word not in self.asked for word in words):
            return words
        leads = []
        known = handles_of(pages)
        for title in self._bearing(pages):
            page = self.opened[title]
            leads += [title, f'"{page.day}"']
            leads += [f'"{page.first}"'] if page.first else []
            leads += [page.called] if page.called else []
            if len(page.condition) > 1:
                leads.append(" ".join(f'"{words}"' for words in page.condition))
            leads += self._traits(page)
            leads += [
                nickname
                for other in pages
                for handle, nickname in other.names
                if title_of(handle, known) == title
            ]
        return leads

    def _traits(self, page: Page) -> list[str]:
        """What to search for, to find what speaks of a memo by what it lays down."""
        return searches(page.traits)

    def _bearing(self, pages: list[Page]) -> list[str]:
        """The memos that are to be followed up: the rules that decide something, those that would
        if they reached further, and what changes one of these.
        """
        book = book_of(pages)
        found = {t for t in self.opened if self.bears(self.rows[t]["FAQ_Answer__c"])}
        found |= self._rules(book)
        found &= {title for title in self.opened if title.startswith("Memo ")}
        while True:
            more = {a.article for a in book.amendments if a.target in found} - found
            if not more:
                return [title for title in self.opened if title in found]
            found |= more

    def _rules(self, book: Rulebook) -> set[str]:
        """The rules that decide a question, and those that are newer than what decides."""
        found = set()
        for key in self.mine:
            rules = [p for p in book.provisions if p.subject == key]
            for facts, day in self.asked_of[key]:
                winner = book.decide(key, facts, day).winner
                found.add(winner.article)
                since = winner.since if winner.when else date.min
                found |= {p.article for p in rules if p.when and p.since > since}
        return found


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    """The words of a text as the search sees them, between single spaces."""
    return f" {' '.join(words_of(text))} "
