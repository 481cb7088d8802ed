"""A careful and thrifty reader of the handbook who knows no answers: what finding all takes.

It searches by the words of the articles, by the words that the desk uses for them and by words of
the answers. Then it follows up only the memos by a change of which an answer could become another
(`crmbench.domains.service.hard.desk.ahead`): first by their traits, for most memos speak of others
so, one list for all memos of a trait; then by the phrases with which the desk names a memo by its
day or its condition, one list for all; then by their numbers, and then by their names. After every
find it decides anew what is worth following. It opens no memo whose day or excerpt tells that it
cannot bear on what is followed. The calls that a task allows are a small multiple of what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from math import ceil
from types import MappingProxyType

from crmbench.authoring.handbook import Condition
from crmbench.core.schema import Row
from crmbench.domains.service.hard.desk.ahead import Asked, Known, open_to_change
from crmbench.domains.service.hard.desk.content import looked_for
from crmbench.domains.service.hard.desk.glance import (
    is_chatted,
    is_foreign,
    is_trait,
    is_turn,
    matters_beside,
    speaks_of,
    wordings,
)
from crmbench.domains.service.hard.desk.phrases import Phrases
from crmbench.domains.service.hard.desk.shelf import Hit, Shelf
from crmbench.domains.service.hard.desk.words import Subject, new_words, subjects
from crmbench.domains.service.hard.reading import HITS, PAGES
from crmbench.domains.service.hard.second_truth.desk import Page, book_of, handles_of, title_of
from crmbench.domains.service.tools.search import terms_with_phrases

SLACK: Mapping[str, float] = MappingProxyType({"census": 1.1, "routing": 1.3, "duplicates": 1.3})
"""How many times what it takes a task allows, by mechanism. Strong agents passed five of nine tasks
of census under 1.1, four of eight of routing under 1.3, and of duplicates one of seven under 1.25
and three of nine under 1.3; under 1.1 they passed none of four of routing and duplicates.
"""
ENOUGH = 80
"""Calls that are left over at most, or `ENOUGH_OF` of what it takes. The questions of a large task
are as many as of a small one; under 1.3 times what 191 cases take, a strong agent passed."""
ENOUGH_OF = 0.07
OPENED_FIRST = ("How we talk here", "How memos work")
FIRST_YEAR = 2022
MANY = 60
"""Of a trait in more memos than that, or in chatter, too, each wording is looked for."""


class Scout:
    """Reads the handbook for one mechanism.

    Args:
        articles: All articles.
        of: The mechanism.
        written: The titles of the articles that speak of it.
        asked_of: For each question the facts of all that it is asked about, and the day.
        words: What else to look for, and whether it rules by the days that count.
        bears: Whether a text bears on the matter though it answers none of its questions.
    """

    def __init__(
        self,
        articles: Iterable[Row],
        of: str,
        written: Iterable[str],
        asked_of: Mapping[str, Sequence[Asked]],
        words: Mapping[str, bool] = MappingProxyType({}),
        bears: Callable[[str], bool] = lambda text: False,
    ) -> None:
        self.articles = list(articles)
        self.shelf = Shelf(self.articles)
        self.of, self.asked_of = of, asked_of
        self.mine = [s for s in subjects().values() if s.of == of]
        self.written = tuple(dict.fromkeys((*written, *OPENED_FIRST)))
        self.also, self.bears = words, bears
        self.last = max((day for asked in asked_of.values() for _, day in asked), default=date.max)
        self._phrases = Phrases(self.shelf)
        self._done: set[tuple[str, str]] = set()
        self._known: tuple[int, dict[str, str]] = (0, {})
        self._moved: Known = {}

    @property
    def opened(self) -> dict[str, Page]:
        """What it opened, by title and in order."""
        return self.shelf.opened

    @property
    def calls(self) -> int:
        """What it took."""
        return self.shelf.calls

    def read(self) -> list[Page]:
        """All pages that it opened, once nothing is left to look for that could matter."""
        for title in self.written:
            self.shelf.open(title)
        self._ask_by_words()
        steps = (self._by_traits, self._by_phrases, self._by_numbers, self._by_names)
        # Whatever a step finds may settle what the later ones would look for.
        while any(step() for step in steps):
            pass
        return list(self.opened.values())

    # --- the rules --------------------------------------------------------------------------------

    def _ask_by_words(self) -> None:
        """Open what the words of the questions and of their answers lead to."""
        terms = {term for s in self.mine for term in s.terms}
        waiting = [f'"{term}"' for s in self.mine for term in s.terms[:2]]
        waiting += [_answer(s, word) for s in self.mine for word in s.look]
        asked: list[str] = []
        while waiting:
            # What holds "level of skill" holds "level".
            waiting.sort(key=lambda words: (len(words.split()), words), reverse=True)
            words = waiting.pop()
            if any(_implied(each, words) for each in asked):
                continue
            asked.append(words)
            for title, shown in self._list(words):
                told = new_words(shown)
                # Who sees "By rung we mean grade" need not open it.
                if not told and self._rules(title, shown, words) and self._open(title, shown):
                    told = [each for each in self.opened[title].words if each[1] in terms]
                waiting += [f'"{new}"' for new, _ in told]
        for words, to_the_last in self.also.items():
            for title, shown in self._list(words):
                if not is_trait(shown, words) and not (to_the_last and self._late(title)):
                    self._open(title, shown)

    def _rules(self, title: str, shown: str, words: str) -> bool:
        """Whether a hit may rule on a question: it is not too late, and no mere turn of speech."""
        return not self._late(title) and not is_turn(shown, words.strip('"'))

    def _late(self, title: str) -> bool:
        """Whether it was written after the last day that counts; none rules on days before it."""
        return self.shelf.written(title) > self.last.isoformat()

    def _list(self, words: str, after: str = "") -> list[Hit]:
        """The hits of a search that were written after some day; by year where they are many."""
        if self.shelf.count(words) <= HITS * PAGES:
            return self.shelf.shown(words, after)
        years = range(int(after[:4] or FIRST_YEAR), self.last.year + 1)
        return [hit for year in years for hit in self.shelf.shown(f"{words} {year}", after)]

    def _open(self, title: str, shown: str) -> bool:
        """Open a memo unless its excerpt says that it is on another matter."""
        if not title.startswith("Memo ") or title in self.opened or is_foreign(shown, self.of):
            return False
        self.shelf.open(title)
        return True

    def _open_all(self, hits: Iterable[Hit]) -> bool:
        """Whether any of them was opened."""
        return sum(self._open(title, shown) for title, shown in hits) > 0

    # --- what changes them ------------------------------------------------------------------------

    def _open_to_change(self) -> dict[str, str]:
        """The memos that are worth following up, with their questions."""
        if self._known[0] != len(self.opened):
            found = open_to_change(book_of(self.opened.values()), self.asked_of, self._moved)
            self._known = len(self.opened), found
        return self._known[1]

    def _waiting(self, step: str, titles: Iterable[str]) -> Iterator[Page]:
        """Those of some memos that a step has not taken yet, the oldest first."""
        for title in sorted(titles, key=lambda title: (self.shelf.written(title), title)):
            if (step, title) not in self._done:
                self._done.add((step, title))
                yield self.opened[title]

    def _by_traits(self) -> bool:
        """Look for what speaks of a memo by what it lays down; whether anything was opened."""
        memos = self._open_to_change()
        for page in self._waiting("traits", memos):
            if page.traits and self._ask_by_traits(page, memos[page.title]):
                return True
        return False

    def _ask_by_traits(self, page: Page, question: str) -> bool:
        trait, *others = sorted(page.traits, key=self._cost)
        after = self.shelf.written(page.title)
        hits = [hit for words in self._lists(trait, others) for hit in self._list(words, after)]
        return self._open_all(
            (title, shown)
            for title, shown in hits
            if after < self.shelf.written(title)
            and not self._late(title)
            # "How green a helper may be" shows the question, and no colour.
            and (
                question in told
                if (told := matters_beside(shown, trait))
                else speaks_of(shown, trait)
            )
        )

    def _lists(self, trait: Condition, others: Sequence[Condition]) -> Iterator[str]:
        """What to search for, for a memo of some traits; by more words where they are many."""
        for words in _words_of(trait):
            found = self.shelf.count(words)
            word = words.strip('"').lower()
            if found <= HITS * PAGES:
                yield words
            elif found > MANY or is_chatted(word):
                yield from (f'"{said}"' for said in wordings(trait) if word in said)
            elif others:
                yield from (f"{words} {more}" for other in others for more in _words_of(other))
            else:
                yield words

    def _cost(self, trait: Condition) -> tuple[bool, int, int]:
        """What a trait's list takes: nothing if it was asked for, else one search for each word."""
        words = _words_of(trait)
        new = [each for each in words if not self.shelf.asked(each)]
        many = any(self.shelf.count(e) > HITS * PAGES for e in words if e not in new)
        return many, len(new), RARE.index(trait.attribute)

    def _by_phrases(self) -> bool:
        """Look for what names a memo by a day or by its condition."""
        pages = self._waiting("phrases", self._followed())
        return self._open_all(hit for page in pages for hit in self._phrases.naming(page))

    def _by_numbers(self) -> bool:
        for page in self._waiting("numbers", self._followed()):
            # "2025" alone finds a year.
            number, after = f'"{page.title.lower()}"', self.shelf.written(page.title)
            hits = [hit for hit in self._list(number, after) if self.shelf.written(hit[0]) > after]
            if self._open_all(hits):
                return True
        return False

    def _by_names(self) -> bool:
        pages = list(self.opened.values())
        known = handles_of(pages)
        given = [(title_of(handle, known), name) for page in pages for handle, name in page.names]
        for page in self._waiting("names", self._open_to_change()):
            names = [name for title, name in given if title == page.title]
            names += [page.called] if page.called else []
            if self._open_all(hit for name in names for hit in self._list(name)):
                return True
        return False

    def _followed(self) -> list[str]:
        """The memos that are worth following up, those on credits among them."""
        memos = [title for title in self.opened if title.startswith("Memo ")]
        more = [t for t in memos if self.bears(self.shelf.rows[t]["FAQ_Answer__c"])]
        return list(dict.fromkeys([*self._open_to_change(), *more]))


