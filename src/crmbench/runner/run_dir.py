"""A run on disk: what was asked for, every episode as it ended, and what came of it.

    config.json      what was run: agent, data set and its digest, backend, trials, versions
    tasks.jsonl      the tasks, so that the run can be graded again anywhere
    episodes.jsonl   one line an episode: trace and verdict, and what a model as the user or as
                     the judge had to do with it; while running in the order in which they ended,
                     afterwards by task and trial
    timings.jsonl    seconds an episode; apart, so that the episodes of two runs compare bytewise
    results.jsonl    the same results as Arc records
    summary.json     the figures
    report.html      the figures to look at

A line is written and flushed when its episode ends. A run that was killed goes on where it was:
a half-written last line is dropped, and the episodes that a model's or server's failure spoilt
are played again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec
import orjson

from crmbench.core.record import ParticipantRecords
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace
from crmbench.errors import InputError
from crmbench.formats.arc import load, save_tasks
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import EpisodeVerdict


class _Place(msgspec.Struct):
    task_id: str
    trial: int


class _Counted(msgspec.Struct):
    counted: bool


class _Head(msgspec.Struct):
    """What is needed of a line to know which episode it is; the rest is passed over unread."""

    trace: _Place
    verdict: _Counted


class _Entry(NamedTuple):
    """A line of the episodes' file."""

    head: _Head
    number: int
    start: int
    length: int


_read_head = msgspec.json.Decoder(_Head).decode


