"""A careful agent for lists: it is given no gold and meets the org through its tools alone.

It proves that a list can be done within the calls that are allowed, and the limit is set by what it
needs. Its path is an economical one that a person could plan: the words for a renewal, each
followed to the next; every article found, opened once; for every article that bears on renewals
the searches for what changes it, by number and by title, and again for what changes that; the
record of every client asked about and of those that takeovers join to it. It understands what it
reads by the phrasebooks, and decides as the second truth does. It knows what it need not look up:
what is older than the provision that decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time
from math import ceil
from typing import Any

from crmbench.authoring.handbook import Facts
from crmbench.core.sandbox import Sandbox
from crmbench.domains.sales.hard.articles import ReadHandbook, read_article
from crmbench.domains.sales.hard.desk import Desk, Renewal
from crmbench.domains.sales.hard.domain import SALES_HARD, HardWorld
from crmbench.domains.sales.hard.handbook.consolidated import Consolidated
from crmbench.domains.sales.hard.handbook.duplicate_words import (
    DUPLICATE_QUESTIONS,
    DUPLICATE_RULES,
    DUPLICATE_TERMS,
)
from crmbench.domains.sales.hard.merge_reader import MergeReader
from crmbench.domains.sales.hard.notes import NOTES
from crmbench.domains.sales.hard.reader import Answers, ListReader
from crmbench.domains.sales.hard.speech import hear
from crmbench.domains.sales.hard.wording import (
    NOUNS,
    OTHER_WORDS,
    QUESTIONS,
    RULES,
    SHIFT_QUESTIONS,
    TERMS,
)
from crmbench.errors import HarnessError

Row = Mapping[str, Any]
Call = Callable[[str, Mapping[str, Any]], Any]
"""A tool's name and arguments, to what it gives."""
Asked = tuple[str, tuple[tuple[str, Any], ...], date]
"""A question to the handbook: its subject, the facts of the item, the day that counts."""
_LIST_QUESTIONS = [
    words
    for kind, words in QUESTIONS.items()
    if kind not in (*DUPLICATE_QUESTIONS, *SHIFT_QUESTIONS)
]
_PEOPLE = ("team", "move", "absence", "word")
_ASKED = frozenset((*RULES, *DUPLICATE_RULES)) - {*_PEOPLE}


class CarefulHandbook:
    """Looks up all articles of a handbook that bear on some questions.

    Args:
        call: The tools.
        seed: The common word for what the questions are on.
        questions: How the house rules say that the questions are named.
    """

    def __init__(
        self,
        call: Call,
        seed: str = TERMS[0],
        questions: Iterable[str] = _LIST_QUESTIONS,
    ) -> None:
        self._call = call
        self.articles: dict[str, Row] = {}
        """Number to article: those opened."""
        self.seed = seed
        self.questions = tuple(dict.fromkeys(questions))
        self._checked: set[str] = set()

    def read(self) -> list[Row]:
        """Look up all of it."""
        for words in ('"what we mean by"', '"who is who"', "away"):
            self._open_all(self.search(words))
        self._follow_terms()
        for question in self.questions:
            self._open_all(self.search(f'"{question}"'))
        self._follow_words()
        return list(self.articles.values())

    def search(self, words: str) -> list[Row]:
        """All hits, page by page."""
        found: list[Row] = []
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
        if fresh:
            self._follow_words()
        return bool(fresh)

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


Writes = dict[str, dict[str, Any]]
LISTS, OTHERS = 1.2, 1.1
"""Calls allowed, as a multiple of those of a careful agent: on lists, and on all else. With 1.05 on
lists strong agents, playing blind, used 306 to 313 of 310 to 320 calls and left articles unchecked;
of merging and of shifts they did all with 10 to 40 % fewer."""


def allowed(calls: int, multiple: float) -> int:
    """The calls allowed where a careful agent makes so many: full tens."""
    return ceil(calls * multiple / 10) * 10


