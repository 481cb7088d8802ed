"""A study with people: who is invited, what they play in which order, and what they answered.

study.json       the plan: the tasks, and a name and a token a person
answers.jsonl    one line an answer, and one a task that was finished; the later one holds
runs/            what they played, as a run
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import msgspec
import orjson

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.whole_file import read_record
from crmbench.language.counts import counted

PLAN, ANSWERS, RUNS = "study.json", "answers.jsonl", "runs"
AGENT = "human"
"""Who plays, in the run that the study leaves."""
About = Literal["self", "task", "object", "finished"]
SCALE = ("very unrealistic", "unrealistic", "neutral", "realistic", "very realistic")
"""The answers to how realistic something is, as CRMArena asked its experts."""
REALISM = "How realistic is it?"
CLEAR = "Was it clear what the user wanted?"
CLARITY = ("not at all", "hardly", "partly", "mostly", "fully")
FAMILIARITY = "How well do you know CRM systems such as Salesforce?"
FAMILIAR = (
    "not at all",
    "have seen one",
    "use one now and then",
    "use one daily",
    "administer one",
)
WORK = "What is your work?"
WORKS = ("sales", "customer service", "administration of a CRM", "software", "something else")


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody who is invited."""

    name: str
    """No name of theirs: ``person-1``."""
    token: str
    """What their link holds."""


@dataclass(frozen=True, slots=True)
class ExpertPlan:
    """What a study with people is."""

    file: str
    """The set that the tasks are from."""
    seed: int
    tasks: tuple[str, ...]
    people: tuple[Participant, ...]
    simulated: bool = False
    """Whether programs take the people's place, which a report then says."""
    kind: Literal["experts"] = "experts"

    def order(self, person: Participant) -> list[str]:
        """The tasks in the order in which a person gets them."""
        shuffled = list(self.tasks)
        random.Random(f"{self.seed}:{person.name}").shuffle(shuffled)
        return shuffled


@dataclass(frozen=True, slots=True)
class ExpertAnswer:
    """One answer."""

    person: str
    about: About
    what: str
    """The task or the object; empty for the person."""
    question: str
    answer: int | str
    """A place on a scale, from 1; or words."""
    trial: int | None = None
    """Of a finished task: which trial of the run it became."""


def plan_study(
    file: str, tasks: Sequence[Task], count: int, tokens: Sequence[str], seed: int, simulated: bool
) -> ExpertPlan:
    """A plan over a sample of tasks.

    Args:
        tasks: Those to choose from.
        count: How many each person gets.
        tokens: One a person.

    Raises:
        InputError: There are not so many tasks.
    """
    if count > len(tasks):
        raise InputError(
            f"has {counted(len(tasks), 'task')}, not {count}",
            file=file,
            field="--tasks",
            expected="fewer",
        )
    chosen = random.Random(f"{seed}:tasks").sample([task.task_id for task in tasks], count)
    people = tuple(Participant(f"person-{n}", token) for n, token in enumerate(tokens, 1))
    return ExpertPlan(file, seed, tuple(chosen), people, simulated)


@dataclass
class ExpertStudy:
    """A study's directory.

    Raises:
        InputError: It holds no study with people.
    """

    folder: Path
    plan: ExpertPlan = field(init=False)

    def __post_init__(self) -> None:
        made_by = "crmbench study experts --out"
        self.plan = read_record(self.folder / PLAN, ExpertPlan, "study with people", made_by)
        self._lock = threading.Lock()
        self._answers = list(self._read())

    @classmethod
    def create(cls, folder: Path, plan: ExpertPlan) -> ExpertStudy:
        """Begin a study in a new directory.

        Raises:
            InputError: It cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            data = orjson.dumps(asdict(plan), option=orjson.OPT_INDENT_2)
            (folder / PLAN).write_bytes(data + b"\n")
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from error
        return cls(folder)

    @property
    def answers(self) -> Sequence[ExpertAnswer]:
        """All answers, in the order in which they were given."""
        return self._answers

    def _read(self) -> Iterator[ExpertAnswer]:
        path = self.folder / ANSWERS
        lines = path.read_bytes().splitlines() if path.exists() else []
        for number, line in enumerate(lines, start=1):
            try:
                yield msgspec.json.decode(line, type=ExpertAnswer)
            except msgspec.DecodeError as error:
                raise InputError(f"no answer: {error}", file=str(path), line=number) from error

    def add(self, answers: Sequence[ExpertAnswer]) -> None:
        """Keep answers.

        Raises:
            InputError: They cannot be written.
        """
        data = b"".join(orjson.dumps(asdict(each)) + b"\n" for each in answers)
        try:
            with self._lock, (self.folder / ANSWERS).open("ab") as file:
                file.write(data)
        except OSError as error:
            path = str(self.folder / ANSWERS)
            raise InputError(f"cannot be written: {error.strerror}", file=path) from error
        self._answers.extend(answers)

    def latest(self) -> list[ExpertAnswer]:
        """One answer a question: the later where somebody answered twice."""
        kept = {(a.person, a.about, a.what, a.question): a for a in self._answers}
        return list(kept.values())

    def person(self, token: str) -> Participant | None:
        """Who has a link; None for a stranger."""
        return next((each for each in self.plan.people if each.token == token), None)

    def has_answered(self, person: Participant, about: About, what: str = "") -> bool:
        """Whether somebody has answered, about anything of a kind or about one thing."""
        return any(
            a.person == person.name and a.about == about and (not what or a.what == what)
            for a in self._answers
        )

    def next_task(self, person: Participant) -> str | None:
        """The task that comes next; None when all are finished."""
        for task_id in self.plan.order(person):
            if not self.has_answered(person, "finished", task_id):
                return task_id
        return None

    def to_rate(self, person: Participant) -> str | None:
        """A task that was finished and about which nothing was answered yet."""
        for task_id in self.plan.order(person):
            finished = self.has_answered(person, "finished", task_id)
            if finished and not self.has_answered(person, "task", task_id):
                return task_id
        return None
