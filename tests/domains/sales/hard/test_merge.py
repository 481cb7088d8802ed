"""Duplicates: two truths on who is who, the tool, and the gold on the real engine."""

from __future__ import annotations

import pytest

from crmbench.authoring.handbook import Rulebook
from crmbench.core.sandbox import Sandbox
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.registry import load_domain
from crmbench.domains.sales.hard.domain import SALES_HARD
from crmbench.domains.sales.hard.duplicates import Cluster, merges
from crmbench.domains.sales.hard.handbook.references import depths
from crmbench.domains.sales.hard.merge import clients, tasks
from crmbench.domains.sales.hard.merge_reader import MergeReader
from crmbench.grading.gold import execute_gold

WORLDS = [("7-01", 1), ("7-02", 2), ("42-01", 3), ("42-02", 3), ("7-03", 4)]


@pytest.mark.parametrize(("seed", "level"), WORLDS)
def test_what_is_read_joins_as_the_generator_did(seed: str, level: int) -> None:
    made = clients(seed, level)
    read = MergeReader(made.tables(), made.org.today, made.country).merges()
    assert read == merges(made.duplicates.clusters(made.rules.book))
    assert read


@pytest.mark.parametrize("seed", ["42-01", "42-02", "42-03"])
def test_who_takes_short_cuts_merges_wrongly(seed: str) -> None:
    made = clients(seed, 3)
    book = made.rules.book
    right = merges(made.duplicates.clusters(book))
    changes = {a.article: a for a in book.amendments}
    plain = Rulebook(book.provisions, [])
    shallow = Rulebook(book.provisions, [a for a in changes.values() if a.target not in changes])
    general = Rulebook([p for p in book.provisions if not p.when], [])
    for other in (plain, shallow, general):
        found = merges(made.duplicates.clusters(other))
        wrong = sum(found.get(key) != right.get(key) for key in {*found, *right})
        assert wrong >= 2


@pytest.mark.parametrize("seed", ["42-01", "42-02", "42-03"])
def test_who_searches_for_numbers_alone_merges_wrongly(seed: str) -> None:
    made = clients(seed, 3)
    book, hard = made.rules.book, made.unnumbered
    depth = depths(book)
    assert len(hard) >= 15
    assert sum(depth[article] > 1 for article in hard) >= 6
    right = made.duplicates.clusters(book)
    # Each of them alone decides about some client, and several clients hang on them.
    touched = {key for name in hard for key in differing(right, made.deciding[name])}
    assert len(touched) >= 6
    numbered = [a for a in book.amendments if a.article not in hard]
    assert made.duplicates.clusters(Rulebook(book.provisions, numbered)) != right


def differing(one: frozenset[Cluster], other: frozenset[Cluster]) -> set[str]:
    return {key for cluster in one ^ other for key in (cluster.stays, *cluster.others)}


def test_neither_order_nor_names_tell_who_is_one_firm() -> None:
    beside, alike, pairs = 0, 0, 0
    for seed in ("42-01", "42-02", "42-03", "42-04"):
        made = clients(seed, 3)
        rows = [r for r in made.org.rows["Client"] if r["client_id"] in made.duplicates.firms]
        place = {row["client_id"]: number for number, row in enumerate(rows)}
        first = {row["client_id"]: row["name"].split()[0] for row in rows}
        for cluster in made.duplicates.clusters(made.rules.book):
            for other in cluster.others:
                pairs += 1
                beside += abs(place[other] - place[cluster.stays]) == 1
                alike += first[other] == first[cluster.stays]
    assert beside < pairs / 5
    assert alike < pairs / 2


def test_the_gold_merges_and_each_client_is_an_item_once() -> None:
    domain = load_domain("sales_hard")
    backend = SqliteBackend(domain.schema)
    (task,) = tasks("42-01", 3, "merge-L3-42-01", "canary")
    run = execute_gold(domain, task, backend)
    assert run.faults == ()
    gone = [change.key for change in run.effects[-1] if change.after is None]
    assert len(gone) == len(task.gold.turns[0].calls)
    records = [key for item in task.gold.items for _, key in item.records]
    assert len(set(records)) == len(records) == 40
    assert task.gold.turns[0].facts[0].value == 40 - len(gone)
    assert any(item.rules for item in task.gold.items)


def test_the_careful_agent_merges_within_the_calls_allowed() -> None:
    (task,) = tasks("7-11", 3, "merge-L3-7-11", "canary")
    assert all(not found for found in SALES_HARD.problems(task).values())


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
