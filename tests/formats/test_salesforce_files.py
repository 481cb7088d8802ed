"""An org goes out as CSV files in load order and comes back the same; dumps of others come in."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from crmbench.api import Sandbox
from crmbench.domains.registry import load_domain
from crmbench.domains.service.own_world import write_own_world
from crmbench.errors import InputError
from crmbench.formats.org_import import ignored_lines, read_org
from crmbench.formats.salesforce_csv import EXTERNAL_ID, export_org

SMALL = {"service": "org-7-x0.05", "sales": "harbour-01"}


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", sorted(SMALL))
def test_each_record_comes_after_those_that_it_refers_to(name: str, tmp_path: Path) -> None:
    written = export_org(load_domain(name), SMALL[name], tmp_path / "org")
    assert sum(each.rows for each in written) > 600
    seen: dict[str, set[str]] = {}
    for each in written:
        ids = seen.setdefault(each.name, set())
        for row in table(tmp_path / "org" / each.file):
            for column, value in row.items():
                way, dot, end = column.partition(".")
                if dot and value:
                    assert end == EXTERNAL_ID
                    assert any(value in known for known in seen.values()), (each.name, way, value)
            ids.add(row[EXTERNAL_ID])
        assert len(ids) == each.rows
    manifest = json.loads((tmp_path / "org" / "org.json").read_text())
    assert [each["object"] for each in manifest["objects"]] == [each.name for each in written]
    guide = (tmp_path / "org" / "README.md").read_text()
    assert all(f"--file {each.file}" in guide for each in written if each.rows)


def test_what_went_out_comes_back_the_same(tmp_path: Path) -> None:
    domain = load_domain("service")
    export_org(domain, SMALL["service"], tmp_path / "org")
    read = read_org(tmp_path / "org", domain)
    assert read.renamed == {}
    write_own_world(tmp_path / "own.world", domain, read.rows, read.now)
    with (
        Sandbox.open("service", SMALL["service"]) as first,
        Sandbox.open("service", f"file:{tmp_path / 'own.world'}") as second,
    ):
        assert second.digest() == first.digest()
        assert second.database.clock.now() == first.database.clock.now()
        query = {"query": "SELECT Status, COUNT(Id) n FROM Case GROUP BY Status ORDER BY Status"}
        answers = [each.call("issue_soql_query", query).result for each in (first, second)]
        assert answers[0] == answers[1]
        search = {"search_term": "return"}
        found = [each.call("search_knowledge_articles", search).result for each in (first, second)]
        assert found[0] == found[1]
        assert found[0]


def test_the_same_world_gives_the_same_bytes(tmp_path: Path) -> None:
    domain = load_domain("service")
    for name in ("one", "two"):
        export_org(domain, SMALL["service"], tmp_path / name)
        read = read_org(tmp_path / name, domain)
        write_own_world(tmp_path / f"{name}.world", domain, read.rows, read.now)
    for file in sorted((tmp_path / "one").iterdir()):
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()
    assert (tmp_path / "one.world").read_bytes() == (tmp_path / "two.world").read_bytes()


def dump(folder: Path, **objects: list[dict[str, Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, records in objects.items():
        (folder / f"{name}.json").write_bytes(orjson.dumps(records))
    return folder


def foreign() -> dict[str, list[dict[str, Any]]]:
    """What simple-salesforce gives from an org whose ids are of another form."""
    attributes = {"type": "Case", "url": "/services/data/v64.0/sobjects/Case/1"}
    return {
        "User": [{"Id": "u1", "FirstName": "Ada", "LastName": "Pell", "Username": "a@x.example"}],
        "Account": [{"Id": "acc-9", "FirstName": "Bo", "LastName": "Lind", "Fax": "1"}],
        "Contact": [{"Id": "con-1", "LastName": "Lind", "AccountId": "acc-9", "OwnerId": "u1"}],
        "Case": [
            {
                "attributes": attributes,
                "Id": "case-2",
                "Subject": "Late parcel",
                "Description": "It has not come.",
                "Status": "New",
                "Priority": "High",
                "ContactId": "con-1",
                "AccountId": "acc-9",
                "OwnerId": "u1",
                "CreatedDate": "2026-01-05T11:30:00.000+0100",
                "ClosedDate": None,
            }
        ],
        "Lead": [{"Id": "l1"}],
    }


def test_a_dump_of_another_org_gets_ids_of_our_form_wherever_they_stand(tmp_path: Path) -> None:
    domain = load_domain("service")
    read = read_org(dump(tmp_path / "dump", **foreign()), domain)
    assert read.now == datetime(2026, 1, 5, 10, 30, tzinfo=UTC)
    assert len(read.renamed) == 4
    assert {"Account: no field for Fax", "Lead.json: no such object"} <= set(ignored_lines(read))
    write_own_world(tmp_path / "own.world", domain, read.rows, read.now, "Ada leads the desk.")
    with Sandbox.open("service", f"file:{tmp_path / 'own.world'}") as sandbox:
        query = "SELECT Subject, Owner.Name, Account.LastName, CreatedDate FROM Case"
        (case,) = sandbox.call("issue_soql_query", {"query": query}).result["records"]
        assert case["Owner"]["Name"] == "Ada Pell"
        assert case["Account"]["LastName"] == "Lind"
        assert case["CreatedDate"] == "2026-01-05T10:30:00.000+0000"


def without(objects: dict[str, list[dict[str, Any]]], name: str, **fields: Any) -> dict[str, Any]:
    objects[name][0].update(fields)
    return objects


@pytest.mark.parametrize(
    ("objects", "problem", "field"),
    [
        (without(foreign(), "Case", ContactId="con-77"), "refers to Contact con-77", "ContactId"),
        (without(foreign(), "Case", CreatedDate="yesterday"), "does not suit", "CreatedDate"),
        (without(foreign(), "User", IsActive="maybe"), "does not suit IsActive", "IsActive"),
        (without(foreign(), "User", Id=""), "a record has no id", None),
        ({"Lead": [{"Id": "l1"}]}, "holds no file of an object", None),
    ],
)
def test_what_cannot_be_read_is_named(
    tmp_path: Path, objects: dict[str, Any], problem: str, field: str | None
) -> None:
    with pytest.raises(InputError) as caught:
        read_org(dump(tmp_path / "dump", **objects), load_domain("service"))
    assert problem in str(caught.value)
    assert caught.value.field == field


def test_a_rule_of_an_object_holds_for_imported_records(tmp_path: Path) -> None:
    domain = load_domain("service")
    objects = without(foreign(), "Case", Status="Forgotten")
    read = read_org(dump(tmp_path / "dump", **objects), domain)
    with pytest.raises(InputError, match="Status must be one of"):
        write_own_world(tmp_path / "own.world", domain, read.rows, read.now)
    assert not (tmp_path / "own.world").exists()


def test_a_line_with_too_many_values_is_named(tmp_path: Path) -> None:
    (tmp_path / "User.csv").write_text("Id,LastName\nu1,Pell\nu2,Lind,x\n", "utf-8")
    with pytest.raises(InputError, match="more or fewer values") as caught:
        read_org(tmp_path, load_domain("service"))
    assert caught.value.line == 3


@pytest.mark.parametrize(
    ("content", "problem"), [(b"no gzip", "cannot be read"), (None, "cannot be read")]
)
def test_a_file_that_is_no_world_is_refused(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    path = tmp_path / "x.world"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        load_domain("service").world(f"file:{path}")


def test_a_world_of_another_domain_is_refused(tmp_path: Path) -> None:
    domain = load_domain("service")
    read = read_org(dump(tmp_path / "dump", **foreign()), domain)
    write_own_world(tmp_path / "own.world", domain, read.rows, read.now)
    with pytest.raises(InputError, match="is a world of the domain service, not service_hard"):
        load_domain("service_hard").world(f"file:{tmp_path / 'own.world'}")
    with pytest.raises(InputError, match="cannot be imported into the domain sales"):
        write_own_world(tmp_path / "s.world", load_domain("sales"), read.rows, read.now)
