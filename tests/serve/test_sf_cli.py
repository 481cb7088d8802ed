"""The sf command-line interface, the real one, against a real server: every row of the table."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serve.running import Running

from crmbench.serve.sessions import Sessions

MODULES = os.environ.get("CRMBENCH_SF", "")
"""The folder that the sf CLI and its Node are installed in; `make test-sf` sets it up."""
ORG = ("-o", "local")


class Cli:
    """The sf CLI in a home of its own, logged in to a server."""

    def __init__(self, running: Running, folder: Path) -> None:
        self.folder = folder
        self.sessions = running.sessions
        modules = Path(MODULES) / "node_modules"
        self._command = [
            str(modules / "node" / "bin" / "node"),
            str(modules / "@salesforce" / "cli" / "bin" / "run.js"),
        ]
        self._environment = {
            **os.environ,
            "HOME": str(folder),
            "SF_ACCESS_TOKEN": running.sessions.orgs["service"].token,
            "SF_AUTOUPDATE_DISABLE": "true",
            "SF_DISABLE_TELEMETRY": "true",
            "SF_SKIP_NEW_VERSION_CHECK": "true",
            "SF_USE_GENERIC_UNIX_KEYCHAIN": "true",
        }
        login = ("--instance-url", running.address, "--no-prompt", "--alias", "local")
        self.text("org", "login", "access-token", *login)

    def text(self, *arguments: str) -> str:
        """What a command prints."""
        done = subprocess.run(
            [*self._command, *arguments],
            capture_output=True,
            text=True,
            env=self._environment,
            cwd=self.folder,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def result(self, *arguments: str) -> Any:
        """The result of a command, from its JSON."""
        return json.loads(self.text(*arguments, *ORG, "--json"))["result"]

    def records(self, query: str) -> list[dict[str, Any]]:
        """The records of a query."""
        found = self.result("data", "query", "-q", query)["records"]
        assert isinstance(found, list)
        return found

    def contact(self) -> str:
        """The id of some contact."""
        return str(self.records("SELECT Id FROM Contact LIMIT 1")[0]["Id"])


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    if not MODULES:
        pytest.skip("the sf CLI is not installed: make test-sf")
    sessions = Sessions()
    sessions.open_org("service", "service")
    with Running(sessions) as running:
        yield Cli(running, tmp_path_factory.mktemp("sf"))


def org_display(cli: Cli) -> None:
    assert cli.result("org", "display")["connectedStatus"] == "Connected"


def data_query(cli: Cli) -> None:
    query = "SELECT Id, CaseNumber, Owner.Name FROM Case ORDER BY CaseNumber LIMIT 3"
    first, *_ = cli.records(query)
    shown = cli.text("data", "query", *ORG, "-q", query)
    assert first["CaseNumber"] in shown
    assert first["Owner"]["Name"] in shown


def aggregates(cli: Cli) -> None:
    # sf confuses columns where only some have a name, whatever the server.
    query = "SELECT Status, COUNT(Id) n, MAX(CreatedDate) latest FROM Case GROUP BY Status"
    lines = cli.text("data", "query", *ORG, "-q", query, "--result-format", "csv").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Status,n,"))
    counted = {line.split(",")[0]: int(line.split(",")[1]) for line in lines[start + 1 :] if line}
    assert counted == {each["Status"]: each["n"] for each in cli.records(query)}


def subqueries(cli: Cli) -> None:
    query = "SELECT Name, (SELECT Id FROM Contacts) FROM Account ORDER BY Name LIMIT 2"
    found = cli.records(query)
    assert all(each["Contacts"]["totalSize"] for each in found)
    assert found[0]["Contacts"]["records"][0]["Id"] in cli.text("data", "query", *ORG, "-q", query)


def data_search(cli: Cli) -> None:
    word = cli.records("SELECT Name FROM Product2 LIMIT 1")[0]["Name"].split()[0]
    search = f"FIND {{{word}}} IN ALL FIELDS RETURNING Product2(Id, Name)"
    found = cli.result("data", "search", "-q", search)["searchRecords"]
    assert word in found[0]["Name"]


def sobjects(cli: Cli) -> None:
    assert "Case" in cli.result("sobject", "list", "-s", "all")
    described = cli.result("sobject", "describe", "-s", "Case")
    assert "CaseNumber" in [field["name"] for field in described["fields"]]


def one_record(cli: Cli) -> None:
    values = f"Subject='The tent leaks' ContactId={cli.contact()}"
    key = cli.result("data", "create", "record", "-s", "Case", "-v", values)["id"]
    of_it = ("-s", "Case", "-i", key)
    assert cli.result("data", "get", "record", *of_it)["Subject"] == "The tent leaks"
    cli.result("data", "update", "record", *of_it, "-v", "Priority=High")
    assert cli.result("data", "get", "record", *of_it)["Priority"] == "High"
    cli.result("data", "delete", "record", *of_it)
    assert not cli.records(f"SELECT Id FROM Case WHERE Id = '{key}'")


def import_bulk(cli: Cli) -> None:
    contact = cli.contact()
    file = cli.folder / "cases.csv"
    file.write_text(f"Subject,ContactId\nbulk one,{contact}\nbulk two,{contact}\n")
    job = ("-s", "Case", "--file", str(file), "--wait", "2", "--line-ending", "LF")
    assert cli.result("data", "import", "bulk", *job)["successfulRecords"] == 2
    kept = cli.records("SELECT Subject FROM Case WHERE Subject LIKE 'bulk%' ORDER BY Subject")
    assert [each["Subject"] for each in kept] == ["bulk one", "bulk two"]


def update_and_delete_bulk(cli: Cli) -> None:
    values = f"Subject='in a job' ContactId={cli.contact()}"
    key = cli.result("data", "create", "record", "-s", "Case", "-v", values)["id"]
    file = cli.folder / "keys.csv"
    job = ("-s", "Case", "--file", str(file), "--wait", "2", "--line-ending", "LF")
    file.write_text(f"Id,Priority\n{key},Low\n")
    cli.result("data", "update", "bulk", *job)
    assert cli.records(f"SELECT Priority FROM Case WHERE Id = '{key}'")[0]["Priority"] == "Low"
    file.write_text(f"Id\n{key}\n")
    cli.result("data", "delete", "bulk", *job)
    assert not cli.records(f"SELECT Id FROM Case WHERE Id = '{key}'")


def export_bulk(cli: Cli) -> None:
    file = cli.folder / "exported.csv"
    query = ("-q", "SELECT Id, Status FROM Case LIMIT 20", "--output-file", str(file))
    cli.result("data", "export", "bulk", *query, "--wait", "2")
    assert len(file.read_text().splitlines()) == 21


def tree(cli: Cli) -> None:
    values = f"Subject='in a tree' ContactId={cli.contact()}"
    cli.result("data", "create", "record", "-s", "Case", "-v", values)
    query = "SELECT Subject, ContactId FROM Case WHERE Subject = 'in a tree'"
    cli.result("data", "export", "tree", "-q", query, "-d", str(cli.folder / "tree"))
    cli.result("data", "import", "tree", "-f", str(cli.folder / "tree" / "Case.json"))
    assert len(cli.records(query)) == 2


def limits_and_requests(cli: Cli) -> None:
    names = [each["name"] for each in cli.result("org", "list", "limits")]
    assert "DailyApiRequests" in names
    path = "/services/data/v59.0/limits"
    assert "DailyApiRequests" in cli.text("api", "request", "rest", path, *ORG)


ROWS: dict[str, Callable[[Cli], None]] = {
    "org login access-token, org display": org_display,
    "data query": data_query,
    "data query: aggregates, as CSV": aggregates,
    "data query: subqueries": subqueries,
    "data search": data_search,
    "sobject list, sobject describe": sobjects,
    "data create, get, update, delete record": one_record,
    "data import bulk": import_bulk,
    "data update bulk, data delete bulk": update_and_delete_bulk,
    "data export bulk": export_bulk,
    "data export tree, data import tree": tree,
    "org list limits, api request rest": limits_and_requests,
}


@pytest.mark.parametrize("name", ROWS)
def test_a_command_does_what_it_says(cli: Cli, name: str) -> None:
    ROWS[name](cli)
