"""Several records or requests in one: collections, composite, batch, tree, graph."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from crmbench.errors import ToolError
from crmbench.salesforce.sobjects import SobjectError
from crmbench.salesforce.sobjects.errors import as_result
from crmbench.salesforce.sobjects.values import path_id
from crmbench.serve.salesforce.calls import (
    Answer,
    ApiCall,
    failure,
    not_found,
    object_body,
    parser_error,
    refuse_method,
)

MAX_RECORDS = 200
MAX_READ = 2_000
MAX_REQUESTS = 25
MAX_GRAPH_REQUESTS = 500
REFERENCE = re.compile(r"@\{([^{}]{1,200})\}")
"""What of an earlier answer is put in: ``@{newCase.id}``; not ``{newCase}``."""

Send = Callable[[ApiCall], Answer]


class RolledBack(Exception):
    """Some of what was to be done as a whole failed; nothing of it is kept."""


def answer(call: ApiCall, send: Send) -> Answer:
    """Carry out a request below ``composite``.

    Args:
        call: The request.
        send: Carries out a single request.

    Raises:
        ToolError: It is refused as a whole.
    """
    path = call.path[1:]
    if not path:
        return _composite(call, send)
    if path == ("batch",):
        return _batch(call, send)
    if path == ("graph",):
        return _graph(call, send)
    if path[0] == "tree" and len(path) == 2:
        return _tree(call, path[1])
    if path[0] == "sobjects":
        return _collections(call, path[1:])
    raise not_found()


# --- collections ----------------------------------------------------------------------------------


def _collections(call: ApiCall, path: tuple[str, ...]) -> Answer:
    if call.method == "DELETE" and not path:
        keys = [key for key in call.query.get("ids", "").split(",") if key]
        whole = call.query.get("allOrNone", "").lower() == "true"
        return Answer(_each(call, keys, whole, lambda key: _delete(call, key)))
    if len(path) == 1 and call.method in ("GET", "POST"):
        return Answer(_read(call, path[0]))
    if not path and call.method == "POST":
        return Answer(_each_record(call, lambda record: _create(call, record)))
    if not path and call.method == "PATCH":
        return Answer(_each_record(call, lambda record: _update(call, record)))
    if len(path) == 2 and call.method == "PATCH":
        name, field = path
        call.org.external_id(call.org.object(name), field)
        return Answer(_each_record(call, lambda record: _upsert(call, name, field, record)))
    if len(path) > 2:
        raise not_found()
    raise refuse_method(call, "GET", "POST", "PATCH", "DELETE")


def _each_record(call: ApiCall, write: Callable[[Any], dict[str, Any]]) -> list[dict[str, Any]]:
    body = object_body(call)
    records = body.get("records")
    if not isinstance(records, list):
        raise parser_error("The request has no list of records")
    return _each(call, records, body.get("allOrNone") is True, write)


def _each(
    call: ApiCall, items: list[Any], whole: bool, write: Callable[[Any], dict[str, Any]]
) -> list[dict[str, Any]]:
    """What came of each, in order; if `whole`, all or nothing."""
    if len(items) > MAX_RECORDS:
        raise SobjectError(
            "EXCEEDED_ID_LIMIT",
            f"record limit reached. cannot submit more than {MAX_RECORDS} records in this call",
        )
    if not items:
        raise SobjectError("REQUIRED_FIELD_MISSING", "at least one record is needed", [])
    results: list[dict[str, Any]] = []
    try:
        if not whole:
            results.extend(_result(write, item) for item in items)
        else:
            with call.org.atomic():
                results.extend(_result(write, item) for item in items)
                if not all(result["success"] for result in results):
                    raise RolledBack
    except RolledBack:
        results = [_rolled_back() if result["success"] else result for result in results]
    return results


def _result(write: Callable[[Any], dict[str, Any]], item: Any) -> dict[str, Any]:
    try:
        return {**write(item), "success": True, "errors": []}
    except ToolError as error:
        return {"success": False, "errors": [as_result(error)]}


def _rolled_back() -> dict[str, Any]:
    message = "Record rolled back because not all records were valid and the request was using "
    error = {
        "statusCode": "ALL_OR_NONE_OPERATION_ROLLED_BACK",
        "message": f"{message}AllOrNone header",
        "fields": [],
    }
    return {"success": False, "errors": [error]}


def _object_of(record: Any) -> str:
    attributes = record.get("attributes") if isinstance(record, dict) else None
    name = attributes.get("type") if isinstance(attributes, dict) else None
    if not isinstance(name, str):
        raise SobjectError("INVALID_INPUT", "the record has no attributes with a type", [])
    return name


def _create(call: ApiCall, record: Any) -> dict[str, Any]:
    return {"id": call.org.create(_object_of(record), record)}


def _update(call: ApiCall, record: Any) -> dict[str, Any]:
    name = _object_of(record)
    fields, key = _without(record, "id")
    if not isinstance(key, str):
        raise SobjectError("MISSING_ARGUMENT", "Id not specified in an update call", ["Id"])
    call.org.update(name, key, fields)
    return {"id": path_id(key)}


def _upsert(call: ApiCall, name: str, field: str, record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise parser_error("a record must be an object")
    fields, value = _without(record, field.lower())
    if not isinstance(value, str) or not value:
        raise SobjectError("MISSING_ARGUMENT", f"{field} not specified", [field])
    done = call.org.upsert(name, field, value, fields)
    return {"id": done.key, "created": done.created}


def _without(record: dict[str, Any], name: str) -> tuple[dict[str, Any], Any]:
    """The record without a field, and the field's value."""
    fields = {k: v for k, v in record.items() if k.lower() != name}
    return fields, next((v for k, v in record.items() if k.lower() == name), None)


