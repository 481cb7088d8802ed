"""The faults of the fake server: their names, what they answer, and whose turn it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from crmbench.models.testing.wire import FakeAnswer, FakeCall

ERRORS: dict[str, tuple[int, str, str, str | None]] = {
    "rate_limit": (429, "rate_limit_error", "Too many requests.", "rate_limit_exceeded"),
    "rate_limit_date": (429, "rate_limit_error", "Too many requests.", "rate_limit_exceeded"),
    "quota": (429, "insufficient_quota", "The account has no credit left.", "insufficient_quota"),
    "server_error": (500, "api_error", "Something failed inside.", None),
    "overloaded": (529, "overloaded_error", "Overloaded.", None),
    "unauthorized": (401, "authentication_error", "The key is not valid.", "invalid_api_key"),
    "forbidden": (403, "permission_error", "This key may not use the model.", None),
    "not_found": (404, "not_found_error", "There is no such model.", "model_not_found"),
    "bad_request": (400, "invalid_request_error", "A field is not known.", None),
    "context_length": (
        400,
        "invalid_request_error",
        "The prompt is too long for the context window.",
        "context_length_exceeded",
    ),
}
ANSWERS: dict[str, Callable[[FakeAnswer, float | None], FakeAnswer]] = {
    "empty": lambda answer, value: FakeAnswer(),
    "enormous": lambda answer, value: FakeAnswer("x" * int(value or 4_000_000)),
    "unknown_tool": lambda answer, value: FakeAnswer(calls=(FakeCall("no_such_tool", {}),)),
    "bad_arguments": lambda answer, value: FakeAnswer(calls=(FakeCall("tool", '{"a": 1,,'),)),
    "array_arguments": lambda answer, value: FakeAnswer(calls=(FakeCall("tool", "[1, 2]"),)),
    "malformed_tool_call": lambda answer, value: FakeAnswer(calls=(FakeCall("", {}),)),
    "refusal": lambda answer, value: FakeAnswer("I cannot help with that.", refusal=True),
    "no_usage": lambda answer, value: replace(answer, usage=False),
}
_TRANSPORT = frozenset(
    {"timeout", "dropped", "dropped_midway", "truncated_json", "html", "html_ok", "no_choices"}
)
FAULTS = frozenset(ERRORS) | frozenset(ANSWERS) | _TRANSPORT
"""All names of faults."""


class Fault(NamedTuple):
    """A fault, how many attempts it takes, and its value."""

    name: str
    times: int | None
    """None: all if it is the last, one if it is not."""
    value: float | None


def parse_faults(model: str) -> tuple[Fault, ...]:
    """The faults that the name of a model asks for.

    Raises:
        ValueError: There is no such fault.
    """
    faults = []
    for part in model.split("+")[1:]:
        match = re.fullmatch(r"([a-z_]+)(?:\*(\d+))?(?::([\d.]+))?", part)
        if match is None or match[1] not in FAULTS:
            raise ValueError(f"there is no fault '{part}'")
        faults.append(Fault(match[1], int(match[2]) if match[2] else None, _float(match[3])))
    return tuple(faults)


def _float(text: str | None) -> float | None:
    return None if text is None else float(text)


def pick_fault(faults: Sequence[Fault], attempt: int) -> Fault | None:
    """The fault of an attempt, counted from 0."""
    for index, fault in enumerate(faults):
        last = index == len(faults) - 1
        if fault.times is None and last:
            return fault
        times = 1 if fault.times is None else fault.times
        if attempt < times:
            return fault
        attempt -= times
    return None
