"""What a chain keeps on disk: its steps, its learner's state, and the episodes as a run keeps them.

config.json, tasks.jsonl, episodes.jsonl, timings.jsonl      as of `crmbench run --out`
steps.jsonl     one line an episode: where in the stream, what came of it, what it took
learner.json    how many steps were taken, and all that the learner knew after them
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import orjson

from crmbench.core.trace import TokenUsage
from crmbench.errors import InputError


class StepRecord(msgspec.Struct, frozen=True):
    """One episode of a chain."""

    step: int
    """Counted from 0 over the chain, probes included."""
    phase: str
    block: str
    stage: int
    group: str
    task_id: str
    family: str
    success: bool
    undecided: bool
    recalled: int
    """Tokens of the text that was recalled for it."""
    memory: int
    """Tokens of all that the learner knew afterwards."""
    calls: int
    attempts: int
    """Episodes that were played for it; above 1 where a learner rejected some."""
    agent: TokenUsage
    """Tokens of the agent, in all attempts."""
    learner: dict[str, TokenUsage]
    """Tokens of the learner's own calls by role, for this step."""
    counts: dict[str, int] = {}
    """What else the learner counted in this step, such as a teacher's interventions."""


class ChainState(msgspec.Struct):
    """How far a chain is."""

    steps: int = 0
    learner: dict[str, Any] = {}


class ChainFiles:
    """The files of a chain beside those of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def state(self) -> ChainState:
        """How far it is; at the start where nothing is kept.

        Raises:
            InputError: The file cannot be read.
        """
        path = self.folder / "learner.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=ChainState)
        except FileNotFoundError:
            return ChainState()
        except (OSError, msgspec.DecodeError) as error:
            raise InputError(f"cannot be read: {error}", file=str(path)) from error

    def steps(self) -> list[StepRecord]:
        """The steps that are kept.

        Raises:
            InputError: A line is none.
        """
        path = self.folder / "steps.jsonl"
        if not path.exists():
            return []
        found = []
        for number, line in enumerate(path.read_bytes().splitlines(), start=1):
            try:
                found.append(msgspec.json.decode(line, type=StepRecord))
            except msgspec.DecodeError as error:
                raise InputError(f"is no step: {error}", file=str(path), line=number) from error
        return found

    def keep(self, steps: list[StepRecord], state: ChainState) -> None:
        """Add steps, and then the state that they led to; a kill between is mended by `go_back`."""
        with (self.folder / "steps.jsonl").open("ab") as file:
            file.write(b"".join(orjson.dumps(msgspec.to_builtins(s)) + b"\n" for s in steps))
        temporary = self.folder / "learner.json.part"
        temporary.write_bytes(orjson.dumps(msgspec.to_builtins(state)) + b"\n")
        temporary.replace(self.folder / "learner.json")

    def go_back(self, steps: int) -> None:
        """Drop the lines after so many steps: what a kill left between a line and the state.

        Episodes that are played again need no such care: of two of one task the later one counts.
        """
        path = self.folder / "steps.jsonl"
        if not path.exists():
            return
        lines = path.read_bytes().splitlines(keepends=True)
        if len(lines) > steps:
            temporary = path.with_name("steps.jsonl.part")
            temporary.write_bytes(b"".join(lines[:steps]))
            temporary.replace(path)
