"""One row an episode: what every figure of a run follows from, in columns of a Parquet file.

No trace, no reply and no task: some hundred bytes an episode instead of ten thousand, so that the
figures of a million episodes are made from one file, batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from crmbench.core.trace import TokenUsage
from crmbench.errors import InputError
from crmbench.formats.whole_file import replace_file

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = "outlines.parquet"
"""The file's name in a run that is played part by part."""
BATCH = 2_000
"""Rows that are read at once."""
_TASKS, _ASKS = b"crmbench.tasks", b"crmbench.asks"


class ToolCalls(msgspec.Struct, frozen=True):
    """Calls of a tool that ended alike."""

    tool: str
    error: str | None
    """The kind of error; null where they were answered."""
    calls: int


class UserPart(msgspec.Struct, frozen=True):
    """What the model that played the user did."""

    model: str
    messages: int
    corrections: int
    errors: int
    """Episodes that it spoilt."""
    usage: TokenUsage


class JudgePart(msgspec.Struct, frozen=True):
    """What the judge did, in turns."""

    model: str
    asked: int
    passed: int
    failed: int
    open_calls: int
    open_calls_passed: int
    not_counted: int
    """Episodes that do not count because it failed."""
    both_pass: int
    only_judge_passes: int
    only_checks_pass: int
    both_fail: int
    usage: TokenUsage


class EpisodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """An episode in figures; the fields are the columns."""

    task_id: str
    trial: int
    domain: str
    category: str
    complexity: str
    family: str
    persona: str
    """The role alone."""
    tags: tuple[str, ...]
    task_turns: int
    easy: str | None
    """Why doing little can be enough to pass it; null if nothing says so."""
    outcome: str
    error: str | None
    counted: bool
    excluded: str | None
    """Who spoilt an episode that does not count."""
    success: bool
    undecided: bool
    fault: str | None
    """The kind of first fault; null where it succeeded or is undecided."""
    reason: str | None
    failed_at_turn: int | None
    turns: int
    """Played."""
    turns_right: tuple[int, ...]
    """Numbers of those that succeeded, from 1."""
    all_turns_right: bool
    calls: int
    tool_errors: int
    tools: tuple[ToolCalls, ...]
    tool_right: int
    """Turns whose call is the expected one."""
    exact_right: int
    """Turns whose tool and arguments match exactly."""
    replies_checked: int
    replies_right: int
    segments: tuple[bool, ...]
    """Of a chain."""
    undecided_kinds: tuple[str, ...]
    misreports: tuple[str, ...]
    answer_scores: tuple[float, ...]
    text_scores: tuple[float, ...]
    usage: TokenUsage
    """Of the agent alone."""
    user: UserPart | None
    judge: JudgePart | None


class RowsHead(NamedTuple):
    """What a file says of all its rows."""

    tasks: int
    """Of the run, those that were never played included."""
    asks: bool
    """Whether any of the tasks asks for an answer."""


