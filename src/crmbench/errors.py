"""Every error that crmbench raises on purpose.

CrmbenchError
├── InputError           a file, an option or a value that a person gave is not usable
├── ToolError            a tool call was refused; its text is shown to the agent
├── MissingExtraError    an optional dependency is not installed
├── AgentError           the agent broke its protocol or raised
├── DisplacedError       a conversation was held up by another one's agent; it is played again
├── InfrastructureError  a model, server or database could not be reached; never the agent's fault
└── HarnessError         crmbench itself was used or behaves wrongly (a bug, or a broken task)

What an agent may see is `ToolError`; every other error ends the episode and is attributed to the
boundary that its class names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class CrmbenchError(Exception):
    """Base of all errors raised on purpose."""


class InputError(CrmbenchError):
    """Something that a person handed in cannot be used.

    Args:
        message: What is wrong.
        file: The file it is in, if any.
        line: The line, counted from 1.
        field: The path of the field, for example ``turns[2].expected_args``.
        expected: What would have been right.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        field: str | None = None,
        expected: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.field = field
        self.expected = expected

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        parts = [f"{place}: " if place else ""]
        parts.append(f"{self.field}: " if self.field else "")
        parts.append(self.message)
        if self.expected:
            parts.append(f"; expected {self.expected}")
        return "".join(parts)


class ToolError(CrmbenchError):
    """A tool refused a call and changed nothing. Its text is what the agent sees.

    Args:
        message: The text, written for the agent.
        kind: ``validation``, ``not_found``, ``duplicate``, ``rule``, ``unknown_tool`` or
            another short word; reports count errors by it.
    """

    def __init__(self, message: str, kind: str = "validation") -> None:
        super().__init__(message)
        self.kind = kind

    @property
    def text(self) -> str:
        """What the agent reads; a bad value or argument is announced as a validation error."""
        return f"Validation error: {self}" if self.kind == "validation" else str(self)


class MissingExtraError(CrmbenchError):
    """An optional dependency is needed and absent.

    Args:
        extra: The extra of this package that brings it.
        purpose: What it is needed for, as in "the PostgreSQL backend".
    """

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs an extra: pip install 'crmbench[{extra}]'")
        self.extra = extra
        self.purpose = purpose

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        # From a worker's process it comes by what it was made from, not by its text.
        return type(self), (self.extra, self.purpose)


@contextmanager
def needs_extra(extra: str, purpose: str) -> Iterator[None]:
    """Imports of what an extra brings, as in ``with needs_extra("serve", "crmbench view"):``.

    Raises:
        MissingExtraError: It is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        # A module of our own that is not there is a fault of ours, and no extra brings it.
        if (error.name or "").partition(".")[0] == __name__.partition(".")[0]:
            raise
        raise MissingExtraError(extra, purpose) from error


class AgentError(CrmbenchError):
    """The agent raised, or said something its protocol does not allow."""


class DisplacedError(CrmbenchError):
    """A conversation was held up by another one's agent, and is to be played from its start."""

    def __init__(self) -> None:
        super().__init__("held up by another conversation's agent, which blocks")


class InfrastructureError(CrmbenchError):
    """A model, a server or a database failed. Counted apart and retried on resume."""


class HarnessError(CrmbenchError):
    """crmbench was used wrongly from code, or a task is broken."""
