"""The sheet of a task: its records, or what its mechanism brings; never what is right."""

from __future__ import annotations

import csv

import pytest

from crmbench.authoring.sheet import Sheet, records_sheet, sheet_of
from crmbench.core.overlay import DomainOverlay
from crmbench.core.task import Task
from crmbench.domains.registry import load_domain, load_generator
from crmbench.errors import InputError
from crmbench.runner.task_sets import load_named


def worklist() -> Task:
    tasks = load_generator("sales", "hard")(seed=42, size=12).tasks
    return next(task for task in tasks if task.tag("mechanism") == "worklist")


def test_the_sheet_holds_every_record_as_it_stands() -> None:
    task = worklist()
    domain = load_domain(task.domain)
    text = records_sheet(domain, task).csv()
    lines = text.splitlines()
    assert sum(line.startswith("# ") for line in lines) == 5
    rows = list(csv.DictReader(line for line in lines if not line.startswith("# ")))
    assert [row["record"] for row in rows] == [
        f"{table}/{key}" for item in task.gold.items for table, key in item.records
    ]
    assert all(row["name"] for row in rows)


def test_a_mechanism_may_bring_its_own() -> None:
    task = worklist()
    domain = DomainOverlay(load_domain(task.domain))
    own = Sheet(("a",), ((1,),), ("Look at a.",))
    vars(domain)["sheets"] = {"worklist": lambda _: own}
    assert sheet_of(domain, task).csv() == "# Look at a.\na\n1\n"


def test_a_task_without_items_has_none() -> None:
    task = load_named("demo").tasks()[0]
    with pytest.raises(InputError, match="has no items"):
        records_sheet(load_domain("sales"), task)
