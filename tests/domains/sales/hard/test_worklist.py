"""Renewals under a handbook: two truths, gates, and the gold on the real engine."""

from __future__ import annotations

import pytest

from crmbench.authoring.handbook import Condition
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.registry import load_domain
from crmbench.domains.sales.hard.generate import generate
from crmbench.domains.sales.hard.notes import NOTES, SAYINGS
from crmbench.domains.sales.hard.reader import ListReader
from crmbench.domains.sales.hard.wording import CONDITIONS, read_conditions, say_condition
from crmbench.domains.sales.hard.worklist import Worklist, worklist
from crmbench.grading.gold import execute_gold

WORLDS = [("7-01", 1), ("7-02", 2), ("42-01", 3), ("42-02", 3), ("7-03", 4)]


def reader(made: Worklist) -> ListReader:
    return ListReader({**made.org.rows, "Article": made.articles}, made.org.today)


@pytest.mark.parametrize(("seed", "level"), WORLDS)
def test_what_is_read_decides_every_row_as_the_generator_did(seed: str, level: int) -> None:
    made = worklist(seed, level)
    read = reader(made)
    for rep in made.org.team.reps:
        expected = {item.deal: dict(item.writes) for item in made.items(rep)}
        assert read.writes(rep) == expected


def test_the_articles_say_all_rules() -> None:
    made = worklist("42-01", 3)
    book = reader(made).handbook.book
    asked = [p for p in made.book.provisions if p.subject in {q.subject for q in book.provisions}]
    key = repr
    assert sorted(map(key, book.provisions)) == sorted(map(key, asked))
    assert sorted(map(key, book.amendments)) == sorted(map(key, made.book.amendments))


def test_conditions_and_notes_are_read_back() -> None:
    for attribute, op in CONDITIONS:
        values = {
            "value": 41_000.0,
            "industry": "Dairy",
            "country": "Norway",
            "product": "Yard Cameras",
        }
        condition = Condition(attribute, values.get(attribute, True), op)
        for choice in (0, 1):
            assert read_conditions(say_condition(condition, choice)) == (condition,)
    gaps = {
        "date": "3 May 2025",
        "ref": "R-1234",
        "share": "30",
        "rest": "70",
        "name": "Ryeholm BV",
    }
    for kind, wordings in SAYINGS.items():
        for wording in wordings:
            assert [said.kind for said in NOTES.read(wording.format(**gaps))] == [kind]


def test_the_gold_leads_where_it_should_and_every_item_can_be_blamed() -> None:
    dataset = generate(seed=5, size=4, level=2)
    domain = load_domain("sales_hard")
    backend = SqliteBackend(domain.schema)
    for task in dataset.tasks:
        assert execute_gold(domain, task, backend).faults == ()
        assert task.call_limit
        if task.family == "handbook_worklist":
            assert f"{task.call_limit} tool calls" in task.turns[0].utterance
        records = [record for item in task.gold.items for record in item.records]
        assert len(set(records)) == len(records) > 0
        blamed = any(item.alternatives for item in task.gold.items)
        assert blamed or task.family == "merge_duplicates"


def test_levels_and_seeds() -> None:
    assert generate(seed=5, size=4, level=1) == generate(seed=5, size=4, level=1)
    assert generate(seed=5, size=4, level=1).tasks != generate(seed=6, size=4, level=1).tasks
    sizes = {task.tag("mechanism"): task.tag("size") for task in generate(5, 4, 3).tasks}
    assert sizes == {"worklist": "24", "shift": "40", "review": "24", "merge": "60"}


def test_all_published_worlds_load() -> None:
    domain = load_domain("sales_hard")
    backend = SqliteBackend(domain.schema)
    for name in sorted({task.world for task in generate().tasks}):
        emails = [
            row["email"]
            for table, rows in domain.world(name).stream()
            if table == "Client"
            for row in rows
        ]
        assert len({email.lower() for email in emails}) == len(emails) > 0
        backend.acquire(domain.world(name)).reset()
