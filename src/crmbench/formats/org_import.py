"""Records of somebody's own org, from CSV or JSON files, as a world that tasks can play in.

Read are the files that `crmbench.formats.salesforce_csv` writes, and any directory with a file an
object: ``Case.csv`` from Data Loader or the ``sf`` command line, ``Case.json`` with the records of
a simple-salesforce ``query_all``. Everything stays on this machine.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Boolean, Float, Integer

from crmbench.core.domain import Domain
from crmbench.core.schema import TableInfo
from crmbench.errors import InputError
from crmbench.formats.salesforce_csv import EXTERNAL_ID, MANIFEST
from crmbench.language.counts import counted
from crmbench.salesforce.ids import is_id, record_id

Rows = dict[str, dict[str, dict[str, Any]]]
_NUMBER = re.compile(r"\d+_")
"""What `export_org` puts before an object's name: ``05_`` in ``05_Case.csv``, none in ``Case``."""
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|([+-]\d\d):?(\d\d))?")
"""``2026-01-05T10:00:00.000+0000``, ``2026-01-05 10:00:00``; ``2026-01-05`` is a date."""


@dataclass
class ImportedOrg:
    """What was read."""

    rows: Rows
    now: datetime
    ignored: dict[str, list[str]] = field(default_factory=dict)
    """Object to the columns that the domain has no field for."""
    left_out: list[str] = field(default_factory=list)
    """Files of objects that the domain does not have."""
    renamed: dict[str, str] = field(default_factory=dict)
    """The file's id of each record that got another, to the new one."""

    @property
    def total(self) -> int:
        """Records."""
        return sum(len(rows) for rows in self.rows.values())


def read_org(folder: Path, domain: Domain, now: datetime | None = None) -> ImportedOrg:
    """Read a directory of CSV or JSON files.

    Args:
        domain: Whose objects they are; its tables bear Salesforce's names.
        now: The world's clock; the directory's manifest or the latest moment in it if None.

    Raises:
        InputError: A file cannot be read, a value does not suit its field, or a record refers to
            one that no file holds; names file, line and field.
    """
    if not folder.is_dir():
        raise InputError("is no directory", file=str(folder), expected="CSV files, one an object")
    found = ImportedOrg({}, now or datetime.min.replace(tzinfo=UTC))
    places: dict[tuple[str, str], tuple[Path, int]] = {}
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".csv", ".json")):
        if path.name == MANIFEST:
            continue
        name = _object_of(path, domain)
        if name is None:
            found.left_out.append(path.name)
            continue
        _read_file(path, domain.schema[name], found, places)
    if not found.rows:
        raise InputError(
            "holds no file of an object that the domain has",
            file=str(folder),
            expected=", ".join(f"{name}.csv" for name in list(domain.schema.tables)[:4]) + ", …",
        )
    _rename(domain, found, places)
    for name in found.rows:
        found.rows[name] = _parents_first(domain.schema[name], found.rows[name])
    if now is None:
        found.now = _now_of(folder, found)
    return found


def _object_of(path: Path, domain: Domain) -> str | None:
    stem = _NUMBER.sub("", path.stem, count=1).lower()
    return next((name for name in domain.schema.tables if name.lower() == stem), None)


def _read_file(
    path: Path,
    info: TableInfo,
    found: ImportedOrg,
    places: dict[tuple[str, str], tuple[Path, int]],
) -> None:
    columns = {name.lower(): name for name in info.columns}
    relations = {_relation(name).lower(): name for name in info.references}
    rows = found.rows.setdefault(info.name, {})
    for line, record in _records(path):
        row, key = {}, None
        for given, value in record.items():
            name = columns.get(given.lower())
            way, _, end = given.partition(".")
            if name is None and end.lower() in (EXTERNAL_ID.lower(), "id"):
                name = relations.get(way.lower())
            if given in (EXTERNAL_ID, info.key) or given.lower() == "id":
                key = value or key
            elif name is None:
                if given not in found.ignored.setdefault(info.name, []):
                    found.ignored[info.name].append(given)
            else:
                row[name] = _value(info, name, value, path, line)
        if not key:
            raise InputError(
                "a record has no id", file=str(path), line=line, expected=f"Id or {EXTERNAL_ID}"
            )
        key = str(key)
        if key in rows:
            raise InputError(f"the id {key} is there twice", file=str(path), line=line)
        rows[key] = row
        places[info.name, key] = (path, line)
    if not found.ignored.get(info.name):
        found.ignored.pop(info.name, None)


