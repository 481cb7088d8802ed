"""What a learning run is asked to do, and its chains: one learner on one stream, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.learning.learners.registry import split_name
from crmbench.learning.protocol import LEVELS, ON_BOARDS, Feedback
from crmbench.learning.streams import Item, Schedule, StreamOptions, make_schedule
from crmbench.models.prompt_files import OURS
from crmbench.runner.options import RunOptions

STATELESS = "none"
"""The arm that is always played."""


@dataclass(frozen=True)
class LearnOptions:
    """What to learn, and how."""

    run: RunOptions
    """The agent, the model and how they are run; the tasks too."""
    learners: tuple[str, ...] = ("playbook",)
    stream: StreamOptions = field(default_factory=StreamOptions)
    seeds: int = 3
    """Streams, each from a seed of its own."""
    feedback: Feedback = "binary"
    memory: int = 2000
    """Tokens that a recalled text may have."""
    learner_model: str | None = None
    """Asked by learners; the agent's model if None."""
    teacher: str | None = None
    """A model that teaches, for learners with a teacher; the learner's if None."""

    def __post_init__(self) -> None:
        if self.feedback not in LEVELS:
            raise InputError(
                f"there is no level of feedback '{self.feedback}'",
                field="--feedback",
                expected=", ".join(LEVELS),
            )
        for name in self.learners:
            split_name(name)

    @property
    def arms(self) -> tuple[str, ...]:
        """The learners, each once, the stateless arm first."""
        return tuple(dict.fromkeys((STATELESS, *self.learners)))

    @property
    def on_boards(self) -> bool:
        """Whether the results may be ranked: none that was told the gold may."""
        return self.feedback in ON_BOARDS


@dataclass(frozen=True)
class Move:
    """What a chain does next: learn from one task, or try a frozen learner on several."""

    phase: str
    """``online`` or ``probe``."""
    block: str
    stage: int
    """Blocks that were learnt from before a probe; 0 while learning."""
    items: tuple[Item, ...]
    group: str = ""
    """Of a probe: which tasks it is of."""


def moves_of(schedule: Schedule, *, stateless: bool) -> tuple[Move, ...]:
    """A stream as a list of moves. The stateless arm never changes, so it is tried once."""
    moves: list[Move] = []
    last = len(schedule.blocks)
    for stage, block in enumerate(schedule.blocks, start=1):
        moves += [Move("online", block.name, 0, (item,)) for item in block.items]
        due = stage == last if stateless or not schedule.every_block else True
        if due:
            at = 0 if stateless else stage
            moves += [Move("probe", block.name, at, g.items, g.name) for g in schedule.probes]
    return tuple(moves)


@dataclass(frozen=True)
class LearningChain:
    """One learner on the stream of one seed."""

    arm: str
    seed: int
    schedule: Schedule

    @property
    def name(self) -> str:
        """Its directory: the arm, as a file may be called, and the seed."""
        safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in self.arm)
        return f"{safe}/seed-{self.seed}"

    @property
    def is_placebo(self) -> bool:
        """Whether it recalls as much as another chain did."""
        return self.arm == "placebo" or self.arm.startswith("placebo:")

    @property
    def moves(self) -> tuple[Move, ...]:
        """What it does, in order."""
        return moves_of(self.schedule, stateless=self.arm == STATELESS)


@dataclass(frozen=True)
class Plan:
    """A learning run, complete."""

    options: LearnOptions
    chains: tuple[LearningChain, ...]
    data: str
    digest: str

    @property
    def episodes(self) -> int:
        """Episodes in all."""
        return sum(len(move.items) for chain in self.chains for move in chain.moves)

    def paired(self, chain: LearningChain) -> LearningChain | None:
        """The chain whose lengths a placebo takes: of the arm that it names, or of the first."""
        wanted = chain.arm.partition(":")[2]
        if not chain.is_placebo or wanted.isdigit():
            return None
        for other in self.chains:
            real = not other.is_placebo and other.arm != STATELESS
            if other.seed == chain.seed and real and wanted in ("", other.arm):
                return other
        return None

    def to_data(self) -> dict[str, Any]:
        """What identifies the run, for ``learn.json``."""
        run, options = self.options.run, self.options
        stream = asdict(options.stream)
        return {
            "data": self.data,
            "data_digest": self.digest,
            "agent": run.agent,
            "model": run.model,
            "learner_model": options.learner_model or run.model,
            "teacher": options.teacher,
            "arms": list(options.arms),
            "stream": stream.pop("name"),
            "stream_options": stream,
            "seeds": options.seeds,
            "feedback": options.feedback,
            "on_boards": options.on_boards,
            "memory": options.memory,
            "seed": run.seed,
            "sample": run.sample,
            "filters": list(run.filters),
            "temperature": run.temperature,
            "max_steps": run.max_steps,
            "condition": run.condition,
            "prompts": OURS.digests(("playbook",)),
            "blocks": [block.name for block in self.chains[0].schedule.blocks],
            "episodes": self.episodes,
        }


def make_plan(options: LearnOptions, tasks: Sequence[Task], data: str, digest: str) -> Plan:
    """The chains of a learning run: each learner on each stream, the stateless arm too.

    Raises:
        InputError: The stream cannot be made of these tasks, or no seed is asked for.
    """
    if options.seeds < 1:
        raise InputError("at least one seed is needed", field="--seeds")
    first = options.run.seed
    schedules = {
        seed: make_schedule(options.stream, tasks, seed)
        for seed in range(first, first + options.seeds)
    }
    chains = (
        LearningChain(arm, seed, schedule)
        for arm in options.arms
        for seed, schedule in schedules.items()
    )
    plan = Plan(options, tuple(chains), data, digest)
    for chain in plan.chains:
        wanted = chain.arm.partition(":")[2]
        if chain.is_placebo and not wanted.isdigit() and plan.paired(chain) is None:
            raise InputError(
                f"'{chain.arm}' has no learner to be as long as",
                field="--learner",
                expected="such as playbook,placebo or placebo:400",
            )
    return plan