def _delete(call: ApiCall, key: str) -> dict[str, Any]:
    each = call.org.schema.by_prefix.get(key[:3])
    if each is None:
        raise SobjectError("MALFORMED_ID", f"malformed id {key[:40]}", [])
    call.org.delete(each.name, key)
    return {"id": path_id(key)}


def _read(call: ApiCall, name: str) -> list[Any]:
    each = call.org.object(name)
    if call.method == "POST":
        body = object_body(call)
        keys, fields = body.get("ids"), body.get("fields")
    else:
        keys, fields = (
            [part for part in call.query.get(name, "").split(",") if part]
            for name in ("ids", "fields")
        )
    for given in (keys, fields):
        if not isinstance(given, list) or not all(isinstance(part, str) for part in given):
            raise parser_error("ids and fields must be lists of text")
    assert isinstance(keys, list)
    assert isinstance(fields, list)
    if len(keys) > MAX_READ:
        raise SobjectError("EXCEEDED_ID_LIMIT", f"no more than {MAX_READ:,} ids can be read")
    good = [key for key in keys if len(key) in (15, 18) and key.isascii() and key.isalnum()]
    found = dict(zip(good, call.org.find(each, good, fields), strict=True))
    return [found.get(key) for key in keys]


# --- composite ------------------------------------------------------------------------------------


def _composite(call: ApiCall, send: Send) -> Answer:
    if call.method == "GET":
        names = ("tree", "batch", "sobjects", "graph")
        return Answer({name: f"{call.data}/composite/{name}" for name in names})
    if call.method != "POST":
        raise refuse_method(call, "GET", "POST")
    body = object_body(call)
    parts = _parts(body.get("compositeRequest"), MAX_REQUESTS)
    return Answer({"compositeResponse": _run(call, send, parts, body.get("allOrNone") is True)})


def _parts(given: Any, most: int) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(part, dict) for part in given):
        raise parser_error("The request has no list of requests")
    if not 1 <= len(given) <= most:
        raise SobjectError("LIMIT_EXCEEDED", f"from 1 to {most} requests can be sent in one")
    names: set[str] = set()
    for part in given:
        name = part.get("referenceId")
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_]{1,200}", name):
            raise parser_error("Each request needs a referenceId of letters and digits")
        if not isinstance(part.get("url"), str) or not isinstance(part.get("method"), str):
            raise parser_error("Each request needs a method and a url")
        if name in names:
            raise SobjectError("INVALID_INPUT", f"referenceId {name} is used more than once")
        names.add(name)
    return given


def _run(
    call: ApiCall, send: Send, parts: list[dict[str, Any]], whole: bool
) -> list[dict[str, Any]]:
    responses: list[dict[str, Any]] = []
    try:
        if whole:
            with call.org.atomic():
                _run_each(call, send, parts, responses, stop=True)
        else:
            _run_each(call, send, parts, responses, stop=False)
    except RolledBack:
        failed = responses[-1]
        halted = [_halted(part) for part in parts]
        halted[len(responses) - 1] = failed
        return halted
    return responses


def _run_each(
    call: ApiCall,
    send: Send,
    parts: list[dict[str, Any]],
    responses: list[dict[str, Any]],
    stop: bool,
) -> None:
    results: dict[str, Any] = {}
    for part in parts:
        done = _one(call, send, part, results)
        responses.append(
            {
                "body": done.body,
                "httpHeaders": done.headers,
                "httpStatusCode": done.status,
                "referenceId": part["referenceId"],
            }
        )
        if done.status < 400:
            results[part["referenceId"]] = done.body
        elif stop:
            raise RolledBack


def _one(call: ApiCall, send: Send, part: dict[str, Any], results: dict[str, Any]) -> Answer:
    try:
        url = filled(part["url"], results)
        single = call.part(part["method"], str(url), filled(part.get("body"), results))
        if single.path[:1] in (("composite",), ("jobs",)) and single.path[1:2] != ("sobjects",):
            raise SobjectError("INVALID_INPUT", "a composite request cannot hold another one")
        return send(single)
    except ToolError as error:
        return failure(error)


def _halted(part: dict[str, Any]) -> dict[str, Any]:
    message = (
        "The transaction was rolled back since another operation in the same transaction failed."
    )
    return {
        "body": [{"errorCode": "PROCESSING_HALTED", "message": message}],
        "httpHeaders": {},
        "httpStatusCode": 400,
        "referenceId": part["referenceId"],
    }


