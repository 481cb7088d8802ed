"""Queries of one shape share a plan, and get what they would get if they were compiled alone."""

from __future__ import annotations

from dataclasses import astuple
from datetime import UTC, datetime

import pytest
from sqlalchemy.engine import Dialect, make_url

from crmbench.domains.service.schema import catalog
from crmbench.salesforce.ids import record_id
from crmbench.salesforce.soql.engine import Soql
from crmbench.salesforce.soql.errors import SoqlError
from crmbench.salesforce.soql.plan import QueryPlan
from crmbench.salesforce.soql.template import Shape

NOW = datetime(2025, 11, 3, 9, tzinfo=UTC)
DIALECTS: list[Dialect] = [
    make_url(url).get_dialect()() for url in ("sqlite://", "postgresql+psycopg://")
]
CASE, OTHER = record_id("Case", 5), record_id("Case", 77)

ROLLED = (
    "SELECT Status FROM Case WHERE OwnerId IN (SELECT Id FROM User WHERE Name = '{}') "
    "GROUP BY ROLLUP(Status)"
)
PAIRS = [
    ("SELECT Id FROM Case WHERE Id = '{}'", [CASE, OTHER, OTHER[:15]]),
    ("SELECT Id FROM Case WHERE Id IN ('{0}', '{1}')", [(CASE, OTHER), (OTHER, CASE)]),
    ("SELECT Id FROM Case WHERE Subject = '{}'", ["Torn", "TORN ÄPFEL", "50% off_ now", "?"]),
    ("SELECT Id FROM Case WHERE Subject LIKE '{}'", ["a%", "b_", "a%", "None"]),
    ("SELECT Id FROM Case WHERE NOT (Subject LIKE 'a%' AND Status = '{}')", ["New", "Closed"]),
    (
        "SELECT Id FROM Case WHERE CreatedDate >= {}",
        ["2025-01-01T00:00:00Z", "2024-02-29T12:30:01Z"],
    ),
    ("SELECT Id FROM Order WHERE EffectiveDate < {}", ["2025-01-01", "2024-02-29"]),
    (
        "SELECT Name, (SELECT Id FROM Cases WHERE Status = '{1}') FROM Account WHERE Name > '{0}'",
        [("A", "New"), ("Longer", "Closed")],
    ),
    (ROLLED, ["Ada Long", "Bo Short"]),
]


def written(plan: QueryPlan) -> tuple[object, ...]:
    """A plan without where its values came from, which differs with their lengths."""
    nodes = [(key, type(item).__name__) for key, item in plan.node.entries]
    children = [written(item.plan) for _, item in plan.node.entries if hasattr(item, "plan")]
    statement = plan.statement
    rest = astuple(plan)[2:]
    return statement.sql, statement.parameters, statement.ids_at, nodes, children, rest


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.name)
@pytest.mark.parametrize(("text", "values"), PAIRS, ids=lambda v: v[:50] if v is str(v) else "")
def test_a_shared_plan_is_the_plan(
    text: str, values: list[str | tuple[str, ...]], dialect: Dialect
) -> None:
    shared = Soql(catalog(), dialect)
    for value in values:
        query = text.format(*((value,) if isinstance(value, str) else value))
        alone = Soql(catalog(), dialect).plan(query, NOW)
        assert written(shared.plan(query, NOW)) == written(alone), query


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (f"SELECT Id FROM Case WHERE Id = '{CASE}'", "SELECT Id FROM Case WHERE Id = 'x'"),
        (
            "SELECT Id FROM Order WHERE EffectiveDate = 2025-02-28",
            "SELECT Id FROM Order WHERE EffectiveDate = 2025-02-30",
        ),
        (
            "SELECT Id FROM Order WHERE EffectiveDate = 2025-02-28",
            "SELECT Id FROM Order WHERE EffectiveDate = 1500-02-28",
        ),
        ("SELECT Id FROM Case WHERE Subject = 'a'", "SELECT Id FROM Case WHERE Subject = 'a\\q'"),
        ("SELECT Id FROM Case WHERE Subject = 'a'", "SELECT Id FROM Case WHERE Subject = \x00s"),
        ("SELECT Id FROM Case WHERE Subject = 'a'", "SELECT Id FROM Case WHERE Subject = 'a\x00'"),
    ],
)
def test_a_wrong_value_is_refused_as_it_would_be_alone(good: str, bad: str) -> None:
    def refusal(soql: Soql) -> tuple[str, str]:
        with pytest.raises(SoqlError) as found:
            soql.plan(bad, NOW)
        return found.value.code, found.value.message

    shared = Soql(catalog(), DIALECTS[0])
    shared.plan(good, NOW)
    assert refusal(shared) == refusal(Soql(catalog(), DIALECTS[0]))


def test_an_empty_value_is_no_value_of_the_shape() -> None:
    shape = Shape.of("SELECT Id FROM Case WHERE Subject = '' AND Status = 'New'")
    assert shape is not None
    assert shape.values == ("'New'",)
    soql = Soql(catalog(), DIALECTS[0])
    soql.plan("SELECT Id FROM Case WHERE Subject = 'x'", NOW)
    empty = soql.plan("SELECT Id FROM Case WHERE Subject = ''", NOW)
    assert "IS NULL" in empty.statement.sql


def test_a_query_of_a_known_shape_is_not_compiled() -> None:
    soql = Soql(catalog(), DIALECTS[0])
    first = soql.plan(f"SELECT Id FROM Case WHERE Id = '{CASE}'", NOW)
    again = soql.plan(f"SELECT Id FROM Case WHERE Id = '{OTHER}'", NOW)
    assert again.statement.sql is first.statement.sql
    assert OTHER in again.statement.parameters
    later = soql.plan(f"SELECT Id FROM Case WHERE Id = '{OTHER}'", NOW.replace(day=4))
    assert later.statement.sql is not first.statement.sql
