"""A colleague's renewals: two truths on what is wrong, and what the slips are."""

from __future__ import annotations

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
    items = made.made.items(made.made.rep)
    assert read.writes(made.made.rep) == {item.deal: made.writes(item) for item in items}


@pytest.mark.parametrize("seed", ["42-01", "42-02", "42-03"])
def test_what_stands_on_the_rows_gives_no_rule_away(seed: str) -> None:
    made = review(seed, 3)
    items = made.made.items(made.made.rep)
    wrong = {item.deal: made.writes(item) for item in items if made.writes(item)}
    assert 4 <= len(wrong) <= 8
    # Of those that are wrong few are so in one field, and none as somebody leaves it who has missed
    # on all rows what is missed on this one.
    assert sum(len(fields) > 1 for fields in wrong.values()) >= len(wrong) / 2
    for article in {name for item in items for name, _ in made.made.slips(item)}:
        would = {
            item.deal: fields
            for item in items
            for name, fields in made.made.slips(item)
            if name == article
        }
        if len(would) > 2:
            assert any(made.present[deal] != fields for deal, fields in would.items())
    # No other renewal of the world tells what the handbook says.
    others = {*made.made.renewals} - {item.deal for item in items}
    rows = {row["opportunity_id"]: row for row in made.tables()["Opportunity"]}
    assert all(rows[deal]["probability"] == 25 for deal in others)


def test_some_are_wrong_as_people_are_and_the_gold_mends_them() -> None:
    domain = load_domain("sales_hard")
    backend = SqliteBackend(domain.schema)
    for task in tasks("42-01", 3, "review-L3-42-01", "canary"):
        (turn,) = task.gold.turns
        assert 1 <= len(turn.calls) <= 11
        assert turn.facts[0].value == len(turn.calls)
        assert execute_gold(domain, task, backend).faults == ()
        wrong = {call.arguments["opportunity_id"] for call in turn.calls}
        # To leave a right one alone is no alternative of it.
        for item in task.gold.items:
            assert item.key in wrong or all(a.outcome for a in item.alternatives)