def filled(value: Any, results: dict[str, Any]) -> Any:
    """A value with what earlier answers say in the place of its references.

    Raises:
        SobjectError: A reference leads to nothing.
    """
    if isinstance(value, dict):
        return {name: filled(inner, results) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, results) for inner in value]
    if not isinstance(value, str) or "@{" not in value:
        return value
    whole = REFERENCE.fullmatch(value)
    if whole:
        return _referred(whole.group(1), results)
    return REFERENCE.sub(lambda found: str(_referred(found.group(1), results)), value)


def _referred(path: str, results: dict[str, Any]) -> Any:
    """A value of an earlier answer: ``query.records[0].Id``."""
    steps = re.findall(r"[^.\[\]]+", path)
    value: Any = results
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdigit() and int(step[:6]) < len(value):
            value = value[int(step[:6])]
        else:
            raise SobjectError(
                "PROCESSING_HALTED",
                f"Invalid reference specified. No value for {path} found in {steps[0]}",
            )
    return value


def _graph(call: ApiCall, send: Send) -> Answer:
    if call.method != "POST":
        raise refuse_method(call, "POST")
    graphs = object_body(call).get("graphs")
    if not isinstance(graphs, list) or not all(isinstance(graph, dict) for graph in graphs):
        raise parser_error("The request has no list of graphs")
    done = []
    for graph in graphs[:75]:
        parts = _parts(graph.get("compositeRequest"), MAX_GRAPH_REQUESTS)
        responses = _run(call, send, parts, whole=True)
        good = all(each["httpStatusCode"] < 400 for each in responses)
        done.append(
            {
                "graphId": graph.get("graphId"),
                "graphResponse": {"compositeResponse": responses},
                "isSuccessful": good,
            }
        )
    return Answer({"graphs": done})


# --- batch ----------------------------------------------------------------------------------------


def _batch(call: ApiCall, send: Send) -> Answer:
    if call.method != "POST":
        raise refuse_method(call, "POST")
    body = object_body(call)
    given = body.get("batchRequests")
    if not isinstance(given, list) or not all(isinstance(part, dict) for part in given):
        raise parser_error("The request has no list of batchRequests")
    if not 1 <= len(given) <= MAX_REQUESTS:
        raise SobjectError(
            "LIMIT_EXCEEDED", f"from 1 to {MAX_REQUESTS} requests can be sent in one"
        )
    results: list[dict[str, Any]] = []
    failed = False
    for part in given:
        if failed and body.get("haltOnError") is True:
            halted = [
                {"errorCode": "BATCH_PROCESSING_HALTED", "message": "Batch processing halted"}
            ]
            results.append({"statusCode": 412, "result": halted})
            continue
        done = _batched(call, send, part)
        failed = failed or done.status >= 400
        results.append({"statusCode": done.status, "result": done.body})
    return Answer({"hasErrors": failed, "results": results})


def _batched(call: ApiCall, send: Send, part: dict[str, Any]) -> Answer:
    if not isinstance(part.get("url"), str) or not isinstance(part.get("method"), str):
        return failure(parser_error("Each request needs a method and a url"))
    return _one(call, send, {**part, "body": part.get("richInput")}, {})


# --- tree -----------------------------------------------------------------------------------------


def _tree(call: ApiCall, name: str) -> Answer:
    if call.method != "POST":
        raise refuse_method(call, "POST")
    call.org.object(name)
    records = object_body(call).get("records")
    if not isinstance(records, list) or not records:
        raise parser_error("The request has no list of records")
    made: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    try:
        with call.org.atomic():
            for record in records:
                _plant(call, name, record, {}, made, errors)
            if errors:
                raise RolledBack
    except RolledBack:
        return Answer({"hasErrors": True, "results": errors}, 400)
    return Answer({"hasErrors": False, "results": made}, 201)


def _plant(
    call: ApiCall,
    name: str,
    record: Any,
    parent: dict[str, Any],
    made: list[dict[str, Any]],
    errors: list[dict[str, Any]],
    depth: int = 1,
) -> None:
    """Create a record and, below it, its children."""
    if not isinstance(record, dict):
        raise parser_error("a record must be an object")
    attributes = record.get("attributes")
    reference = attributes.get("referenceId") if isinstance(attributes, dict) else None
    if len(made) + len(errors) >= MAX_RECORDS or depth > 5:
        raise SobjectError(
            "LIMIT_EXCEEDED", f"a tree has at most {MAX_RECORDS} records on five levels"
        )
    nested = {k: v for k, v in record.items() if isinstance(v, dict) and "records" in v}
    fields = {k: v for k, v in record.items() if k not in nested}
    try:
        key = call.org.create(name, {**fields, **parent})
    except ToolError as error:
        errors.append({"referenceId": reference, "errors": [as_result(error)]})
        return
    made.append({"referenceId": reference, "id": key})
    children = call.org.object(name).info.children
    for relation, inner in nested.items():
        child = children.get(relation.lower())
        below = inner["records"]
        if child is None or not isinstance(below, list):
            raise SobjectError("INVALID_FIELD", f"No such relation '{relation[:80]}' on {name}")
        for each in below:
            _plant(call, child.object, each, {child.field: key}, made, errors, depth + 1)
