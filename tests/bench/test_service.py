"""The queries of the service benchmark ask for the same thing in both languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crmbench.bench import service as bench
from crmbench.core.clock import WorldClock
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.service.org import ServiceOrg, open_org
from crmbench.domains.service.schema import SCHEMA
from crmbench.domains.service.world import generate

WORLD = generate(factor=0.3)
EFFORT = bench.ServiceEffort(0.3, 2, 2)


@pytest.fixture(scope="module")
def org() -> Iterator[ServiceOrg]:
    backend = SqliteBackend(SCHEMA)
    database = backend.acquire(WORLD)
    database.start(WorldClock(WORLD.now, "bench"))
    yield open_org(database)
    backend.close()


def test_soql_and_sql_give_the_same_values(org: ServiceOrg) -> None:
    execute = org.database.connection.execute
    for query in bench.asked(org.database):
        records = org.soql.run(query.soql, execute, org.now).records
        assert records, query.name
        values = [
            tuple(v["Name"] if isinstance(v, dict) else v for v in record.values())
            for record in records
        ]
        assert sorted(values) == sorted(execute(query.sql, ())), query.name


def test_most_searches_find_something(org: ServiceOrg) -> None:
    found = [bench.measure_search("sqlite", org, s, EFFORT).records for s in bench.SEARCHES]
    assert sum(count > 0 for count in found) >= 6


def test_a_query_is_measured_in_three_ways(org: ServiceOrg) -> None:
    speed = bench.measure_query("sqlite", org, bench.asked(org.database)[0], EFFORT)
    assert speed.records == 1
    assert min(speed.soql_ms, speed.sql_ms, speed.plan_ms) > 0
    assert speed.beyond >= 0


def test_soql_may_take_a_millisecond_before_it_is_weighed_against_sql() -> None:
    assert bench.beyond_sql([0.003, 0.005, 0.021], [0.001, 0.002, 0.002]) == 2.0
    assert bench.beyond_sql([0.0005, 0.0009], [0.001, 0.001]) == 0.0


def test_generation_counts_every_row() -> None:
    made = bench.measure_generation(WORLD)
    assert made.world == WORLD.name
    assert made.rows == sum(len(list(rows)) for _, rows in WORLD.stream())
    assert made.rows_per_cpu_s > 0


def test_nothing_is_shown_of_what_was_not_measured() -> None:
    assert bench.render_service({"service": None}) == []
