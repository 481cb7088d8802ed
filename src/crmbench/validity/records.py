"""Facts that a reply must tell, compared with the records as the gold leaves them.

The gold's calls give what an agent would see; a fact that none of it bears out is wrong, whoever
wrote it. Kinds of facts are compared in one of three ways:

* by **column**: the label names a column ("close date"), and a record in reach holds the value
  there; or the label is what a record holds ("Fleet Manager") and the value is its name;
* by **selection**: a list, a count or a total is that of records in reach that have something in
  common: all that a call gave, those whose column holds what the user said, those open or overdue;
* by **formula**: a difference, a share, a product, days from today, of values in reach; the
  formulas are those that the label stands for.

In reach are the records that the gold's calls of the turn gave or wrote; those of earlier turns
where this one makes no call. A label that stands for none of these is not compared, and counted
apart. Answers that `respond` submits are no such facts: they follow from a period and a rule, and
the domain's own second truth computes them again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import combinations
from typing import Any

from crmbench.core.fact import Fact
from crmbench.core.task import Task
from crmbench.core.trace import CallRecord
from crmbench.domains.registry import load_domain
from crmbench.grading.gold import GoldRun
from crmbench.grading.grader import Grader
from crmbench.grading.state import normalise
from crmbench.validity.gate import GateResult, Offender, none_wrong

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "amount": ("amount",),
    "quote": ("amount", "name"),
    "deal": ("amount", "name"),
    "value": ("value",),
    "discount": (),
    "e-mail": ("email",),
    "email": ("email",),
    "end": ("end_date",),
    "end date": ("end_date",),
    "start": ("start_date",),
    "start date": ("start_date",),
    "author": ("created_by",),
    "date": ("created_at", "created_date", "uploaded_at"),
    "client": ("name",),
}
"""The columns that a label's words stand for, where they are called otherwise."""
_OPENERS = (
    "new",
    "old",
    "previous",
    "original",
    "contract",
    "highest",
    "lower",
    "lowest",
    "existing",
)
_TAILS = re.compile(r" of the .+$")
UNKNOWN = "not compared"
COUNTED = ("count", "list")
FORMULAS = ("difference", "weighted", "lowest", "total", "days left", "biggest")
"""What labels begin with or hold that stand for a formula."""
CLOSED = ("Closed-Won", "Closed-Lost")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class RecordResult:
    """What became of one task's facts."""

    routes: Counter[str]
    """How many were compared by which route."""
    lost: tuple[str, ...]
    """Those that nothing bears out, in words."""


def facts_compared(tasks: Sequence[Task], grader: Grader) -> list[RecordResult]:
    """Compare the facts of each task."""
    return [_result(task, grader.gold_runs(task)[0]) for task in tasks]


def record_gate(tasks: Sequence[Task], found: Sequence[RecordResult]) -> GateResult:
    """No fact contradicts the records.

    Args:
        found: What `facts_compared` found.
    """
    routes = sum((result.routes for result in found), Counter[str]())
    offenders = [
        Offender(task.task_id, text)
        for task, result in zip(tasks, found, strict=True)
        for text in result.lost
    ]
    total = routes.total()
    by = ", ".join(f"{count:,} {route}" for route, count in sorted(routes.items()) if route)
    question = f"Which facts do the records not bear out? ({by or 'none'})"
    return none_wrong("facts and records", question, offenders, total, applies=total > 0)


def _result(task: Task, gold: GoldRun) -> RecordResult:
    routes: Counter[str] = Counter()
    lost = []
    today = load_domain(task.domain).world(task.world).now.date()
    for index, turn in enumerate(task.gold.turns):
        if not turn.facts:
            continue
        names = [str(fact.value) for fact in turn.facts if fact.kind == "name"]
        said = "\n".join([*(t.utterance for t in task.turns[: index + 1]), *names])
        view = View.of(gold.calls, index, said, today)
        for fact in turn.facts:
            route = view.route(fact) or ("" if view.knows(fact) else UNKNOWN)
            routes[route] += 1
            if not route:
                lost.append(f"turn {index + 1}: {fact.label or fact.kind} = {fact.value!r}")
    return RecordResult(routes, tuple(lost))


