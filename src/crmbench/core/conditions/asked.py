"""What a conversation asks for, in a form that shows nothing of it.

A condition that edits records keeps clear of what the user and the gold mention. A play has no
gold; it has this, and so meets the same edits as a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import orjson

from crmbench.core.conditions.shown import same_name
from crmbench.core.task import Task

_WORD = re.compile(r"\w+")
"""A word of a text, or a field's whole name."""
WORD_EXAMPLES = (("close_date: 3 Main Street", ("close_date", "3", "main", "street")), ("–", ()))


@dataclass(frozen=True)
class AskedFor:
    """The words that a task's user says and its gold holds, each as a salted digest."""

    salt: str
    digests: frozenset[int]

    @staticmethod
    def of(task: Task) -> AskedFor:
        """Those of a whole task."""
        options = orjson.OPT_NON_STR_KEYS
        data = orjson.loads(orjson.dumps([task.turns, task.gold], default=str, option=options))
        words = {word for text in _texts(data) for word in words_in(text)}
        return AskedFor(task.task_id, frozenset(_digest(task.task_id, word) for word in words))

    def names(self, field: str) -> bool:
        """Whether a field of that name is mentioned."""
        return any(map(self._holds, {field.casefold(), same_name(field)}))

    def mentions(self, text: str) -> bool:
        """Whether every word of a text is mentioned, wherever."""
        return all(map(self._holds, words_in(text)))

    def _holds(self, word: str) -> bool:
        return _digest(self.salt, word) in self.digests


def words_in(text: str) -> tuple[str, ...]:
    """The words of a text, in lower case."""
    return tuple(_WORD.findall(text.casefold()))


def _texts(value: Any) -> Iterator[str]:
    """All texts in a JSON value, names of fields and numbers too."""
    if isinstance(value, Mapping):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif value is not None:
        yield str(value)


def _digest(salt: str, word: str) -> int:
    data = orjson.dumps([salt, word])
    return int.from_bytes(blake2b(data, digest_size=6).digest(), "big")
