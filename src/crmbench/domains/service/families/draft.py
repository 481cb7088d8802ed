"""What a task is before its calls are made, and the making of them on the org itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crmbench.core.answer import Answer
from crmbench.core.domain import Domain
from crmbench.core.episode import Episode
from crmbench.core.fact import Fact
from crmbench.core.task import Gold, GoldCall, GoldTurn, Path, Task, Turn
from crmbench.core.trace import CallRecord
from crmbench.core.world import Backend
from crmbench.errors import HarnessError
from crmbench.grading.answer import ANSWER_ARGUMENT, ANSWER_TOOL
from crmbench.grading.answer import judge as judge_answer
from crmbench.grading.gold import fill

if TYPE_CHECKING:
    from crmbench.domains.service.families.context import TaskContext

QUERY_PATH = "By SOQL and SOSL instead of the tools that are made for the tasks."


@dataclass(frozen=True)
class Step:
    """One turn: what is said, how it is answered, and how else it could be."""

    said: str
    gold_path: Callable[[GoldRecorder], None]
    """Makes the calls with the tools that are made for the tasks."""
    query_path: Callable[[GoldRecorder], None] | None = None
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
class ServiceFamily:
    """One of the nine tasks."""

    name: str
    category: str
    asked: Callable[[TaskContext], Iterator[Candidate]]
    """Questions."""
    done: Callable[[TaskContext], Iterator[Candidate]]
    """Questions whose answer is acted on."""
    talked: Callable[[TaskContext], Iterator[Candidate]]
    """Conversations of three to five turns."""
    with_empty: bool = True
    """Whether a share of the questions has no answer."""


@dataclass(frozen=True)
class Draft:
    """A task without id and calls."""

    family: str
    category: str
    persona: str
    steps: tuple[Step, ...]
    complexity: str
    tags: tuple[str, ...] = ()


class GoldRecorder:
    """Makes calls in an episode and writes them down as gold.

    A call that is refused, or an answer that differs from the expected one, is an error of the
    ground truth.
    """

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._done: list[tuple[CallRecord, ...]] = []
        self._made: list[CallRecord] = []
        self._gold: list[GoldCall] = []
        self._expected: Answer | None = None

    def call(self, tool: str, **arguments: Any) -> Any:
        """Run a tool; returns its result. Arguments may hold what `reference` gave."""
        filled = fill(arguments, [*self._done, self._made])
        record = self._episode.execute(tool, filled)
        if not record.ok:
            raise HarnessError(f"the gold call {tool} fails: {record.error}")
        self._gold.append(GoldCall(tool, arguments))
        self._made.append(record)
        return record.result

    def reference(self, field: str) -> str:
        """A reference to a field of what the last call gave, for records with new ids."""
        return "{{" + f"turn_{len(self._done) + 1}.call_{len(self._made)}.{field}" + "}}"

    def soql(self, query: str) -> list[dict[str, Any]]:
        """The records that a query gives."""
        records: list[dict[str, Any]] = self.call("issue_soql_query", query=query)["records"]
        return records

    def respond(self, found: str | None) -> None:
        """Submit an answer, None for "None"; it must be the expected one."""
        content = "None" if found is None else found
        if self._expected is None:
            raise HarnessError(f"an answer, {content!r}, where none is asked for")
        verdict = judge_answer(self._expected, content)
        if not verdict.ok:
            raise HarnessError(f"the gold path comes to another answer: {verdict.why}")
        self.call(ANSWER_TOOL, **{ANSWER_ARGUMENT: content})

    def turn(
        self, gold_path: Callable[[GoldRecorder], None], answer: Answer | None
    ) -> tuple[GoldCall, ...]:
        """The calls of one turn."""
        self._expected = answer
        self._made, self._gold = [], []
        gold_path(self)
        if answer and not any(call.tool == ANSWER_TOOL for call in self._gold):
            raise HarnessError("the gold path gives no answer")
        self._done.append(tuple(self._made))
        return tuple(self._gold)


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
        bare = Task(task_id, self.domain.name, self.world, turns, Gold(()))
        calls = self._played(bare, draft, [step.gold_path for step in draft.steps])
        paths: tuple[Path, ...] = ()
        queries = [step.query_path for step in draft.steps]
        if all(queries):
            played = self._played(bare, draft, [query for query in queries if query])
            paths = (Path(tuple(played), QUERY_PATH),)
        gold = Gold(tuple(map(_gold_turn, draft.steps, calls)), paths=paths, canary=self.canary)
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

    def _played(
        self, bare: Task, draft: Draft, gold_paths: list[Callable[[GoldRecorder], None]]
    ) -> list[tuple[GoldCall, ...]]:
        with Episode(self.domain, bare, self.backend) as episode:
            recorder = GoldRecorder(episode)
            try:
                return [
                    recorder.turn(gold_path, step.answer)
                    for gold_path, step in zip(gold_paths, draft.steps, strict=True)
                ]
            except HarnessError as error:
                said = draft.steps[0].said
                raise HarnessError(f"{draft.family}, {said!r}: {error}") from error


def _gold_turn(step: Step, calls: tuple[GoldCall, ...]) -> GoldTurn:
    return GoldTurn(
        calls=calls,
        expect_success=step.refused is None,
        failure_category=step.refused,
        note_facts=step.note_facts,
        answer=step.answer,
        refusal_reasons=step.refusal_reasons,
        rules=step.rules,
    )


def best(values: Mapping[str, float], largest: bool) -> str:
    """The key of the extreme value; of the tasks' own figures it is the only one."""
    choose = max if largest else min
    return choose(values, key=lambda key: values[key])
