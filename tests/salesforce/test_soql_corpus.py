"""Queries that Salesforce takes and queries that it refuses, whatever objects they name.

Each corpus has one JSON string a line, as the command `crmbench soql --check` reads them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crmbench.salesforce import sosl
from crmbench.salesforce.soql import check

TOO_LONG = [
    "SELECT Id FROM Account WHERE " + "(" * 500 + "a = 1" + ")" * 500,
    "SELECT Id FROM Account WHERE Name = '" + "x" * 4001 + "'",
    "SELECT " + "Id," * 50_000 + "Id FROM Account",
]


def corpus(name: str) -> list[str]:
    lines = Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", ["soql_accepted", "soql_refused"])
def test_the_corpus_is_large_and_without_repetition(name: str) -> None:
    queries = corpus(name)
    assert len(set(queries)) == len(queries) >= 250


@pytest.mark.parametrize("query", corpus("soql_accepted"))
def test_accepted(query: str) -> None:
    result = check(query)
    assert result.ok, result.message


@pytest.mark.parametrize("query", [*corpus("soql_refused"), *TOO_LONG])
def test_refused(query: str) -> None:
    result = check(query)
    assert not result.ok, query[:200]
    assert result.code in ("MALFORMED_QUERY", "NUMBER_OUTSIDE_VALID_RANGE")
    assert result.message


@pytest.mark.parametrize("text", corpus("sosl_accepted"))
def test_accepted_searches(text: str) -> None:
    result = sosl.check(text)
    assert result.ok, result.message


@pytest.mark.parametrize("text", corpus("sosl_refused"))
def test_refused_searches(text: str) -> None:
    result = sosl.check(text)
    assert not result.ok
    assert result.code in ("MALFORMED_SEARCH", "INVALID_SEARCH", "MALFORMED_QUERY")
