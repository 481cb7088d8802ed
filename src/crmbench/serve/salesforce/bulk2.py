"""Version 2 of the bulk API: jobs of CSV files under ``jobs/ingest`` and ``jobs/query``."""

from __future__ import annotations

from typing import Any

from crmbench.salesforce.sobjects import SobjectError
from crmbench.serve.salesforce.bulk import (
    DELIMITERS,
    LINE_ENDINGS,
    QUERIES,
    WRITES,
    BulkJob,
    Jobs,
    flat,
    jobs_of,
    query_rows,
    read_csv,
    write_csv,
)
from crmbench.serve.salesforce.calls import (
    Answer,
    ApiCall,
    not_found,
    number,
    object_body,
    parser_error,
    refuse_method,
)

CSV = "text/csv;charset=UTF-8"
MOST_ROWS = 1_000_000


def answer(call: ApiCall) -> Answer:
    """Carry out a request below ``jobs``.

    Raises:
        SobjectError: It is refused.
    """
    jobs = jobs_of(call.org)
    kind = call.path[1] if len(call.path) > 1 else ""
    if kind not in ("ingest", "query") or len(call.path) > 4:
        raise not_found()
    if len(call.path) == 2:
        return _all(call, jobs, kind)
    job = jobs.get(call.path[2])
    if (job.operation in QUERIES) != (kind == "query"):
        raise not_found()
    if len(call.path) == 3:
        return _one(call, jobs, job)
    return _part(call, job, call.path[3])


def _all(call: ApiCall, jobs: Jobs, kind: str) -> Answer:
    if call.method == "GET":
        found = [job for job in jobs.all() if (job.operation in QUERIES) == (kind == "query")]
        records = [described(job) for job in found]
        return Answer({"done": True, "records": records, "nextRecordsUrl": None})
    if call.method != "POST":
        raise refuse_method(call, "GET", "POST")
    body = object_body(call)
    given: dict[str, Any] = {
        "operation": body.get("operation"),
        "delimiter": _choice(body, "columnDelimiter", DELIMITERS, "COMMA"),
        "line_ending": _choice(body, "lineEnding", LINE_ENDINGS, "LF"),
        "version": call.version,
    }
    allowed = QUERIES if kind == "query" else WRITES
    if given["operation"] not in allowed:
        raise SobjectError("INVALIDOPERATION", f"operation must be one of {', '.join(allowed)}")
    if kind == "ingest":
        external = body.get("externalIdFieldName")
        external = external if isinstance(external, str) else ""
        job = jobs.open(**given, object_name=body.get("object"), external_id=external)
        return Answer(described(job))
    query = body.get("query")
    if not isinstance(query, str):
        raise parser_error("The job has no query")
    job = jobs.open(**given, object_name="", query=query)
    return Answer(_queried(jobs, job))


def _queried(jobs: Jobs, job: BulkJob) -> dict[str, Any]:
    """Run a query at once: a client may wait seconds before it asks."""
    batch = jobs.run_query(job)
    job.batches = [batch]
    job.state = "JobComplete" if batch.state == "Completed" else "Failed"
    job.error = batch.message
    # What opens a job is told that it was taken; that it is done is told who asks.
    return {**described(job), "state": "UploadComplete"}


def _choice(body: dict[str, Any], name: str, options: dict[str, str], default: str) -> str:
    value = body.get(name, default)
    if not isinstance(value, str) or value not in options:
        raise SobjectError("INVALIDJOB", f"{name} must be one of {', '.join(options)}")
    return value


def _one(call: ApiCall, jobs: Jobs, job: BulkJob) -> Answer:
    if call.method == "GET":
        return Answer(described(job))
    if call.method == "DELETE":
        jobs.drop(job)
        return Answer(None, 204)
    if call.method != "PATCH":
        raise refuse_method(call, "GET", "PATCH", "DELETE")
    state = object_body(call).get("state")
    if state == "Aborted":
        if job.state in ("Open", "UploadComplete"):
            job.state = "Aborted"
        return Answer(described(job))
    if state != "UploadComplete" or job.state != "Open" or job.operation in QUERIES:
        raise SobjectError(
            "INVALIDJOBSTATE", f"A job that is {job.state} cannot become {str(state)[:40]}"
        )
    _ingest(jobs, job)
    return Answer({**described(job), "state": "UploadComplete"})


