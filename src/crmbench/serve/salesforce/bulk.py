"""Bulk jobs: many records of one object written, or the rows of one query, as files.

Both versions of the bulk API do the same to the same jobs; they differ in how they say it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from crmbench.errors import ToolError
from crmbench.salesforce.ids import prefixed_id
from crmbench.salesforce.sobjects import Org, SobjectError
from crmbench.salesforce.sobjects.errors import as_result
from crmbench.salesforce.sobjects.org import MAX_ROWS
from crmbench.salesforce.soql.dates import datetime_text
from crmbench.salesforce.soql.plan import ChildPlan, Leaf, Node

DELIMITERS = {
    "BACKQUOTE": "`",
    "CARET": "^",
    "COMMA": ",",
    "PIPE": "|",
    "SEMICOLON": ";",
    "TAB": "\t",
}
LINE_ENDINGS = {"LF": "\n", "CRLF": "\r\n"}
WRITES = ("insert", "update", "upsert", "delete", "hardDelete")
QUERIES = ("query", "queryAll")
MAX_JOBS = 200
"""Jobs that a session keeps; the oldest goes for a new one."""
MAX_RECORDS = 200_000
"""Records of one job."""


@dataclass
class RowResult:
    """What came of one record of a job."""

    row: dict[str, Any]
    """As it was uploaded."""
    key: str = ""
    created: bool = False
    error: str = ""
    """Empty: it went well."""


@dataclass
class Batch:
    """Some records of a job, uploaded together; or the rows of its query."""

    key: str
    state: str = "Completed"
    message: str = ""
    results: list[RowResult] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)
    """Of a query: records with their attributes."""


@dataclass
class BulkJob:
    """One job."""

    key: str
    operation: str
    object_name: str
    created: str
    external_id: str = ""
    delimiter: str = "COMMA"
    line_ending: str = "LF"
    content_type: str = "CSV"
    query: str = ""
    state: str = "Open"
    error: str = ""
    uploaded: list[bytes] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    version: str = "59.0"

    @property
    def results(self) -> list[RowResult]:
        """Those of all batches."""
        return [result for batch in self.batches for result in batch.results]


class Jobs:
    """The bulk jobs of one org."""

    def __init__(self, org: Org) -> None:
        self._org = org
        self._jobs: dict[str, BulkJob] = {}
        self._made = 0

    def open(self, **given: Any) -> BulkJob:
        """A new job.

        Raises:
            SobjectError: The operation or object is none.
        """
        operation, name = given["operation"], given.get("object_name", "")
        if operation in WRITES:
            each = self._org.object(name) if isinstance(name, str) else None
            if each is None:
                raise SobjectError("INVALIDENTITY", "the job names no object")
            given["object_name"] = each.name
            if operation == "upsert":
                self._org.external_id(each, str(given.get("external_id") or ""))
        elif operation not in QUERIES:
            raise SobjectError("INVALIDOPERATION", f"no such operation: {str(operation)[:40]}")
        job = BulkJob(self._next("750"), created=datetime_text(self._org.now), **given)
        self._jobs[job.key] = job
        if len(self._jobs) > MAX_JOBS:
            del self._jobs[next(iter(self._jobs))]
        return job

    def get(self, key: str) -> BulkJob:
        """The job of an id of 15 or 18 characters.

        Raises:
            SobjectError: There is none.
        """
        found = self._jobs.get(key) or next(
            (job for job in self._jobs.values() if job.key[:15] == key), None
        )
        if found is None:
            raise SobjectError("NOT_FOUND", "The requested resource does not exist", status=404)
        return found

    def drop(self, job: BulkJob) -> None:
        """Forget a job."""
        self._jobs.pop(job.key, None)

    def all(self) -> list[BulkJob]:
        """The jobs, oldest first."""
        return list(self._jobs.values())

    def batch(self) -> Batch:
        """A new batch, not yet part of a job."""
        return Batch(self._next("751"))

    def _next(self, prefix: str) -> str:
        self._made += 1
        return prefixed_id(prefix, self._made)

    # --- doing the work -----------------------------------------------------------------------

    def write(self, job: BulkJob, rows: Iterable[dict[str, Any]], text: bool) -> list[RowResult]:
        """Write each record by itself: one that is refused leaves the others.

        Args:
            job: What is done with them.
            rows: The records.
            text: Whether all values are text, as from CSV and XML.
        """
        return [self._row(job, row, text) for row in rows]

    def _row(self, job: BulkJob, row: dict[str, Any], text: bool) -> RowResult:
        result = RowResult(row)
        try:
            result.key, result.created = self._done(job, row, text)
        except ToolError as error:
            told = as_result(error)
            result.key = str(_id_of(row) or "")
            result.error = f"{told['statusCode']}:{told['message']}:{','.join(told['fields'])} --"
        return result

    def _done(self, job: BulkJob, row: dict[str, Any], text: bool) -> tuple[str, bool]:
        org, name = self._org, job.object_name
        if job.operation == "insert":
            return org.create(name, row, text=text), True
        if job.operation == "upsert":
            lowered = job.external_id.lower()
            value = next((v for k, v in row.items() if k.lower() == lowered), None)
            if not isinstance(value, str) or not value:
                raise SobjectError(
                    "MISSING_ARGUMENT", f"{job.external_id} not specified", [job.external_id]
                )
            others = {k: v for k, v in row.items() if k.lower() != lowered}
            done = org.upsert(name, job.external_id, value, others, text=text)
            return done.key, done.created
        key = _id_of(row)
        if not isinstance(key, str) or not key:
            raise SobjectError("MISSING_ARGUMENT", "Id not specified in an update call", ["Id"])
        if job.operation == "update":
            fields = {k: v for k, v in row.items() if k.lower() != "id"}
            org.update(name, key, fields, text=text)
        else:
            org.delete(name, key)
        return key, False

    def run_query(self, job: BulkJob) -> Batch:
        """The rows of a job's query; a query that is refused fails the batch."""
        batch = self.batch()
        org = self._org
        try:
            deleted = job.operation == "queryAll"
            page = org.query(job.query, deleted=deleted, size=MAX_ROWS + 1)
            plan = org.store.soql.plan(job.query, org.now)
            batch.columns = list(_columns(plan.node))
            batch.records = page.records
        except ToolError as error:
            told = as_result(error)
            batch.state, batch.message = "Failed", f"{told['statusCode']}: {told['message']}"
        return batch


