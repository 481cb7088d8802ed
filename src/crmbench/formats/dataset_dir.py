"""A generated data set on disk: JSONL to read, Parquet to load, a card that says what it is.

``datasets.load_dataset("parquet", data_files=…)`` and, on the Hugging Face hub, the card's own
configuration load the Parquet files. Values whose form differs from task to task stand there as
JSON, since a column has one type: ``datasets`` (5 or newer) gives them as objects, such as
``turn["expected_response"]["text"]``, and a reader that does not know JSON columns as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from crmbench.authoring.dataset import Dataset
from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.arc import save_tasks
from crmbench.formats.arc_tasks import task_to_data
from crmbench.formats.croissant import NAME as CROISSANT
from crmbench.formats.croissant import croissant_of

if TYPE_CHECKING:
    import pyarrow as pa

_TURN_JSON = ("expected_args", "expected_response", "crmbench")
_JSON = ("initial_entities", "final_expected_state", "cumulative_context", "crmbench")


def save_dataset(dataset: Dataset, folder: Path) -> list[Path]:
    """Write a data set into a directory, which is made; the same data set gives the same bytes.

    Returns:
        The files written.

    Raises:
        InputError: The directory cannot be written.
    """
    try:
        return _save(dataset, folder)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}",
            file=str(error.filename or folder),
            expected="a directory, new or of your own",
        ) from error


def _save(dataset: Dataset, folder: Path) -> list[Path]:
    import pyarrow.parquet as pq

    (folder / "data").mkdir(parents=True, exist_ok=True)
    written, tables = [], []
    for name, tasks in dataset.splits.items():
        lines, columns = folder / f"{name}.jsonl", folder / "data" / f"{name}.parquet"
        save_tasks(lines, tasks)
        table = _table(tasks)
        pq.write_table(table, columns, compression="zstd")
        written += [lines, columns]
        tables.append(columns)
    card, described = folder / "README.md", folder / CROISSANT
    card.write_text(card_of(dataset), encoding="utf-8")
    croissant = croissant_of(dataset, table.schema, tables, version("crmbench"))
    described.write_bytes(orjson.dumps(croissant, option=orjson.OPT_INDENT_2) + b"\n")
    return [*written, card, described]


def _table(tasks: Sequence[Task]) -> pa.Table:
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


def _with_json(array: pa.Array, field: pa.Field) -> pa.Array:
    """The same values, texts that hold JSON marked as such; pyarrow cannot build them at once."""
    import pyarrow as pa

    if field.name in _JSON or field.name in _TURN_JSON:
        return pa.ExtensionArray.from_storage(pa.json_(pa.string()), array)
    if field.name != "turns":
        return array
    turn = array.values
    parts = [_with_json(turn.field(part.name), part) for part in field.type.value_type]
    names = [part.name for part in field.type.value_type]
    return pa.ListArray.from_arrays(array.offsets, pa.StructArray.from_arrays(parts, names))


def _row(task: Task) -> dict[str, Any]:
    data = task_to_data(task)
    turns = [_texts(turn, _TURN_JSON) for turn in data["turns"]]
    return {**_texts(data, _JSON), "turns": turns}


def _texts(data: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {**data, **{name: orjson.dumps(data[name]).decode() for name in names}}


def card_of(dataset: Dataset) -> str:
    """The page that describes the data set, statistics included, in the Hugging Face form."""
    from jinja2 import Environment, StrictUndefined

    template = (resources.files("crmbench.formats") / "card.md.jinja").read_text(encoding="utf-8")
    tasks = dataset.tasks
    gold = [turn for task in tasks for turn in task.gold.turns]
    page = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    return page.from_string(template).render(
        dataset=dataset,
        tasks=tasks,
        first=next(iter(dataset.splits)),
        turns=len(gold),
        calls=sum(len(turn.calls) for turn in gold),
        failing=sum(any(not g.expect_success for g in task.gold.turns) for task in tasks),
        families=Counter(task.family for task in tasks),
        tables=list(_tables(tasks)),
        lengths=_lengths(tasks),
        final=any(task.final_state for task in tasks),
        copied=any(task.shown_slice for task in tasks),
    )


def _lengths(tasks: Sequence[Task]) -> str:
    """How many turns each level of complexity has, in words."""
    found = []
    for level in ("simple", "medium", "complex"):
        turns = [len(task.turns) for task in tasks if task.complexity == level]
        if turns:
            span = f"{min(turns)} to {max(turns)}" if min(turns) < max(turns) else str(turns[0])
            found.append(f"{level} {span} turn{'' if span == '1' else 's'}")
    return ", ".join(found)


def _tables(tasks: Sequence[Task]) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """What can be counted, by its title, the most frequent first."""
    columns: Mapping[str, Callable[[Task], Iterable[str]]] = {
        "Complexity": lambda task: (task.complexity,),
        "Category": lambda task: (task.category,),
        "Success criteria": lambda task: (task.gold.criteria,),
        "Tag": lambda task: task.tags,
        "Rule": lambda task: {rule for gold in task.gold.turns for rule in gold.rules},
        "World": lambda task: (task.world,),
    }
    for title, values in columns.items():
        counts = Counter(value for task in tasks for value in values(task))
        if counts:
            yield title, sorted(counts.items(), key=lambda item: (-item[1], item[0]))