class RunDir:
    """A run's directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._episodes: IO[bytes] | None = None
        self._timings: IO[bytes] | None = None
        self._made = False

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
            _lock(descriptor, self.path, wait=wait)
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
        save_tasks(self.path / "tasks.jsonl", tasks)
        self.write_json("config.json", config)

    def append(self, record: EpisodeRecord) -> None:
        """Keep an episode that ended; it survives the process from here on.

        Raises:
            InputError: The disk is full, or the file cannot be written for another reason.
        """
        seconds = round(record.seconds, 6)
        timing = {"task_id": record.task_id, "trial": record.trial, "seconds": seconds}
        line: dict[str, Any] = {"trace": record.trace, "verdict": record.verdict}
        if record.participants is not None:
            line["aside"] = record.participants
        try:
            if self._episodes is None or self._timings is None:
                self._episodes = (self.path / "episodes.jsonl").open("ab", buffering=0)
                self._timings = (self.path / "timings.jsonl").open("ab", buffering=0)
            _write(self._timings, orjson.dumps(timing) + b"\n")
            _write(self._episodes, orjson.dumps(line) + b"\n")
        except OSError as error:
            raise self._not_written("episodes.jsonl", error) from error

    def close(self) -> None:
        """Close the files."""
        for file in (self._episodes, self._timings):
            if file is not None:
                file.close()
        self._episodes = self._timings = None

    def settle(self, tasks: Sequence[Task]) -> None:
        """Put the episodes in the order of tasks and trials, one each: the last that counted."""
        self.close()
        order = {task.task_id: index for index, task in enumerate(tasks)}
        lines: dict[tuple[int, int], _Entry] = {}
        for entry in self._entries():
            place = entry.head.trace
            lines[order.get(place.task_id, len(order)), place.trial] = entry
        self._replace("episodes.jsonl", self._read([lines[place] for place in sorted(lines)]))
        seconds = self._seconds()
        rows = (
            orjson.dumps({"task_id": task, "trial": trial, "seconds": seconds[task, trial]}) + b"\n"
            for task, trial in sorted(seconds, key=lambda p: (order.get(p[0], len(order)), p[1]))
        )
        self._replace("timings.jsonl", rows)

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
        try:
            config = orjson.loads((self.path / "config.json").read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise InputError(
                f"holds no run: config.json cannot be read ({error})",
                file=str(self.path),
                expected="a directory that `crmbench run --out` made",
            ) from error
        if not isinstance(config, dict):
            raise InputError("config.json holds no object", file=str(self.path))
        return config

    def tasks(self) -> list[Task]:
        """The tasks of the run."""
        return load(self.path / "tasks.jsonl").tasks()

    def episodes(self) -> list[EpisodeRecord]:
        """Every stored episode; where one was played twice, the later one."""
        return list(self.each())

    def outlines(self) -> list[EpisodeRecord]:
        """Every episode without what its tools gave back and changed.

        A tenth of the whole; enough for every figure, whatever the length of a run.
        """
        return list(self.each(whole=False))

    def episode(self, task_id: str, trial: int = 0) -> EpisodeRecord:
        """One stored episode as a whole; the others are passed over unread.

        Raises:
            InputError: The run holds no such episode, or its line is no stored episode.
        """
        wanted = (task_id, trial)
        found = [e for e in self._entries() if (e.head.trace.task_id, e.head.trace.trial) == wanted]
        if not found:
            raise InputError(
                f"holds no trial {trial} of the task {task_id}",
                file=str(self.path),
                expected="a task and a trial of this run; trials are counted from 0",
            )
        (line,) = self._read(found[-1:])
        return self._record(found[-1], line, True, self._seconds())

    def each(self, whole: bool = True) -> Iterator[EpisodeRecord]:
        """What `episodes` gives, or `outlines`, one by one.

        Raises:
            InputError: A line is no stored episode.
        """
        seconds = self._seconds()
        lines = {(e.head.trace.task_id, e.head.trace.trial): e for e in self._entries()}
        for entry, line in zip(lines.values(), self._read(lines.values()), strict=True):
            yield self._record(entry, line, whole, seconds)

    def _record(
        self, entry: _Entry, line: bytes, whole: bool, seconds: dict[tuple[str, int], float]
    ) -> EpisodeRecord:
        try:
            data = orjson.loads(line)
            if not whole:
                _shorten(data["trace"])
            trace = EpisodeTrace.from_data(data["trace"])
            verdict = msgspec.convert(data["verdict"], EpisodeVerdict)
            participants = msgspec.convert(data.get("aside"), ParticipantRecords | None)
        except (orjson.JSONDecodeError, KeyError, TypeError, msgspec.ValidationError) as error:
            raise self._not_stored(entry.number, error) from error
        taken = seconds.get((trace.task_id, trace.trial), 0.0)
        return EpisodeRecord(trace, verdict, taken, participants)

    def counted(self) -> set[tuple[str, int]]:
        """Task and trial of every stored episode that counts."""
        heads = [entry.head for entry in self._entries()]
        latest = {(h.trace.task_id, h.trace.trial): h.verdict.counted for h in heads}
        return {place for place, counted in latest.items() if counted}

    def drop_torn_lines(self) -> None:
        """Cut off what a kill left half-written at the end of a file."""
        for name in ("episodes.jsonl", "timings.jsonl"):
            path = self.path / name
            if path.exists():
                data = path.read_bytes()
                whole = data.rfind(b"\n") + 1
                if whole != len(data):
                    with path.open("r+b") as file:
                        file.truncate(whole)

    def _entries(self) -> Iterator[_Entry]:
        """Which episode is where in the file."""
        path = self.path / "episodes.jsonl"
        if not path.exists():
            return
        start = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    head = _read_head(line)
                except msgspec.DecodeError as error:
                    if not line.endswith(b"\n"):
                        return  # a kill left it half-written; the episode was not kept
                    raise self._not_stored(number, error) from error
                yield _Entry(head, number, start, len(line))
                start += len(line)

    def _read(self, entries: Iterable[_Entry]) -> Iterator[bytes]:
        """The lines of some entries."""
        path = self.path / "episodes.jsonl"
        if not path.exists():
            return
        with path.open("rb") as file:
            for entry in entries:
                file.seek(entry.start)
                yield file.read(entry.length).rstrip(b"\n") + b"\n"

    def _not_stored(self, line: int, error: Exception) -> InputError:
        return InputError(
            f"not a stored episode: {error}", file=str(self.path / "episodes.jsonl"), line=line
        )

    def _seconds(self) -> dict[tuple[str, int], float]:
        path = self.path / "timings.jsonl"
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

    def _replace(self, name: str, chunks: Iterator[bytes]) -> None:
        temporary = self.path / (name + ".part")
        try:
            with temporary.open("wb") as file:
                file.writelines(chunks)
            temporary.replace(self.path / name)
        except BaseException as error:
            # What is half-written keeps a full disk full, and nobody would look for it.
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise self._not_written(name, error) from error
            raise

    def _not_written(self, name: str, error: OSError) -> InputError:
        return InputError(
            f"cannot be written: {error.strerror}",
            file=str(self.path / name),
            expected="room and the right to write; what was played before is kept for --resume",
        )


def _write(file: IO[bytes], line: bytes) -> None:
    """Write a whole line; a raw file may take less at once."""
    rest = memoryview(line)
    while rest:
        rest = rest[file.write(rest) :]


def _lock(descriptor: int, path: Path, *, wait: bool) -> None:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError as error:
        raise InputError(
            "another process is playing this run",
            file=str(path),
            expected="to wait until it has ended, or another --out",
        ) from error


def _shorten(trace: dict[str, Any]) -> None:
    for turn in trace["turns"]:
        for call in turn["calls"]:
            call["result"], call["changes"] = None, []
