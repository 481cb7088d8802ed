"""``crmbench soql``: which queries parse, and questions to the default org."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def soql(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the verb in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "crmbench", "soql", *arguments],
        input=stdin,
        capture_output=True,
        check=False,
    )


def check(lines: bytes) -> list[dict[str, Any]]:
    done = soql("--check", "-", stdin=lines)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_line_out_for_each_line_in(tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    queries = ["SELECT Id FROM Anything__c", "SELECT FROM Case", "SELECT Id\nFROM Case\nWHER a = 1"]
    file.write_text("".join(json.dumps(query) + "\n" for query in queries))
    done = soql("--check", str(file))
    assert done.returncode == 0
    good, no_field, third = map(json.loads, done.stdout.splitlines())
    assert good == {"ok": True}
    assert no_field == {
        "ok": False,
        "code": "MALFORMED_QUERY",
        "message": "\nSELECT FROM Case\n       ^\nERROR at Row:1:Column:8\n"
        "unexpected token: 'FROM'",
        "position": {"row": 1, "column": 8, "offset": 7},
    }
    assert third["position"]["row"] == 3


def test_lines_that_are_no_query_do_not_stop_the_rest() -> None:
    lines = [
        b"SELECT Id FROM Case",
        b"5",
        b"",
        b'{"query": "SELECT Id FROM Case"}',
        b'["SELECT Id FROM Case"]',
        b"null",
        b'"\xff"',
        b'"\\ud800"',
        b'""',
        b"\"SELECT Id FROM Case WHERE Name = '\\u0000'\"",
        b'"' + b"(" * 5000 + b'"',
        b'"SELECT Id FROM Case WHERE ' + b"NOT " * 5000 + b'a = 1"',
        b'"SELECT Id FROM Case"',
    ]
    verdicts = check(b"\n".join(lines))
    assert len(verdicts) == len(lines)
    assert verdicts[-1] == {"ok": True}
    for verdict in verdicts[:9]:
        assert verdict["ok"] is False
        assert verdict["message"]
    codes = [verdict["code"] for verdict in verdicts[:8]]
    assert codes == ["INVALID_LINE"] * 8
    assert verdicts[8]["code"] == "MALFORMED_QUERY"


def test_an_empty_input_gives_no_line() -> None:
    assert check(b"") == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "nothing to do"),
        (["SELECT Id FROM Case", "--check", "-"], "at once"),
        (["--check", "/no/such/file"], "No such file"),
    ],
)
def test_wrong_usage_is_told_in_a_line(arguments: list[str], says: str) -> None:
    done = soql(*arguments)
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


SMALL = ("--world", "org-7-x0.1")


def test_a_query_is_answered_as_a_table_or_as_json() -> None:
    query = "SELECT Status, COUNT(Id) cases FROM Case GROUP BY Status"
    table = soql(query, *SMALL).stdout.decode().splitlines()
    assert table[0].split() == ["Status", "cases"]
    assert table[-1] == f"{len(table) - 2} records"
    answer = json.loads(soql(query, *SMALL, "--format", "json").stdout)
    assert answer["totalSize"] == len(table) - 2
    assert answer["done"] is True


def test_the_default_org_has_the_published_number_of_cases() -> None:
    answer = json.loads(soql("SELECT COUNT() FROM Case", "--json").stdout)
    assert answer["totalSize"] == 977


def test_parents_children_and_searches_fit_in_a_table() -> None:
    query = "SELECT Id, Account.Name, (SELECT Id FROM CaseHistories__r) FROM Case LIMIT 2"
    lines = soql(query, *SMALL).stdout.decode().splitlines()
    assert lines[0].split() == ["Id", "Account.Name", "CaseHistories__r"]
    assert "records)" in lines[1]
    assert lines[-1] == "2 records"
    found = soql("find {warranty} RETURNING Knowledge__kav(Title)", *SMALL).stdout.decode()
    assert found.startswith("type")
    assert "Knowledge__kav" in found


def test_unknown_worlds_and_refused_queries() -> None:
    unknown = soql("SELECT COUNT() FROM Case", "--world", "atlantis")
    assert unknown.returncode == 2
    assert b"atlantis" in unknown.stderr
    refused = soql("SELECT Nothing FROM Case", *SMALL)
    assert refused.returncode == 2
    assert b"INVALID_FIELD" in refused.stderr
    assert b"Traceback" not in refused.stderr
