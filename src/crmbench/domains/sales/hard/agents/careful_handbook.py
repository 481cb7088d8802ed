"""How a careful agent looks things up in a handbook: through its tools, by a plan.

It follows the words for a renewal, each to the next, and opens every article found. For every
article on which an answer rests it searches what changes it: by its number, by its title and, as
others may speak of it by what it lays down, by the case in which it does, in each of the words that
the handbook has for that. Of these hits it opens what their titles do not rule out: those that
name another matter, and those older than the article, which cannot speak of it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from crmbench.authoring.handbook import Condition, Facts, Provision
from crmbench.authoring.handbook.days import read_date
from crmbench.domains.sales.hard.articles import ReadHandbook, read_article
from crmbench.domains.sales.hard.conditions import KIND_OF, NOUNS, OTHER_WORDS, SEARCHED, money
from crmbench.domains.sales.hard.handbook.consolidated import Consolidated
from crmbench.domains.sales.hard.handbook.duplicate_words import DUPLICATE_TERMS
from crmbench.domains.sales.hard.handbook.spoken import DEFINITIONS
from crmbench.domains.sales.hard.reader import Answers
from crmbench.domains.sales.hard.wording import TERMS

Row = Mapping[str, Any]
Call = Callable[[str, Mapping[str, Any]], Any]
"""A tool's name and arguments, to what it gives."""
Asked = tuple[str, tuple[tuple[str, Any], ...], date]
"""A question to the handbook: its subject, the facts of the item, the day that counts."""
_HEAD, _CHECKED = "HB-", "*"
"""What all numbers begin with; the mark in notes."""
_OTHER_WORDS = tuple(word for words in OTHER_WORDS.values() for word in words)
_YEAR = re.compile(r"/(\d{4})$")
"""The year in the title of a circular: "Circular 19/2024"; not that of a day."""
_DAY = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}$")
"""The day in a title: "Note from the back office, 3 May 2026"; not "Circular 19/2024"."""