def encoded_rows(rows: Sequence[EpisodeRow], head: RowsHead) -> bytes:
    """The Parquet file of some rows; the same rows give the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist([msgspec.to_builtins(row) for row in rows], schema=_schema())
    file = BytesIO()
    pq.write_table(table.replace_schema_metadata(_metadata(head)), file, compression="zstd")
    return file.getvalue()


def write_rows(path: Path, rows: Sequence[EpisodeRow], head: RowsHead) -> None:
    """Write a file whole or not at all.

    Raises:
        InputError: It cannot be written.
    """
    with _saying(path, "cannot be written"):
        replace_file(path, [encoded_rows(rows, head)])


def join_rows(path: Path, parts: Iterable[Path], head: RowsHead) -> None:
    """Write one file of those of all parts, one after the other; one of them is held.

    Raises:
        InputError: A file cannot be read, or this one not be written.
    """
    import pyarrow.parquet as pq

    temporary = path.with_name(path.name + ".part")
    with _saying(path, "cannot be written"):
        schema = _schema().with_metadata(_metadata(head))
        with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
            for part in parts:
                table = pq.read_table(part)
                writer.write_table(table.replace_schema_metadata(_metadata(head)))
        temporary.replace(path)


def read_head(path: Path) -> RowsHead:
    """What a file says of its rows; they are not read.

    Raises:
        InputError: It is no such file.
    """
    import pyarrow.parquet as pq

    with _saying(path, "cannot be read"):
        found = pq.read_schema(path).metadata or {}
    if _TASKS not in found:
        raise InputError("holds no outlines of episodes", file=str(path))
    return RowsHead(int(found[_TASKS]), found.get(_ASKS) == b"1")


def read_rows(path: Path) -> Iterator[EpisodeRow]:
    """The rows of a file, of which some are held at once.

    Raises:
        InputError: It is no such file.
    """
    import pyarrow.parquet as pq

    with _saying(path, "cannot be read"), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=BATCH):
            yield from msgspec.convert(batch.to_pylist(), list[EpisodeRow])


def read_task_ids(path: Path) -> list[str]:
    """The tasks of the rows, of which nothing else is read.

    Raises:
        InputError: It is no such file.
    """
    import pyarrow.parquet as pq

    with _saying(path, "cannot be read"):
        found: list[str] = pq.read_table(path, columns=["task_id"])["task_id"].to_pylist()
        return found


def read_outcomes(path: Path) -> Iterator[tuple[tuple[str, int], bool]]:
    """Task, trial and success of every row, of which nothing else is read.

    Raises:
        InputError: It is no such file.
    """
    import pyarrow.parquet as pq

    with _saying(path, "cannot be read"):
        table = pq.read_table(path, columns=["task_id", "trial", "success"])
    tasks, trials, success = (column.to_pylist() for column in table.columns)
    yield from zip(zip(tasks, trials, strict=True), success, strict=True)


def all_counted(path: Path) -> bool:
    """Whether every row counts, of which nothing else is read.

    Raises:
        InputError: It is no such file.
    """
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    with _saying(path, "cannot be read"):
        found = pc.all(pq.read_table(path, columns=["counted"])["counted"], min_count=0)
        return bool(found.as_py())


def row_count(path: Path) -> int:
    """How many rows a file has.

    Raises:
        InputError: It is no such file.
    """
    import pyarrow.parquet as pq

    with _saying(path, "cannot be read"):
        return int(pq.read_metadata(path).num_rows)


def _schema() -> pa.Schema:
    import pyarrow as pa

    text, number, flag, real = pa.string(), pa.int32(), pa.bool_(), pa.float64()
    tokens = pa.int64()
    usage = pa.struct(
        [
            ("prompt_tokens", tokens),
            ("completion_tokens", tokens),
            ("cached_tokens", tokens),
            ("reasoning_tokens", tokens),
            ("model_calls", tokens),
            ("cost", real),
        ]
    )
    use = pa.struct([("tool", text), ("error", text), ("calls", number)])
    types: dict[str, Any] = {
        "task_id": text, "trial": number, "domain": text, "category": text, "complexity": text,
        "family": text, "persona": text, "tags": pa.list_(text), "task_turns": number,
        "easy": text, "outcome": text, "error": text, "counted": flag, "excluded": text,
        "success": flag, "undecided": flag, "fault": text, "reason": text,
        "failed_at_turn": number, "turns": number, "turns_right": pa.list_(number),
        "all_turns_right": flag, "calls": number, "tool_errors": number, "tools": pa.list_(use),
        "tool_right": number, "exact_right": number, "replies_checked": number,
        "replies_right": number, "segments": pa.list_(flag), "undecided_kinds": pa.list_(text),
        "misreports": pa.list_(text), "answer_scores": pa.list_(real),
        "text_scores": pa.list_(real), "usage": usage,
        "user": _counts(UserPart, usage), "judge": _counts(JudgePart, usage),
    }  # fmt: skip
    return pa.schema([(field, types[field]) for field in EpisodeRow.__struct_fields__])


def _counts(kind: type[msgspec.Struct], usage: pa.DataType) -> pa.DataType:
    """A column of a part: a model, whole numbers, and what it took."""
    import pyarrow as pa

    known = {"model": pa.string(), "usage": usage}
    return pa.struct([(name, known.get(name, pa.int32())) for name in kind.__struct_fields__])


def _metadata(head: RowsHead) -> dict[bytes, bytes]:
    return {_TASKS: str(head.tasks).encode(), _ASKS: b"1" if head.asks else b"0"}


@contextmanager
def _saying(path: Path, what: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException, msgspec.ValidationError) as error:
        raise InputError(
            f"{what}: {error}",
            file=str(path),
            expected="outlines of episodes, as crmbench writes them for a run in parts",
        ) from error
