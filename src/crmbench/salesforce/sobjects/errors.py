"""The error of a record or object, in the form in which Salesforce's APIs report it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crmbench.errors import ToolError
from crmbench.salesforce.soql.errors import SoqlError

NO_COLUMN = "INVALID_FIELD"
REQUIRED = "REQUIRED_FIELD_MISSING"
RULE = "FIELD_CUSTOM_VALIDATION_EXCEPTION"
DUPLICATE = "DUPLICATE_VALUE"
MALFORMED_ID = "MALFORMED_ID"
NO_RECORD = "INVALID_CROSS_REFERENCE_KEY"
NOT_FOUND = "NOT_FOUND"
NOT_WRITABLE = "INVALID_FIELD_FOR_INSERT_UPDATE"
PARSER = "JSON_PARSER_ERROR"


class SobjectError(ToolError):
    """A request about a record or an object that is refused and has changed nothing.

    Args:
        code: Salesforce's error code, such as ``REQUIRED_FIELD_MISSING``.
        message: What is wrong.
        fields: The fields that it is about; None leaves them out of the answer.
        status: The HTTP status that the REST API gives.
    """

    def __init__(
        self,
        code: str,
        message: str,
        fields: Sequence[str] | None = None,
        status: int = 400,
    ) -> None:
        super().__init__(message, code.lower())
        self.code = code
        self.message = message
        self.fields = None if fields is None else tuple(fields)
        self.status = status

    @property
    def text(self) -> str:
        return f"{self.code}: {self.message}"


def no_such_object(name: str) -> SobjectError:
    """The error of an address that names no object."""
    del name
    return SobjectError(NOT_FOUND, "The requested resource does not exist", status=404)


def no_such_column(field: str, object_name: str) -> SobjectError:
    """The error of a field that an object has not."""
    return SobjectError(NO_COLUMN, f"No such column '{field}' on sobject of type {object_name}")


def as_json(error: ToolError) -> dict[str, Any]:
    """An error as an entry of the REST API's array of errors."""
    if isinstance(error, SobjectError):
        entry: dict[str, Any] = {"message": error.message, "errorCode": error.code}
        if error.fields is not None:
            entry["fields"] = list(error.fields)
        return entry
    if isinstance(error, SoqlError):
        return {"message": error.message, "errorCode": error.code}
    return {"message": str(error), "errorCode": RULE, "fields": []}


def as_result(error: ToolError) -> dict[str, Any]:
    """An error as an entry of the result of one record of several."""
    entry = as_json(error)
    return {
        "statusCode": entry["errorCode"],
        "message": entry["message"],
        "fields": entry.get("fields", []),
    }


def status_of(error: ToolError) -> int:
    """The HTTP status that belongs to an error."""
    return error.status if isinstance(error, SobjectError) else 400