def played(
    tables: Mapping[str, Iterable[Row]],
    today: date,
    play: Callable[[Call], object],
    writes_with: str = "modify_opportunity",
    key: str = "opportunity_id",
) -> tuple[Writes, int]:
    """Have an agent play in a world, through the real tools.

    Args:
        tables: The rows of the world, the handbook among them.
        play: Plays, given the tools.
        writes_with: The tool that writes.
        key: Its argument that says what is written.

    Returns:
        What it writes, by record, and how many calls it makes in all.

    Raises:
        HarnessError: A call is refused.
    """
    writes: Writes = {}
    calls = 0
    rows = {name: [dict(row) for row in each] for name, each in tables.items()}
    world = HardWorld("careful", datetime.combine(today, time(9), UTC), rows)
    with Sandbox.open(SALES_HARD, world) as sandbox:

        def call(tool: str, arguments: Mapping[str, Any]) -> Any:
            nonlocal calls
            calls += 1
            done = sandbox.call(tool, dict(arguments))
            if not done.ok:
                raise HarnessError(f"{tool} refuses the careful agent: {done.error}")
            if tool == writes_with:
                fields = dict(arguments)
                writes.setdefault(fields.pop(key), {}).update(fields)
            return done.result

        play(call)
    return writes, calls


_OTHER_WORDS = tuple(word for words in OTHER_WORDS.values() for word in words)


class CarefulClients:
    """Looks up clients: their records, the notes that name them, and who takeovers join to them."""

    def __init__(self, call: Call, today: date) -> None:
        self._call = call
        self.today = today
        self.tables: dict[str, dict[str, Row]] = {
            name: {} for name in ("Client", "Opportunity", "Contract", "Note")
        }
        self._looked: set[str] = set()

    def _tables(self, handbook: CarefulHandbook) -> dict[str, list[Row]]:
        """All that was looked up."""
        tables = {name: list(rows.values()) for name, rows in self.tables.items()}
        return {**tables, "Article": list(handbook.articles.values())}

    def _all(self, tool: str, **wanted: Any) -> list[Row]:
        rows: list[Row] = []
        while True:
            told = self._call(tool, {**wanted, "offset": len(rows)})
            rows += told["records"]
            if len(rows) >= told["total_count"]:
                return rows

    def _client(self, key: str) -> None:
        """A client's record, the notes that name it, and the same of those joined to it."""
        waiting = [key]
        while waiting:
            one = waiting.pop()
            if one in self._looked:
                continue
            self._looked.add(one)
            name = self._overview(one)
            waiting += self._bought(one)
            waiting += [
                note["entity_id"]
                for note in self._named(name)
                if any(said.kind == "takeover" for said in NOTES.read(note["content"]))
            ]

    def _named(self, name: str) -> list[Row]:
        """The notes that name a client, on whichever clients."""
        notes = self._all("note_search", content=name)
        self.tables["Note"] |= {note["note_id"]: note for note in notes}
        return notes

    def _overview(self, key: str) -> str:
        told = dict(self._call("client_overview", {"client_id": key}))
        for table, name, own in _PARTS:
            for row in told.pop(name):
                self.tables[table][row[own]] = row
        told.pop("contacts")
        self.tables["Client"][key] = told
        return str(told["name"])

    def _bought(self, key: str) -> list[str]:
        """Clients that this one took over, as its notes say."""
        names = {
            said.gaps["name"]
            for note in self.tables["Note"].values()
            if note["entity_id"] == key
            for said in NOTES.read(note["content"])
            if said.kind == "takeover"
        }
        known = {row["name"]: row["client_id"] for row in self.tables["Client"].values()}
        found = []
        for name in sorted(names):
            if name in known:
                found.append(known[name])
                continue
            hits = self._all("client_search", name=name)
            found += [row["client_id"] for row in hits if row["name"] == name]
        return found


class CarefulList(CarefulClients):
    """Prepares, or reviews, the renewals of one representative."""

    def play(self, rep: str) -> int:
        """Find out what is right for each renewal of the representative's clients, and write it.

        Returns:
            How many are on hold.
        """
        for key in self._asked(rep):
            self._client(key)
        handbook = CarefulHandbook(self._call)
        handbook.read()
        writes: Writes = {}
        more = True
        while more:
            reader = ListReader(self._tables(handbook), self.today)
            reader.rules = recorder = Recorder(reader.rules)
            writes = reader.writes(rep)
            more = handbook.settle(recorder.asked)
        held = 0
        for key, fields in writes.items():
            now = {**self.tables["Opportunity"][key], **fields}
            held += now["probability"] == HOLD
            if fields:
                self._call("modify_opportunity", {"opportunity_id": key, **fields})
        return held

    def _asked(self, rep: str) -> list[str]:
        """The clients that have a renewal and are the representative's."""
        own = {row["client_id"] for row in self._all("client_search", owner=rep)}
        deals = self._all("opportunity_search", name="renewal", stage="Qualification")
        return sorted({row["client_id"] for row in deals} & own)


