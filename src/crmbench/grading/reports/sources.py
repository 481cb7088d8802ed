"""Where what a report mentions may come from: what was written, and what was known before.

A report may name what was set, what that replaced, what the user said, what stands in the records
that were touched and in those they refer to, and what was looked up. What nothing of this bears
out, no reader can take for right.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from crmbench.grading.facts.context import Context
from crmbench.grading.reports.deeds import Deeds
from crmbench.grading.words import Problem
from crmbench.language.capitals import words_of
from crmbench.language.numbers import results
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading, read


class Cell(NamedTuple):
    """A column of a record that was written."""

    table: str
    column: str
    old: tuple[str, ...]
    """What it held, folded, as people would tell it; empty: nothing."""
    new: tuple[str, ...]
    created: bool


@dataclass(frozen=True)
class Sources:
    """All that a report of a turn's deeds may draw on."""

    deeds: Deeds
    context: Context
    kept_problems: dict[tuple[str, str | None], tuple[Problem, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """By reply and submission, what was found wrong with the last few."""

    kept_rows: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)
    """What a reader made of the records of the turn, which are the same for every reply."""

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """What was set, column by column."""
        return tuple(self._cells())

    def _cells(self) -> Iterator[Cell]:
        written = {change.key for change in self.deeds.effect}
        for change in self.deeds.effect:
            before, after = change.before or {}, change.after or {}
            for column in dict.fromkeys((*before, *after)):
                old, new = before.get(column), after.get(column)
                if new in written:
                    # A comment on the case that was changed: it tells nothing by its references.
                    continue
                if old != new and column != _ORDER:
                    held = tuple(v for v in self.shown(old) if not self._is_to_be_told(v))
                    yield Cell(change.table, column, held, tuple(self.shown(new)), not before)

    def _is_to_be_told(self, value: str) -> bool:
        """Whether a figure that was replaced happens to be one that the reply must tell."""
        return _NUMBER.fullmatch(value) is not None and float(value) in self.context.figures

    def shown(self, value: Any) -> Iterator[str]:
        """A value as people would tell it, folded; the names of an id."""
        if isinstance(value, str):
            names = self.deeds.directory.shown(value)
            yield from map(fold, names or (value,))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}"

    def replaced_only(self, cell: Cell) -> Cell:
        """A cell without the old values that another record that was written has now: beside it
        they may be told of that one.
        """
        if len(self.deeds.effect) == 1:
            return cell
        held = self.now.get(cell.column, frozenset()) - set(cell.new)
        return cell._replace(old=tuple(value for value in cell.old if value not in held))

    @cached_property
    def now(self) -> dict[str, frozenset[str]]:
        """What the columns of the records that were written hold now, changed or not."""
        found: dict[str, set[str]] = {}
        for change in self.deeds.effect:
            for column, value in (change.after or {}).items():
                found.setdefault(column, set()).update(self.shown(value))
        return {column: frozenset(values) for column, values in found.items()}

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns that were set, of any table, in lower case without underscores."""
        return frozenset(_plain(cell.column) for cell in self.cells)

    @cached_property
    def rows(self) -> tuple[dict[str, Any], ...]:
        """The records that were written as they stand now, and those that they refer to."""
        own = [dict(change.after or change.before or {}) for change in self.deeds.effect]
        keys = self.deeds.keys | {change.key for change in self.deeds.effect}
        changed = self.context.changed
        earlier = [dict(changed[key]) for key in sorted(keys) if key in changed]
        return (*own, *earlier, *map(dict, self.deeds.directory.near(sorted(keys))))

    @cached_property
    def near(self) -> str:
        """The values of those records and the names of those they refer to, folded."""
        return fold("\n".join(self._row_texts(self.rows)))

    def _row_texts(self, rows: Iterable[dict[str, Any]]) -> Iterator[str]:
        names = self.deeds.directory.names
        for row in rows:
            for column, value in row.items():
                if column == _ORDER:
                    continue
                if isinstance(value, str):
                    yield names.get(value, value)
                elif isinstance(value, int | float) and not isinstance(value, bool):
                    yield f"{value:g}"
            if isinstance(row.get("first_name"), str):
                yield f"{row['first_name']} {row.get('last_name', '')}"

    @cached_property
    def told(self) -> str:
        """What was set and what it replaced, what the user said, and the records near by."""
        deeds = self.deeds
        facts = fold("\n".join(str(fact.value) for fact in self.context.facts))
        return "\n".join((deeds.texts, deeds.old_texts, self.context.said, self.near, facts))

    def knows(self, words: str) -> bool:
        """Whether words stand in anything that the report may draw on."""
        context = self.context
        return words in self.told or words in context.record_text or words in self.beyond

    def knows_record(self, name: str) -> bool:
        """Whether a record is known by its folded name or by its id."""
        if self.knows(name):
            return True
        return any(self.knows(key.lower()) for key in self.deeds.directory.ids.get(name, ()))

    @cached_property
    def beyond(self) -> str:
        """What was looked up before, and the records that refer to those that were written."""
        directory = self.deeds.directory
        rows = directory.around(sorted(self.deeds.keys)) if directory.rows else ()
        return f"{self.context.history_text}\n{fold(chr(10).join(self._row_texts(rows)))}"

    @cached_property
    def word_sets(self) -> tuple[frozenset[str], ...]:
        """The words of each value that the report may draw on."""
        context = self.context
        lines = {line for line in self.told.split("\n") if line}
        lines.update(context.record_text.split("\n"), self.beyond.split("\n"))
        lines.update(map(fold, context.people))
        return tuple(frozenset(words_of(line)) for line in sorted(lines) if " " in line.strip())

    @cached_property
    def slots(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """The names of records that were written, that were replaced, and that stand near by."""
        directory = self.deeds.directory
        replaced = frozenset(v for cell in self.cells for v in set(cell.old) - set(cell.new))
        keys = self.deeds.keys
        written = {fold(directory.names[key]) for key in keys if key in directory.names}
        written.update(value for cell in self.cells for value in cell.new)
        written.update(name for name, _, _ in directory.mentions(self.deeds.texts))
        near = frozenset(name for name, _, _ in directory.mentions(self.near))
        return frozenset(written - replaced), replaced, near

    @cached_property
    def called(self) -> frozenset[str]:
        """What the records that were written are called, folded."""
        names = self.deeds.directory.names
        found = {names[key] for key in self.deeds.keys if key in names}
        written = [change.after or change.before or {} for change in self.deeds.effect]
        changed = self.context.changed
        for row in (*written, *(changed[key] for key in self.deeds.keys if key in changed)):
            found.update(str(row[column]) for column in _NAME_COLUMNS if row.get(column))
            if isinstance(row.get("first_name"), str):
                found.add(f"{row['first_name']} {row.get('last_name', '')}")
        return frozenset(map(fold, found))

    @cached_property
    def meant(self) -> frozenset[str]:
        """The long names of records in the question and in what was written."""
        said = f"{fold(self.context.question)}\n{self.deeds.texts}"
        found = self.deeds.directory.mentions(said)
        return frozenset(name for name, _, _ in found if len(name.split()) > 3)

    def knows_figure(self, value: float) -> bool:
        """Whether a figure stands in anything that the report may draw on."""
        forms = (f"{value:,.0f}", f"{value:.0f}") if value == int(value) else (f"{value:g}",)
        for form in forms:
            for text in (self.told, self.context.record_text):
                at = text.find(form)
                if (
                    at >= 0
                    and not _DIGIT.match(text[at - 1 : at])
                    and not _GOES_ON.match(text, at + len(form))
                ):
                    return True
        if value in self.figures or value in self.all_figures or value in self.context.totals:
            return True
        if round(value, 2) in self.written_totals:
            return True
        return value in self.context.told_earlier

    @cached_property
    def written_totals(self) -> frozenset[float]:
        """What the figures of a written column come to over all records, and over those of which
        another written column holds the same: "29 Overpaid (468.61 dollars in all)".
        """
        totals: dict[tuple[str, str, object], float] = defaultdict(float)
        for _, new in self._set():
            for column, figure in new.items():
                if isinstance(figure, int | float) and not isinstance(figure, bool):
                    totals[column, "", None] += figure
                    for name, value in new.items():
                        if isinstance(value, str):
                            totals[column, name, value] += figure
        return frozenset(round(total, 2) for total in totals.values())

    @cached_property
    def counts(self) -> tuple[Counter[str], ...]:
        """For each column of text that was set how many records then hold which value, folded."""
        found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for table, new in self._set():
            for column, value in new.items():
                if isinstance(value, str):
                    found[table, column][fold(value)] += 1
        return tuple(found.values())

    def _set(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Of each record that was written its table, and the columns that were set."""
        for change in self.deeds.effect:
            before, after = change.before or {}, change.after or {}
            new = {name: value for name, value in after.items() if before.get(name) != value}
            yield change.table, new

    def knows_percent(self, value: float) -> bool:
        """Whether a percentage stands in anything that the report may draw on."""
        return value in self.percents or value in self.said_figures

    @cached_property
    def percents(self) -> frozenset[float]:
        """The percentages and probabilities of all that the report may draw on."""
        context = self.context
        texts = f"{self.told}\n{context.record_text}\n{self.beyond}"
        found = {float(number) for number in _PERCENT.findall(texts)} | context.figures
        found |= context.probabilities
        rows = [*self.rows, *(change.before or {} for change in self.deeds.effect)]
        found.update(
            float(value)
            for row in rows
            for column, value in row.items()
            if column.lower() == "probability" and isinstance(value, int | float)
        )
        return frozenset(found)

    @cached_property
    def amounts(self) -> frozenset[float]:
        """The amounts that were set."""
        return frozenset(
            float(value)
            for cell in self.cells
            if cell.column.lower() in _AMOUNT_COLUMNS
            for value in cell.new
            if _NUMBER.fullmatch(value)
        )

    def knows_day(self, month: int, day: int) -> bool:
        """Whether a day stands in anything that the report may draw on."""
        form = f"-{month:02d}-{day:02d}"
        if form in self.told or form in self.context.record_text:
            return True
        return (month, day) in self.days or self.context.today.endswith(form)

    @cached_property
    def figures(self) -> frozenset[float]:
        """The figures of what was written, said and stands near by."""
        return _figures(read(self.told)) | self.context.figures

    @cached_property
    def said_figures(self) -> frozenset[float]:
        """The figures that the user has said."""
        return _figures(read(self.context.said))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """The free texts that were written, folded."""
        wanted = {"content", "commentbody", "comment"}
        return tuple(
            value for cell in self.cells if cell.column.lower() in wanted for value in cell.new
        )

    @cached_property
    def all_figures(self) -> frozenset[float]:
        """Those and the figures of everything that was looked up."""
        looked_up = f"{self.context.record_text}\n{self.beyond}"
        return self.figures | frozenset(
            float(whole.replace(",", "")) * _SCALE[unit]
            for whole, unit in _FIGURE.findall(looked_up)
        )

    @cached_property
    def days(self) -> frozenset[tuple[int, int]]:
        """The days that are known, as month and day."""
        told = read(self.told).dates
        days = {(date.month, date.day) for date in told if date.day is not None}
        looked_up = f"{self.context.record_text}\n{self.beyond}\n{self.told}"
        for month, day in _DAY.findall(looked_up):
            days.add((int(month), int(day)))
        return frozenset(days)

    def knows_full_day(self, year: int, month: int, day: int) -> bool:
        """Whether a day of a year stands in anything that the report may draw on."""
        form = f"{year}-{month:02d}-{day:02d}"
        if form in self.told or form in self.context.record_text or form == self.context.today:
            return True
        return (year, month, day) in self.full_days

    @cached_property
    def full_days(self) -> frozenset[tuple[int, int, int]]:
        """The days that are known, with their year."""
        told = (*read(self.told).dates, *read(fold(self.context.about)).dates)
        days = {(d.year, d.month, d.day) for d in told if d.day is not None and d.year is not None}
        looked_up = f"{self.context.record_text}\n{self.beyond}\n{self.told}"
        for year, month, day in _FULL_DAY.findall(looked_up):
            days.add((int(year), int(month), int(day)))
        return frozenset(days)

    @cached_property
    def said_months(self) -> frozenset[tuple[int | None, int]]:
        """The months that the user has named, with their year."""
        return frozenset((date.year, date.month) for date in read(self.context.said).dates)


_NAME_COLUMNS = ("name", "Name", "Title", "file_name")
_ORDER = "seq"
"""The column in which the engine counts the rows of a table."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FIGURE = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)(k|m|)(?!\w)")
_PERCENT = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?) ?(?:%|percent|per cent)")
_AMOUNT_COLUMNS = frozenset({"amount", "value"})
_DIGIT = re.compile(r"[\w.,]")
_GOES_ON = re.compile(r"[\w]|[.,]\d")
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000}
_DAY = re.compile(r"\d{4}-(\d\d)-(\d\d)")
_FULL_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def _plain(column: str) -> str:
    return column.lower().replace("__c", "").replace("_", "")


def _figures(reading: Reading) -> frozenset[float]:
    return frozenset(amount.value for amount in (*reading.numbers, *reading.number_words))


def follows(value: float, known: Iterable[float]) -> bool:
    """Whether a figure is the sum, the difference, the product or a percentage of two others."""
    figures = sorted({figure for figure in known if figure > 0})
    return any(
        abs(result - value) < _CLOSE
        for one in figures
        for other in figures
        for result in results(one, other)
    )


_CLOSE = 0.006
