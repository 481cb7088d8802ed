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
    for rep in made.made.org.team.reps:
        expected = {item.deal: made.writes(item) for item in made.made.items(rep)}
        assert read.writes(rep) == expected


def test_some_are_wrong_as_people_are_and_the_gold_mends_them() -> None:
    domain = load_domain("sales_hard")
    backend = SqliteBackend(domain.schema)
    for task in tasks("42-01", 3, "review-L3-42-01", "canary"):
        (turn,) = task.gold.turns
        assert 1 <= len(turn.calls) <= 13
        assert turn.facts[0].value == len(turn.calls)
        assert execute_gold(domain, task, backend).faults == ()
        # Each slip is one of the item's own alternatives: to leave it as it is.
        wrong = {call.arguments["opportunity_id"] for call in turn.calls}
        for item in task.gold.items:
            assert (item.key in wrong) == any(not a.outcome for a in item.alternatives)
