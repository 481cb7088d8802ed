"""Above the published level more has to be found, not only more cases decided."""

from __future__ import annotations

from datetime import date
from itertools import islice

import pytest

from crmbench.core.task import Task
from crmbench.domains.service.hard import checks, world
from crmbench.domains.service.hard.desk.handles import all_nicknames
from crmbench.domains.service.hard.domain import SERVICE_HARD
from crmbench.domains.service.hard.generate import MECHANISMS, orgs_of
from crmbench.domains.service.hard.second_truth import hidden
from crmbench.domains.service.hard.world import (
    MONTHS_ASKED,
    HardWorld,
    focus_months,
    focus_periods,
    month_after,
)
from crmbench.runner.task_sets import load_named

PUBLISHED, ABOVE = HardWorld(42), HardWorld(42, 4)


def memos_behind(task: Task) -> set[str]:
    rules = {rule for item in task.gold.items for rule in item.rules}
    return {rule for rule in rules if rule.startswith("Memo ")}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_higher_level_has_more_to_be_found(mechanism: str) -> None:
    below = next(MECHANISMS[mechanism](PUBLISHED, "L3", 42, ""))
    above = next(MECHANISMS[mechanism](ABOVE, "L4", 42, ""))
    assert len(memos_behind(above)) > 1.6 * len(memos_behind(below))
    assert hidden.problems(above, ABOVE.made.rows["Knowledge__kav"]) == []
    assert {name: found for name, found in checks.problems(above).items() if found} == {}


@pytest.mark.parametrize("split", ["L4", "L5"])
def test_most_of_what_waits_can_be_given_to_somebody(split: str) -> None:
    """What does not fit into a full desk is escalated, whatever memos say."""
    given = waiting = 0
    for task in load_named(f"service/{split}").tasks():
        if task.family == f"queue_routing_{split}":
            given += sum(call.tool == "assign_case" for call in task.gold.turns[0].calls)
            waiting += len(task.gold.items)
    assert waiting > 12 * 40
    assert given > 0.7 * waiting


def test_no_org_and_no_spare_is_another_part_s() -> None:
    orgs = [org for part in range(60) for org in islice(orgs_of(42, part), 30)]
    assert len(set(orgs)) == len(orgs)
    assert orgs[0] == 42


def test_a_world_is_known_by_its_name() -> None:
    assert [world.name for world in (PUBLISHED, ABOVE)] == ["hard-42", "hard-42-L4"]
    assert SERVICE_HARD.world("hard-42-L4") == ABOVE
    assert SERVICE_HARD.world("hard-42") == PUBLISHED


def test_an_org_whose_names_run_out_calls_the_rest_by_other_means(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = all_nicknames("few")[:30]
    monkeypatch.setattr(world, "all_nicknames", lambda *_, **__: list(few))
    drafts = {
        (of, draft.key): draft
        for of, memos in HardWorld(43, 4).made.rules.items()
        for draft in memos.drafts
    }
    named = [draft for draft in drafts.values() if draft.nickname and not draft.names]
    assert sorted(draft.nickname for draft in named) == sorted(few)
    by_name = [(of, d.amendment) for (of, _), d in drafts.items() if d.calls == "name"]
    assert len(by_name) > 10
    assert all(made and drafts[of, made.target].nickname for of, made in by_name)


@pytest.mark.parametrize("level", [4, 5])
@pytest.mark.parametrize("seed", range(40, 60))
def test_the_periods_that_memos_bear_on_are_among_those_asked_about(seed: int, level: int) -> None:
    start = focus_months(seed, level)
    end = month_after(start, MONTHS_ASKED[level])
    periods = focus_periods(seed, level)
    assert end <= date(2026, 3, 1)
    assert all(start <= first < last <= end for first, last in periods)
    assert len({first.replace(day=1) for first, _ in periods}) == len(periods) > 1
    assert focus_periods(seed, 3) == periods[:1]
