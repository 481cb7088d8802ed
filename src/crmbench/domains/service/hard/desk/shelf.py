"""The handbook as an agent meets it: hits with excerpts, opened articles, and calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from crmbench.core.schema import Row
from crmbench.domains.service.hard.desk.excerpts import excerpt
from crmbench.domains.service.hard.reading import HITS, PAGES
from crmbench.domains.service.hard.second_truth.desk import Page, read_page
from crmbench.domains.service.tools.search import terms_with_phrases
from crmbench.salesforce.sosl.words import words_of

Hit = tuple[str, str]
"""The title of an article that a search shows, and its excerpt."""


class Shelf:
    """Searches and opens articles, and counts what that takes; nothing is paid for twice.

    Attributes:
        opened: What was opened, by title and in order.
        searches: Pages of hits that were asked for.
    """

    def __init__(self, articles: Iterable[Row]) -> None:
        kept = [row for row in articles if row["PublishStatus"] != "Draft"]
        kept.sort(key=lambda row: (row["ArticleNumber"], row["Id"]))
        self.rows = {row["Title"]: row for row in kept}
        self.opened: dict[str, Page] = {}
        self._texts = {
            title: _folded(f"{title} {row['Summary']} {row['FAQ_Answer__c']}")
            for title, row in self.rows.items()
        }
        self._found: dict[str, list[str]] = {}
        self._shown: set[tuple[str, int]] = set()

    @property
    def searches(self) -> int:
        return len(self._shown)

    @property
    def calls(self) -> int:
        """One for the list of titles and days, the pages of hits, and what was opened."""
        return 1 + self.searches + len(self.opened)

    def written(self, title: str) -> str:
        """The day of writing, as the list of titles has it: ``2024-05-04``."""
        day: str = self.rows[title]["CreatedDate"][:10]
        return day

    def open(self, title: str) -> None:
        self.opened[title] = read_page(self.rows[title])

    def count(self, words: str) -> int:
        """How many articles a search finds; its first page tells."""
        self._shown.add((words, 1))
        return len(self._hits(words))

    def asked(self, words: str) -> bool:
        """Whether a search's hits were asked for."""
        return (words, 1) in self._shown

    def page(self, words: str, number: int) -> list[Hit]:
        """One page of hits, the oldest first."""
        self._shown.add((words, number))
        terms = terms_with_phrases(words)
        titles = self._hits(words)[(number - 1) * HITS : number * HITS]
        return [(title, excerpt(self.rows[title]["FAQ_Answer__c"], terms)) for title in titles]

    def shown(self, words: str, after: str = "") -> list[Hit]:
        """The hits that were written after some day, and others on their pages.

        The last page is asked for first, and no more of them once one begins before that day.
        """
        pages = min(PAGES, -(-self.count(words) // HITS))
        found: list[Hit] = []
        for number in range(pages, 0, -1):
            hits = self.page(words, number)
            found = [*hits, *found]
            if self.written(hits[0][0]) <= after:
                break
        return found

    def _hits(self, words: str) -> Sequence[str]:
        if words not in self._found:
            terms = terms_with_phrases(words)
            wanted = [f" {' '.join(term.words)} " for term in terms]
            self._found[words] = [
                title for title, text in self._texts.items() if all(w in text for w in wanted)
            ]
        return self._found[words]


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    """The words of a text as the search sees them, between single spaces."""
    return f" {' '.join(words_of(text))} "
