"""The pages over orgs: objects, records, searches and queries, and the journal as it grows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from crmbench.errors import ToolError
from crmbench.salesforce.sobjects import Org
from crmbench.seats.errors import NotFound
from crmbench.seats.http import json_response
from crmbench.serve.sessions import Sessions
from crmbench.web.complete import offers
from crmbench.web.org_view import (
    OPERATORS,
    PAGE,
    ListQuery,
    OrgRecord,
    changes_of,
    flat,
    found_in,
    record_of,
    records_of,
)
from crmbench.web.pages import page
from crmbench.web.seats import PersonSeat
from crmbench.web.uses import ToolUse, uses_of

JOURNAL = 60
"""Writes that a page shows, the latest first."""
ROWS = 500
"""Records of a query that a page shows."""


def explorer_routes() -> list[BaseRoute]:
    """The routes; the application's ``state.sessions`` holds the orgs."""
    return [
        Route("/explore", orgs_page),
        Route("/explore/{org}", org_page),
        Route("/explore/{org}/objects/{name}", list_page),
        Route("/explore/{org}/records/{name}/{key}", record_page),
        Route("/explore/{org}/search", search_page),
        Route("/explore/{org}/query", query_page),
        Route("/explore/{org}/complete", complete_part),
        Route("/explore/{org}/journal", journal_page),
    ]


@asynccontextmanager
async def _org(request: Request) -> AsyncIterator[Org]:
    """The org of a request, held while it is read; a look counts for no session's limit.

    Raises:
        NotFound: There is none of that name, or it has ended.
    """
    sessions: Sessions = request.app.state.sessions
    name = request.path_params["org"]
    graded = sessions.graded.get(name)
    session = sessions.orgs.get(name) or (None if graded is None or graded.over else graded)
    if session is None:
        raise NotFound(f"There is no org '{name[:80]}'.")
    async with session.turnstile:
        yield session.org


async def orgs_page(request: Request) -> Response:
    """The orgs and sessions of the server."""
    sessions: Sessions = request.app.state.sessions
    going = [name for name, each in sessions.graded.items() if not each.over]
    if len(sessions.orgs) == 1 and not going:
        return RedirectResponse(f"/explore/{quote(next(iter(sessions.orgs)))}")
    return page(request, "orgs.html", orgs=list(sessions.orgs), sessions=going)


def _frame(request: Request, org: Org) -> dict[str, Any]:
    """What stands around every page of an org."""
    objects = sorted(org.schema.objects.values(), key=lambda each: each.spec.label)
    name = request.path_params["org"]
    seat: PersonSeat | None = request.app.state.seat_in(name)
    return {
        "org": "The org" if seat else name,
        "up_url": f"/play/{seat.token}" if seat else "/explore",
        "seat": seat,
        "root_url": f"/explore/{quote(name)}",
        "objects": objects,
        "org_now": org.now,
    }


async def org_page(request: Request) -> Response:
    """The objects with how many records each has."""
    async with _org(request) as org:
        counts = {
            each.name: org.rows(f"SELECT COUNT(Id) total FROM {each.name}")[0]["total"]
            for each in org.schema.objects.values()
        }
        latest = changes_of(org)[: -JOURNAL - 1 : -1]
        return page(request, "org.html", **_frame(request, org), counts=counts, changes=latest)


async def list_page(request: Request) -> Response:
    """An object's records, sorted and narrowed as the address says."""
    async with _org(request) as org:
        each = org.object(request.path_params["name"])
        wanted = ListQuery.of(request.query_params, each)
        problem, found = "", None
        try:
            found = records_of(org, each, wanted)
        except ToolError as error:
            problem = str(error)
        return page(
            request,
            "records_list.html",
            **_frame(request, org),
            each=each,
            wanted=wanted,
            found=found,
            problem=problem,
            operators=OPERATORS,
            size=PAGE,
            query=lambda **changes: _query(wanted, **changes),
        )


def _query(wanted: ListQuery, **changes: str | int) -> str:
    """The address's query with some of it otherwise."""
    values: dict[str, str | int] = {
        "field": wanted.field,
        "value": wanted.value,
        "page": wanted.page,
        "op": wanted.operator if wanted.field else "",
        "sort": ("-" if wanted.falling else "") + wanted.sort if wanted.sort else "",
        **changes,
    }
    kept = {k: v for k, v in values.items() if v and not (k == "page" and v == 1)}
    return f"?{urlencode(kept)}"


async def record_page(request: Request) -> Response:
    """One record with what belongs to it, and what happened to it."""
    async with _org(request) as org:
        each = org.object(request.path_params["name"])
        record = record_of(org, each, request.path_params["key"])
        return page(
            request,
            "record.html",
            **_frame(request, org),
            each=each,
            record=record,
            uses=list(_uses(request.app.state.seat_in(request.path_params["org"]), org, record)),
        )


def _uses(seat: PersonSeat | None, org: Org, record: OrgRecord) -> Iterator[ToolUse]:
    """What somebody who plays in the org can do with a record."""
    place = org.store.place_of(record.key)
    if seat is not None and place is not None:
        table, key = place
        yield from uses_of(seat.schemas, seat.writing, table, key, record.label)


async def search_page(request: Request) -> Response:
    """What a search in all objects finds."""
    words, problem, found = request.query_params.get("q", "").strip(), "", []
    async with _org(request) as org:
        try:
            found = found_in(org, words) if words else []
        except ToolError as error:
            problem = str(error)
        return page(
            request,
            "org_search.html",
            **_frame(request, org),
            words=words,
            found=found,
            problem=problem,
        )


async def query_page(request: Request) -> Response:
    """What a query gives, SOQL or SOSL."""
    text, problem, total = request.query_params.get("q", "").strip(), "", 0
    rows: list[dict[str, str]] = []
    async with _org(request) as org:
        try:
            if text.upper().startswith("FIND"):
                records = org.search(text)
                total = len(records)
                rows = [
                    {"object": str(r["attributes"]["type"]), **dict(flat(r))}
                    for r in records[:ROWS]
                ]
            elif text:
                first = org.query(text, size=ROWS)
                total, rows = first.total, [dict(flat(record)) for record in first.records]
        except ToolError as error:
            problem = str(error)
        columns = list(dict.fromkeys(name for row in rows for name in row))
        return page(
            request,
            "org_query.html",
            **_frame(request, org),
            text=text,
            rows=rows,
            columns=columns,
            total=total,
            problem=problem,
        )


async def complete_part(request: Request) -> Response:
    """What may come next in a query, as JSON."""
    text = request.query_params.get("text", "")[:20_000]
    at = request.query_params.get("at", "")
    async with _org(request) as org:
        place = min(int(at), len(text)) if at.isdigit() else len(text)
        return json_response([each._asdict() for each in offers(org.schema, text, place)])


async def journal_page(request: Request) -> Response:
    """What was written since the org was opened, the latest first."""
    async with _org(request) as org:
        changes = changes_of(org)
        return page(
            request,
            "journal.html",
            **_frame(request, org),
            changes=changes[: -JOURNAL - 1 : -1],
            total=len(changes),
        )
