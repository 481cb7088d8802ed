"""The resources of the REST API: queries, searches, objects, records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crmbench.errors import ToolError
from crmbench.salesforce.sobjects import ORGANIZATION_ID, SobjectError
from crmbench.salesforce.sobjects.describe import describe_global, describe_object, summary
from crmbench.salesforce.sobjects.pages import LEAST_PAGE, PAGE, Page
from crmbench.salesforce.sobjects.schema import ObjectSchema
from crmbench.salesforce.sobjects.search import sosl_of
from crmbench.salesforce.sobjects.values import parse_moment
from crmbench.serve.salesforce import bulk2, composite
from crmbench.serve.salesforce.calls import (
    Answer,
    ApiCall,
    failure,
    not_found,
    number,
    object_body,
    refuse_method,
)

DAILY_REQUESTS = 15_000
SEASONS = ("Winter", "Spring", "Summer")
OLDEST, NEWEST = 20, 67


def versions() -> list[dict[str, str]]:
    """Every version that the server answers to."""
    return [
        {
            # Version 20 was that of Winter '11; there are three a year.
            "label": f"{SEASONS[(v - OLDEST) % 3]} '{11 + (v - OLDEST) // 3}",
            "url": f"/services/data/v{v}.0",
            "version": f"{v}.0",
        }
        for v in range(OLDEST, NEWEST + 1)
    ]


def answer(call: ApiCall) -> Answer:
    """Carry out a request; what is refused is an answer too."""
    try:
        return _route(call)
    except ToolError as error:
        return failure(error)


def _route(call: ApiCall) -> Answer:
    if not call.path:
        return Answer(_resources(call))
    handler = _RESOURCES.get(call.path[0])
    if handler is None:
        raise not_found()
    return handler(call)


def _resources(call: ApiCall) -> dict[str, str]:
    names = ("sobjects", "query", "queryAll", "search", "parameterizedSearch", "recent", "limits")
    found = {name: f"{call.data}/{name}" for name in (*names, "composite", "jobs")}
    identity = f"{call.address}/id/{ORGANIZATION_ID}/{call.org.user_id}"
    return {**found, "identity": identity}


# --- queries and searches -------------------------------------------------------------------------


def _query(call: ApiCall, deleted: bool = False) -> Answer:
    _only(call, "GET")
    if len(call.path) > 2:
        raise not_found()
    if len(call.path) == 2:
        return Answer(_page(call, call.org.more(call.path[1])))
    if "explain" in call.query:
        return Answer(_explained(call))
    text = call.query.get("q")
    if text is None:
        raise SobjectError("MALFORMED_QUERY", "A query string has to be specified")
    if call.query.get("columns", "").lower() == "true":
        return Answer(call.org.columns(text))
    page = call.org.query(text, deleted=deleted, size=_page_size(call))
    return Answer(_page(call, page))


def _page(call: ApiCall, page: Page) -> dict[str, Any]:
    body: dict[str, Any] = {"totalSize": page.total, "done": page.locator is None}
    if page.locator is not None:
        body["nextRecordsUrl"] = f"{call.data}/query/{page.locator}"
    return {**body, "records": page.records}


def _page_size(call: ApiCall) -> int:
    for option in call.headers.get("sforce-query-options", "").split(","):
        name, _, value = option.partition("=")
        if name.strip().lower() == "batchsize" and value.strip().isdigit():
            return min(max(int(value.strip()[:9]), LEAST_PAGE), PAGE)
    return PAGE


def _explained(call: ApiCall) -> dict[str, Any]:
    text = call.query["explain"]
    page = call.org.query(text)
    records = page.records
    type_name = records[0].get("attributes", {}).get("type", "") if records else ""
    plan: dict[str, Any] = {
        "cardinality": page.total,
        "fields": [],
        "leadingOperationType": "TableScan",
        "notes": [],
        "relativeCost": 1.0,
        "sobjectCardinality": page.total,
        "sobjectType": type_name,
    }
    return {"plans": [plan], "sourceQuery": text}


def _query_all(call: ApiCall) -> Answer:
    return _query(call, deleted=True)


def _search(call: ApiCall) -> Answer:
    _only(call, "GET")
    if len(call.path) != 1:
        raise not_found()
    text = call.query.get("q")
    if text is None:
        raise SobjectError("MALFORMED_SEARCH", "A search string has to be specified")
    return Answer({"searchRecords": call.org.search(text)})


def _parameterized(call: ApiCall) -> Answer:
    _only(call, "GET", "POST")
    if len(call.path) != 1:
        raise not_found()
    given = object_body(call) if call.method == "POST" else _search_of(call)
    return Answer({"searchRecords": call.org.search(sosl_of(given))})


def _search_of(call: ApiCall) -> dict[str, Any]:
    """A parameterized search by its address, in the form of its body."""
    query = call.query
    objects = [name for name in query.get("sobject", "").split(",") if name]
    found: dict[str, Any] = {name: query[name] for name in ("q", "in") if name in query}
    for name in ("overallLimit", "defaultLimit"):
        if name in query:
            found[name] = number(query[name], 0, 1, PAGE)
    if "fields" in query:
        found["fields"] = query["fields"].split(",")
    found["sobjects"] = [
        {
            "name": name,
            **({"fields": query[f"{name}.fields"].split(",")} if f"{name}.fields" in query else {}),
            **({"where": query[f"{name}.where"]} if f"{name}.where" in query else {}),
            **(
                {"limit": number(query[f"{name}.limit"], 0, 1, PAGE)}
                if f"{name}.limit" in query
                else {}
            ),
        }
        for name in objects
    ]
    return found


# --- objects --------------------------------------------------------------------------------------


def _sobjects(call: ApiCall) -> Answer:
    path = call.path
    if len(path) == 1:
        _only(call, "GET")
        return Answer(describe_global(call.org.schema, call.org.path))
    each = call.org.object(path[1])
    if len(path) == 2:
        return _object(call, each)
    handler = _OF_OBJECT.get(path[2])
    if handler is not None:
        return handler(call, each)
    if len(path) == 3:
        return _record(call, each, path[2])
    if each.name == "User" and path[3] == "password" and len(path) == 4:
        return _password(call)
    if len(path) == 4:
        return _external(call, each, path[2], path[3])
    raise not_found()


def _object(call: ApiCall, each: ObjectSchema) -> Answer:
    if call.method == "POST":
        key = call.org.create(each.name, object_body(call))
        made = {"id": key, "success": True, "errors": []}
        return Answer(made, 201, {"Location": f"{call.org.path}/{each.name}/{key}"})
    _only(call, "GET", "POST")
    recent = call.org.recent(200, each.name)
    return Answer({"objectDescribe": summary(each, call.org.path), "recentItems": recent})


def _describe(call: ApiCall, each: ObjectSchema) -> Answer:
    _only(call, "GET")
    if len(call.path) == 3:
        return Answer(describe_object(call.org.schema, each, call.org.path))
    return Answer(_LAYOUTS[call.path[3]]) if call.path[3] in _LAYOUTS else _missing()


_LAYOUTS: dict[str, Any] = {
    "layouts": {"layouts": [], "recordTypeMappings": [], "recordTypeSelectorRequired": [False]},
    "namedLayouts": {"layouts": [], "recordTypeMappings": []},
    "compactLayouts": {"compactLayouts": [], "defaultCompactLayoutId": None},
    "approvalLayouts": {"approvalLayouts": []},
}


def _missing() -> Answer:
    raise not_found()


def _updated(call: ApiCall, each: ObjectSchema) -> Answer:
    _only(call, "GET")
    return Answer(call.org.updated(each.name, _moment(call, "start"), _moment(call, "end")))


def _deleted(call: ApiCall, each: ObjectSchema) -> Answer:
    _only(call, "GET")
    return Answer(call.org.deleted(each.name, _moment(call, "start"), _moment(call, "end")))


def _moment(call: ApiCall, name: str) -> Any:
    text = call.query.get(name, "")
    try:
        # A plus before the offset may have come as a space.
        return parse_moment(text.replace(" ", "+"))
    except ValueError:
        raise SobjectError("MALFORMED_ID", f"{name}: invalid datetime: {text[:40]}") from None


_OF_OBJECT: dict[str, Callable[[ApiCall, ObjectSchema], Answer]] = {
    "describe": _describe,
    "updated": _updated,
    "deleted": _deleted,
}


# --- records --------------------------------------------------------------------------------------


def _record(call: ApiCall, each: ObjectSchema, key: str) -> Answer:
    if call.method == "GET":
        return Answer(call.org.get(each.name, key, _fields(call)))
    if call.method == "PATCH":
        call.org.update(each.name, key, object_body(call))
        return Answer(None, 204)
    if call.method == "DELETE":
        call.org.delete(each.name, key)
        return Answer(None, 204)
    raise refuse_method(call, "GET", "PATCH", "DELETE", "HEAD")


def _fields(call: ApiCall) -> list[str]:
    return call.query["fields"].split(",") if call.query.get("fields") else []


def _external(call: ApiCall, each: ObjectSchema, field: str, value: str) -> Answer:
    org = call.org
    spec = org.external_id(each, field)
    # A client of ours writes a space in a path as a plus.
    spaced = value.replace("+", " ")
    if org.writer.key_of(each, spec, value) is None and org.writer.key_of(each, spec, spaced):
        value = spaced
    if call.method == "GET":
        return Answer(org.by_external_id(each.name, field, value, _fields(call)))
    if call.method == "PATCH":
        done = org.upsert(each.name, field, value, object_body(call))
        body = {"id": done.key, "success": True, "errors": [], "created": done.created}
        if float(call.version) < 46 and not done.created:
            return Answer(None, 204)
        return Answer(body, 201 if done.created else 200)
    if call.method == "DELETE":
        org.delete(each.name, org.by_external_id(each.name, field, value, ["Id"])["Id"])
        return Answer(None, 204)
    raise refuse_method(call, "GET", "PATCH", "DELETE", "HEAD")


def _password(call: ApiCall) -> Answer:
    if call.method == "GET":
        return Answer({"isExpired": False})
    _only(call, "GET", "POST")
    # Nobody logs in with it: any password opens a sandbox org, and none a graded session.
    call.org.get("User", call.path[2], ["Id"])
    object_body(call)
    return Answer(None, 204)


# --- the rest -------------------------------------------------------------------------------------


def _recent(call: ApiCall) -> Answer:
    _only(call, "GET")
    return Answer(call.org.recent(number(call.query.get("limit"), 200, 1, 200)))


def _limits(call: ApiCall) -> Answer:
    _only(call, "GET")
    left = max(0, DAILY_REQUESTS - call.requests)
    full = {"Max": 1_000, "Remaining": 1_000}
    return Answer(
        {
            "DailyApiRequests": {"Max": DAILY_REQUESTS, "Remaining": left},
            "DailyBulkApiBatches": full,
            "DailyBulkV2QueryJobs": full,
            "DataStorageMB": full,
            "FileStorageMB": full,
        }
    )


def _composite(call: ApiCall) -> Answer:
    return composite.answer(call, answer)


def _only(call: ApiCall, *methods: str) -> None:
    if call.method not in methods:
        raise refuse_method(call, *methods)


_RESOURCES: dict[str, Callable[[ApiCall], Answer]] = {
    "query": _query,
    "queryAll": _query_all,
    "search": _search,
    "parameterizedSearch": _parameterized,
    "sobjects": _sobjects,
    "recent": _recent,
    "limits": _limits,
    "composite": _composite,
    "jobs": bulk2.answer,
}
