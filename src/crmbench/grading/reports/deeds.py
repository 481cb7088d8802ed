"""What a turn wrote, as the reader of its report needs it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crmbench.core.journal import Change, Effect, fold
from crmbench.core.tool import Toolbox
from crmbench.core.trace import CallRecord
from crmbench.grading.directory import NO_DIRECTORY, Directory
from crmbench.language.capitals import words_of
from crmbench.language.patterns import fold as folded
from crmbench.language.reading import Reading, read


@dataclass(frozen=True)
class Deeds:
    """The net changes of a turn, and the names of what they are about."""

    effect: Effect
    directory: Directory = NO_DIRECTORY

    @classmethod
    def of(cls, calls: Sequence[CallRecord], directory: Directory = NO_DIRECTORY) -> Deeds:
        """What the calls of a turn changed."""
        return cls(fold(change for call in calls for change in call.changes), directory)

    @classmethod
    def asked_of(
        cls, calls: Sequence[CallRecord], tools: Toolbox, directory: Directory = NO_DIRECTORY
    ) -> Deeds:
        """What the calls would have changed, by their arguments: where they cannot be executed."""
        changes = []
        for number, call in enumerate(calls):
            tool = tools.by_name.get(call.tool)
            if tool is not None and tool.writes:
                key = next((str(v) for k, v in call.arguments.items() if k.endswith("_id")), "")
                changes.append(Change(call.tool, key or str(number), None, dict(call.arguments)))
        return cls(fold(changes), directory)

    def __bool__(self) -> bool:
        return bool(self.effect)

    @cached_property
    def new(self) -> frozenset[str]:
        """What the changes set, folded: values, the names of ids among them, and free texts."""
        return frozenset(self._told(_after(self.effect))) - self.old

    @cached_property
    def old(self) -> frozenset[str]:
        """What the changes replaced, folded."""
        return frozenset(self._told(_before(self.effect)))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The ids of the records that were written, and of those they refer to."""
        found = {change.key for change in self.effect}
        for change in self.effect:
            for value in (*(change.after or {}).values(), *(change.before or {}).values()):
                if isinstance(value, str) and _ID.fullmatch(value):
                    found.add(value)
        return frozenset(found)

    @cached_property
    def texts(self) -> str:
        """All that was set, as one text."""
        return "\n".join(sorted(self.new))

    @cached_property
    def old_texts(self) -> str:
        """All that was replaced, as one text."""
        return "\n".join(sorted(self.old))

    @cached_property
    def new_figures(self) -> frozenset[float]:
        """The numbers in digits that were set."""
        return frozenset(amount.value for amount in read(self.texts).numbers)

    @cached_property
    def old_figures(self) -> frozenset[float]:
        """The numbers in digits that were replaced."""
        return frozenset(amount.value for amount in read(self.old_texts).numbers)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The tables of the records that what was set names."""
        named = self.directory.mentions(self.texts)
        return frozenset(table for name, _, _ in named for table in self.directory.tables[name])

    @cached_property
    def tables_written(self) -> str:
        """The tables that were written, and what people call their records."""
        tables = sorted({change.table.lower() for change in self.effect})
        return "\n".join([*tables, *(_CALLED.get(table, "") for table in tables)])

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of all that was set or replaced."""
        return frozenset(words_of("\n".join((self.texts, *self.old))))

    @cached_property
    def written(self) -> Reading:
        """The free texts that were written, as one reading."""
        return read("\n".join(text for text in sorted(self.new) if " " in text))

    def _told(self, values: Iterable[Any]) -> Iterator[str]:
        for value in values:
            if value is None or isinstance(value, bool):
                continue
            yield folded(str(value))
            if isinstance(value, str) and value in self.directory.names:
                yield folded(self.directory.names[value])


_CALLED = {
    "opportunity": "deal",
    "client": "customer",
    "document": "file",
    "knowledge__kav": "article draft",
}
NO_DEEDS = Deeds(())
_ID = re.compile(r"(?=\w*\d)[A-Za-z0-9]{15,18}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _after(effect: Effect) -> Iterator[Any]:
    for change in effect:
        before = change.before or {}
        for name, value in (change.after or {}).items():
            if value != before.get(name):
                yield value


def _before(effect: Effect) -> Iterator[Any]:
    for change in effect:
        after = change.after or {}
        for name, value in (change.before or {}).items():
            if value != after.get(name):
                yield value