RARE = (
    "price", "shift", "status", "state", "method", "several", "clearance", "issue", "origin",
    "priority", "member", "plus", "carrier",
)  # fmt: skip
"""Traits, those first of which memos speak least."""


def allowed(of: str, needed: int) -> int:
    """The calls that a task of a mechanism allows that takes a careful reader so many."""
    return min(ceil(SLACK[of] * needed), needed + max(ENOUGH, ceil(ENOUGH_OF * needed)))


def _words_of(trait: Condition) -> list[str]:
    """What to search for, one after the other, to find what speaks of a trait."""
    figure = f' "{trait.value}"' if trait.attribute == "price" else ""
    return [f'"{word}"{figure}' for word in looked_for(trait)]


def _answer(subject: Subject, word: str) -> str:
    """What to search for to find a question's answers that hold a word."""
    answers = [value for value in subject.values if word in value.split()]
    alone = answers[0] if len(answers) == 1 else word.strip('"')
    return f'"{alone}"'


def _implied(wide: str, narrow: str) -> bool:
    """Whether whatever holds the words of a search holds those of another."""
    inner = [f" {' '.join(term.words)} " for term in terms_with_phrases(narrow)]
    return all(
        any(f" {' '.join(term.words)} " in each for each in inner)
        for term in terms_with_phrases(wide)
    )
