"""A run made of parts, each laid out as a run of its own: what a large set is played into.

    config.json       what was run, and of how many parts it is made
    parts/00000/      a part: the run directory of a shard
    outlines.parquet  a row an episode of all parts, in their order
    summary.json      the figures
    report.html       the figures to look at

A part is finished once its own ``outlines.parquet`` stands in it, which is written last. Figures
are made from those rows; whatever needs more is read part by part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.episode_rows import (
    ROWS,
    EpisodeRow,
    RowsHead,
    all_counted,
    join_rows,
    read_head,
    read_outcomes,
    read_rows,
    read_task_ids,
    row_count,
)
from crmbench.formats.episode_store import Key
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.outline import PARTS, part_folders
from crmbench.runner.run_dir import RunDir


def open_run(path: Path) -> RunDir:
    """The run of a directory, in one piece or in parts."""
    return PartedRun(path) if (path / PARTS).is_dir() else RunDir(path)


class PartedRun(RunDir):
    """A run made of parts. What `RunDir` reads of a run, this reads of one part after the other;
    what it gives as a list, such as `tasks`, holds all of them.
    """

    def part(self, number: int) -> Path:
        """Where a part is, or will be."""
        return self.path / PARTS / f"{number:05d}"

    def parts(self) -> list[RunDir]:
        """Those that were begun, in their order."""
        return [RunDir(folder) for folder in part_folders(self.path)]

    def finished(self) -> list[RunDir]:
        """Those whose rows are there, in their order."""
        return [part for part in self.parts() if (part.path / ROWS).exists()]

    # --- rows ---------------------------------------------------------------------------------

    def head(self) -> RowsHead:
        """What is known of the run's tasks, those of parts that were not begun included, where
        their number is known.
        """
        heads = [read_head(part.path / ROWS) for part in self.finished()]
        asked = self.config().get("conversations")
        tasks = asked if isinstance(asked, int) else sum(head.tasks for head in heads)
        return RowsHead(tasks, any(head.asks for head in heads))

    def rows(self) -> Iterator[EpisodeRow]:
        """The rows of the finished parts, of which some are held at once."""
        return chain.from_iterable(read_rows(part.path / ROWS) for part in self.finished())

    def outcomes(self, part: RunDir) -> Iterator[tuple[Key, bool]]:
        """Task, trial and success of the episodes of a finished part, in their order."""
        return read_outcomes(part.path / ROWS)

    def join(self) -> None:
        """Write the one file of all rows.

        Raises:
            InputError: It cannot be written.
        """
        files = (part.path / ROWS for part in self.finished())
        join_rows(self.path / ROWS, files, self.head())

    # --- what a run in one piece has, too -----------------------------------------------------

    def tasks(self) -> list[Task]:
        return [task for part in self.parts() for task in part.tasks()]

    def task(self, task_id: str) -> Task:
        return self._part_of(task_id).task(task_id)

    def each(self, whole: bool = True) -> Iterator[EpisodeRecord]:
        return chain.from_iterable(part.each(whole) for part in self.parts())

    def for_figures(self) -> list[EpisodeRecord]:
        return [episode for part in self.parts() for episode in part.for_figures()]

    def episode(self, task_id: str, trial: int = 0) -> EpisodeRecord:
        return self._part_of(task_id).episode(task_id, trial)

    def by_key(self) -> Callable[[Iterable[Key]], Iterator[EpisodeRecord]]:
        def read(keys: Iterable[Key]) -> Iterator[EpisodeRecord]:
            for path, some in groupby(keys, key=lambda key: self._folders[key[0]]):
                yield from RunDir(path).by_key()(some)

        return read

    def keys(self) -> list[Key]:
        return list(chain.from_iterable(part.keys() for part in self.parts()))

    def counted(self) -> set[Key]:
        return {key for part in self.parts() for key in part.counted()}

    def _part_of(self, task_id: str) -> RunDir:
        folder = self._folders.get(task_id)
        if folder is None:
            raise InputError(
                f"holds no episode of the task {task_id}",
                file=str(self.path),
                expected="a task of this run",
            )
        return RunDir(folder)

    @cached_property
    def _folders(self) -> dict[str, Path]:
        """Which part each task is in."""
        found: dict[str, Path] = {}
        for part in self.parts():
            rows = part.path / ROWS
            played = part.keys() if not rows.exists() else ()
            ids = read_task_ids(rows) if rows.exists() else [task_id for task_id, _ in played]
            found.update(dict.fromkeys(ids, part.path))
        return found


def is_finished(folder: Path, trials: int) -> bool:
    """Whether a part has nothing left to play.

    Raises:
        InputError: Its rows cannot be read.
    """
    rows = folder / ROWS
    if not rows.exists():
        return False
    return row_count(rows) >= read_head(rows).tasks * trials and all_counted(rows)


def check_in_parts(config: dict[str, Any], path: Path) -> None:
    """See that a run to go on with was played in parts.

    Raises:
        InputError: It was not.
    """
    if "parts" not in config:
        raise InputError(
            "the run there is in one piece, and this one in parts",
            file=str(path),
            expected="another --out",
        )