def _ingest(jobs: Jobs, job: BulkJob) -> None:
    """Write what was uploaded; a file that is no CSV fails the job."""
    batch = jobs.batch()
    try:
        rows = read_csv(b"".join(job.uploaded), DELIMITERS[job.delimiter])
        batch.columns = list(flat(rows[0])) if rows else []
        batch.results = jobs.write(job, rows, text=True)
        job.state = "JobComplete"
    except SobjectError as error:
        job.state, job.error = "Failed", error.text
    job.uploaded = []
    job.batches = [batch]


def _part(call: ApiCall, job: BulkJob, part: str) -> Answer:
    if part == "batches":
        if call.method != "PUT":
            raise refuse_method(call, "PUT")
        if job.state != "Open" or job.uploaded:
            raise SobjectError("INVALIDJOBSTATE", f"The job is {job.state} and takes no data")
        job.uploaded.append(call.body if isinstance(call.body, bytes) else b"")
        return Answer(None, 201)
    if call.method != "GET":
        raise refuse_method(call, "GET")
    if part == "results" and job.operation in QUERIES:
        return _query_results(call, job)
    if part in ("successfulResults", "failedResults"):
        return _written(job, failed=part == "failedResults")
    if part.lower() == "unprocessedrecords":
        return _csv(job, _header(job), [])
    raise not_found()


def _written(job: BulkJob, failed: bool) -> Answer:
    first = ["sf__Id", "sf__Error"] if failed else ["sf__Id", "sf__Created"]
    header = _header(job)
    rows = []
    for each in job.results:
        if bool(each.error) == failed:
            row = flat(each.row)
            told = each.error if failed else each.created
            rows.append([each.key, told, *(row.get(name) for name in header)])
    return _csv(job, [*first, *header], rows)


def _header(job: BulkJob) -> list[str]:
    return job.batches[0].columns if job.batches else []


def _query_results(call: ApiCall, job: BulkJob) -> Answer:
    if job.state != "JobComplete":
        raise SobjectError("INVALIDJOBSTATE", f"The job is {job.state} and has no results")
    batch = job.batches[0]
    start = number(call.query.get("locator"), 0, 0, MOST_ROWS)
    most = number(call.query.get("maxRecords"), 50_000, 1, MOST_ROWS)
    rows = list(query_rows(batch))
    end = start + most
    part = _csv(job, batch.columns, rows[start:end])
    part.headers = {
        "Sforce-NumberOfRecords": str(len(rows[start:end])),
        "Sforce-Locator": str(end) if end < len(rows) else "null",
    }
    return part


def _csv(job: BulkJob, columns: list[str], rows: list[list[Any]]) -> Answer:
    text = write_csv(columns, rows, DELIMITERS[job.delimiter], LINE_ENDINGS[job.line_ending])
    return Answer(text, media_type=CSV)


def described(job: BulkJob) -> dict[str, Any]:
    """A job as the API shows it."""
    results = job.results
    failed = sum(bool(result.error) for result in results)
    kind = "query" if job.operation in QUERIES else "ingest"
    processed = len(results) if kind == "ingest" else sum(len(b.records) for b in job.batches)
    shown: dict[str, Any] = {
        "id": job.key,
        "operation": job.operation,
        "object": job.object_name or None,
        "createdDate": job.created,
        "systemModstamp": job.created,
        "state": job.state,
        "concurrencyMode": "Parallel",
        "contentType": "CSV",
        "apiVersion": float(job.version),
        "jobType": "V2Query" if kind == "query" else "V2Ingest",
        "lineEnding": job.line_ending,
        "columnDelimiter": job.delimiter,
        "numberRecordsProcessed": processed,
        "retries": 0,
        "totalProcessingTime": 0,
    }
    if kind == "ingest":
        shown["contentUrl"] = f"services/data/v{job.version}/jobs/ingest/{job.key}/batches"
        shown |= {
            "numberRecordsFailed": failed,
            "apiActiveProcessingTime": 0,
            "apexProcessingTime": 0,
        }
    if job.external_id:
        shown["externalIdFieldName"] = job.external_id
    if job.error:
        shown["errorMessage"] = job.error
    return shown
