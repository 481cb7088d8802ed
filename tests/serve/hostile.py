"""Requests that nobody well-meaning sends, and what must hold of every answer to them."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

import orjson

from crmbench.serve.http_api import operations

SOQL = (
    "SELECT Id FROM Case",
    "SELECT Id FROM Case WHERE Subject = '' OR '1' = '1'",
    "SELECT Id FROM Case; DROP TABLE Client",
    "SELECT Id FROM Case WHERE Subject = 'x'; DELETE FROM \"Case\"; --'",
    "SELECT Id FROM Case WHERE Id IN (SELECT sql FROM sqlite_master)",
    "SELECT Id FROM sqlite_master UNION SELECT name FROM sqlite_master",
    "SELECT (SELECT Id FROM Contacts) FROM Account WHERE Name LIKE '%\\' OR 1=1 --'",
    "SELECT load_extension('x') FROM Case",
    "SELECT Id FROM Case WHERE Subject LIKE '" + "%_" * 300 + "'",
    "SELECT " + ", ".join(["Id"] * 500) + " FROM Case",
    "SELECT Id FROM Case WHERE " + " AND ".join(["(Id != null)"] * 200),
    "SELECT Id FROM Case WHERE " + "(" * 300 + "Id = null" + ")" * 300,
    "FIND {x' OR 1=1} IN ALL FIELDS RETURNING Case(Id)",
    "FIND {\u0000} RETURNING Account(Id)",
    "SELECT Id FROM Case LIMIT 99999999999999999999",
    "SELECT FORMAT(Id) f, COUNT(Id) FROM Case GROUP BY ROLLUP(Status)",
)
TEXTS = (
    *("", " ", "x", "' OR 1=1 --", '"; DROP TABLE Client; --', "%", "_", "\\", "\u0000", "\ud800"),
    *("../../etc/passwd", "{{turn_1.id}}", "${7*7}", "<script>", "0" * 10_000, "名前", "\u202e"),
    *("1e309", "-1", "null", "true", "NaN", "2026-13-45", "00DHs0000000001MAA!x"),
    *SOQL,
)
VALUES: tuple[object, ...] = (
    *TEXTS,
    *(None, True, False, 0, -1, 1, 2**63, -(2**70), 1.5, 1e308, [], {}, [[]], {"": {}}),
    *([None] * 50, {"a": {"b": {"c": [1, 2, {"d": None}]}}}, ["x", 1, None]),
)
SEGMENTS = (
    *("v1", "orgs", "sessions", "mcp", "services", "data", "v59.0", "sobjects", "query", "jobs"),
    *("..", ".", "", "%2e%2e", "%2f", "%00", "first", "second", "self", "s1", "s2", "verdict"),
    *(
        "call",
        "reply",
        "view",
        "tools",
        "message",
        "status",
        "digest",
        "reset",
        "composite",
        "async",
    ),
    *("openapi.json", "healthz", "Soap", "u", "oauth2", "token", "Case", "Account", "ingest", "*"),
    *("tasks.jsonl", "a" * 300, "é", "名", "x y", "<", "'", "--"),
)
METHODS = ("GET", "GET", "GET", "POST", "POST", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
TOOLS = (
    *("client_search", "create_new_client", "delete_quote", "modify_opportunity", "no_such_tool"),
    *("add_note", "contact_search", "run_soql_query", "create_record", "update_record", "reply"),
    *("delete_record", "get_record", "describe_object", "run_sosl_search", "next_message"),
)
SALESFORCE_PATHS = (
    *("/services/data", "/services/data/v59.0/query/", "/services/data/v59.0/sobjects/Case/x"),
    *("/services/data/v59.0/search/", "/services/data/v59.0/composite", "/services/Soap/u/59.0"),
    *("/services/data/v59.0/composite/sobjects", "/services/data/v59.0/composite/tree/Account"),
    *(
        "/services/data/v59.0/jobs/ingest",
        "/services/data/v59.0/jobs/query",
        "/services/oauth2/token",
    ),
    *("/services/async/59.0/job", "/services/data/v59.0/sobjects/Account", "/id/00D/005"),
    *("/services/data/v59.0/composite/batch", "/services/data/v59.0/limits", "/services/data/v0/x"),
)


RESET = 0
"""Stands for the status of a request whose connection was closed while it was being sent."""


@dataclass(frozen=True)
class Attack:
    """One request, as bytes."""

    head: bytes
    body: bytes
    writes: bool
    """Whether it may succeed and write, for all that the attacker knows."""


@dataclass
class Found:
    """What came back."""

    statuses: Counter[int] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """Requests that the server failed at, or did not answer."""

    @property
    def requests(self) -> int:
        return sum(self.statuses.values())


class Attacker:
    """Makes requests from a seed.

    Args:
        seed: The same gives the same requests.
        tokens: Those that it may show.
        host: That it speaks to.
    """

    def __init__(self, seed: int, tokens: Sequence[str], host: str) -> None:
        self._chance = random.Random(seed)
        self._tokens = tokens
        self._host = host
        self._operations = [(each.method, each.path) for each in operations()]

    def attack(self) -> Attack:
        """The next request."""
        chance = self._chance
        method, path = self._target()
        body = self._body(path) if method in ("POST", "PUT", "PATCH") else b""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._host}"]
        token = self._token()
        if token is not None:
            lines.append(chance.choice(("Authorization: Bearer ", "X-SFDC-Session: ")) + token)
        if path.startswith(("/mcp", "/orgs")):
            lines += self._mcp_headers()
        if chance.random() < 0.1:
            lines.append(f"X-{chance.randint(0, 99)}: {'y' * chance.choice((1, 100, 5000))}")
        kind = ("application/json", "text/xml", "text/csv", "application/x-www-form-urlencoded")
        lines.append(f"Content-Type: {chance.choice(kind)}")
        lines.append(f"Content-Length: {len(body)}")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace")
        return Attack(head, body, method != "GET")

    def _token(self) -> str | None:
        chance = self._chance
        token = chance.choice(self._tokens)
        return chance.choice((None, *(token,) * 15, token + "x", token[:-1], "x", ""))

    def _target(self) -> tuple[str, str]:
        chance, kind = self._chance, self._chance.random()
        if kind < 0.4:
            method, path = chance.choice(self._operations)
            path = path.replace("{org}", chance.choice(("first", "first", "first", "second", "x")))
            path = path.replace("{session}", chance.choice(("s1", "s2", "self", "x")))
        elif kind < 0.6:
            method, path = chance.choice(METHODS), chance.choice(SALESFORCE_PATHS)
        elif kind < 0.8:
            method = "POST"
            path = chance.choice(("/mcp", "/mcp", "/orgs/first/mcp", "/orgs/second/mcp", "/mcp/x"))
        else:
            method = chance.choice(METHODS)
            path = "/" + "/".join(chance.choices(SEGMENTS, k=chance.randint(0, 7)))
            path = quote(path, safe="/%.*'-") if chance.random() < 0.9 else path.replace(" ", "")
        if chance.random() < 0.4:
            names = ("q", "set", "fields", "ids", "start", "token", "oauth_token", "x")
            value = quote(str(chance.choice(TEXTS))[:2000].encode("utf-8", "replace"))
            path += f"?{chance.choice(names)}={value}"
        return method, path

    def _mcp_headers(self) -> list[str]:
        version = self._chance.choice(("2025-11-25", "2026-07-28", "2025-11-25", "x"))
        return [
            "Accept: application/json, text/event-stream",
            f"MCP-Protocol-Version: {version}",
            "Mcp-Method: tools/call",
            f"Mcp-Name: {self._chance.choice(TOOLS)}",
        ]

    def _body(self, path: str) -> bytes:
        chance = self._chance
        if chance.random() < 0.1:
            return bytes(chance.randrange(256) for _ in range(chance.randint(0, 200)))
        if chance.random() < 0.05:
            return b"[" * chance.choice((10, 1_000, 100_000))
        data = self._sensible(path) if chance.random() < 0.7 else self._object()
        text = orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS)
        return text[: chance.randint(0, len(text))] if chance.random() < 0.1 else text

    def _object(self) -> dict[str, object]:
        chance = self._chance
        names = ("tool", "arguments", "text", "set", "task", "name", "domain", "records", "query")
        return {chance.choice(names): self._value() for _ in range(chance.randint(0, 4))}

    def _value(self) -> object:
        value = self._chance.choice(VALUES)
        if isinstance(value, int) and abs(value) >= 2**63:
            return 2**63 - 1
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value

    def _sensible(self, path: str) -> object:
        chance = self._chance
        names = (
            "name",
            "query",
            "search",
            "record_id",
            "object_name",
            "data",
            "limit",
            "client_id",
        )
        arguments: object = {chance.choice(names): self._value() for _ in range(3)}
        if chance.random() < 0.1:
            arguments = self._value()
        tool = chance.choice(TOOLS)
        if "mcp" not in path:
            return {"tool": tool, "arguments": arguments, "text": chance.choice(("", None, 3))}
        method = chance.choice(("tools/call", "tools/call", "tools/list", "initialize", "x"))
        params = {"name": tool, "arguments": arguments}
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def attack(
    attacker: Attacker, host: str, port: int, count: int, secrets: Sequence[str], found: Found
) -> None:
    """Send requests over one connection after another, and look at every answer.

    Args:
        secrets: What no answer may hold.
        found: Where what came back is counted.
    """
    hidden = [secret.encode() for secret in secrets]
    reader: asyncio.StreamReader | None = None
    writer: asyncio.StreamWriter | None = None
    for _ in range(count):
        sent = attacker.attack()
        for _ in range(2):  # A connection that the server has closed meanwhile is opened anew.
            if reader is None or writer is None or writer.is_closing():
                reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(sent.head + sent.body)
                status, head, body = await _answer(reader, sent.head.startswith(b"HEAD"))
                break
            except (OSError, asyncio.IncompleteReadError):
                writer.close()
                reader = None
            except TimeoutError:
                found.failures.append(f"no answer: {sent.head[:300]!r} {sent.body[:300]!r}")
                writer.close()
                reader = None
        else:
            found.statuses[RESET] += 1
            continue
        found.statuses[status] += 1
        if status >= 500 and not is_soap_fault(sent, body):
            found.failures.append(
                f"{status}: {sent.head[:400]!r} {sent.body[:400]!r} {body[:200]!r}"
            )
        found.leaks += [f"{sent.head[:300]!r}" for each in hidden if each in body or each in head]
        if b"connection: close" in head.lower():
            writer.close()
            reader = None
    if writer is not None:
        writer.close()


def is_soap_fault(sent: Attack, body: bytes) -> bool:
    """Whether it is a refusal of SOAP, which has the status 500 for whatever is refused."""
    line = sent.head.split(b"\r\n", 1)[0]
    return b" /services/Soap/" in line and (b":Fault" in body or line.startswith(b"HEAD"))


async def _answer(reader: asyncio.StreamReader, headless: bool) -> tuple[int, bytes, bytes]:
    async with asyncio.timeout(60):
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        lines = head.lower().split(b"\r\n")
        length = next((int(li[15:]) for li in lines if li.startswith(b"content-length:")), 0)
        if any(line.startswith(b"transfer-encoding: chunked") for line in lines):
            return status, head, await _chunks(reader)
        return status, head, b"" if headless else await reader.readexactly(length)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while True:
        size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
        body += (await reader.readexactly(size + 2))[:size]
        if size == 0:
            return body
