"""What a list of episodes shows of each: read without its trace, of which a line is nearly all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import orjson

from crmbench.core.task import Task
from crmbench.core.trace import Outcome, TokenUsage
from crmbench.errors import InputError
from crmbench.formats.arc import checked_task, parse_conversation
from crmbench.grading.verdict import EpisodeVerdict


class TraceOutline(msgspec.Struct, frozen=True):
    """Of a trace how it ended and what it cost."""

    task_id: str
    trial: int
    outcome: Outcome = "finished"
    error: str | None = None
    usage: TokenUsage = TokenUsage()


class EpisodeOutline(msgspec.Struct, frozen=True):
    """An episode without what was said, called and changed."""

    trace: TraceOutline
    verdict: EpisodeVerdict
    seconds: float = 0.0

    @property
    def place(self) -> tuple[str, int]:
        """Task and trial."""
        return self.trace.task_id, self.trace.trial


class OurHead(msgspec.Struct, frozen=True):
    """What we know of a task beyond Arc's fields."""

    domain: str = "sales"
    world: str = ""
    family: str = ""
    persona: str = ""
    tags: tuple[str, ...] = ()


class _Said(msgspec.Struct, frozen=True):
    user_utterance: str


class TaskHead(msgspec.Struct, frozen=True):
    """What a task is about: no gold, no records."""

    conversation_id: str
    workflow_category: str = "General"
    complexity_level: str = "simple"
    turns: tuple[_Said, ...] = ()
    crmbench: OurHead | None = None

    @property
    def ours(self) -> OurHead:
        """The fields beyond Arc's, at their defaults for an Arc task."""
        return self.crmbench or OurHead()

    @property
    def opening(self) -> str:
        """The user's first words."""
        return self.turns[0].user_utterance if self.turns else ""


_outline = msgspec.json.Decoder(EpisodeOutline).decode
_head = msgspec.json.Decoder(TaskHead).decode


def outline_from(line: bytes, seconds: dict[tuple[str, int], float]) -> EpisodeOutline:
    """A stored episode's line without its trace.

    Raises:
        msgspec.MsgspecError: The line holds no stored episode.
    """
    found = _outline(line)
    return msgspec.structs.replace(found, seconds=seconds.get(found.place, 0.0))


def task_heads(run: Path) -> Iterator[TaskHead]:
    """What each task of a run is about, without its gold; nothing else of it is checked.

    Raises:
        InputError: A line is no task.
    """
    path = run / "tasks.jsonl"
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield _head(line)
            except msgspec.MsgspecError as error:
                raise InputError(f"not a task: {error}", file=str(path), line=number) from error


def stored_task(run: Path, task_id: str) -> Task:
    """One task of a run as a whole; the others are not looked into.

    Raises:
        InputError: The run has none of that id.
    """
    path = run / "tasks.jsonl"
    wanted = orjson.dumps(task_id)
    with path.open("rb") as file:
        for line in file:
            if wanted in line and _head(line).conversation_id == task_id:
                return checked_task(parse_conversation(orjson.loads(line)))
    raise InputError(f"lacks the task {task_id}", file=str(path))


def stored_figures(run: Path) -> dict[str, Any] | None:
    """The figures that were written when a run ended; None where there are none."""
    try:
        found = orjson.loads((run / "summary.json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return found if isinstance(found, dict) else None
