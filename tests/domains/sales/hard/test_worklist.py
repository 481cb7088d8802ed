"""Renewals under a handbook: two truths, gates, and the gold on the real engine."""

from __future__ import annotations

from itertools import pairwise

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
        expected = {item.deal: made.writes(item) for item in made.items(rep)}
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
        "name": "Ryeholm S.p.A.",
        "other": "R-4321",
    }
    for kind, wordings in SAYINGS.items():
        for wording in wordings:
            (said,) = NOTES.read(wording.format(**gaps))
            assert said.kind == kind
            assert all(gaps[name] == value for name, value in said.gaps.items())


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


@pytest.mark.parametrize("seed", ["42-01", "42-02", "42-03"])
def test_a_third_of_the_rows_and_more_need_an_article_whose_title_does_not_say_so(
    seed: str,
) -> None:
    made = worklist(seed, 3)
    for rep in made.org.team.reps:
        items = made.items(rep)
        assert 3 * sum(made.hidden(item) for item in items) >= len(items)


@pytest.mark.parametrize("seed", ["42-01", "42-02"])
def test_every_term_is_told_to_be_another_and_no_root_finds_all_provisions(seed: str) -> None:
    made = worklist(seed, 3)
    words = [pair for draft in made.rules.drafts for pair in draft.words]
    assert [(known, word) for word, known in words] == list(pairwise(made.rules.terms))
    assert made.rules.terms[0] == "renewal"
    numbers = {p.article for p in made.book.provisions if p.subject in ("uplift", "hold")}
    for term in made.rules.terms:
        found = {row["number"] for row in made.articles if term in row["text"].casefold()}
        assert len(numbers & found) < len(numbers) * 2 / 3


def test_amounts_are_guesses_and_the_product_tells_which_contract_is_meant() -> None:
    made = worklist("42-01", 3)
    stale = [made.present[deal]["amount"] != c.value for deal, (_, c) in made.renewals.items()]
    assert sum(stale) > len(stale) * 0.9
    over = [row for row in made.org.rows["Contract"] if row["status"] == "Expired"]
    assert len(over) > len(stale) / 3
    for row in made.org.rows["Contract"]:
        assert row["start_date"] < made.org.today.isoformat()


def test_levels_and_seeds() -> None:
    assert generate(seed=5, size=4, level=1) == generate(seed=5, size=4, level=1)
    assert generate(seed=5, size=4, level=1).tasks != generate(seed=6, size=4, level=1).tasks
    sizes = {task.tag("mechanism"): task.tag("size") for task in generate(5, 4, 3).tasks}
    assert sizes == {"worklist": "14", "shift": "60", "review": "14", "merge": "60"}


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
