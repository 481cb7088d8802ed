"""SOQL beyond what random queries reach: errors, date literals, formats, limits, shapes."""

from __future__ import annotations

import sqlite3
from datetime import UTC, date, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from tests.salesforce.soql_org import CHILDREN, METADATA, NOW, Data, SqliteOrg, catalog, make_data

from crmbench.salesforce.catalog import Catalog, DerivedField, folded_indexes
from crmbench.salesforce.soql import SoqlError, check, parse
from crmbench.salesforce.soql.conditions import full_id
from crmbench.salesforce.soql.dates import days_of
from crmbench.salesforce.soql.engine import Soql
from crmbench.salesforce.soql.shape import format_date, format_datetime, format_money, format_number


@pytest.fixture(scope="module")
def data() -> Data:
    return make_data()


@pytest.fixture(scope="module")
def org(data: Data) -> SqliteOrg:
    return SqliteOrg(data)


def run(org: SqliteOrg, text: str, **options: Any) -> list[dict[str, Any]]:
    return Soql(catalog(), org.dialect).run(text, org.execute, NOW, **options).records


def error(org: SqliteOrg, text: str) -> SoqlError:
    with pytest.raises(SoqlError) as caught:
        run(org, text)
    return caught.value


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "detail", "row", "column"),
    [
        ("SELECT Id FROM Account WHERE Name == 'x'", "unexpected token: '='", 1, 36),
        ("SELECT Id\nFROM Account\nWHERE", "unexpected token: '<EOF>'", 3, 6),
        ("SELECT * FROM Account", "unexpected token: '*'", 1, 8),
        ("SELECT Id FROM Account LIMIT -1", "expecting a colon, found '-'", 1, 30),
        (
            "SELECT Id FROM Account WHERE Name = \"x\"",
            "line 1:36 no viable alternative at character '\"'", 1, 37,
        ),
        (
            "SELECT Id FROM Account WHERE Name = 'x",
            "mismatched character '<EOF>' expecting '''", 1, 39,
        ),
        ("SELECT Id, COUNT(Name) FROM A", "Field must be grouped or aggregated: Id", 1, 8),
        ("SELECT Name n FROM A", "only aggregate expressions use field aliasing", 1, 8),
    ],
)  # fmt: skip
def test_malformed_queries_say_what_and_where(
    text: str, detail: str, row: int, column: int
) -> None:
    result = check(text)
    assert result.code == "MALFORMED_QUERY"
    assert result.message is not None
    assert result.message.endswith(f"^\nERROR at Row:{row}:Column:{column}\n{detail}")
    assert result.position is not None
    assert (result.position.row, result.position.column) == (row, column)


def test_a_missing_field_is_marked_as_salesforce_marks_it(org: SqliteOrg) -> None:
    found = error(org, "SELECT Naem FROM Account")
    assert found.text == (
        "INVALID_FIELD: \nSELECT Naem FROM Account\n       ^\nERROR at Row:1:Column:8\n"
        "No such column 'Naem' on entity 'Account'. If you are attempting to use a custom field, "
        "be sure to append the '__c' after the custom field name. Please reference your WSDL or "
        "the describe call for the appropriate names."
    )


