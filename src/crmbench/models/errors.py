"""What goes wrong between us and a model.

InfrastructureError (crmbench.errors)
└── ModelError
    ├── TransientModelError  trying again may help; raised once the retries are used up
    └── FinalModelError      trying again cannot help: a wrong key, name or request

`ModelError.kind` is one of:

===============  =====  =========================================================================
kind             final  when
===============  =====  =========================================================================
rate_limit       no     HTTP 429
server           no     HTTP 408, 409, 425 and 5xx, and an error object in a reply with status 200
timeout          no     no complete reply within the time limit
connection       no     refused, reset, closed early, host not found
bad_reply        no     the reply is not JSON, is cut off, or holds no message
auth             yes    HTTP 401, 403
not_found        yes    HTTP 404
quota            yes    HTTP 429 that says that the account has no credit left
context_length   yes    the conversation is longer than the model reads
bad_request      yes    every other 4xx, and redirects
too_large        yes    the reply is larger than the limit of bytes
tls              yes    the server's certificate is not accepted
===============  =====  =========================================================================
"""

from __future__ import annotations

from typing import Literal

from crmbench.errors import InfrastructureError

TransientKind = Literal["rate_limit", "server", "timeout", "connection", "bad_reply"]
FinalKind = Literal[
    "auth", "not_found", "quota", "context_length", "bad_request", "too_large", "tls"
]


class ModelError(InfrastructureError):
    """A model could not be asked, or what it sent cannot be read.

    Args:
        message: What happened, without keys and at most a few hundred characters of the reply.
        kind: The kind, from the table at the top of this file.
        status: The HTTP status, if there was one.
        retry_after: Seconds that the server asked us to wait, if it did.
    """

    retryable = False

    def __init__(
        self,
        message: str,
        *,
        kind: TransientKind | FinalKind,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.attempts = 1
        """How many requests were sent before this was raised."""

    def __str__(self) -> str:
        tried = f" (after {self.attempts} attempts)" if self.attempts > 1 else ""
        return f"{self.message}{tried}"


class TransientModelError(ModelError):
    """Trying again may help."""

    retryable = True


class FinalModelError(ModelError):
    """Trying again cannot help."""
