"""What lists of the highest level hang on: provisions that go for few, in every session others."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, pairwise

import pytest

from crmbench.core.task import Task
from crmbench.domains.sales.hard.handbook.chains import ChainWriter
from crmbench.domains.sales.hard.handbook.list_rules import ListRuleWriter
from crmbench.domains.sales.hard.lists import ListOrgWriter
from crmbench.domains.sales.hard.worklist import SIZES, _Aim, _rows
from crmbench.runner.task_sets import load_named

NOT_ARTICLES = {"the day that counts"}
ADDED = 20
PLACES = ("country", "industry", "product")


def lists_of_level_5() -> list[Task]:
    tasks = load_named("sales/L5").tasks()
    return [task for task in tasks if task.family in ("handbook_worklist", "handbook_review")]


def by_session(task: Task) -> list[set[str]]:
    """The articles without which something of a session comes out otherwise."""
    found: list[set[str]] = [set() for _ in task.turns]
    for item in task.gold.items:
        for other in item.alternatives:
            found[item.turn - 1] |= {*other.without} - NOT_ARTICLES
    return found


def test_lists_of_level_5_hang_on_a_hundred_articles_and_more() -> None:
    lists = lists_of_level_5()
    assert len(lists) == 24
    for task in lists:
        assert len(set[str]().union(*by_session(task))) > 100, task.task_id


def test_each_session_of_such_a_list_hangs_on_articles_that_none_before_hung_on() -> None:
    fresh: list[int] = []
    for task in lists_of_level_5():
        known = accumulate(by_session(task), lambda before, own: before | own)
        fresh += [len(after) - len(before) for before, after in pairwise(known)]
    assert min(fresh) >= 3
    assert sum(fresh) / len(fresh) > 12


@pytest.mark.parametrize("seed", ["7-01", "7-02", "7-03"])
def test_each_provision_for_few_decides_the_row_that_it_was_drawn_for(seed: str) -> None:
    org = ListOrgWriter(seed, 8).write()
    writer = ListRuleWriter(seed, org, SIZES[2])
    writer.provisions()
    rows = [_Aim(org, *row) for row in _rows(org, org.team.reps[:2])]
    before = writer.book.provisions
    niches = writer.niches(rows, ADDED)
    book = writer.book

    assert len(niches) == ADDED
    for number, row in niches.items():
        assert row.outcome(book) != row.outcome(book.without(number))
    added = book.provisions[len(before) :]
    assert [p.article for p in added] == [*niches]
    assert all(len(p.when) == 2 for p in added)
    # What is said of a provision is its question and its case, so no two may share both.
    cases = Counter((p.subject, frozenset(p.when)) for p in book.provisions if p.when)
    assert max(cases[p.subject, frozenset(p.when)] for p in added) == 1
    assert len({p.since for p in book.provisions}) == len(book.provisions)


@pytest.mark.parametrize("seed", ["7-01", "7-02"])
def test_chains_leave_nine_in_ten_provisions_for_few_deciding(seed: str) -> None:
    org = ListOrgWriter(seed, 8).write()
    writer = ListRuleWriter(seed, org, SIZES[2])
    writer.provisions()
    rows = [_Aim(org, *row) for row in _rows(org, org.team.reps[:2])]
    places = {name: sorted({row.facts(writer.book)[name] for row in rows}) for name in PLACES}
    niches = writer.niches(rows, ADDED)
    ChainWriter(writer, rows, places, keep=niches).write(30)

    book = writer.book
    changed = {amendment.target for amendment in book.amendments}
    assert len(book.amendments) > 20
    assert changed & {*niches}
    deciding = [
        number
        for number, row in niches.items()
        if row.outcome(book) != row.outcome(book.without(number))
    ]
    assert len(deciding) >= 0.9 * ADDED
