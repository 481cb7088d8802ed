"""A thousand and more random queries give what plain Python gives, on both databases."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from tests.salesforce.soql_evaluator import Drawer
from tests.salesforce.soql_org import NOW, Data, Org, PostgresOrg, SqliteOrg, catalog, make_data

from crmbench.salesforce.soql.engine import Soql

QUERIES = 1_200


@pytest.fixture(scope="module")
def data() -> Data:
    return make_data()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def org(request: pytest.FixtureRequest, data: Data) -> Iterator[Org]:
    if request.param == "sqlite":
        yield SqliteOrg(data)
        return
    from crmbench.core.postgres import EmbeddedServer

    server = EmbeddedServer()
    try:
        found = PostgresOrg(data, server.url)
        yield found
        found.raw.close()
    finally:
        server.stop()


def same(left: Any, right: Any) -> bool:
    """Equal, with numbers to six decimals."""
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) or isinstance(right, float):
        if left is None or right is None:
            return left is right
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=2e-6)
    return bool(left == right)


def test_random_queries_agree_with_plain_python(org: Org, data: Data) -> None:
    drawer = Drawer(data, seed=11)
    soql = Soql(catalog(), org.dialect)
    seen: set[str] = set()
    filled = 0
    while len(seen) < QUERIES:
        text, expected = drawer.query()
        if text in seen:
            continue
        seen.add(text)
        result = soql.run(text, org.execute, NOW)
        if isinstance(expected, int):
            assert result.total_size == expected, text
        else:
            assert same(result.records, expected), text
            filled += bool(expected)
    assert filled > QUERIES // 2
