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

import orjson

from crmbench.authoring.dataset import Dataset
from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.arc import save_tasks
from crmbench.formats.croissant import NAME as CROISSANT
from crmbench.formats.croissant import croissant_of
from crmbench.formats.parquet import table_of, write_table


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
    (folder / "data").mkdir(parents=True, exist_ok=True)
    written, tables = [], []
    for name, tasks in dataset.splits.items():
        lines, columns = folder / f"{name}.jsonl", folder / "data" / f"{name}.parquet"
        save_tasks(lines, tasks)
        table = table_of(tasks)
        write_table(table, columns)
        written += [lines, columns]
        tables.append(columns)
    card, described = folder / "README.md", folder / CROISSANT
    card.write_text(card_of(dataset), encoding="utf-8")
    croissant = croissant_of(dataset, table.schema, tables, version("crmbench"))
    described.write_bytes(orjson.dumps(croissant, option=orjson.OPT_INDENT_2) + b"\n")
    return [*written, card, described]


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
