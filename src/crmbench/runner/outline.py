"""What a list of episodes shows of each: read without its trace, of which a line is nearly all.

This needs neither the grading nor a database, whose import takes longer than ten thousand lines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec
import orjson

from crmbench.core.trace import Outcome, TokenUsage
from crmbench.errors import InputError
from crmbench.runner.run_lines import entries, not_stored, read_lines

PARTS = "parts"
"""The folder of a run's parts, in a run that has such."""


def part_folders(run: Path) -> list[Path]:
    """The parts of a run in their order; none of a run in one piece."""
    return sorted(config.parent for config in (run / PARTS).glob("*/config.json"))


class TraceOutline(msgspec.Struct, frozen=True):
    """Of a trace how it ended and what it cost."""

    task_id: str
    trial: int
    outcome: Outcome = "finished"
    error: str | None = None
    usage: TokenUsage = TokenUsage()


class TurnOutline(msgspec.Struct, frozen=True):
    """Of a turn what is wrong with it."""

    state: bool | None
    mismatches: tuple[str, ...]
    unsaid: tuple[str, ...]


class VerdictOutline(msgspec.Struct, frozen=True):
    """What became of an episode, without what its turns were compared with."""

    success: bool
    turns: tuple[TurnOutline, ...]
    failed_at_turn: int | None
    counted: bool
    calls: int
    tool_errors: int
    reason: str | None
    undecided: bool = False


class EpisodeOutline(msgspec.Struct, frozen=True):
    """An episode without what was said, called and changed."""

    trace: TraceOutline
    verdict: VerdictOutline
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
head_of = msgspec.json.Decoder(TaskHead).decode
"""What a line of the tasks' file is about."""


def outlines(
    run: Path, only: Collection[tuple[str, int]] | None = None
) -> Iterator[EpisodeOutline]:
    """Every episode of a run as lists show it; where one was played twice, the later one.

    Args:
        only: Task and trial of those that are wanted; all of them if left out.

    Raises:
        InputError: A line is no stored episode.
    """
    for folder in part_folders(run) or [run]:
        yield from _outlines(folder, only)


def _outlines(run: Path, only: Collection[tuple[str, int]] | None) -> Iterator[EpisodeOutline]:
    path, seconds = run / "episodes.jsonl", stored_seconds(run)
    latest = {entry.key: entry for entry in entries(path)}
    wanted = [entry for key, entry in latest.items() if only is None or key in only]
    for entry, line in zip(wanted, read_lines(path, wanted), strict=True):
        try:
            outline = _outline(line)
        except msgspec.MsgspecError as error:
            raise not_stored(path, entry.number, error) from error
        yield msgspec.structs.replace(outline, seconds=seconds.get(entry.key, 0.0))


def stored_seconds(run: Path) -> dict[tuple[str, int], float]:
    """The seconds of each episode of a run.

    Raises:
        InputError: The file holds something else.
    """
    path = run / "timings.jsonl"
    if not path.exists():
        return {}
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    try:
        rows = [orjson.loads(line) for line in whole.splitlines()]
        return {(row["task_id"], row["trial"]): row["seconds"] for row in rows}
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise InputError(
            f"holds something else than seconds by episode: {error}", file=str(path)
        ) from error


def task_heads(run: Path) -> Iterator[TaskHead]:
    """What each task of a run is about, without its gold; nothing else of it is checked.

    Raises:
        InputError: A line is no task.
    """
    for folder in part_folders(run) or [run]:
        yield from _task_heads(folder)


def _task_heads(run: Path) -> Iterator[TaskHead]:
    path = run / "tasks.jsonl"
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield head_of(line)
            except msgspec.MsgspecError as error:
                raise InputError(f"not a task: {error}", file=str(path), line=number) from error


def stored_figures(run: Path) -> dict[str, Any] | None:
    """The figures that were written when a run ended; None where there are none."""
    try:
        found = orjson.loads((run / "summary.json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return found if isinstance(found, dict) else None


def stored_config(run: Path) -> dict[str, Any]:
    """What was run.

    Raises:
        InputError: The directory holds no run.
    """
    try:
        config = orjson.loads((run / "config.json").read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        from crmbench.runner.play import SETTINGS

        expected = "a directory that `crmbench run --out` made"
        if (run / SETTINGS).is_file():
            expected += f"; this play becomes one by `crmbench grade {run} --out RUN`"
        raise InputError(
            f"holds no run: config.json cannot be read ({error})",
            file=str(run),
            expected=expected,
        ) from error
    if not isinstance(config, dict):
        raise InputError("config.json holds no object", file=str(run))
    return config
