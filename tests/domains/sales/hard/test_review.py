"""A colleague's renewals: two truths on what is wrong, and what the slips are."""

from __future__ import annotations

from collections import Counter

import pytest

from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.registry import load_domain
from crmbench.domains.sales.hard.reader import ListReader
from crmbench.domains.sales.hard.review import review, tasks
from crmbench.grading.gold import execute_gold


@pytest.mark.parametrize(("seed", "level"), [("7-01", 1), ("7-02", 2), ("42-01", 3)])
def test_what_is_read_corrects_as_the_generator_does(seed: str, level: int) -> None:
    made = review(seed, level)
    read = ListReader({**made.tables(), "Article": made.made.articles}, made.made.org.today)
    for rep in made.made.reps:
        items = made.made.items(rep)
        assert read.writes(rep) == {item.deal: made.writes(item) for item in items}


@pytest.mark.parametrize("seed", ["42-01", "42-02", "42-03"])
def test_what_stands_on_the_rows_gives_no_rule_away(seed: str) -> None:
    made = review(seed, 3)
    asked, others = made.made.asked_items, made.made.other_items
    items = (*asked, *others)
    assert len(asked) == len(others) == 12
    assert made.present.keys() == {item.deal for item in items}
    wrong = {item.deal for item in items if made.writes(item)}
    # That a renewal is asked about does not tell whether it is wrong.
    for some in (asked, others):
        assert 4 <= sum(item.deal in wrong for item in some) <= 8
    # What stands on every renewal is what the handbook gives without a few of its articles.
    missed = {name for some in made.missed.values() for name in some}
    assert made.missed.keys() == wrong
    book = made.made.book
    for article in missed:
        book = book.without(article)
    for item in items:
        assert made.made.decide(item.deal, book).target == made.present[item.deal]
    assert all(1 <= len(some) <= 2 for some in made.missed.values())
    # No other renewal of the world tells what the handbook says.
    rest = {*made.made.renewals} - {item.deal for item in items}
    rows = {row["opportunity_id"]: row for row in made.tables()["Opportunity"]}
    assert all(rows[deal]["probability"] == 25 for deal in rest)


def test_some_are_wrong_as_people_are_and_the_gold_mends_them() -> None:
    domain = load_domain("sales_hard")
    backend = SqliteBackend(domain.schema)
    for task in tasks("42-01", 3, "review-L3-42-01", "canary"):
        turns = task.gold.turns
        assert len(turns) == 4
        assert all(turn.facts[0].value == len(turn.calls) for turn in turns)
        assert execute_gold(domain, task, backend).faults == ()
        wrong = {call.arguments["opportunity_id"] for turn in turns for call in turn.calls}
        assert 1 <= len(wrong) <= 11
        # To leave a right one alone is no alternative of it.
        for item in task.gold.items:
            assert item.key in wrong or all(a.outcome for a in item.alternatives)


def test_most_changes_that_are_not_named_by_number_decide_no_right_renewal() -> None:
    found = told = 0
    for number in range(1, 9):
        made = review(f"42-{number:02d}", 3)
        right = [i for i in made.made.asked_items if not made.writes(i)]
        wrong = [i for i in made.made.asked_items if made.writes(i)]
        hard = made.made.unnumbered
        deciding = {name for item in (*right, *wrong) for name, _ in made.made.slips(item)} & hard
        found += len(deciding)
        told += len({name for item in right for name, _ in made.made.slips(item)} & hard)
    assert found >= 64
    assert told <= found / 2


def test_now_and_then_several_renewals_are_wrong_by_one_article() -> None:
    alike = 0
    for seed in ("42-01", "42-02", "42-03", "42-04"):
        made = review(seed, 3)
        asked = [made.missed.get(deal, ()) for deal in made.made.asked]
        counts = Counter(name for some in asked for name in some)
        alike += max(counts.values()) > 1
    assert alike >= 1