def _relation(column: str) -> str:
    """The way that a reference's column opens: ``Account`` of AccountId, ``IssueId__r`` of
    IssueId__c.
    """
    if column.endswith("__c"):
        return f"{column[:-3]}__r"
    return column.removesuffix("Id")


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Line, or place in a list, and record."""
    try:
        if path.suffix == ".json":
            yield from enumerate(_json_records(path), start=1)
            return
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            for record in reader:
                if None in record or None in record.values():
                    raise InputError(
                        "has more or fewer values than the head has columns",
                        file=str(path),
                        line=reader.line_num,
                    )
                yield reader.line_num, record
    except (OSError, UnicodeDecodeError, csv.Error, orjson.JSONDecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from error


def _json_records(path: Path) -> Iterable[Mapping[str, Any]]:
    data = orjson.loads(path.read_bytes())
    records = data.get("records") if isinstance(data, dict) else data
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        raise InputError("is no list of records", file=str(path), expected="[{…}, …]")
    for record in records:
        # What a query adds to each record says nothing of it.
        yield {n: v for n, v in record.items() if n != "attributes" and not isinstance(v, dict)}


def _value(info: TableInfo, name: str, value: Any, path: Path, line: int) -> Any:
    if value is None or value == "":
        return None
    column = info.table.c[name]
    kind = column.info.get("type")
    try:
        if isinstance(column.type, Boolean):
            return _flag(value)
        if isinstance(column.type, Integer):
            return int(float(value))
        if isinstance(column.type, Float):
            return float(value)
        if kind == "datetime":
            return _moment(str(value))
        if kind == "date":
            return datetime.fromisoformat(str(value)[:10]).date().isoformat()
    except ValueError as error:
        raise InputError(
            f"{value!r} does not suit {name}",
            file=str(path),
            line=line,
            field=name,
            expected=kind or type(column.type).__name__.lower(),
        ) from error
    return str(value)


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in ("true", "1"):
        return True
    if str(value).lower() in ("false", "0"):
        return False
    raise ValueError(value)


def _moment(text: str) -> str:
    """A moment in UTC as the org stores it."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    day, time, hours, minutes = match.groups()
    moment = datetime.fromisoformat(f"{day}T{time}{hours or '+00'}:{minutes or '00'}")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000+0000")


def _rename(
    domain: Domain, found: ImportedOrg, places: Mapping[tuple[str, str], tuple[Path, int]]
) -> None:
    """Give records whose id is not of the form that the domain knows one that is, wherever they
    are referred to; of an id of 15 characters it is the long form.
    """
    for name, rows in found.rows.items():
        fits = all(is_id(key, name) and len(key) == 18 for key in rows)
        if fits:
            continue
        for number, key in enumerate(sorted(rows), start=1):
            found.renamed[f"{name}/{key}"] = record_id(name, number)
        found.rows[name] = {found.renamed[f"{name}/{key}"]: row for key, row in rows.items()}
    olds = {(name, new): old for (name, old, new) in _renames(found)}
    for name, rows in found.rows.items():
        for column, target in domain.schema[name].references.items():
            known = found.rows.get(target, {})
            for key, row in rows.items():
                value = row.get(column)
                if value is None:
                    continue
                row[column] = found.renamed.get(f"{target}/{value}", value)
                if row[column] not in known:
                    path, line = places[name, olds.get((name, key), key)]
                    raise InputError(
                        f"refers to {target} {value}, which no file holds",
                        file=str(path),
                        line=line,
                        field=column,
                        expected=f"a record of {target}.csv, or nothing",
                    )


def _parents_first(info: TableInfo, rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Records such that each comes after those of its own object that it refers to; those that
    refer to each other in a circle come last.
    """
    own = [column for column, target in info.references.items() if target == info.name]
    left, ordered = dict(rows), dict[str, dict[str, Any]]()
    while own and left:
        ready = {k: r for k, r in left.items() if not any(r.get(c) in left for c in own)}
        if not ready:
            break
        ordered |= ready
        left = {key: row for key, row in left.items() if key not in ready}
    return ordered | left


def _renames(found: ImportedOrg) -> Iterator[tuple[str, str, str]]:
    for place, new in found.renamed.items():
        name, _, old = place.partition("/")
        yield name, old, new


def _now_of(folder: Path, found: ImportedOrg) -> datetime:
    """The manifest's clock, else the latest moment that any record bears."""
    manifest = folder / MANIFEST
    if manifest.exists():
        return datetime.fromisoformat(orjson.loads(manifest.read_bytes())["now"])
    moments = [
        value
        for rows in found.rows.values()
        for row in rows.values()
        for name, value in row.items()
        if isinstance(value, str) and _MOMENT.fullmatch(value) and name.endswith("Date")
    ]
    if not moments:
        raise InputError(
            "no record bears a moment, so the world's clock is not known",
            file=str(folder),
            expected="--now 2026-01-31T09:00:00",
        )
    return datetime.strptime(max(moments), "%Y-%m-%dT%H:%M:%S.000%z")


def ignored_lines(found: ImportedOrg) -> Sequence[str]:
    """What was read over, for people."""
    lines = [f"{name}: no field for {', '.join(cols)}" for name, cols in found.ignored.items()]
    lines += [f"{file}: no such object" for file in found.left_out]
    if found.renamed:
        renamed = counted(len(found.renamed), "record")
        lines.append(f"{renamed} got ids of the form that the domain has")
    return lines
