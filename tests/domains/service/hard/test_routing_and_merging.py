"""Queues and duplicates: two ways to the truth, and tools that keep to the rules."""

from __future__ import annotations

import re
from contextlib import closing

import pytest

from crmbench.core.clock import WorldClock
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.service.hard import merging, worklist
from crmbench.domains.service.hard.domain import SERVICE_HARD
from crmbench.domains.service.hard.duplicates import READING, Merger
from crmbench.domains.service.hard.queues import TODAY
from crmbench.domains.service.hard.reading import refuse_long_texts
from crmbench.domains.service.hard.second_truth.duplicates import DuplicateReader
from crmbench.domains.service.hard.second_truth.routing import PROBLEMS, RoutingReader
from crmbench.domains.service.hard.staffing import Router
from crmbench.domains.service.hard.world import HardWorld
from crmbench.errors import ToolError
from crmbench.grading.gold import execute_gold

WORLD = HardWorld(42)
LEVELS = ("L1", "L2", "L3", "L4", "L5")


@pytest.mark.parametrize("issue", PROBLEMS)
def test_a_letter_shows_one_issue(issue: str) -> None:
    letter = PROBLEMS[issue][1]
    found = [name for name, (words, _) in PROBLEMS.items() if re.search(words, letter, re.I)]
    assert found == [issue]


def test_both_ways_to_a_routing_agree() -> None:
    made = WORLD.made
    reader = RoutingReader(made.rows)
    assert len(made.desk.queues) == 12
    for cases in made.desk.queues.values():
        one = Router(made.rules["routing"].book(), made.desk.agents, TODAY).route(cases)
        assert reader.route([case.id for case in cases]) == one


def test_both_ways_to_duplicates_agree() -> None:
    made = WORLD.made
    reader = DuplicateReader(made.rows)
    for cases in made.inbox.values():
        found = Merger(made.rules["duplicates"].book(), TODAY).clusters(cases)
        one = {each.master: (each.others, each.priority) for each in found}
        assert reader.merge([case.id for case in cases]) == one


@pytest.mark.parametrize("mechanism", [worklist, merging])
def test_who_misses_one_memo_of_many_goes_wrong(mechanism: object) -> None:
    make = worklist.tasks if mechanism is worklist else merging.tasks
    task = next(make(WORLD, "L3", 1, ""))
    rules = {rule for item in task.gold.items for rule in item.rules}
    assert sum(rule.startswith("Memo ") for rule in rules) >= 12
    assert set(READING) <= rules or {"away", "order"} <= rules


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("mechanism", [worklist, merging])
def test_gold_runs_and_touches_only_its_items(mechanism: object, level: str) -> None:
    make = worklist.tasks if mechanism is worklist else merging.tasks
    task = next(make(WORLD, level, 42, "canary"))
    with closing(SqliteBackend(SERVICE_HARD.schema)) as backend:
        run = execute_gold(SERVICE_HARD, task, backend)
    items = {item.key for item in task.gold.items}
    changed = {change.key for change in run.effects[-1] if change.table == "Case"}
    assert not run.faults
    assert changed
    assert changed <= items
    assert task.tag("size") == str(len(items))


def test_merging_refuses_what_is_closed_or_itself() -> None:
    world = SERVICE_HARD.world(WORLD.name)
    rows = WORLD.made.rows["Case"]
    closed = next(row["Id"] for row in rows if row["Status"] == "Closed")
    first, second = [row["Id"] for row in rows if row["Status"] == "New"][:2]
    merge = SERVICE_HARD.toolbox.get("merge_cases")
    with closing(SqliteBackend(SERVICE_HARD.schema)) as backend:
        database = backend.acquire(world)
        database.start(WorldClock(world.now, "test"))
        org = SERVICE_HARD.handle(database)
        for others in ([first], [closed], []):
            with pytest.raises(ToolError):
                merge.function(org, master_id=first, duplicate_ids=others)
        merge.function(org, master_id=first, duplicate_ids=[second])
        merged = database.get("Case", second)
        assert merged is not None
        assert (merged["Status"], merged["MasterRecordId"]) == ("Closed", first)
        database.reset()
        backend.release(world, database)


def test_describing_objects_names_fields_and_relations() -> None:
    tool = SERVICE_HARD.toolbox.get("describe_object")
    described = tool.function(None, object_name="case")
    names = {field["name"]: field for field in described["fields"]}
    assert names["OrderItemId__c"]["relation"] == "OrderItemId__r"
    assert "Credits__r (Credit__c)" in described["children"]
    assert "Skill__c" in tool.function(None)["objects"]
    with pytest.raises(ToolError, match="no object 'Cas'"):
        tool.function(None, object_name="Cas")


def test_what_no_query_gives_is_marked_where_objects_are_described() -> None:
    tool = SERVICE_HARD.toolbox.get("describe_object")
    marked = set()
    for name in tool.function(None)["objects"]:
        for field in tool.function(None, object_name=name)["fields"]:
            query = f"SELECT {field['name']} FROM {name}"
            if "in_queries" in field:
                marked.add(field["name"])
                with pytest.raises(ToolError, match="long text areas"):
                    refuse_long_texts(query)
            else:
                refuse_long_texts(query)
    assert {"Summary", "FAQ_Answer__c", "Description", "CommentBody", "TextBody"} <= marked
