"""Playing a set in shards: shard by shard, each into a part of the run's directory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from crmbench.core.trace import NO_USAGE
from crmbench.errors import InputError
from crmbench.formats.arc import each_task
from crmbench.formats.shards import ShardedSet, ShardRecord
from crmbench.grading.grader import TaskFault
from crmbench.runner.configuration import configuration
from crmbench.runner.options import RunOptions
from crmbench.runner.outline import PARTS
from crmbench.runner.parts import PartedRun, check_in_parts, is_finished
from crmbench.runner.run import (
    Progress,
    RunInterrupted,
    RunOutcome,
    directory_for,
    execute_on,
)
from crmbench.runner.task_sets import RunData, digest_of_named, fitting, path_of

Finish = Callable[[RunOptions, RunOutcome, Path], None]
"""Writes what a finished part holds beside its episodes: results, figures and, last, its rows."""


@dataclass(frozen=True)
class PartsOutcome:
    """What came of playing a set part by part."""

    run: PartedRun
    parts: int
    """Of the set."""
    seconds: float
    """Wall time of playing and grading in this session, set-up aside."""
    turns_played: int
    """In this session."""
    faults: tuple[TaskFault, ...]
    """Of the parts that were played in this session, as are those that follow."""
    broken: tuple[TaskFault, ...]
    stopped: str | None
    skipped: tuple[str, ...] = ()
    """Sets in shards have no lines that are left out."""


def is_for_parts(options: RunOptions, out: Path | None) -> bool:
    """Whether a run is played part by part: of a set in shards, as a whole, into a directory.

    A sample is drawn from the whole set, so it is played in one piece.
    """
    if out is None or options.sample is not None or not options.file:
        return False
    return ShardedSet(path_of(options.file)).exists


def play_parts(
    options: RunOptions,
    out: Path,
    finish: Finish,
    on_progress: Progress | None = None,
) -> PartsOutcome:
    """Play the set in shards that the options name; one shard's tasks and episodes are held.

    Args:
        out: The run's directory: a new one, or with `options.resume` the one to go on with.
        finish: Called after each part, a part with nothing to play aside.
        on_progress: Told after each episode.

    Raises:
        InputError: The set, the agent or the directory cannot be used, or no task fits.
        HarnessError: A tool broke.
        RunInterrupted: Somebody pressed Ctrl-C.
    """
    path = path_of(options.file)
    records = ShardedSet(path).records()
    config = configuration(options, RunData((), path.name, digest_of_named(options.file)))
    config["parts"] = len(records)
    if not options.filters:
        config["conversations"] = sum(map(_conversations, records))
    with directory_for(out, options, config) as top:
        if options.resume:
            check_in_parts(top.config(), out)
        else:
            top.write_json("config.json", config)
        playing = _Playing(options, PartedRun(out), records, finish)
        try:
            with _building_worlds_in_silence():
                playing.all(ShardedSet(path), on_progress)
        finally:
            playing.forget_if_nothing_began()
        playing.run.join()
        return playing.outcome()


class _Playing:
    """The parts of a run, one after the other."""

    def __init__(
        self,
        options: RunOptions,
        run: PartedRun,
        records: tuple[ShardRecord, ...],
        finish: Finish,
    ) -> None:
        self.run = run
        self._options = options
        self._records = records
        self._finish = finish
        self._seconds, self._turns, self._spent = 0.0, 0, NO_USAGE
        self._faults: list[TaskFault] = []
        self._broken: list[TaskFault] = []
        self._stopped: str | None = None

    def all(self, source: ShardedSet, on_progress: Progress | None) -> None:
        """Play what is left to play.

        Raises:
            InputError: No task fits the filters; or see `play_parts`.
        """
        trials, done, fits = self._options.trials, 0, False
        total = sum(map(_conversations, self._records)) * trials
        for record in self._records:
            own = _conversations(record) * trials
            finished = self._options.resume and is_finished(self.run.part(record.number), trials)
            if not finished and not self._left():
                return
            fits = finished or self._part(source, record, _after(on_progress, done, total)) or fits
            done += own
            if self._stopped is not None:
                return
        if not fits:
            raise InputError(
                "no conversation fits the filters", expected="filters that a task of the set fits"
            )

    def _left(self) -> bool:
        """Whether another part may begin."""
        limit = self._options.max_cost
        if limit is not None and (self._spent.cost or 0.0) >= limit:
            self._stopped = self._cost_said()
        return self._stopped is None

    def _cost_said(self) -> str:
        """What all parts cost, and what they may."""
        spent, limit = self._spent.cost or 0.0, self._options.max_cost or 0.0
        return f"${spent:,.2f} were spent, of ${limit:,.2f} allowed"

    def _part(self, source: ShardedSet, record: ShardRecord, on_progress: Progress) -> bool:
        """Play a part; returns whether there was anything to play."""
        data, folder = self._data(source, record), self.run.part(record.number)
        if not data.tasks:
            return False
        limit = self._options.max_cost
        options = replace(
            self._options,
            # One that was never begun, or was killed before anything of it was written, is new.
            resume=self._options.resume and (folder / "config.json").exists(),
            max_cost=None if limit is None else limit - (self._spent.cost or 0.0),
        )
        try:
            outcome = execute_on(data, options, folder, on_progress)
        except RunInterrupted:
            raise RunInterrupted(
                f"{record.number:,} of {len(self._records):,} parts are finished, and what was "
                f"played of the next is kept in {self.run.path}; go on with --resume"
            ) from None
        self._seconds += outcome.seconds
        self._turns += outcome.turns_played
        self._spent = self._spent + outcome.spent
        self._faults += outcome.faults
        self._broken += outcome.broken
        self._stopped = None if outcome.stopped is None else self._cost_said()
        self._finish(options, outcome, folder)
        return True

    def _data(self, source: ShardedSet, record: ShardRecord) -> RunData:
        """The tasks of a part. A shard of one file is played as that file by itself would be."""
        files = source.files_of(record)
        digests = [part.sha256 for part in record.splits.values()]
        tasks = [task for file in files for task in each_task(file)]
        one = len(files) == 1
        return RunData(
            tuple(fitting(tasks, self._options.filters)),
            files[0].name if one else f"{source.folder.name}, shard {record.number}",
            digests[0] if one else sha256("".join(digests).encode()).hexdigest(),
        )

    def forget_if_nothing_began(self) -> None:
        """Leave no directory behind for a start that failed."""
        if not self._options.resume and not self.run.parts():
            with suppress(OSError):
                (self.run.path / PARTS).rmdir()
            (self.run.path / "config.json").unlink(missing_ok=True)

    def outcome(self) -> PartsOutcome:
        """What came of it."""
        return PartsOutcome(
            self.run,
            len(self._records),
            self._seconds,
            self._turns,
            tuple(self._faults),
            tuple(self._broken),
            self._stopped,
        )


@contextmanager
def _building_worlds_in_silence() -> Iterator[None]:
    """Else it would be said of every part that its worlds are built."""
    log = logging.getLogger("crmbench.data")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def _conversations(record: ShardRecord) -> int:
    return sum(part.conversations for part in record.splits.values())


def _after(on_progress: Progress | None, before: int, total: int) -> Progress:
    """The progress of a part as that of the whole."""

    def told(done: int, _all: int) -> None:
        if on_progress is not None:
            on_progress(before + done, total)

    return told
