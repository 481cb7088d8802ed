"""An org as CSV files in load order, so that it can be put into a real one, and such files read.

One file an object, numbered so that each record comes after those that it refers to. A record's
own id stands under `EXTERNAL_ID`, a custom field that the target org needs on each object, and a
reference under the way to the record that it refers to, such as ``Account.Crmbench_Id__c``: the
form that upserts by external id take (``sf data upsert bulk``, Data Loader, Bulk API 2.0).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from crmbench.core.domain import Domain
from crmbench.core.sandbox import Sandbox
from crmbench.errors import InputError
from crmbench.language.counts import counted
from crmbench.salesforce.sobjects import Org, open_org
from crmbench.salesforce.sobjects.schema import FieldSpec, ObjectSchema

EXTERNAL_ID = "Crmbench_Id__c"
MANIFEST = "org.json"
GUIDE = "README.md"
AUDIT = ("CreatedDate", "ClosedDate")
"""Fields that an org sets itself, unless it lets whoever loads set audit fields."""
LEFT_OUT = ("Organization",)


@dataclass(frozen=True)
class LoadedObject:
    """One object's file."""

    name: str
    file: str
    rows: int
    references: Mapping[str, str]
    """Field to the object that it refers to."""


def export_org(domain: Domain, world: str, folder: Path) -> list[LoadedObject]:
    """Write all records of a world; the same world gives the same bytes.

    Args:
        folder: Made, or empty.

    Raises:
        InputError: The domain has no such world or no objects of Salesforce's, or the folder holds
            something already.
    """
    if folder.exists() and any(folder.iterdir()):
        raise InputError("holds something already", file=str(folder), expected="a new directory")
    with Sandbox.open(domain, domain.world(world)) as sandbox:
        org = open_org(sandbox)
        folder.mkdir(parents=True, exist_ok=True)
        written = [
            _write(org, each, place, folder)
            for place, each in enumerate(_in_load_order(org), start=1)
        ]
        now = org.now.isoformat()
    manifest = {
        "domain": domain.name,
        "world": world,
        "now": now,
        "external_id": EXTERNAL_ID,
        "objects": [
            {
                "object": each.name,
                "file": each.file,
                "rows": each.rows,
                "references": dict(each.references),
            }
            for each in written
        ],
    }
    (folder / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n")
    (folder / GUIDE).write_text(_guide(domain.name, world, written), "utf-8")
    return written


def references(org: Org, each: ObjectSchema) -> dict[str, FieldSpec]:
    """The fields of an object that refer to records which the org holds, by name."""
    return {
        field.name: field
        for field in each.fields.values()
        if field.target and field.relation and org.schema.get(field.target) and _kept(field)
    }


def _in_load_order(org: Org) -> list[ObjectSchema]:
    """Objects such that each comes after those that it refers to; alike otherwise by name."""
    objects = {e.name: e for e in org.schema.objects.values() if e.name not in LEFT_OUT}
    needs = {
        name: {str(field.target) for field in references(org, each).values()} - {name, *LEFT_OUT}
        for name, each in objects.items()
    }
    ordered: list[ObjectSchema] = []
    done: set[str] = set()
    while len(ordered) < len(objects):
        ready = sorted(name for name in needs if name not in done and needs[name] <= done)
        if not ready:
            # Objects that refer to each other: the one that waits for fewest goes first.
            ready = [
                min((n for n in needs if n not in done), key=lambda n: (len(needs[n] - done), n))
            ]
        ordered += [objects[name] for name in ready]
        done |= set(ready)
    return ordered


def _kept(field: FieldSpec) -> bool:
    return field.createable or field.name in AUDIT


def _write(org: Org, each: ObjectSchema, place: int, folder: Path) -> LoadedObject:
    links = references(org, each)
    fields = [field for field in each.fields.values() if _kept(field)]
    head = [
        EXTERNAL_ID,
        *(f"{f.relation}.{EXTERNAL_ID}" if f.name in links else f.name for f in fields),
    ]
    names = ", ".join(["Id", *(field.name for field in fields)])
    rows = _parents_before(org.rows(f"SELECT {names} FROM {each.name} ORDER BY Id"), each, links)
    path = folder / f"{place:02d}_{each.name}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        for row in rows:
            writer.writerow([row["Id"], *(_text(row[field.name]) for field in fields)])
    targets = {name: str(field.target) for name, field in links.items()}
    return LoadedObject(each.name, path.name, len(rows), targets)


def _parents_before(
    rows: Sequence[dict[str, Any]], each: ObjectSchema, links: Mapping[str, FieldSpec]
) -> list[dict[str, Any]]:
    """Rows such that each comes after those of its own object that it refers to."""
    own = [name for name, field in links.items() if field.target == each.name]
    if not own:
        return list(rows)
    left, ordered, done = list(rows), [], set[str]()
    here = {row["Id"] for row in rows}
    while left:
        ready = [
            r for r in left if all(r[n] is None or r[n] in done or r[n] not in here for n in own)
        ]
        if not ready:
            ready = left
        ordered += ready
        done |= {row["Id"] for row in ready}
        left = [row for row in left if row["Id"] not in done]
    return ordered


def _text(value: Any) -> str:
    """A value as Salesforce's loaders read it: nothing for null, true and false in small type."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _guide(domain: str, world: str, written: Sequence[LoadedObject]) -> str:
    return "\n".join(_guide_lines(domain, world, written)) + "\n"


def _guide_lines(domain: str, world: str, written: Sequence[LoadedObject]) -> Iterator[str]:
    total = sum(each.rows for each in written)
    yield f"# The org {world} of crmbench's {domain} domain, to load into Salesforce"
    yield ""
    held = f"{counted(len(written), 'object')}, {counted(total, 'record')}"
    yield f"{held}. Take an org made for it, a scratch org say."
    yield ""
    yield f"1. Give every object below a text field `{EXTERNAL_ID}` (18 characters, external id,"
    yield "   unique), and make the custom objects and fields (`__c`) that the org lacks."
    yield "2. To keep `CreatedDate` and `ClosedDate`, allow *Set Audit Fields upon Record"
    yield "   Creation*."
    yield "3. Switch off triggers, assignment rules and validation that would change records."
    yield "4. Load the files in this order; each refers to those before it by external id:"
    yield ""
    for each in written:
        if each.rows:
            yield (
                f"       sf data upsert bulk --sobject {each.name} --file {each.file} "
                f"--external-id {EXTERNAL_ID} --wait 10"
            )
    yield ""
    yield "Users are loaded as inactive copies, or left out and mapped to users of the org."
    yield f"`crmbench import-org` reads this directory again; `{MANIFEST}` says what each file has."