_of_orgs: WeakKeyDictionary[Org, Jobs] = WeakKeyDictionary()


def jobs_of(org: Org) -> Jobs:
    """The jobs of an org; they go with it."""
    if org not in _of_orgs:
        _of_orgs[org] = Jobs(org)
    return _of_orgs[org]


def _id_of(row: dict[str, Any]) -> Any:
    return next((value for name, value in row.items() if name.lower() == "id"), None)


# --- CSV ------------------------------------------------------------------------------------------


def read_csv(data: bytes, delimiter: str = ",") -> list[dict[str, Any]]:
    """The records of a file; ``Account.External_ID__c`` names a record by an external id.

    Raises:
        SobjectError: It is no CSV, or has too many records.
    """
    try:
        lines = list(csv.reader(io.StringIO(data.decode("utf-8-sig")), delimiter=delimiter))
    except (UnicodeDecodeError, csv.Error) as error:
        raise SobjectError("INVALIDBATCH", f"Failed to parse CSV: {error}") from error
    lines = [line for line in lines if line]
    if not lines:
        raise SobjectError("INVALIDBATCH", "Failed to parse CSV: it has no header")
    if len(lines) - 1 > MAX_RECORDS:
        raise SobjectError("LIMIT_EXCEEDED", f"a job can have {MAX_RECORDS:,} records at most")
    header, *rows = lines
    if any(len(row) != len(header) for row in rows):
        raise SobjectError(
            "INVALIDBATCH", "Failed to parse CSV: a row is not as long as the header"
        )
    return [_record(header, row) for row in rows]


def _record(header: list[str], row: list[str]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for name, value in zip(header, row, strict=True):
        relation, dot, field_name = name.partition(".")
        if dot:
            if value:
                record[relation] = {field_name: value}
        else:
            record[name] = value
    return record


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """An uploaded record as it was in the file."""
    row: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            row.update({f"{name}.{inner}": v for inner, v in value.items()})
        else:
            row[name] = value
    return row


def write_csv(
    columns: list[str], rows: Iterable[Iterable[Any]], delimiter: str = ",", ending: str = "\n"
) -> str:
    """A file with every value in quotes, as the bulk API writes it."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator=ending, quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([text_of(value) for value in row])
    return out.getvalue()


def text_of(value: Any) -> str:
    """A value as CSV and XML write it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def query_rows(batch: Batch) -> Iterator[list[Any]]:
    """The values of a query's rows, in the order of its columns."""
    paths = [column.split(".") for column in batch.columns]
    for record in batch.records:
        yield [_value(record, path) for path in paths]


def _value(record: Any, path: list[str]) -> Any:
    for step in path:
        record = record.get(step) if isinstance(record, dict) else None
    return record


def _columns(node: Node, prefix: str = "") -> Iterator[str]:
    for name, item in node.entries:
        if isinstance(item, Leaf):
            yield prefix + name
        elif isinstance(item, ChildPlan):
            raise SobjectError(
                "FEATURENOTENABLED", "a bulk query cannot have a subquery for child records"
            )
        else:
            yield from _columns(item, f"{prefix}{name}.")