@dataclass(frozen=True)
class View:
    """What the gold's calls have shown by a turn."""

    groups: Sequence[Sequence[Row]]
    """The records that each call gave or wrote, call by call."""
    earlier: Sequence[Row]
    """The records that were given or written before."""
    sums: frozenset[str]
    """The figures of the summaries that were given, and those of the open stages together."""
    nothing: bool
    """Whether a call found no record."""
    said: str
    """What the user has said, folded."""
    today: date

    @classmethod
    def of(cls, turns: Sequence[Sequence[CallRecord]], index: int, said: str, today: date) -> View:
        """What is in reach in a turn: what its calls gave, or else what earlier ones did."""
        before = [call for calls in turns[:index] for call in calls]
        own = turns[index] or before
        groups = [rows for call in own for rows in _groups(call) if rows]
        earlier = [row for call in before for rows in _groups(call) for row in rows]
        results = [call.result for call in own if call.ok]
        sums = {_key(value) for result in results for value in _sums(result)}
        nothing = any(isinstance(r, Mapping) and r.get("records") == [] for r in results)
        return cls(groups, earlier, frozenset(sums), nothing, _key(said), today)

    def route(self, fact: Fact) -> str:
        """By which route the fact is borne out; empty if by none."""
        if fact.kind == "list":
            return "by selection" if self._lists(fact) else ""
        if self._in_column(fact):
            return "by column"
        if fact.kind in {"count", "money", "choice"} and self._selects(fact):
            return "by selection"
        return "by formula" if self._computes(fact) else ""

    def knows(self, fact: Fact) -> bool:
        """Whether the label stands for something that can be compared."""
        columns, label = {*columns_of(fact.label), fact.label}, _key(fact.label)
        return (
            fact.kind in COUNTED
            or any(word in fact.label for word in FORMULAS)
            or any(columns & row.keys() for row in self.rows)
            or any(label == _key(value) for row in self.rows for value in row.values())
        )

    # --- columns ---------------------------------------------------------------------------------

    def _in_column(self, fact: Fact) -> bool:
        wanted, columns, label = _key(fact.value), columns_of(fact.label), _key(fact.label)
        for row in self.rows:
            held = {name: _key(value) for name, value in row.items() if value is not None}
            if wanted in names_of(row) and label in held.values():
                return True
            if any(_same(held.get(column, ""), wanted) for column in columns):
                return True
        return False

    @property
    def rows(self) -> Iterator[Row]:
        """All records in reach."""
        return (row for group in self.groups for row in group)

    # --- selections ------------------------------------------------------------------------------

    def _lists(self, fact: Fact) -> bool:
        wanted = sorted(_key(item.value) for item in fact.items())
        if not wanted and self.nothing:
            return True
        chosen = self.selections() if wanted else self._told_apart()
        if any(_matches(wanted, [names_of(row) for row in rows]) for rows in chosen):
            return True
        return any(sorted(people) == wanted for row in self.rows for people in _people(row))

    def selections(self) -> Iterator[list[Row]]:
        """The records of a call, or of all, that have in common what was said of them."""
        for rows in self._kinds():
            parts = list(self._parts(rows))
            inner = (part for outer in parts for part in self._parts(outer))
            for part in (rows, *parts, *inner):
                yield part
                yield from self._by_time(part)

    def _told_apart(self) -> Iterator[list[Row]]:
        for rows in self._kinds():
            yield from self._by_time(rows)

    def _by_time(self, rows: list[Row]) -> Iterator[list[Row]]:
        """Those open, those overdue, and those that end within one to five weeks."""
        yield [row for row in rows if row.get("stage") not in CLOSED]
        yield [row for row in rows if self._is_overdue(row)]
        for days in (7, 14, 21, 28, 30, 31, 35):
            last = (self.today + timedelta(days=days)).isoformat()
            yield [row for row in rows if self.today.isoformat() <= _ends(row) <= last]

    def _kinds(self) -> Iterator[list[Row]]:
        """The records that each call gave, then all of one kind together."""
        for group in (*self.groups, *_by_columns(list(self.rows))):
            yield list({_identity(row): row for row in group}.values())

    def _parts(self, rows: list[Row]) -> Iterator[list[Row]]:
        """Those in which a column holds what the user said, or one of the things said."""
        for name in dict.fromkeys(name for row in rows for name in row):
            held = dict.fromkeys(_key(row.get(name)) for row in rows)
            heard = [value for value in held if len(value) > 2 and value in self.said]
            for values in (*([value] for value in heard), heard):
                if values:
                    yield [row for row in rows if _key(row.get(name)) in values]

    def _is_overdue(self, row: Row) -> bool:
        closes = row.get("close_date")
        is_open = row.get("stage") not in CLOSED
        return bool(closes) and is_open and str(closes) < self.today.isoformat()

    def _selects(self, fact: Fact) -> bool:
        if fact.kind == "choice":
            return _key(fact.value) in self._biggest()
        if _key(fact.value) in self.sums:
            return True
        if fact.kind == "count":
            return any(len(part) == fact.value for part in self.selections())
        return fact.label.startswith("total") and any(
            abs(sum(row.get(name) or 0 for row in part) - fact.value) < 0.01
            for part in self.selections()
            for name in ("amount", "value")
        )

    def _biggest(self) -> set[str]:
        """What the client is called whose open deals come to most."""
        totals: Counter[str] = Counter()
        for row in {_identity(row): row for row in self.rows}.values():
            if row.get("stage") and row["stage"] not in CLOSED:
                totals[str(row["client_id"])] += row.get("amount") or 0
        best = totals.most_common(1)
        own = (row for row in self.rows if best and row.get("client_id") == best[0][0])
        return {name for row in own if "stage" not in row for name in names_of(row)}

    # --- formulas --------------------------------------------------------------------------------

    def _computes(self, fact: Fact) -> bool:
        if fact.kind == "money":
            return any(abs(value - fact.value) < 0.51 for value in self._amounts(fact.label))
        if fact.kind == "number" and "day" in fact.label:
            day = (self.today + timedelta(days=int(fact.value))).isoformat()
            return any(day == value for row in self.rows for value in row.values())
        if fact.kind == "percent":
            return any(fact.value == value for value in self._shares())
        return False

    def _amounts(self, label: str) -> Iterator[float]:
        amounts = sorted({float(row["amount"]) for row in self.rows if row.get("amount")})
        if "difference" in label:
            told = {float(row["amount"]) for row in self.earlier if row.get("amount")}
            yield from (abs(one - two) for one, two in combinations(amounts, 2))
            yield from (abs(one - two) for one in amounts for two in told)
        elif "weighted" in label:
            for row in self.rows:
                yield float(row.get("amount") or 0) * float(row.get("probability") or 0) / 100
        elif "lowest" in label:
            yield from (a * (100 - share) / 100 for a in amounts for share in self._shares())

    def _shares(self) -> Iterator[float]:
        """Percentages that a note gives."""
        for row in self.rows:
            for value in row.values():
                if isinstance(value, str):
                    yield from (
                        float(n) for n in re.findall(r"(\d+(?:\.\d+)?) ?(?:%|percent)", value)
                    )


