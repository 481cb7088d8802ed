"""Version 1 of the bulk API: jobs of batches under ``/services/async``, in JSON, XML and CSV."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import orjson

from crmbench.salesforce.sobjects import Org, SobjectError
from crmbench.serve.salesforce import xml
from crmbench.serve.salesforce.bulk import (
    QUERIES,
    WRITES,
    Batch,
    BulkJob,
    Jobs,
    RowResult,
    jobs_of,
    query_rows,
    read_csv,
    text_of,
    write_csv,
)
from crmbench.serve.salesforce.calls import Answer

NAMESPACE = "http://www.force.com/2009/06/asyncapi/dataload"
XML, CSV, JSON = "application/xml", "text/csv", "application/json;charset=UTF-8"
CONTENT_TYPES = ("CSV", "JSON", "XML")


def answer(
    org: Org, method: str, version: str, path: tuple[str, ...], data: bytes, content: str
) -> Answer:
    """Carry out a request.

    Args:
        org: Where the records are.
        method: Of HTTP.
        version: Of the API.
        path: What follows ``job``: ids and words.
        data: The body.
        content: Its content type.

    Raises:
        SobjectError: It is refused.
    """
    jobs = jobs_of(org)
    if not path:
        _only(method, "POST")
        return _open(jobs, version, data, content)
    job = jobs.get(path[0])
    if len(path) == 1:
        return _job(job, method, data, content)
    if path[1] != "batch" or len(path) > 5:
        raise _absent()
    if len(path) == 2:
        return _batches(jobs, job, method, data)
    batch = next((each for each in job.batches if path[2] in (each.key, each.key[:15])), None)
    if batch is None:
        raise _absent()
    _only(method, "GET")
    if len(path) == 3:
        return _shown(job, "batchInfo", _batch_info(job, batch))
    if path[3] == "request" and len(path) == 4:
        return Answer(job.query, media_type="text/plain")
    if path[3] != "result":
        raise _absent()
    return _results(job, batch) if len(path) == 4 else _records(job, batch, path[4])


def error_answer(error: SobjectError, content: str, status: int = 400) -> Answer:
    """What was refused, in the form that the request has."""
    code = {"INVALID_SESSION_ID": "InvalidSessionId", "NOT_FOUND": "InvalidJob"}.get(
        error.code, error.code
    )
    told = {"exceptionCode": code, "exceptionMessage": error.message}
    if "json" in content:
        return Answer(told, status)
    body = f'{xml.HEAD}<error xmlns="{NAMESPACE}">{xml.elements(told)}</error>'
    return Answer(body, status, media_type=XML)


def _absent() -> SobjectError:
    return SobjectError("NOT_FOUND", "The requested resource does not exist", status=404)


def _only(method: str, *allowed: str) -> None:
    if method not in allowed:
        raise SobjectError(
            "METHOD_NOT_ALLOWED",
            f"HTTP Method '{method}' not allowed. Allowed are {','.join(allowed)}",
            status=405,
        )


# --- jobs -----------------------------------------------------------------------------------------


def _open(jobs: Jobs, version: str, data: bytes, content: str) -> Answer:
    given = _job_info(data, content)
    content_type = given.get("contentType") or "XML"
    operation = given.get("operation", "")
    operation = {"harddelete": "hardDelete", "queryall": "queryAll"}.get(
        operation.lower(), operation
    )
    if content_type not in CONTENT_TYPES:
        raise SobjectError("InvalidJob", f"contentType must be one of {', '.join(CONTENT_TYPES)}")
    if operation not in (*WRITES, *QUERIES):
        raise SobjectError("InvalidJob", f"no such operation: {operation[:40]}")
    job = jobs.open(
        operation=operation,
        object_name=given.get("object", ""),
        external_id=given.get("externalIdFieldName", ""),
        content_type=content_type,
        version=version,
    )
    return _shown(job, "jobInfo", _job_shown(job), 201)


def _job_info(data: bytes, content: str) -> dict[str, str]:
    """A job as the client describes it."""
    if "json" in content:
        found = _json(data)
        if not isinstance(found, dict):
            raise SobjectError("InvalidJob", "the job must be an object")
        return {name: str(value) for name, value in found.items() if value is not None}
    return {xml.local(each): (each.text or "").strip() for each in xml.parse(data)}


def _json(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise SobjectError("InvalidBatch", f"the body is not JSON: {error}") from error


def _job(job: BulkJob, method: str, data: bytes, content: str) -> Answer:
    _only(method, "GET", "POST")
    if method == "POST":
        state = _job_info(data, content).get("state")
        if state not in ("Closed", "Aborted"):
            raise SobjectError("InvalidJob", f"a job cannot become {str(state)[:40]}")
        job.state = state
    return _shown(job, "jobInfo", _job_shown(job))


def _job_shown(job: BulkJob) -> dict[str, Any]:
    done = len(job.batches)
    results = job.results
    return {
        "id": job.key,
        "operation": job.operation,
        "object": job.object_name,
        "createdDate": job.created,
        "systemModstamp": job.created,
        "state": job.state,
        "concurrencyMode": "Parallel",
        "contentType": job.content_type,
        "numberBatchesQueued": 0,
        "numberBatchesInProgress": 0,
        "numberBatchesCompleted": done,
        "numberBatchesFailed": 0,
        "numberBatchesTotal": done,
        "numberRecordsProcessed": len(results),
        "numberRecordsFailed": sum(bool(result.error) for result in results),
        "numberRetries": 0,
        "apiVersion": float(job.version),
    }


def _shown(job: BulkJob, name: str, values: dict[str, Any], status: int = 200) -> Answer:
    """In JSON for jobs of JSON, else in XML."""
    if job.content_type == "JSON":
        return Answer(values, status)
    body = f'{xml.HEAD}<{name} xmlns="{NAMESPACE}">{xml.elements(values)}</{name}>'
    return Answer(body, status, media_type=XML)


# --- batches --------------------------------------------------------------------------------------


def _batches(jobs: Jobs, job: BulkJob, method: str, data: bytes) -> Answer:
    _only(method, "GET", "POST")
    if method == "GET":
        infos = [_batch_info(job, batch) for batch in job.batches]
        if job.content_type == "JSON":
            return Answer({"batchInfo": infos})
        inside = "".join(f"<batchInfo>{xml.elements(info)}</batchInfo>" for info in infos)
        body = f'{xml.HEAD}<batchInfoList xmlns="{NAMESPACE}">{inside}</batchInfoList>'
        return Answer(body, media_type=XML)
    if job.state != "Open":
        raise SobjectError("InvalidJobState", f"the job is {job.state} and takes no batches")
    batch = _queried(jobs, job, data) if job.operation in QUERIES else _written(jobs, job, data)
    job.batches.append(batch)
    return _shown(job, "batchInfo", {**_batch_info(job, batch), "state": "Queued"}, 201)


def _queried(jobs: Jobs, job: BulkJob, data: bytes) -> Batch:
    """The query comes bare, whatever the content type says."""
    try:
        job.query = data.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise SobjectError("InvalidBatch", "the query is not UTF-8") from None
    return jobs.run_query(job)


def _written(jobs: Jobs, job: BulkJob, data: bytes) -> Batch:
    batch = jobs.batch()
    try:
        rows = _rows(job, data)
    except SobjectError as error:
        batch.state, batch.message = "Failed", f"InvalidBatch : {error.message}"
        return batch
    batch.results = jobs.write(job, rows, text=job.content_type != "JSON")
    return batch


def _rows(job: BulkJob, data: bytes) -> list[dict[str, Any]]:
    if job.content_type == "CSV":
        return read_csv(data)
    if job.content_type == "JSON":
        rows = _json(data)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise SobjectError("InvalidBatch", "a batch must be a list of records")
        return rows
    return [_xml_row(each) for each in xml.parse(data)]


def _xml_row(element: ElementTree.Element) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for each in element:
        nil = any(name.rpartition("}")[2] == "nil" for name in each.attrib)
        row[xml.local(each)] = "#N/A" if nil else (each.text or "")
    return row


def _batch_info(job: BulkJob, batch: Batch) -> dict[str, Any]:
    failed = sum(bool(result.error) for result in batch.results)
    info: dict[str, Any] = {
        "id": batch.key,
        "jobId": job.key,
        "state": batch.state,
        "createdDate": job.created,
        "systemModstamp": job.created,
        "numberRecordsProcessed": len(batch.results) or len(batch.records),
        "numberRecordsFailed": failed,
        "totalProcessingTime": 0,
        "apiActiveProcessingTime": 0,
        "apexProcessingTime": 0,
    }
    return {**info, "stateMessage": batch.message} if batch.message else info


# --- results --------------------------------------------------------------------------------------


def _result_key(batch: Batch) -> str:
    return f"752{batch.key[3:15]}"


def _results(job: BulkJob, batch: Batch) -> Answer:
    if job.operation in QUERIES:
        if job.content_type == "JSON":
            return Answer([_result_key(batch)])
        inside = xml.elements({"result": _result_key(batch)})
        body = f'{xml.HEAD}<result-list xmlns="{NAMESPACE}">{inside}</result-list>'
        return Answer(body, media_type=XML)
    if job.content_type == "JSON":
        return Answer([_json_result(each) for each in batch.results])
    if job.content_type == "CSV":
        rows = [[r.key, not r.error, r.created, r.error] for r in batch.results]
        return Answer(write_csv(["Id", "Success", "Created", "Error"], rows), media_type=CSV)
    inside = "".join(
        f"<result>{xml.elements(_xml_result(each))}</result>" for each in batch.results
    )
    body = f'{xml.HEAD}<results xmlns="{NAMESPACE}">{inside}</results>'
    return Answer(body, media_type=XML)


def _json_result(result: RowResult) -> dict[str, Any]:
    errors = []
    if result.error:
        code, _, rest = result.error.partition(":")
        message, _, fields = rest.removesuffix(" --").rpartition(":")
        errors = [
            {
                "statusCode": code,
                "message": message,
                "fields": [name for name in fields.split(",") if name],
                "extendedErrorDetails": None,
            }
        ]
    good = not result.error
    return {
        "id": result.key if good else None,
        "success": good,
        "created": result.created,
        "errors": errors,
    }


def _xml_result(result: RowResult) -> dict[str, Any]:
    shown = {
        "id": result.key,
        "success": text_of(not result.error),
        "created": text_of(result.created),
    }
    return {**shown, "error": result.error} if result.error else shown


def _records(job: BulkJob, batch: Batch, key: str) -> Answer:
    if job.operation not in QUERIES or key[:15] != _result_key(batch):
        raise _absent()
    if job.content_type == "JSON":
        return Answer(batch.records)
    if job.content_type == "CSV":
        return Answer(write_csv(batch.columns, query_rows(batch)), media_type=CSV)
    inside = "".join(
        f"<records>{xml.elements({c: text_of(v) for c, v in zip(batch.columns, row, strict=True)})}"
        "</records>"
        for row in query_rows(batch)
    )
    body = f'{xml.HEAD}<queryResult xmlns="{NAMESPACE}">{inside}</queryResult>'
    return Answer(body, media_type=XML)
