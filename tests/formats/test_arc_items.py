"""What tasks of the ladder carry goes through a file; other tasks are stored as before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import NORTHGATE

from crmbench.core.task import Alternative, GoldItem
from crmbench.errors import InputError
from crmbench.formats.arc import load, parse_conversation, save_tasks, task_from
from crmbench.formats.arc_tasks import task_to_data

ITEMS = (
    GoldItem(
        "OPP-1",
        1,
        (("Opportunity", "OPP-1"),),
        (0,),
        None,
        ("DEAL-3", "DEAL-7"),
        (
            Alternative(("DEAL-7",), {"Opportunity/OPP-1": {"probability": 40}}),
            Alternative(("DEAL-3", "DEAL-7")),
        ),
    ),
    GoldItem("OPP-2", 1, (("Opportunity", "OPP-2"), ("Quote", "Q-1"))),
    GoldItem("CASE-9", 2, listed=False),
)


def test_items_limit_and_breaks_go_there_and_back(tmp_path: Path) -> None:
    task = load(Path(NORTHGATE)).tasks()[0]
    tags = ("level:L3", "mechanism:worklist", "size:40")
    whole = replace(
        task, gold=replace(task.gold, items=ITEMS), call_limit=290, breaks=(1, 2), tags=tags
    )
    save_tasks(tmp_path / "one.jsonl", [whole])
    [read] = load(tmp_path / "one.jsonl").tasks()
    assert (read.gold.items, read.call_limit, read.breaks) == (ITEMS, 290, (1, 2))
    assert [read.tag(name) for name in ("level", "mechanism", "size", "other")] == [
        "L3",
        "worklist",
        "40",
        None,
    ]


def test_a_task_without_them_is_stored_without_them() -> None:
    task = load(Path(NORTHGATE)).tasks()[0]
    assert not {"items", "call_limit", "breaks"} & task_to_data(task)["crmbench"].keys()


def test_an_item_of_another_form_is_said() -> None:
    data = task_to_data(load(Path(NORTHGATE)).tasks()[0])
    data["crmbench"]["items"] = [{"key": "OPP-1"}]
    with pytest.raises(InputError, match="turn"):
        task_from(parse_conversation(data))