@pytest.mark.parametrize(
    ("text", "code", "detail"),
    [
        ("SELECT Id FROM Nope", "INVALID_TYPE", "sObject type 'Nope' is not supported."),
        ("SELECT Foo.Id FROM Case", "INVALID_FIELD", "Didn't understand relationship 'Foo'"),
        ("SELECT (SELECT Id FROM Foos) FROM Case", "INVALID_TYPE", "relationship 'Foos' in FROM"),
        ("SELECT Id, id FROM Case", "INVALID_FIELD", "duplicate field selected: id"),
        ("SELECT Id, FIELDS(ALL) FROM Case LIMIT 1", "INVALID_FIELD", "duplicate field selected"),
        ("SELECT Id FROM Case WHERE CreatedDate > 2024-01-01", "INVALID_FIELD", "must be of type"),
        ("SELECT Id FROM Case WHERE CreatedDate > '2024'", "INVALID_FIELD", "of type dateTime"),
        ("SELECT Id FROM Case WHERE Status = 5", "INVALID_FIELD", "must be of type string"),
        ("SELECT Id FROM Case WHERE Cost__c = '5'", "INVALID_FIELD", "must be of type double"),
        ("SELECT Id FROM Account WHERE Active__c = 'true'", "INVALID_FIELD", "of type boolean"),
        ("SELECT Id FROM Case WHERE OwnerId = 'x'", "INVALID_QUERY_FILTER_OPERATOR", "invalid ID"),
        ("SELECT Id FROM Case WHERE Id LIKE '5%'", "INVALID_QUERY_FILTER_OPERATOR", "LIKE"),
        ("SELECT Id FROM Case WHERE Description = 'x'", "INVALID_FIELD", "can not be filtered"),
        ("SELECT Id FROM Case ORDER BY Description", "INVALID_FIELD", "can not be sorted"),
        ("SELECT SUM(Status) FROM Case", "MALFORMED_QUERY", "does not support aggregate operator"),
        ("SELECT Id FROM Case WHERE Status = :x", "MALFORMED_QUERY", "Bind variables only"),
        ("SELECT Id FROM Case WHERE Id IN :x", "MALFORMED_QUERY", "Bind variables only"),
        ("SELECT Id FROM Account WHERE Active__c = :x", "MALFORMED_QUERY", "Bind variables only"),
        ("SELECT Id FROM Case WHERE Cost__c > :x.y", "MALFORMED_QUERY", "Bind variables only"),
        ("SELECT Id FROM Case WHERE CreatedDate = :d", "MALFORMED_QUERY", "Bind variables only"),
        ("SELECT Id FROM Case WHERE Status LIKE :x", "MALFORMED_QUERY", "Bind variables only"),
        ("SELECT Id FROM Case LIMIT :n", "MALFORMED_QUERY", "Bind variables only"),
        ("SELECT MAX(Active__c) FROM Account", "MALFORMED_QUERY", "aggregate operator MAX"),
        ("SELECT COUNT(Id) a, COUNT(Status) A FROM Case", "MALFORMED_QUERY", "duplicate alias"),
        ("SELECT Id FROM Case USING SCOPE Mine", "UNSUPPORTED_QUERY", "parsed but not executed"),
        ("SELECT Id FROM Case WITH UserId = 'x'", "UNSUPPORTED_QUERY", "not executed by this org"),
        ("SELECT DISTANCE(L__c, GEOLOCATION(1,2), 'km') FROM Case", "UNSUPPORTED_QUERY", "not"),
        ("SELECT Id FROM Case OFFSET 2001", "NUMBER_OUTSIDE_VALID_RANGE", "between 0 to 2000"),
        ("SELECT FIELDS(CUSTOM) FROM User LIMIT 5", "MALFORMED_QUERY", "at least one field"),
        ("SELECT Id FROM Case WHERE CreatedDate > LAST_N_YEARS:9999", "MALFORMED_QUERY", "Invalid"),
    ],
)  # fmt: skip
def test_refused_by_the_org(org: SqliteOrg, text: str, code: str, detail: str) -> None:
    found = error(org, text)
    assert found.code == code
    assert detail in found.detail


@given(st.text(alphabet="SELECTFROMid ,()'\\=:*.\n5-", max_size=60))
def test_any_text_is_judged_without_a_crash(text: str) -> None:
    result = check(text)
    assert result.ok or result.message


