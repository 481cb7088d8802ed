"""A condition can be met, and it bites: the careful oracle passes, the careless one does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmbench.domains.sales.hard.generate import generate
from crmbench.formats.arc import save_tasks
from crmbench.runner.run import RunOptions, execute

NEW = ["automation", "colleague", "lures", "names"]
ALL_OF_IT = "names,lures,colleague,automation,timeouts,pages:2,rate:3,stale,break"
EVERYTHING = "timeouts,pages:2,rate:3,stale,break,handbook"


def passed(file: str, agent: str, condition: str, sample: int | None = None) -> tuple[int, int]:
    outcome = execute(
        RunOptions(file, agent=agent, condition=condition, sample=sample, concurrency=1)
    )
    return sum(e.verdict.success for e in outcome.outlines), len(outcome.outlines)


@pytest.mark.parametrize(
    "condition",
    ["", "timeouts", "pages:2", "rate:2", "stale:3", "break", "handbook", EVERYTHING, *NEW],
)
def test_the_careful_oracle_passes_under_every_condition(condition: str) -> None:
    succeeded, all_of_them = passed("demo", "oracle:defensive", condition)
    assert succeeded == all_of_them == 24


@pytest.mark.parametrize("condition", ["timeouts", "pages:2", "rate:2", "stale:3", "break", *NEW])
def test_the_careless_oracle_fails_where_care_is_needed(condition: str) -> None:
    succeeded, all_of_them = passed("demo", "oracle:naive", condition)
    # Under other names it finds nothing at all.
    assert (0 if condition == "names" else 1) <= succeeded < all_of_them


def test_the_careless_oracle_passes_where_nothing_is_in_its_way() -> None:
    assert passed("demo", "oracle:naive", "") == (24, 24)


@pytest.mark.parametrize("file", ["sales/standard", "service"])
def test_a_sample_of_the_published_sets(file: str) -> None:
    succeeded, all_of_them = passed(file, "oracle:defensive", EVERYTHING, 40)
    assert succeeded == all_of_them == 40
    assert passed(file, "oracle:naive", EVERYTHING, 40)[0] < 30


@pytest.mark.parametrize("file", ["sales/standard", "service"])
def test_all_conditions_at_once_leave_a_careful_way(file: str) -> None:
    assert passed(file, "oracle:defensive", ALL_OF_IT, 20) == (20, 20)


def test_a_conflict_over_a_merge_is_about_the_record_that_it_names(tmp_path: Path) -> None:
    """Two records are merged; of which of them the version is wanted, the conflict says."""
    file = tmp_path / "merges.jsonl"
    save_tasks(file, generate(42, 2, 2, ("merge",)).tasks)
    merges = RunOptions(str(file), agent="oracle:defensive", condition="colleague")
    outcome = execute(merges)
    assert [e.verdict.success for e in outcome.outlines] == [True, True]


@pytest.mark.parametrize("budget", [0.5, 1.0])
def test_a_budget_below_the_golds_calls_stops_the_oracle(budget: float) -> None:
    outcome = execute(RunOptions("demo", agent="oracle", budget=budget, concurrency=1))
    succeeded = sum(e.verdict.success for e in outcome.outlines)
    assert (succeeded == 24) is (budget == 1.0)
