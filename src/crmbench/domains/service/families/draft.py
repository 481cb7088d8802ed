"""What a task is before its calls are made, and the making of them on the org itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crmbench.authoring.expected import expected_response
from crmbench.authoring.recorder import GoldRecorder
from crmbench.core.answer import Answer
from crmbench.core.domain import Domain
from crmbench.core.fact import Fact
from crmbench.core.sandbox import Sandbox
from crmbench.core.task import Gold, GoldCall, GoldTurn, Path, Task, Turn
from crmbench.core.trace import CallRecord
from crmbench.core.world import Backend
from crmbench.errors import HarnessError
from crmbench.grading.directory import directory_of

QUERY_PATH = "By SOQL and SOSL instead of the tools that are made for the tasks."


RecordCalls = Callable[["ServiceRecorder"], None]
"""Makes the calls of a turn."""


@dataclass(frozen=True)
class Step:
    """One turn: what is said, how it is answered, and how else it could be."""

    said: str
    gold_path: RecordCalls
    """Makes the calls with the tools that are made for the tasks."""
    query_path: RecordCalls | None = None
    """Makes them with SOQL and SOSL alone; None where those cannot tell."""
    answer: Answer | None = None
    note_facts: tuple[Fact, ...] = ()
    rules: tuple[str, ...] = ()
    refused: str | None = None
    """What it is that must be refused; the gold path then only reads."""
    refusal_reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """What a task could be about, found before a word of it is written."""

    about: str
    """No other task of the family and form may be about the same."""
    answers: tuple[str, ...]
    """What the answers of its turns are, or what is found out in them; few tasks may share one."""
    persona: str
    build: Callable[[], tuple[Step, ...]]
    empty: bool = False
    """Whether nothing fits the question."""
    topic: str = ""
    """The product that it is about; few tasks may share it. Empty: none."""


@dataclass(frozen=True)
class Draft:
    """A task without id and calls."""

    family: str
    category: str
    persona: str
    steps: tuple[Step, ...]
    complexity: str
    tags: tuple[str, ...] = ()


class ServiceRecorder(GoldRecorder):
    """Records gold calls, also in SOQL."""

    def soql(self, query: str) -> list[dict[str, Any]]:
        """The records that a query gives.

        Raises:
            HarnessError: The query is refused.
        """
        records: list[dict[str, Any]] = self.call("issue_soql_query", query=query)["records"]
        return records


@dataclass(frozen=True)
class Maker:
    """Turns drafts into tasks."""

    domain: Domain
    backend: Backend
    world: str
    canary: str

    def make(self, draft: Draft, task_id: str) -> Task:
        """The task, its gold calls made on a copy of the org.

        Raises:
            HarnessError: A call fails, or a path comes to another answer than the truth.
        """
        turns = tuple(Turn(n, step.said) for n, step in enumerate(draft.steps, 1))
        gold_run = self._played(draft, task_id, [step.gold_path for step in draft.steps])
        paths: tuple[Path, ...] = ()
        queries = [step.query_path for step in draft.steps]
        if all(queries):
            played = self._played(draft, task_id, [query for query in queries if query])
            paths = (Path(tuple(played.turns), QUERY_PATH),)
        names = directory_of(self.domain, self.world).names
        gold_turns = tuple(
            _gold_turn(step, calls, made, names)
            for step, calls, made in zip(draft.steps, gold_run.turns, gold_run.records, strict=True)
        )
        gold = Gold(gold_turns, paths=paths, canary=self.canary)
        return Task(
            task_id,
            self.domain.name,
            self.world,
            turns,
            gold,
            family=draft.family,
            category=draft.category,
            complexity=draft.complexity,
            persona=draft.persona,
            tags=draft.tags,
        )

    def _played(self, draft: Draft, task_id: str, paths: list[RecordCalls]) -> ServiceRecorder:
        world = self.domain.world(self.world)
        with Sandbox(self.domain, world, self.backend, seed=task_id) as sandbox:
            recorder = ServiceRecorder(sandbox)
            try:
                for path, step in zip(paths, draft.steps, strict=True):
                    recorder.expected = step.answer
                    path(recorder)
                    recorder.end_turn()
            except HarnessError as error:
                said = draft.steps[0].said
                raise HarnessError(f"{draft.family}, {said!r}: {error}") from error
        return recorder


REASONS = {"DO-2": "an analyst may have things looked up, but nothing changed"}
"""Why the house rules forbid what they forbid, as a good reply tells it."""


def _gold_turn(
    step: Step,
    calls: tuple[GoldCall, ...],
    made: Sequence[CallRecord],
    names: Mapping[str, str],
) -> GoldTurn:
    gold = GoldTurn(
        calls=calls,
        expect_success=step.refused is None,
        failure_category=step.refused,
        note_facts=step.note_facts,
        answer=step.answer,
        refusal_reasons=step.refusal_reasons,
        rules=step.rules,
    )
    return replace(gold, response=expected_response(gold, made, names, REASONS))


def best(values: Mapping[str, float], largest: bool) -> str:
    """The key of the extreme value; of the tasks' own figures it is the only one."""
    choose = max if largest else min
    return choose(values, key=lambda key: values[key])
