"""What a server refuses, in no interface's form: each interface renders it in its own.

Refused
├── NotAuthorized     no token, or one that opens nothing (401)
├── Forbidden         a token that may not do this (403)
├── NotFound          nothing of that name, or nothing that this token may know of (404)
├── BadRequest        a body or a parameter that cannot be used (400)
├── Conflict          not now: the conversation is over, or not the agent's turn (409)
├── TooLarge          a body over the limit (413)
├── TooSlow           a body that did not arrive in time (408)
├── Unsupported       a method or content type that is not taken (405, 415)
└── LimitReached      too many sessions, or too many requests in one (403)

Never 429, 420 or 5xx for what is the caller's fault: clients of the Salesforce API repeat those.
"""

from __future__ import annotations

from crmbench.errors import CrmbenchError


class Refused(CrmbenchError):
    """A request that the server does not carry out.

    Args:
        message: For the caller: what is wrong and what would be right. Never another session's
            data, and nothing of a task's ground truth.
        code: A short word for programs, in Salesforce's spelling where it has one.
        status: The HTTP status.
    """

    status = 400
    code = "BAD_REQUEST"

    def __init__(self, message: str, code: str | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.status = status or type(self).status


class NotAuthorized(Refused):
    """There is no token, or it opens nothing (any more)."""

    status = 401
    code = "INVALID_SESSION_ID"

    def __init__(self, message: str = "Session expired or invalid") -> None:
        super().__init__(message)


class Forbidden(Refused):
    """The token is good, and not for this."""

    status = 403
    code = "INSUFFICIENT_ACCESS"


class NotFound(Refused):
    """There is nothing of that name that the token may know of."""

    status = 404
    code = "NOT_FOUND"

    def __init__(self, message: str = "The requested resource does not exist") -> None:
        super().__init__(message)


class BadRequest(Refused):
    """The body or a parameter cannot be used."""


class Conflict(Refused):
    """It cannot be done now."""

    status = 409
    code = "CONFLICT"


class TooLarge(Refused):
    """The body is larger than is taken."""

    status = 413
    code = "REQUEST_TOO_LARGE"


class TooSlow(Refused):
    """The body did not arrive in time."""

    status = 408
    code = "REQUEST_TIMEOUT"


class Unsupported(Refused):
    """The method or the content type is not taken."""

    status = 405
    code = "METHOD_NOT_ALLOWED"


class LimitReached(Refused):
    """As many sessions, or requests in one, as are allowed."""

    status = 403
    code = "REQUEST_LIMIT_EXCEEDED"