class CarefulHandbook:
    """Looks up all articles of a handbook that bear on some questions.

    Args:
        call: The tools.
        seed: The common word for what the questions are on.
    """

    def __init__(self, call: Call, seed: str = TERMS[0]) -> None:
        self._call = call
        self.articles: dict[str, Row] = {}
        """Number to article: those opened."""
        self.seed = seed
        self._checked: set[str] = set()
        self._hits: dict[str, list[Row]] = {}
        """Words searched for to what was found."""

    def begin(self, notes: str) -> None:
        """Look up all of it, or open again what an earlier session noted."""
        if not notes:
            self.read()
            return
        for entry in notes.split():
            number = f"{_HEAD}{entry.removesuffix(_CHECKED)}"
            self._open_all([{"number": number}])
            if entry.endswith(_CHECKED):
                self._checked.add(number)

    def notes(self) -> str:
        """What to keep for another session: the numbers of the articles that say anything on the
        matter, with a mark where it was looked for what changes them; "1272* 2237 2773".
        """
        rules = ReadHandbook(self.articles.values()).book
        targets = {change.article: change.target for change in rules.amendments}
        own = {provision.article for provision in rules.provisions}
        kept = []
        for number, row in sorted(self.articles.items()):
            root = number
            while root in targets:
                root = targets[root]
            if root in own or (number not in targets and read_article(row["text"])):
                mark = _CHECKED if number in self._checked else ""
                kept.append(f"{number.removeprefix(_HEAD)}{mark}")
        return " ".join(kept)

    def read(self) -> list[Row]:
        """Look up all of it."""
        for words in ('"what we mean by"', '"who is who"', "away", '"words we use"'):
            self._open_all(self.search(words))
        self._follow_terms()
        self._follow_words()
        return list(self.articles.values())

    def search(self, words: str) -> list[Row]:
        """All hits, page by page; nothing is looked for twice."""
        if words in self._hits:
            return self._hits[words]
        found = self._hits[words] = []
        page = 1
        while True:
            told = self._call("handbook_search", {"words": words, "page": page})
            found += told["articles"]
            if page >= told["pages"]:
                return found
            page += 1

    def _open_all(self, hits: Iterable[Row]) -> None:
        for hit in hits:
            if hit["number"] not in self.articles:
                self.articles[hit["number"]] = self._call(
                    "handbook_open", {"number": hit["number"]}
                )

    def _follow_terms(self) -> None:
        waiting = [self.seed]
        known = {*waiting}
        while waiting:
            term = waiting.pop(0)
            self._open_all(self.search(f'"{term}"'))
            for row in list(self.articles.values()):
                for said in read_article(row["text"]):
                    if said.kind == "word" and said.gaps["known"] in known:
                        new = {said.gaps["word"]} - known - {*NOUNS.values()}
                        waiting += sorted(new & {*TERMS, *DUPLICATE_TERMS})
                        known |= new

    def settle(self, asked: Iterable[Asked]) -> bool:
        """Look up what changes the articles on which answers rest; whether there was more.

        Only those are asked about that could answer: what is older than the provision that wins, or
        not yet in force, cannot.
        """
        handbook = ReadHandbook(self.articles.values())
        rules = Consolidated(handbook.book.provisions, handbook.book.amendments)
        needed = {
            article
            for subject, facts, day in asked
            for article in rules.needed(subject, dict(facts), day)
        }
        fresh = sorted(needed - self._checked)
        for number in fresh:
            self._checked.add(number)
            self._open_all(self.search(number))
            self._open_all(self.search(f'"{self.articles[number]["title"]}"'))
        provisions = {p.article: p for p in handbook.book.provisions}
        for number in fresh:
            if number in provisions:
                self._changes_of(provisions[number])
        if fresh:
            self._follow_words()
        return bool(fresh)

    def _changes_of(self, provision: Provision) -> None:
        """What speaks of a provision by what it lays down: by its case, which is searched for."""
        issued = self.articles[provision.article]["issued"]
        for words in cases(provision, self._words()):
            self._open_all(hit for hit in self.search(words) if _may_change(hit["title"], issued))

    def _words(self) -> dict[str, str]:
        """Kind of client to what it is called too, as far as that was read."""
        kinds = {noun: kind for kind, noun in NOUNS.items()}
        return {
            kinds[said.gaps["known"]]: said.gaps["word"]
            for row in self.articles.values()
            for said in read_article(row["text"])
            if said.kind == "word" and said.gaps["known"] in kinds
        }

    def _follow_words(self) -> None:
        """What a word for a kind of client means, where one was met that is not yet known."""
        texts = " ".join(row["text"] for row in self.articles.values())
        told = {
            said.gaps["word"]
            for row in self.articles.values()
            for said in read_article(row["text"])
            if said.kind == "word"
        }
        for word in _OTHER_WORDS:
            if word in texts and word not in told:
                titles = self.search(f'"words we use" "{word}"')
                self._open_all(titles[:1])


class Recorder:
    """Answers as a handbook does, and remembers what it was asked."""

    def __init__(self, rules: Answers) -> None:
        self._rules = rules
        self.asked: set[Asked] = set()

    def answer(self, subject: str, facts: Facts, day: date) -> Any:
        self.asked.add((subject, tuple(sorted(facts.items())), day))
        return self._rules.answer(subject, facts, day)


def cases(provision: Provision, words: Mapping[str, str]) -> Iterator[str]:
    """Searches that find whatever speaks of a provision by its case, in all words for it.

    Args:
        words: Kind of client to what it is called too.
    """
    if provision.subject in DEFINITIONS:
        yield from _names(provision.subject, words)
    elif provision.when:
        for parts in itertools.product(*(_looked_for(each, words) for each in provision.when)):
            yield " ".join(parts)


def _looked_for(condition: Condition, words: Mapping[str, str]) -> Iterator[str]:
    if condition.attribute == "value":
        yield f'"{money(condition.value).lstrip("$")}"'
    elif condition.attribute in SEARCHED:
        yield SEARCHED[condition.attribute]
    elif isinstance(condition.value, str):
        yield f'"{condition.value}"'
    else:
        yield from _names(condition.attribute, words)


def _names(attribute: str, words: Mapping[str, str]) -> Iterator[str]:
    kind = KIND_OF.get(attribute, attribute)
    yield f'"{kind}"'
    if kind in words:
        yield f'"{words[kind]}"'


def _may_change(title: str, issued: str) -> bool:
    """Whether an article of such a title may be a change of one that was issued on that day."""
    day, year = _DAY.search(title), _YEAR.search(title)
    if day:
        return read_date(day[0]).isoformat() >= issued
    if year:
        return year[1] >= issued[:4]
    # The title of a provision that says what it is on.
    return ": " not in title