def columns_of(label: str) -> tuple[str, ...]:
    """The columns that a label names: its own words, without what stands around them."""
    words = _TAILS.sub("", label.lower()).split()
    while len(words) > 1 and words[0] in _OPENERS:
        words = words[1:]
    plain = " ".join(words)
    return (*COLUMNS.get(plain, ()), plain.replace(" ", "_"))


def names_of(row: Row) -> set[str]:
    """What a record is called."""
    found = {_key(row[name]) for name in ("name", "file_name", "Name", "Title") if row.get(name)}
    if row.get("first_name") and row.get("last_name"):
        found.add(_key(f"{row['first_name']} {row['last_name']}"))
    return found


def _matches(wanted: list[str], named: list[set[str]]) -> bool:
    """Whether the records are called by just these names, one each."""
    if len(wanted) != len(named):
        return False
    left = list(named)
    for name in wanted:
        own = next((place for place, names in enumerate(left) if name in names), None)
        if own is None:
            return False
        left.pop(own)
    return True


def _by_columns(rows: list[Row]) -> Iterator[list[Row]]:
    """Records of one kind, from whichever calls."""
    kinds: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        kinds.setdefault(tuple(sorted(row)), []).append(row)
    yield from kinds.values()


def _identity(row: Row) -> str:
    return str(next((row[n] for n in row if n.endswith("_id") or n == "Id"), sorted(row.items())))


def _groups(call: CallRecord) -> Iterator[list[Row]]:
    """The records that a call gave, and those that it wrote."""
    if call.ok:
        yield list(_rows(call.result))
        yield [row for change in call.changes for row in (change.before, change.after) if row]


def _rows(result: Any) -> Iterator[Row]:
    """The records in what a call gave, at whatever depth."""
    if isinstance(result, Mapping):
        if _is_record(result):
            yield result
        for value in result.values():
            yield from _rows(value)
    elif isinstance(result, list | tuple):
        for item in result:
            yield from _rows(item)


def _is_record(value: Mapping[str, Any]) -> bool:
    return any(name.endswith("_id") or name == "Id" for name in value)


def _sums(result: Any) -> Iterator[float]:
    """The figures of a summary: each, and those of the open stages together."""
    if not isinstance(result, Mapping) or _is_record(result):
        return
    yield from (value for value in result.values() if isinstance(value, int | float))
    parts = {name: part for name, part in result.items() if isinstance(part, Mapping)}
    open_: Counter[str] = Counter()
    for name, part in parts.items():
        yield from _sums(part)
        if name not in CLOSED:
            open_.update({k: v for k, v in part.items() if isinstance(v, int | float)})
    yield from open_.values()


def _people(row: Row) -> Iterator[list[str]]:
    """The people whom a list in a record names, their titles and addresses aside."""
    for held in row.values():
        if isinstance(held, list) and all(isinstance(item, str) for item in held):
            yield [_key(item.partition(" (")[0]) for item in held]


def _ends(row: Row) -> str:
    """The day on which a quote, a deal or a contract ends; empty without."""
    return str(row.get("valid_until") or row.get("close_date") or row.get("end_date") or "")


def _same(held: str, wanted: str) -> bool:
    """Whether a column holds the value; of a moment the day counts."""
    return held == wanted or (len(wanted) == 10 and held[:11] == f"{wanted}t")


def _key(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{float(value):.2f}"
    return str(normalise("title", value)) if value is not None else ""
