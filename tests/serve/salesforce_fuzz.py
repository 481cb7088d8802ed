"""Requests to Salesforce's APIs that are nearly right, from a seed."""

from __future__ import annotations

import json
import random
from typing import Any, NamedTuple
from urllib.parse import quote

from tests.serve.hostile import SOQL, TEXTS, VALUES

from crmbench.salesforce.sobjects.org import Org

DATA = "/services/data/v59.0"


class Request(NamedTuple):
    """One request."""

    method: str
    path: str
    body: bytes | None
    headers: dict[str, str]


class Fuzzer:
    """Makes requests about an org from names, ids and values that are in it, and some that are not.

    Args:
        org: What it asks about.
        seed: The same gives the same requests.
    """

    def __init__(self, org: Org, seed: int) -> None:
        self._chance = random.Random(seed)
        self._objects = list(org.schema.objects.values())
        self._ids = [
            row["Id"]
            for each in self._objects
            for row in org.rows(f"SELECT Id FROM {each.name} LIMIT 3")
        ]

    def request(self) -> Request:
        """The next request."""
        makers = (
            self._query, self._query, self._search, self._parameterized, self._record, self._record,
            self._create, self._create, self._external, self._collection, self._composite,
            self._batch, self._tree, self._bulk2, self._bulk1, self._soap, self._token, self._path,
        )  # fmt: skip
        made = self._chance.choice(makers)()
        if made.body and self._chance.random() < 0.05:
            cut = self._chance.randrange(len(made.body))
            made = made._replace(body=made.body[:cut] + b"\xff{" * self._chance.randrange(3))
        return made

    # --- pieces -------------------------------------------------------------------------------

    def _object(self) -> Any:
        return self._chance.choice(self._objects)

    def _name(self) -> str:
        return self._chance.choice((self._object().name,) * 9 + ("Nope",))

    def _field(self, each: Any = None) -> str:
        fields = list((each or self._object()).fields.values())
        return self._chance.choice((self._chance.choice(fields).name,) * 9 + ("Nope__c",))

    def _id(self) -> str:
        chance = self._chance
        return chance.choice((*(chance.choice(self._ids),) * 9, "500Hs0000000000", "x", ""))

    def _value(self) -> Any:
        chance = self._chance
        text = chance.choice(TEXTS).encode("utf-8", "replace").decode()
        value = chance.choice((self._id(), self._id(), text, "2026-01-01", "High", 5, True))
        return chance.choice(VALUES) if chance.random() < 0.2 else value

    def _row(self, each: Any = None) -> dict[str, Any]:
        each = each or self._object()
        row = {self._field(each): self._value() for _ in range(self._chance.randrange(5))}
        for spec in each.fields.values():
            if spec.required and self._chance.random() < 0.8:
                row[spec.name] = self._fitting(spec)
        return row

    def _fitting(self, spec: Any) -> Any:
        """A value that a field takes, as far as its type says."""
        if spec.values:
            return self._chance.choice(spec.values)
        if spec.type == "reference":
            prefix = next(
                (o.spec.prefix for o in self._objects if o.name == spec.target), self._id()[:3]
            )
            return next((key for key in self._ids if key.startswith(prefix)), self._id())
        kinds = {"currency": 12.5, "int": 3, "boolean": True, "date": "2026-05-01"}
        fitting = {**kinds, "datetime": "2026-05-01T00:00:00Z", "email": "a@b.example"}
        return fitting.get(spec.type, f"Text {self._chance.randrange(10**6)}")

    def _soql(self) -> str:
        chance = self._chance
        if chance.random() < 0.2:
            return chance.choice(SOQL)
        each = self._object()
        fields = ", ".join(self._field(each) for _ in range(chance.randint(1, 4)))
        field, value = self._field(each), chance.choice(TEXTS).replace("\ud800", "")
        literal = "'" + value[:300].replace("\\", "\\\\").replace("'", "\\'") + "'"
        written = chance.choice((literal, literal, "null", "5", "LAST_N_DAYS:9", ":bind", "true"))
        operator = chance.choice(("=", "!=", "<", ">=", "LIKE", "IN", "INCLUDES"))
        if operator in ("IN", "INCLUDES"):
            written = f"({written})"
        tail = chance.choice(
            ("", f"ORDER BY {field}", "LIMIT 3", f"GROUP BY {field}", "ALL ROWS", "OFFSET 2001")
        )
        return f"SELECT {fields} FROM {each.name} WHERE {field} {operator} {written} {tail}"

    def _json(self, method: str, path: str, data: Any) -> Request:
        body = json.dumps(data, default=str).encode("utf-8", "replace")
        return Request(method, f"{DATA}/{path}", body, {"Content-Type": "application/json"})

    # --- requests -----------------------------------------------------------------------------

    def _get(self, path: str, **query: str) -> Request:
        shown = "&".join(f"{k}={quote(v.encode('utf-8', 'replace'))}" for k, v in query.items())
        return Request("GET", f"{DATA}/{path}?{shown}", None, {})

    def _query(self) -> Request:
        name = self._chance.choice(("query/", "query/", "queryAll/"))
        return self._get(name, **{self._chance.choice(("q", "q", "q", "explain")): self._soql()})

    def _search(self) -> Request:
        words = self._chance.choice(TEXTS)[:200]
        text = f"FIND {{{words}}} IN ALL FIELDS RETURNING {self._name()}({self._field()})"
        return self._get("search/", q=text)

    def _parameterized(self) -> Request:
        one = {"name": self._name(), "fields": [self._field()], "where": self._value()}
        return self._json(
            "POST", "parameterizedSearch", {"q": self._value(), "sobjects": [one, self._value()]}
        )

    def _record(self) -> Request:
        path = f"sobjects/{self._name()}/{quote(self._id())}"
        method = self._chance.choice(("GET", "PATCH", "PATCH", "DELETE", "POST"))
        if method == "GET":
            return self._get(path, fields=self._chance.choice(("", self._field(), "Id FROM User")))
        return self._json(method, path, self._row())

    def _create(self) -> Request:
        each = self._object()
        return self._json("POST", f"sobjects/{each.name}", self._row(each))

    def _external(self) -> Request:
        value = quote(str(self._value())[:200].encode("utf-8", "replace"), safe="")
        field = self._chance.choice(("External_ID__c", "Id", self._field()))
        path = f"sobjects/{self._name()}/{field}/{value}"
        return self._json(self._chance.choice(("PATCH", "GET", "DELETE")), path, self._row())

    def _records(self) -> list[Any]:
        made: list[Any] = []
        for _ in range(self._chance.randrange(4)):
            each = self._object()
            made.append({"attributes": {"type": each.name}, "id": self._id(), **self._row(each)})
        return [*made, self._value()] if self._chance.random() < 0.2 else made

    def _collection(self) -> Request:
        whole = self._chance.random() < 0.5
        method = self._chance.choice(("POST", "PATCH", "DELETE"))
        if method == "DELETE":
            ids = ",".join(self._id() for _ in range(3))
            return Request(
                method, f"{DATA}/composite/sobjects?ids={ids}&allOrNone={whole}", None, {}
            )
        data = {"allOrNone": whole, "records": self._records()}
        return self._json(method, "composite/sobjects", data)

    def _part(self, name: str) -> dict[str, Any]:
        made = self._chance.choice((self._record, self._create, self._query))()
        body = json.loads(made.body) if made.body else None
        part = {"method": made.method, "url": made.path, "referenceId": name, "body": body}
        if isinstance(body, dict) and self._chance.random() < 0.3:
            body[self._field()] = "@{r0.id}"
        return {**part, "richInput": body}

    def _composite(self) -> Request:
        parts = [self._part(f"r{n}") for n in range(self._chance.randint(1, 4))]
        whole = self._chance.random() < 0.5
        kind = self._chance.choice(("composite", "composite", "composite/graph"))
        data: dict[str, Any] = {"allOrNone": whole, "compositeRequest": parts}
        return self._json("POST", kind, data if kind == "composite" else {"graphs": [data]})

    def _batch(self) -> Request:
        parts: list[Any] = [self._part("x") for _ in range(3)]
        parts.append(self._value())
        return self._json(
            "POST", "composite/batch", {"batchRequests": parts[: self._chance.randint(0, 4)]}
        )

    def _tree(self) -> Request:
        each = self._object()
        record = {"attributes": {"type": each.name, "referenceId": "a"}, **self._row(each)}
        children = [child.name for child in each.info.children.values()] or ["Nope"]
        record[self._chance.choice(children)] = {"records": self._records()}
        return self._json("POST", f"composite/tree/{each.name}", {"records": [record]})

    def _bulk2(self) -> Request:
        operation = self._chance.choice(("insert", "upsert", "delete", "query", "nope"))
        kind = "query" if operation == "query" else "ingest"
        data = {"operation": operation, "object": self._name(), "query": self._soql(),
                "externalIdFieldName": self._field(), "columnDelimiter": self._value()}  # fmt: skip
        return self._json("POST", f"jobs/{kind}", data)

    def _bulk1(self) -> Request:
        info = {"operation": self._chance.choice(("insert", "query", "x")), "object": self._name(),
                "contentType": self._chance.choice(("JSON", "CSV", "XML", "x"))}  # fmt: skip
        if self._chance.random() < 0.5:
            body = json.dumps(info).encode()
            return Request(
                "POST", "/services/async/59.0/job", body, {"Content-Type": "application/json"}
            )
        inside = "".join(f"<{name}>{value}</{name}>" for name, value in info.items())
        body = f"<jobInfo>{inside}</jobInfo>".encode()
        return Request(
            "POST", "/services/async/59.0/job", body, {"Content-Type": "application/xml"}
        )

    def _soap(self) -> Request:
        text = self._chance.choice(TEXTS).encode("utf-8", "replace").decode()
        body = f"<a><login><username>{text}</username></login></a>".encode()
        return Request("POST", "/services/Soap/u/59.0", body, {"Content-Type": "text/xml"})

    def _token(self) -> Request:
        body = f"grant_type={self._chance.choice(('password', 'x'))}&username=a".encode()
        return Request("POST", "/services/oauth2/token", body, {})

    def _path(self) -> Request:
        parts = ("sobjects", "..", "%2e%2e", "%2f", "Case", "describe", "jobs", "ingest", "x" * 200,
                 "%00", "%F0%9F%98%80", "composite", "recent", "updated", "query",
                 self._id())  # fmt: skip
        path = "/".join(self._chance.choices(parts, k=self._chance.randint(0, 6)))
        method = self._chance.choice(("GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"))
        return Request(method, f"{DATA}/{path}", None, {})
