"""Other ways to read the house rules: each leads elsewhere somewhere, and words rule it out."""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller

import pytest

from crmbench.domains.sales.hard.handbook.readings import (
    HANDBOOK,
    MERGE,
    RULED_OUT,
    house_rules,
    open_ways,
)
from crmbench.domains.sales.hard.merge import clients
from crmbench.domains.sales.hard.merge_reader import MergeReader
from crmbench.domains.sales.hard.reader import ListReader
from crmbench.domains.sales.hard.worklist import worklist


def merge_reader(seed: str) -> Callable[[], MergeReader]:
    made = clients(seed, 3)
    return lambda: MergeReader(made.tables(), made.org.today, made.country)


def list_reader(seed: str) -> Callable[[], ListReader]:
    made = worklist(seed, 3)
    return lambda: ListReader({**made.org.rows, "Article": made.articles}, made.org.today)


@pytest.mark.parametrize("way", RULED_OUT)
def test_the_house_rules_rule_each_way_out(way: str) -> None:
    assert RULED_OUT[way] in house_rules()


@pytest.mark.parametrize("way", MERGE)
def test_each_way_to_read_duplicates_is_reported_where_no_words_rule_it_out(way: str) -> None:
    silent = house_rules().replace(RULED_OUT[way], "")
    told = [
        open_ways(MERGE, merge_reader(seed), methodcaller("merges"), silent)
        for seed in ("42-01", "42-02", "42-03")
    ]
    assert [way in text for texts in told for text in texts].count(True) >= 1
    assert open_ways(MERGE, merge_reader("42-01"), lambda reader: 0, silent) == []


@pytest.mark.parametrize("way", HANDBOOK)
def test_each_way_to_read_a_handbook_is_reported_too(way: str) -> None:
    silent = house_rules().replace(RULED_OUT[way], "")
    told = []
    for seed in ("42-01", "42-02", "42-03"):
        deals = worklist(seed, 3).asked
        told += open_ways(HANDBOOK, list_reader(seed), methodcaller("changes", deals), silent)
    assert len(told) >= 1
    assert all(way in text for text in told)
