"""What may not be trained on: episodes that are too near to a published test set."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from crmbench.core.task import Task
from crmbench.domains.registry import domain_names, load_domain
from crmbench.runner.task_sets import load_named

NGRAM = 8
"""Words of a sequence that is looked for. Shorter utterances are left aside: all say them."""
OVERLAP = 0.5
"""The share of an utterance's sequences, seen in a test set, from which on it is the same one."""
_WORD = re.compile(r"\w+")


def published_tests() -> list[str]:
    """The published sets that are for testing, as names for `load_named`."""
    return [
        f"{domain}/{split}"
        for domain in domain_names()
        for each in load_domain(domain).task_sets
        for split in each.splits
        if split != "train"
    ]


class Contamination:
    """Says whether a task is one of some test sets, plays in one of their worlds, or says what is
    said there.

    Args:
        tests: The tasks of the test sets.
    """

    def __init__(self, tests: Iterable[Task]) -> None:
        self._tests = tuple(tests)
        self._ids = {(task.domain, task.task_id, task.world) for task in self._tests}
        self._worlds = {(task.domain, task.world) for task in self._tests} - {("sales", "empty")}

    @classmethod
    def published(cls) -> Contamination:
        """Against all published test sets."""
        return cls(task for name in published_tests() for task in load_named(name).tasks())

    @cached_property
    def _grams(self) -> set[tuple[str, ...]]:
        return {
            gram for task in self._tests for turn in task.turns for gram in ngrams(turn.utterance)
        }

    def of(self, task: Task) -> str | None:
        """``same task``, ``same world`` or ``same words``; None if it is clean."""
        if (task.domain, task.task_id, task.world) in self._ids:
            return "same task"
        if (task.domain, task.world) in self._worlds:
            return "same world"
        if any(self._is_known(turn.utterance) for turn in task.turns):
            return "same words"
        return None

    def _is_known(self, utterance: str) -> bool:
        grams = ngrams(utterance)
        return bool(grams) and sum(g in self._grams for g in grams) >= OVERLAP * len(grams)


def ngrams(text: str) -> list[tuple[str, ...]]:
    """Every sequence of `NGRAM` words, in lower case."""
    words = _WORD.findall(text.lower())
    return [tuple(words[start : start + NGRAM]) for start in range(len(words) - NGRAM + 1)]
