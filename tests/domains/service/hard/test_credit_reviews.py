"""The reviews of credits: two ways to the truth, what the rules decide, what the set holds."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice

import pytest

from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.service.hard import census, checks
from crmbench.domains.service.hard.domain import SERVICE_HARD
from crmbench.domains.service.hard.due import NEARBY, RULES, deciding
from crmbench.domains.service.hard.generate import LEVELS
from crmbench.domains.service.hard.grammar import parse, tidy
from crmbench.domains.service.hard.second_truth.census import PATTERNS, Reader, find
from crmbench.domains.service.hard.world import HardWorld
from crmbench.errors import HarnessError
from crmbench.grading.gold import execute_gold

WORLD = HardWorld(42)


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_finds_what_it_should(name: str) -> None:
    _, yes, no = PATTERNS[name]
    assert find(name, yes)
    assert not find(name, no)


def test_both_ways_to_the_truth_agree() -> None:
    made = WORLD.made
    reader = Reader(made.rows)
    for case in made.late:
        key = made.case_ids[case.number]
        assert case.outcome is not None
        amount = case.outcome.amount
        wanted = (case.outcome.outcome, None if amount is None else Fraction(str(amount)))
        assert reader.review(key) == wanted
        assert reader.is_late(key)
    late = set(made.case_ids.values())
    others = [row for row in made.rows["Case"] if row["Id"] not in late]
    assert not any(reader.is_late(row["Id"]) for row in others if not row["MasterRecordId"])


def test_every_rule_decides_some_cases() -> None:
    made = WORLD.made
    found = Counter(r for case in made.late for r in deciding(made.book, case.claim))
    assert set(found) == set(RULES)
    assert min(found.values()) >= 3


def test_outcomes_are_of_all_kinds_and_amounts_are_cents() -> None:
    outcomes = [case.outcome for case in WORLD.made.late if case.outcome]
    assert {each.outcome for each in outcomes} == {"Correct", "Underpaid", "Overpaid", "Refer"}
    for each in outcomes:
        assert (each.amount is not None) == (each.outcome in ("Underpaid", "Overpaid"))
        assert each.amount is None or each.amount == each.amount.quantize(Decimal("0.01"))


def test_the_org_is_as_dirty_as_it_says() -> None:
    rows = WORLD.made.rows
    cases = rows["Case"]
    assert sum(row["IssueId__c"] is None for row in cases) > 100
    assert sum(row["MasterRecordId"] is not None for row in cases) > 20
    assert sum(row["ContactId"] is None for row in cases) > 100
    left = {user["Id"] for user in rows["User"] if not user["IsActive"]}
    assert any(row["OwnerId"] in left for row in cases)


@pytest.mark.parametrize("level", LEVELS)
def test_gold_of_a_level_runs(level: str) -> None:
    task = next(census.tasks(WORLD, level, 42, "canary"))
    assert len({item.key for item in task.gold.items}) == len(task.gold.items)
    assert task.tag("size") == str(len(task.gold.items))
    with closing(SqliteBackend(SERVICE_HARD.schema)) as backend:
        run = execute_gold(SERVICE_HARD, task, backend)
    changed = {change.key for change in run.effects[-1]}
    reviewed = {i.key for i in task.gold.items if i.rules != ("reviewed",)}
    assert not run.faults
    assert changed == reviewed


def test_levels_grow() -> None:
    def mean(level: str) -> float:
        tasks = list(islice(census.tasks(WORLD, level, 42, "canary"), 5))
        return sum(len(task.gold.items) for task in tasks) / len(tasks)

    sizes = [mean(level) for level in ("L1", "L2", "L3", "L4", "L5")]
    assert sizes == sorted(sizes)
    assert sizes[2] > 14


def test_the_grammar_is_strict() -> None:
    assert tidy("hello  there , you .  fine") == "Hello there, you. Fine"
    with pytest.raises(HarnessError, match="bracket"):
        parse("[a|b")


def test_every_nearby_reading_matters_and_is_ruled_out_by_words() -> None:
    made = WORLD.made
    texts = [" ".join(row["FAQ_Answer__c"].split()) for row in made.rows["Knowledge__kav"]]
    assert all(any(words in text for text in texts) for words in NEARBY.values())
    assert census.other_readings(made, set(made.case_ids.values())) == set(NEARBY)


def test_a_reading_that_no_words_rule_out_is_found() -> None:
    task = next(census.tasks(WORLD, "L3", 42, "canary"))
    made = WORLD.made
    ids = {item.key for item in task.gold.items}
    assert census.other_readings(made, ids)
    silent = [
        {**row, "FAQ_Answer__c": ""} if row["Title"].startswith("Late deliveries") else row
        for row in made.rows["Knowledge__kav"]
    ]
    bare = replace(made, rows={**made.rows, "Knowledge__kav": silent})
    assert not checks.open_ways(task, made)
    assert any("ruled out by no article" in line for line in checks.open_ways(task, bare))
