"""A run on disk: what was asked for, every episode as it ended, and what came of it.

    config.json      what was run: agent, data set and its digest, backend, trials, versions
    tasks.jsonl      the tasks, so that the run can be graded again anywhere
    episodes.jsonl   one line an episode: what was said and called, the verdict, and what a model as
                     the user or as the judge had to do with it; while running in the order in
                     which they ended, afterwards by task and trial
    traces.jsonl.zst what tools gave back and changed, compressed by episode, in the same order
    timings.jsonl    seconds an episode; apart, so that the episodes of two runs compare bytewise
    results.jsonl    the same results as Arc records, a line an episode, in the same order
    summary.json     the figures
    report.html      the figures to look at

An episode is written when it ends. A run that was killed goes on where it was: a half-written last
line is dropped, and the episodes that a model's or server's failure spoilt are played again. In
runs of before 22 November 2026 each line is the whole episode; they are read as ever.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import msgspec
import orjson

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.arc import checked_task, load, parse_conversation, save_tasks
from crmbench.formats.episode_store import (
    EncodedEpisode,
    Frame,
    Key,
    encode,
    frames,
    holds_results,
    outline,
    shortened,
    whole,
)
from crmbench.formats.lean import Lean
from crmbench.formats.whole_file import replace_file
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.outline import head_of, stored_config, stored_seconds
from crmbench.runner.run_lines import (
    Entry,
    cut_torn_line,
    entries,
    is_whole,
    line_places,
    lock,
    not_stored,
    read_lines,
    read_places,
    reader,
    write_all,
)

TRACES = "traces.jsonl.zst"
RESULTS = "results.jsonl"


class RunDir:
    """A run's directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, IO[bytes]] = {}
        self._made = False
        self._begun = False
        self._written: list[Key] = []
        """In the order in which they were."""

    # --- writing ------------------------------------------------------------------------------

    def check_free(self) -> None:
        """See that there is no run here yet, nor a data set, which would take the run's tasks for
        a split of its own.

        Raises:
            InputError: The directory already holds one.
        """
        if any((self.path / "data").glob("*.parquet")):
            raise InputError(
                "the directory holds a data set",
                file=str(self.path),
                expected="a directory of its own for the run",
            )
        if (self.path / "config.json").exists():
            raise InputError(
                "the directory already holds a run",
                file=str(self.path),
                expected="a new directory, or --resume to go on with that run",
            )

    def make(self) -> None:
        """Make the directory, unless it is there.

        Raises:
            InputError: It cannot be made.
        """
        self._made = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror}", file=str(self.path)) from error

    def remove_if_empty(self) -> None:
        """Remove the directory if `make` made it and nothing came of it."""
        if not self._made or (self.path / "config.json").exists():
            return
        with suppress(OSError):
            (self.path / "raw.jsonl").unlink(missing_ok=True)
            self.path.rmdir()

    @contextmanager
    def locked(self, *, wait: bool = False) -> Iterator[None]:
        """Keep other processes from writing into the directory. The lock dies with the process.

        Args:
            wait: For another one that writes into it; else that is an error.

        Raises:
            InputError: Another one writes into it, or there is no such directory.
        """
        if os.name == "nt":  # where a directory cannot be opened, nor locked
            yield
            return
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise InputError(
                f"holds no run: {error.strerror}",
                file=str(self.path),
                expected="a directory that `crmbench run --out` made",
            ) from error
        try:
            lock(descriptor, self.path, wait=wait)
            yield
        finally:
            os.close(descriptor)

    def create(self, config: dict[str, Any], tasks: Sequence[Task]) -> None:
        """Begin a run.

        Raises:
            InputError: The directory already holds one, or cannot be written.
        """
        self.check_free()
        self.make()
        # Else episodes were written before, and not by this object.
        self._begun = not (self.path / "episodes.jsonl").exists()
        save_tasks(self.path / "tasks.jsonl", tasks)
        self.write_json("config.json", config)

    def append(self, record: EpisodeRecord, result: bytes = b"") -> None:
        """Keep an episode that ended; it survives the process from here on.

        Args:
            result: Its line of ``results.jsonl``, if the run keeps them as it goes on.

        Raises:
            InputError: The disk is full, or the file cannot be written for another reason.
        """
        self.write([encode(record, result)])

    def write(self, episodes: Sequence[EncodedEpisode]) -> None:
        """`append` for episodes that were encoded elsewhere.

        Raises:
            InputError: The disk is full, or the file cannot be written for another reason.
        """
        timings = (
            {"task_id": each.task_id, "trial": each.trial, "seconds": round(each.seconds, 6)}
            for each in episodes
        )
        try:
            # The lines last: once one is there, so is all that belongs to it.
            write_all(self._open(TRACES), b"".join(each.frame for each in episodes))
            write_all(
                self._open("timings.jsonl"), b"".join(orjson.dumps(t) + b"\n" for t in timings)
            )
            if results := b"".join(each.result for each in episodes):
                write_all(self._open(RESULTS), results)
            write_all(self._open("episodes.jsonl"), b"".join(each.line for each in episodes))
            self._written += [(each.task_id, each.trial) for each in episodes]
        except OSError as error:
            raise self._not_written("episodes.jsonl", error) from error

    def keep_raw(self, lines: bytes) -> None:
        """Keep lines of ``raw.jsonl`` that a worker brought.

        Raises:
            InputError: The disk is full, or the file cannot be written for another reason.
        """
        try:
            write_all(self._open("raw.jsonl"), lines)
        except OSError as error:
            raise self._not_written("raw.jsonl", error) from error

    def _open(self, name: str) -> IO[bytes]:
        if name not in self._files:
            self._files[name] = (self.path / name).open("ab", buffering=0)
        return self._files[name]

    def close(self) -> None:
        """Close the files."""
        while self._files:
            self._files.popitem()[1].close()

    def settle(self, tasks: Sequence[Task]) -> None:
        """Put the episodes in the order of tasks and trials, one each: the last that counted.

        After it there is a ``results.jsonl`` only if it holds all of them.
        """
        self.close()
        order = {task.task_id: index for index, task in enumerate(tasks)}

        def place(key: Key) -> tuple[int, str, int]:
            task_id, trial = key
            return order.get(task_id, len(order)), task_id if task_id not in order else "", trial

        if self._begun and self._written and _ascends(map(place, self._written)):
            return
        results = line_places(self.path / RESULTS)
        entries = list(self._entries())
        lines = {entry.key: entry for entry in entries}
        keys = sorted(lines, key=place)
        packed = self._frames()
        kept = [packed[key] for key in keys if key in packed]
        found = [lines[key] for key in keys]
        if not is_whole(self.path / "episodes.jsonl", [(e.start, e.length) for e in found]):
            self._replace("episodes.jsonl", self._read(found))
        self._settle_results(results, len(entries), found)
        if not is_whole(self.path / TRACES, [(f.start, f.end - f.start) for f in kept]):
            places = [(frame.start, frame.end - frame.start) for frame in kept]
            self._replace(TRACES, read_places(self.path / TRACES, places))
        seconds = self._seconds()
        rows = (
            orjson.dumps({"task_id": task, "trial": trial, "seconds": seconds[task, trial]}) + b"\n"
            for task, trial in sorted(seconds, key=place)
        )
        self._replace("timings.jsonl", rows)

    def _settle_results(
        self, places: Sequence[tuple[int, int]], episodes: int, found: Sequence[Entry]
    ) -> None:
        """Put the results in the order of `found`.

        Args:
            places: Of the lines of ``results.jsonl``.
            episodes: How many lines of episodes there were.
        """
        path = self.path / RESULTS
        if len(places) < episodes:
            # Some of them were played before results were kept as they come.
            path.unlink(missing_ok=True)
            return
        # Both are written in the same order, so a line has the number of its episode's.
        kept = [places[entry.number - 1] for entry in found]
        if places and not is_whole(path, kept):
            self._replace(RESULTS, read_places(path, kept))

    def write_json(self, name: str, data: Any) -> None:
        """Write a JSON file, readable by people."""
        options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
        self._replace(name, iter([orjson.dumps(data, option=options) + b"\n"]))

    # --- reading ------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        """What was run.

        Raises:
            InputError: The directory holds no run.
        """
        return stored_config(self.path)

    def tasks(self) -> list[Task]:
        """The tasks of the run."""
        return load(self.path / "tasks.jsonl").tasks()

    def task(self, task_id: str) -> Task:
        """One task of the run as a whole; the others are not looked into.

        Raises:
            InputError: The run has none of that id.
        """
        path, wanted = self.path / "tasks.jsonl", orjson.dumps(task_id)
        with path.open("rb") as file:
            for line in file:
                if wanted in line and head_of(line).conversation_id == task_id:
                    return checked_task(parse_conversation(orjson.loads(line)))
        raise InputError(f"lacks the task {task_id}", file=str(path))

    def episodes(self) -> list[EpisodeRecord]:
        """Every stored episode; where one was played twice, the later one."""
        return list(self.each())

    def outlines(self) -> list[EpisodeRecord]:
        """Every episode without what its tools gave back and changed.

        A few hundredths of the whole; enough for every figure, and all that is read.
        """
        return list(self.each(whole=False))

    def for_figures(self) -> list[EpisodeRecord]:
        """`outlines` without what tools were called with: what every figure follows from, in a
        fifth of their memory.
        """
        return list(self._lean())

    def _lean(self) -> Iterator[EpisodeRecord]:
        found, seconds = self._latest(), self._seconds()
        read = Lean().read
        for entry, line in zip(found, self._read(found), strict=True):
            try:
                yield read(line, seconds.get(entry.key, 0.0))
            except msgspec.DecodeError as error:
                raise self._not_stored(entry.number, error) from error

    def episode(self, task_id: str, trial: int = 0) -> EpisodeRecord:
        """One stored episode as a whole; the others are passed over unread.

        Raises:
            InputError: The run holds no such episode, or it is no stored episode.
        """
        wanted = (task_id, trial)
        found = [entry for entry in self._entries() if entry.key == wanted]
        if not found:
            raise InputError(
                f"holds no trial {trial} of the task {task_id}",
                file=str(self.path),
                expected="a task and a trial of this run; trials are counted from 0",
            )
        return next(self._records(found[-1:], self._frames()))

    def each(self, whole: bool = True) -> Iterator[EpisodeRecord]:
        """What `episodes` gives, or `outlines`, one by one.

        Raises:
            InputError: A line is no stored episode, or what tools gave back in it is lost.
        """
        return self._records(self._latest(), self._frames() if whole else None)

    def by_key(self) -> Callable[[Iterable[Key]], Iterator[EpisodeRecord]]:
        """A function that gives the episodes of some keys as a whole, one by one, in their order.

        Where they are is found out once; the function raises KeyError for an episode that the run
        does not hold.
        """
        lines, packed = {entry.key: entry for entry in self._entries()}, self._frames()
        seconds = self._seconds()
        return lambda keys: self._records([lines[key] for key in keys], packed, seconds)

    def keys(self) -> list[Key]:
        """Task and trial of every stored episode, in their order."""
        return list(dict.fromkeys(entry.key for entry in self._entries()))

    def _records(
        self,
        entries: Sequence[Entry],
        packed: dict[Key, Frame] | None,
        seconds: dict[Key, float] | None = None,
    ) -> Iterator[EpisodeRecord]:
        """The episodes of some lines: whole ones if their frames are given, else outlines."""
        seconds = self._seconds() if seconds is None else seconds
        with reader(self.path / TRACES) as traces:
            for entry, line in zip(entries, self._read(entries), strict=True):
                try:
                    found = outline(line, seconds.get(entry.key, 0.0))
                    if holds_results(found):  # a line of an old run
                        yield shortened(found) if packed is None else found
                    elif packed is None:
                        yield found
                    elif entry.key in packed and traces is not None:
                        frame = packed[entry.key]
                        traces.seek(frame.start + frame.head)
                        yield whole(found, traces.read(frame.packed), frame.size)
                    elif any(call.ok for turn in found.trace.turns for call in turn.calls):
                        raise ValueError(f"{TRACES} lacks what its tools gave back")
                    else:
                        yield found
                except (msgspec.DecodeError, ValueError) as error:
                    raise self._not_stored(entry.number, error) from error

    def counted(self) -> set[Key]:
        """Task and trial of every stored episode that counts."""
        latest = {entry.key: entry.counted for entry in self._entries()}
        return {key for key, counted in latest.items() if counted}

    def drop_torn_lines(self) -> None:
        """Cut off what a kill left half-written at the end of a file."""
        for name in ("episodes.jsonl", "timings.jsonl", RESULTS):
            cut_torn_line(self.path / name)
        # Results are written before the episodes' lines, and that of the next episode has to stand
        # where its line will.
        results = line_places(self.path / RESULTS)
        for start, _ in results[len(line_places(self.path / "episodes.jsonl")) :][:1]:
            os.truncate(self.path / RESULTS, start)
        end = max((frame.end for frame in self._frames().values()), default=0)
        with suppress(FileNotFoundError):
            os.truncate(self.path / TRACES, end)

    def _latest(self) -> list[Entry]:
        """One line an episode: the later, where one was played twice."""
        return list({entry.key: entry for entry in self._entries()}.values())

    def _entries(self) -> Iterator[Entry]:
        return entries(self.path / "episodes.jsonl")

    def _read(self, found: Iterable[Entry]) -> Iterator[bytes]:
        return read_lines(self.path / "episodes.jsonl", found)

    def _not_stored(self, line: int, error: Exception) -> InputError:
        return not_stored(self.path / "episodes.jsonl", line, error)

    def _frames(self) -> dict[Key, Frame]:
        """Where each episode's frame is: the last, where there are several."""
        try:
            return {frame.key: frame for frame in frames(self.path / TRACES)}
        except ValueError as error:
            raise InputError(str(error), file=str(self.path / TRACES)) from error

    def _seconds(self) -> dict[Key, float]:
        return stored_seconds(self.path)

    def _replace(self, name: str, chunks: Iterator[bytes]) -> None:
        try:
            replace_file(self.path / name, chunks)
        except OSError as error:
            raise self._not_written(name, error) from error

    def _not_written(self, name: str, error: OSError) -> InputError:
        return InputError(
            f"cannot be written: {error.strerror}",
            file=str(self.path / name),
            expected="room and the right to write; what was played before is kept for --resume",
        )


def _ascends(places: Iterable[tuple[int, str, int]]) -> bool:
    """Whether each is greater than the one before it."""
    return all(one < two for one, two in pairwise(places))
