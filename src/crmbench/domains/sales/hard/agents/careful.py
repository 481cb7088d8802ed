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
from dataclasses import dataclass
from datetime import date
from math import ceil
from types import MappingProxyType
from typing import Any

from crmbench.core.sandbox import Sandbox
from crmbench.domains.sales.hard.agents.careful_handbook import Call, CarefulHandbook, Recorder
from crmbench.domains.sales.hard.desk import Desk, Renewal
from crmbench.domains.sales.hard.domain import SALES_HARD, HardWorld
from crmbench.domains.sales.hard.handbook.duplicate_words import DUPLICATE_TERMS
from crmbench.domains.sales.hard.merge_reader import MergeReader
from crmbench.domains.sales.hard.notes import NOTES
from crmbench.domains.sales.hard.reader import ListReader
from crmbench.domains.sales.hard.speech import hear
from crmbench.errors import HarnessError

Row = Mapping[str, Any]
Writes = dict[str, dict[str, Any]]
MULTIPLE: Mapping[str, float] = MappingProxyType(
    {"merge": 1.1, "review": 1.1, "shift": 1.1, "worklist": 1.2}
)
"""Calls allowed, as a multiple of those of a careful agent, by mechanism. Strong agents passed none
of five worklists under 1.1, none of four under 1.15, two of three under 1.2 and three of four
under 1.25.
"""
ENOUGH, ENOUGH_OF = 250, 1.1
"""Calls that are left over at most, or this multiple: the questions of a large task are as many as
of a small one.
"""


def allowed(calls: int, mechanism: str) -> int:
    """The calls allowed where a careful agent makes so many: full tens."""
    most = max(calls + ENOUGH, calls * ENOUGH_OF)
    return ceil(min(calls * MULTIPLE[mechanism], most) / 10) * 10


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
    world = HardWorld("careful", lambda: (today, rows))
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
    """Prepares, or reviews, renewals that it is given by name."""

    handbook: type[CarefulHandbook] = CarefulHandbook

    def play(self, deals: Iterable[str], notes: str = "") -> str:
        """Find out what is right for each of these renewals, and write it.

        Args:
            deals: Their names.
            notes: What an earlier session left; all that is known of it.

        Returns:
            What to keep for the next session.
        """
        keys = self._asked(deals)
        handbook = self.handbook(self._call)
        handbook.begin(notes)
        writes: Writes = {}
        more = True
        while more:
            reader = ListReader(self._tables(handbook), self.today)
            reader.rules = recorder = Recorder(reader.rules)
            writes = reader.changes(keys)
            more = handbook.settle(recorder.asked)
        for key in keys:
            if writes[key]:
                self._call("modify_opportunity", {"opportunity_id": key, **writes[key]})
        return handbook.notes()

    def _asked(self, deals: Iterable[str]) -> list[str]:
        """The renewals of these names, whose clients are looked up too."""
        rows = [row for name in deals for row in self._all("opportunity_search", name=name)]
        keys = {str(row["opportunity_id"]): str(row["client_id"]) for row in rows}
        for client in sorted(set(keys.values())):
            self._client(client)
        return sorted(keys)


_PARTS = (
    ("Opportunity", "opportunities", "opportunity_id"),
    ("Contract", "contracts", "contract_id"),
    ("Note", "notes", "note_id"),
)


@dataclass(frozen=True)
class Careful:
    """What a careful agent did in the sessions of a list.

    Attributes:
        writes: What it wrote, by record.
        calls: How many calls it made in all.
        kept: Characters of its longest notes.
    """

    writes: Writes
    calls: int
    kept: int


def list_calls(
    tables: Mapping[str, Iterable[Row]],
    today: date,
    sessions: Iterable[Iterable[str]],
    agent: type[CarefulList] = CarefulList,
) -> Careful:
    """What a careful agent does with renewals that come in over some sessions.

    It remembers nothing from one to the next but its notes.

    Args:
        sessions: For each the names of the renewals.
        agent: The agent.
    """
    notes = [""]

    def play(call: Call) -> None:
        for deals in sessions:
            notes.append(agent(call, today).play(deals, notes[-1]))

    writes, calls = played(tables, today, play)
    # What is kept after the last session is read by nobody; a call writes each of the others.
    kept = notes[1:-1]
    return Careful(writes, calls + 2 * len(kept), max(map(len, kept), default=0))


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
        handbook = CarefulHandbook(self._call, DUPLICATE_TERMS[0])
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
        self._handbook = CarefulHandbook(call)
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
