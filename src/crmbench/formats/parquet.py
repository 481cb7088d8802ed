"""Conversations in Parquet: one row each, with the columns that the JSON Lines have as keys.

Values whose form differs from task to task stand there as JSON, since a column has one type. A file
is read in batches, so that one of any length takes the memory of some conversations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.arc_tasks import task_to_data

if TYPE_CHECKING:
    import pyarrow as pa

TURN_JSON = ("expected_args", "expected_response", "crmbench")
JSON = ("initial_entities", "final_expected_state", "cumulative_context", "crmbench")
BATCH = 50
"""Conversations that are read at once: some 5 MB of them."""


def table_of(tasks: Sequence[Task]) -> pa.Table:
    """The tasks as a table, one row each."""
    import pyarrow as pa

    text, whole, flag = pa.string(), pa.int32(), pa.bool_()
    turn = pa.struct(
        [
            ("turn_id", whole),
            ("user_utterance", text),
            ("expected_tool", text),
            ("expected_args", text),
            ("references_previous_turns", pa.list_(whole)),
            ("expect_success", flag),
            ("expected_error_substring", text),
            ("failure_category", text),
            ("expected_response", text),
            ("crmbench", text),
        ]
    )
    schema = pa.schema(
        [
            ("conversation_id", text),
            ("workflow_category", text),
            ("complexity_level", text),
            ("turns", pa.list_(turn)),
            ("initial_entities", text),
            ("final_expected_state", text),
            ("success_criteria", text),
            ("contains_failure", flag),
            ("failure_turn", whole),
            ("verification_mode", text),
            ("chain_id", text),
            ("segment_number", whole),
            ("segment_boundaries", pa.list_(whole)),
            ("expected_outcome", text),
            ("cumulative_context", text),
            ("crmbench", text),
        ]
    )
    plain = pa.Table.from_pylist([_row(task) for task in tasks], schema=schema)
    columns = [
        _with_json(column.combine_chunks(), field)
        for column, field in zip(plain, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, [field.name for field in schema])


def write_table(table: pa.Table, file: Path | BinaryIO) -> None:
    """Write a table as every Parquet file of ours is written; the same table gives the same bytes.

    Raises:
        OSError: The file cannot be written.
    """
    import pyarrow.parquet as pq

    pq.write_table(table, file, compression="zstd")


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any] | InputError]]:
    """The number, from 1, and the JSON object of every row of a file, read in batches; an error for
    a row whose JSON is damaged.

    Raises:
        InputError: The file cannot be read, or has other columns than conversations have.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    expected = "Parquet of conversations, as crmbench generate writes it"
    try:
        with pq.ParquetFile(path) as file:
            lacking = {"conversation_id", "turns", *JSON} - set(file.schema_arrow.names)
            if lacking:
                raise InputError(
                    f"has no column '{min(lacking)}'", file=str(path), expected=expected
                )
            number = 0
            for batch in file.iter_batches(batch_size=BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield number, _conversation(row, str(path), number)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"cannot be read: {error}", file=str(path), expected=expected) from error


def _conversation(row: dict[str, Any], path: str, number: int) -> dict[str, Any] | InputError:
    """A row as the JSON object that its line holds."""
    try:
        turns = [{**turn, **_values(turn, TURN_JSON)} for turn in row["turns"] or ()]
        return {**row, **_values(row, JSON), "turns": turns}
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        return InputError(
            f"holds no conversation: {error}",
            file=path,
            line=number,
            expected="JSON in the columns " + ", ".join(JSON),
        )


def _values(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: orjson.loads(row[name]) for name in names}


def _with_json(array: pa.Array, field: pa.Field) -> pa.Array:
    """The same values, texts that hold JSON marked as such; pyarrow cannot build them at once."""
    import pyarrow as pa

    if field.name in JSON or field.name in TURN_JSON:
        return pa.ExtensionArray.from_storage(pa.json_(pa.string()), array)
    if field.name != "turns":
        return array
    turn = array.values
    parts = [_with_json(turn.field(part.name), part) for part in field.type.value_type]
    names = [part.name for part in field.type.value_type]
    return pa.ListArray.from_arrays(array.offsets, pa.StructArray.from_arrays(parts, names))


def _row(task: Task) -> dict[str, Any]:
    data = task_to_data(task)
    turns = [_texts(turn, TURN_JSON) for turn in data["turns"]]
    return {**_texts(data, JSON), "turns": turns}


def _texts(data: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {**data, **{name: orjson.dumps(data[name]).decode() for name in names}}