@given(st.text(min_size=1, max_size=40))
def test_any_string_finds_only_itself(text: str) -> None:
    """Whatever stands in quotes is a value, on its way through the parser and the database."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    query = f"SELECT Id FROM User WHERE LastName = '{escaped}'"
    if "\x00" in text:
        assert not check(query).ok
        return
    raw = sqlite3.connect(":memory:")
    raw.execute('CREATE TABLE "User" ("Id" TEXT, "LastName" TEXT, "IsActive" INTEGER)')
    raw.execute('INSERT INTO "User" VALUES (?, ?, 1)', ("a", text))
    raw.execute('INSERT INTO "User" VALUES (?, ?, 1)', ("b", text + "!"))
    soql = Soql(catalog(), SqliteOrg({t: [] for t in make_data()}).dialect)
    result = soql.run(query, lambda sql, values: raw.execute(sql, values).fetchall(), NOW)
    raw.close()
    assert result.records == [{"Id": "a"}]


# --- dates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "number", "start", "end"),
    [
        ("today", 0, "2026-03-18", "2026-03-19"),
        ("this_week", 0, "2026-03-15", "2026-03-22"),
        ("last_n_weeks", 2, "2026-03-01", "2026-03-15"),
        ("n_weeks_ago", 1, "2026-03-08", "2026-03-15"),
        ("last_90_days", 0, "2025-12-18", "2026-03-19"),
        ("next_90_days", 0, "2026-03-19", "2026-06-17"),
        ("last_n_days", 1, "2026-03-17", "2026-03-19"),
        ("n_days_ago", 2, "2026-03-16", "2026-03-17"),
        ("last_month", 0, "2026-02-01", "2026-03-01"),
        ("next_n_months", 2, "2026-04-01", "2026-06-01"),
        ("n_months_ago", 3, "2025-12-01", "2026-01-01"),
        ("last_quarter", 0, "2025-10-01", "2026-01-01"),
        ("next_fiscal_quarter", 0, "2026-04-01", "2026-07-01"),
        ("last_n_fiscal_quarters", 2, "2025-07-01", "2026-01-01"),
        ("n_fiscal_years_ago", 1, "2025-01-01", "2026-01-01"),
        ("next_n_years", 2, "2027-01-01", "2029-01-01"),
    ],
)
def test_days_of_a_word(word: str, number: int, start: str, end: str) -> None:
    days = days_of(word, number, NOW.date())
    assert (days.start.isoformat(), days.end.isoformat()) == (start, end)


@given(
    st.sampled_from(["week", "month", "quarter", "year"]),
    st.integers(0, 30),
    st.dates(date(1950, 1, 1), date(2100, 1, 1)),
)
def test_several_periods_are_the_single_ones_in_a_row(unit: str, count: int, today: date) -> None:
    last = days_of(f"last_n_{unit}s", count, today)
    assert last.end == days_of(f"this_{unit}", 0, today).start
    if count:
        assert last.start == days_of(f"n_{unit}s_ago", count, today).start
    following = days_of(f"next_n_{unit}s", count + 1, today)
    assert following.start == days_of(f"next_{unit}", 0, today).start


def test_relative_dates_follow_the_clock(org: SqliteOrg) -> None:
    soql = Soql(catalog(), org.dialect)
    text = "SELECT COUNT() FROM Case WHERE CreatedDate < TODAY"
    early = soql.run(text, org.execute, datetime(1990, 1, 1, tzinfo=UTC))
    late = soql.run(text, org.execute, datetime(2090, 1, 1, tzinfo=UTC))
    assert (early.total_size, late.total_size) == (0, 90)


# --- shapes ---------------------------------------------------------------------------------------


def test_formats() -> None:
    assert format_number(1234567.5) == "1,234,567.5"
    assert format_number(3) == "3"
    assert format_money(-1234.5) == "-$1,234.50"
    assert format_date("2026-03-02") == "3/2/2026"
    assert format_datetime("2026-03-02T00:05:00.000+0000") == "3/2/2026, 12:05 AM"
    assert [f(None) for f in (format_number, format_money, format_date, format_datetime)] == [
        None
    ] * 4


def test_attributes_parents_and_children(org: SqliteOrg, data: Data) -> None:
    contact = next(c for c in data["Contact"] if c["AccountId"])
    (record,) = run(
        org,
        f"SELECT Name, (SELECT LastName FROM Contacts WHERE Id = '{contact['Id']}') "
        f"FROM Account WHERE Id = '{contact['AccountId']}'",
        attributes=True,
    )
    assert record["attributes"] == {
        "type": "Account",
        "url": f"/services/data/v65.0/sobjects/Account/{contact['AccountId']}",
    }
    assert record["Contacts"]["totalSize"] == 1
    assert record["Contacts"]["records"][0]["LastName"] == contact["LastName"]
    assert "Id" not in record


def test_fields_typeof_and_type(org: SqliteOrg) -> None:
    (record,) = run(org, "SELECT FIELDS(STANDARD), Issue__r.Name FROM Case LIMIT 1")
    assert "Cost__c" not in record
    assert {"Id", "Subject", "OwnerId"} <= set(record)
    (record,) = run(org, "SELECT FIELDS(CUSTOM) FROM Case LIMIT 1")
    assert set(record) == {"Cost__c", "Reopened__c", "IssueId__c"}
    text = (
        "SELECT TYPEOF Owner WHEN User THEN LastName ELSE Id END FROM Case "
        "WHERE Owner.Type = 'User' LIMIT 1"
    )
    (record,) = run(org, text)
    assert set(record["Owner"]) == {"LastName"}
    assert run(org, "SELECT Owner.Type FROM Case WHERE OwnerId != null LIMIT 1") == [
        {"Owner": {"Type": "User"}}
    ]


def test_functions_of_rows(org: SqliteOrg, data: Data) -> None:
    case = next(c for c in data["Case"] if c["Cost__c"])
    (record,) = run(
        org,
        "SELECT toLabel(Status), FORMAT(CreatedDate) d, FORMAT(Cost__c) FROM Case "
        f"WHERE Id = '{case['Id']}'",
    )
    assert record == {
        "Status": case["Status"],
        "d": format_datetime(case["CreatedDate"]),
        "Cost__c": format_money(case["Cost__c"]),
    }


def test_aliases_of_parents(org: SqliteOrg, data: Data) -> None:
    names = {a["Id"]: a["Name"] for a in data["Account"]}
    wanted = [c for c in data["Contact"] if names.get(c["AccountId"], "").lower() == "acme"]
    result = Soql(catalog(), org.dialect).run(
        "SELECT COUNT() FROM Contact c, c.Account a WHERE a.Name = 'acme'", org.execute, NOW
    )
    assert result.total_size == len(wanted) > 0
    assert result.records == []


def test_harmless_clauses_change_nothing(org: SqliteOrg) -> None:
    plain = run(org, "SELECT Id FROM Case WHERE Status = 'New'")
    clauses = ["WITH USER_MODE", "WITH SECURITY_ENFORCED", "FOR VIEW", "FOR UPDATE", "ALL ROWS"]
    for clause in clauses:
        assert run(org, f"SELECT Id FROM Case WHERE Status = 'New' {clause}") == plain


def test_ids_of_fifteen_characters() -> None:
    assert full_id("0015000000Gv7qJ") == "0015000000Gv7qJAAR"
    assert full_id("001000000000001AAA") == "001000000000001AAA"


# --- limits and speed -----------------------------------------------------------------------------


def test_too_many_rows(org: SqliteOrg) -> None:
    rows = [(f"{n:018d}",) for n in range(50_001)]
    soql = Soql(catalog(), org.dialect)
    with pytest.raises(SoqlError, match="Too many query rows: 50001"):
        soql.run("SELECT Id FROM User", lambda sql, values: rows, NOW)


@pytest.mark.parametrize(
    "where",
    [
        " OR ".join(f"Name = 'n{n}'" for n in range(500)),
        f"Score__c IN ({','.join(map(str, range(20_001)))})",
    ],
)
def test_more_than_a_database_takes(org: SqliteOrg, where: str) -> None:
    found = error(org, f"SELECT Id FROM Account WHERE {where}")
    assert found.code in ("QUERY_TOO_COMPLICATED", "MALFORMED_QUERY")


def test_as_much_as_a_database_takes(org: SqliteOrg) -> None:
    many = " OR ".join(f"Name = 'n{n}'" for n in range(400))
    assert run(org, f"SELECT Id FROM Account WHERE {many}") == []
    values = ",".join(map(str, range(10_000)))
    assert run(org, f"SELECT Id FROM Account WHERE Score__c NOT IN ({values}) LIMIT 3")
    deep = "(" * 140 + "Name = 'acme'" + ")" * 140
    assert run(org, f"SELECT Id FROM Account WHERE {deep}")


def test_too_many_groups(org: SqliteOrg) -> None:
    rows = [(str(n), 1) for n in range(2_001)]
    soql = Soql(catalog(), org.dialect)
    with pytest.raises(SoqlError, match="does not support queryMore") as caught:
        soql.run(
            "SELECT Status, COUNT(Id) FROM Case GROUP BY Status", lambda sql, values: rows, NOW
        )
    assert caught.value.code == "EXCEEDED_ID_LIMIT"


def test_children_of_all_parents_come_from_one_statement(org: SqliteOrg) -> None:
    statements = []

    def execute(sql: str, values: Any) -> list[tuple[Any, ...]]:
        statements.append(sql)
        return org.execute(sql, values)

    text = (
        "SELECT Id, (SELECT Id, Owner.LastName FROM Cases), (SELECT Id FROM Contacts) FROM Account"
    )
    Soql(catalog(), org.dialect).run(text, execute, NOW)
    assert len(statements) == 3


def test_literals_are_never_part_of_a_statement(org: SqliteOrg) -> None:
    plan = Soql(catalog(), org.dialect).plan(
        "SELECT Id FROM Account WHERE Name = 'zqx' AND Score__c > 12345 AND CreatedDate > "
        "2011-02-03T04:05:06Z AND Name LIKE 'wvu%' AND Name IN ('rst') LIMIT 77",
        NOW,
    )
    for literal in ("zqx", "12345", "2011", "wvu", "rst", "77"):
        assert literal not in plan.statement.sql


def test_indexes_serve_comparisons(data: Data) -> None:
    org = SqliteOrg(data)
    org.execute('CREATE INDEX "by_name" ON "Account" (lower("Name"))')
    soql = Soql(catalog(), org.dialect)
    for condition, index in [
        ("Name = 'acme'", "by_name"),
        ("Name IN ('acme', 'beta corp')", "by_name"),
        ("OwnerId = '005000000000001AAA'", "ix_Account_OwnerId"),
        ("Id = '001000000000001AAA'", "sqlite_autoindex_Account_1"),
    ]:
        org.execute('CREATE INDEX IF NOT EXISTS "ix_Account_OwnerId" ON "Account" ("OwnerId")')
        statement = soql.plan(f"SELECT Id FROM Account WHERE {condition}", NOW).statement
        steps = org.execute(f"EXPLAIN QUERY PLAN {statement.sql}", statement.parameters)
        assert any(index in step[3] for step in steps), (condition, steps)
    assert folded_indexes(catalog()) == []


def test_parsing_is_kept_by_text() -> None:
    text = "SELECT Id FROM Account WHERE Name = 'kept'"
    assert parse(text) is parse(text)


# --- fields that no column holds ------------------------------------------------------------------


def case_if(key: Any, value: str) -> Any:
    return sa.case((key.is_not(None), sa.literal_column(value)))


DERIVED = {
    "Case": [
        DerivedField("Number", "string", lambda t, _: sa.func.substr(t.c["Id"], 10, 6)),
        DerivedField("Handler__c", "id", lambda t, _: t.c["OwnerId"], refers_to="User"),
        DerivedField("Subject", "string", lambda t, _: sa.literal_column("'hidden'")),
        DerivedField(
            "Stamp", "string", lambda t, _: sa.bindparam("stamp", "now", sa.String()),
            groupable=False,
        ),
    ],
    "Organization": [
        DerivedField("Name", "string", lambda t, _: case_if(t.c["Id"], "'Acme'")),
    ],
}  # fmt: skip
VIRTUAL = {"Organization": sa.select(sa.literal_column("'00D'").label("Id")).subquery()}


@pytest.fixture(scope="module")
def derived_org(org: SqliteOrg) -> Soql:
    return Soql(Catalog(METADATA, CHILDREN, None, DERIVED, VIRTUAL), org.dialect)


def test_derived_fields_are_selected_filtered_grouped_and_followed(
    org: SqliteOrg, derived_org: Soql
) -> None:
    def records(text: str) -> list[dict[str, Any]]:
        return derived_org.run(text, org.execute, NOW).records

    plain = run(org, "SELECT Id, Owner.LastName, Subject FROM Case ORDER BY Id LIMIT 5")
    found = records("SELECT Id, Handler__r.LastName, Subject FROM Case ORDER BY Id LIMIT 5")
    assert [r["Subject"] for r in found] == [r["Subject"] for r in plain], "a column comes first"
    assert [r["Handler__r"] for r in found] == [r["Owner"] for r in plain]
    number = plain[0]["Id"][9:15]
    assert records(f"SELECT Id FROM Case WHERE Number = '{number}'") == [{"Id": plain[0]["Id"]}]
    counted = records("SELECT Number, COUNT(Id) n FROM Case GROUP BY Number")
    assert sum(r["n"] for r in counted) == len(run(org, "SELECT Id FROM Case"))
    assert records("SELECT Id, Name FROM Organization") == [{"Id": "00D", "Name": "Acme"}]
    with pytest.raises(SoqlError, match="can not be grouped"):
        records("SELECT Stamp FROM Case GROUP BY Stamp")


def test_a_query_may_return_as_many_rows_as_the_org_says(org: SqliteOrg) -> None:
    few = Soql(catalog(), org.dialect, max_rows=3)
    with pytest.raises(SoqlError, match="Too many query rows: 4"):
        few.run("SELECT Id FROM Case", org.execute, NOW)
    assert len(few.run("SELECT Id FROM Case LIMIT 3", org.execute, NOW).records) == 3