HOLD = 5
_PARTS = (
    ("Opportunity", "opportunities", "opportunity_id"),
    ("Contract", "contracts", "contract_id"),
    ("Note", "notes", "note_id"),
)


def list_calls(tables: Mapping[str, Iterable[Row]], today: date, rep: str) -> tuple[Writes, int]:
    """What a careful agent writes on a representative's list, and how many calls it makes."""
    return played(tables, today, lambda call: CarefulList(call, today).play(rep))


class CarefulMerge(CarefulClients):
    """Merges the duplicates of a country."""

    def play(self, country: str) -> None:
        """Find out who is one firm, and merge."""
        asked = [
            (row["client_id"], row["name"])
            for row in self._all("client_search", address=country)
            if row["address"].endswith(f", {country}")
        ]
        for key, name in asked:
            self._overview(key)
            self._named(name)
        questions = DUPLICATE_QUESTIONS.values()
        handbook = CarefulHandbook(self._call, DUPLICATE_TERMS[0], questions)
        handbook.read()
        merges: Writes = {}
        more = True
        while more:
            reader = MergeReader(self._tables(handbook), self.today, country)
            reader.rules = recorder = Recorder(reader.rules)
            merges = reader.merges()
            more = handbook.settle(recorder.asked)
        for key, fields in merges.items():
            self._call("merge_clients", {"duplicate_id": key, **fields})


def merge_calls(
    tables: Mapping[str, Iterable[Row]], today: date, country: str
) -> tuple[Writes, int]:
    """What a careful agent merges in a country, and how many calls it makes."""
    return played(
        tables,
        today,
        lambda call: CarefulMerge(call, today).play(country),
        "merge_clients",
        "duplicate_id",
    )


class CarefulShift(CarefulClients):
    """Sits at the desk for a shift; what it has looked up it keeps, as in a notebook."""

    def __init__(self, call: Call, today: date) -> None:
        super().__init__(call, today)
        self._handbook = CarefulHandbook(call, questions=SHIFT_QUESTIONS.values())
        self._renewals: dict[str, Renewal] = {}
        self._readers: dict[tuple[int, int], ListReader] = {}

    def play(self, words: Iterable[str]) -> list[dict[str, dict[str, Any]]]:
        """Do what each message asks for.

        Returns:
            For each message, what was written.
        """
        self._handbook.read()
        desk = Desk(self._reader().manager, self._renewals, self._limit)
        written = []
        for text in words:
            message = hear(text)
            for name in [message.gaps.get("client"), message.gaps.get("other")]:
                if name is not None and name not in self._renewals:
                    self._look_up(name)
            changes = desk.hear(message)
            for key, fields in changes.items():
                self._call("modify_opportunity", {"opportunity_id": key, **fields})
            written.append(changes)
        return written

    def _reader(self) -> ListReader:
        """A reader of all that was looked up; made anew when there is more."""
        known = (len(self.tables["Client"]), len(self._handbook.articles))
        if known not in self._readers:
            self._readers = {known: ListReader(self._tables(self._handbook), self.today)}
        return self._readers[known]

    def _look_up(self, name: str) -> None:
        (hit,) = [r for r in self._all("client_search", name=name) if r["name"] == name]
        self._client(hit["client_id"])
        self._renewals[name] = self._reader().renewals()[name]

    def _limit(self, client: str, question: str, day: date) -> Any:
        deal = self.tables["Opportunity"][self._renewals[client].key]
        while True:
            reader = self._reader()
            rules = reader.rules
            reader.rules = recorder = Recorder(rules)
            answer = reader.answer(question, deal, day)
            reader.rules = rules
            if not self._handbook.settle(recorder.asked):
                return answer


def shift_calls(
    tables: Mapping[str, Iterable[Row]], today: date, words: Iterable[str]
) -> tuple[list[Writes], int]:
    """What a careful agent writes after each message of a shift, and how many calls it makes."""
    written: list[Writes] = []
    _, calls = played(
        tables, today, lambda call: written.extend(CarefulShift(call, today).play(words))
    )
    return written, calls
