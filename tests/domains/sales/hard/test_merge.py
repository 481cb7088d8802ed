"""Duplicates: two truths on who is who, the tool, and the gold on the real engine."""

from __future__ import annotations

import pytest

from crmbench.core.sandbox import Sandbox
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.registry import load_domain
from crmbench.domains.sales.hard.articles import ReadHandbook, who_is_who
from crmbench.domains.sales.hard.merge import clients, read_clusters, tasks
from crmbench.grading.gold import execute_gold


@pytest.mark.parametrize(("seed", "level"), [("7-01", 1), ("7-02", 2), ("42-01", 3), ("7-03", 4)])
def test_what_is_read_joins_as_the_generator_did(seed: str, level: int) -> None:
    made = clients(seed, level)
    read = ReadHandbook([who_is_who(made.org.team)])
    for country, clusters in made.clusters.items():
        found = read_clusters(made.org.rows, read.people, read.moves, country)
        assert found == set(clusters)
        assert any(cluster.others for cluster in clusters) or level == 1


def test_the_gold_merges_and_each_client_is_an_item_once() -> None:
    domain = load_domain("sales_hard")
    backend = SqliteBackend(domain.schema)
    for task in tasks("42-01", 3, "merge-L3-42-01", "canary"):
        run = execute_gold(domain, task, backend)
        assert run.faults == ()
        gone = [change.key for change in run.effects[-1] if change.after is None]
        assert len(gone) == len(task.gold.turns[0].calls)
        records = [key for item in task.gold.items for _, key in item.records]
        assert len(set(records)) == len(records) == 60
        assert task.gold.turns[0].facts[0].value == 60 - len(gone)


def test_what_hangs_on_a_duplicate_moves() -> None:
    domain = load_domain("sales_hard")
    world = domain.world("merge-L1-7-01")
    with Sandbox(domain, world, SqliteBackend(domain.schema), seed="x") as box:
        rows = box.database.snapshot()
        contract = next(iter(rows["Contract"].values()))
        gone = contract["client_id"]
        stays = next(key for key in rows["Client"] if key != gone)
        merge = {"survivor_id": stays, "duplicate_id": gone, "details_from": "duplicate"}
        assert box.call("merge_clients", merge).ok
        after = box.database.snapshot()
        assert after["Contract"][contract["contract_id"]]["client_id"] == stays
        assert after["Client"][stays]["email"] == rows["Client"][gone]["email"]
        assert gone not in after["Client"]
        assert len(after["Note"]) == len(rows["Note"])
        same = {"survivor_id": stays, "duplicate_id": stays}
        assert "cannot be merged with itself" in str(box.call("merge_clients", same).error)
