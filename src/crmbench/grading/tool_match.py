"""Tool match in Arc's sense: was the expected tool called with the expected arguments?

A diagnostic for our own tasks. For Arc tasks, which carry neither effects nor facts, it decides.
Arc allows one call a turn; here an agent may make any number. A turn that should write matches by
its writes, of which there must be exactly the one expected; a turn that should read matches if
any of its reads does and nothing was written. Past `MAX_READS` calls a turn is a hunt through the
tools for the one that is wanted, and no longer matches: such tasks have no facts that would tell
an answer from a dump.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crmbench.core.trace import CallRecord
from crmbench.grading.gold import error_matches

WRAPPERS = ("criteria", "updates")
"""Arguments that only wrap fields: ``{"criteria": {"name": "x"}}`` means ``{"name": "x"}``."""
MAX_READS = 10
PAGING = ("limit", "offset")
"""Arguments that Arc's tools do not have and that change nothing about what is asked for."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The call that a turn is about."""

    tool: str
    arguments: Mapping[str, Any]
    writes: bool
    succeeds: bool
    error_substring: str | None = None


@dataclass(frozen=True, slots=True)
class ToolMatch:
    """How a turn's calls compare with the expected one."""

    call: CallRecord | None
    """The call that was compared; None if none was made."""
    tool: bool
    arguments: bool
    outcome: bool
    """It succeeded, or failed, as it should."""
    reason: str | None
    """Why it does not match."""

    @property
    def matches(self) -> bool:
        return self.tool and self.arguments and self.outcome


def match(expected: Expected, calls: Sequence[CallRecord]) -> ToolMatch:
    """Compare the calls of a turn with the one that was expected."""
    written = [call for call in calls if call.changes]
    if len(calls) > MAX_READS and not written:
        return _miss(
            calls[-1], expected, f"{len(calls)} calls in one turn, at most {MAX_READS} count"
        )
    if not expected.writes or not expected.succeeds:
        if written and not expected.writes:
            return _miss(written[0], expected, f"{written[0].tool} wrote where nothing should be")
        if written:
            return _miss(written[0], expected, f"{written[0].tool} wrote; the request must fail")
        return _best(expected, calls)
    if len(written) > 1:
        return _miss(written[-1], expected, f"{len(written)} calls wrote where one should")
    return _best(expected, written or calls)


_NO_CALL = ToolMatch(None, False, False, False, "no tool was called")


def _miss(call: CallRecord, expected: Expected, reason: str) -> ToolMatch:
    return ToolMatch(call, call.tool == expected.tool, False, False, reason)


def _best(expected: Expected, calls: Sequence[CallRecord]) -> ToolMatch:
    best = _NO_CALL
    for call in calls:
        compared = _compare(expected, call)
        if compared.matches:
            return compared
        if best.call is None or _rank(compared) >= _rank(best):
            best = compared
    return best


def _rank(match: ToolMatch) -> tuple[bool, bool, bool]:
    return match.tool, match.arguments, match.outcome


def _compare(expected: Expected, call: CallRecord) -> ToolMatch:
    if call.tool != expected.tool:
        reason = f"called {call.tool} instead of {expected.tool}"
        return ToolMatch(call, False, False, False, reason)
    difference = argument_difference(expected.arguments, call.arguments)
    if expected.succeeds:
        outcome = call.ok
        failed = None if outcome else f"the call failed: {call.error}"
    else:
        outcome = not call.ok and error_matches(expected.error_substring, call.error)
        failed = None if outcome else "the call did not fail as it should"
    return ToolMatch(call, True, difference is None, outcome, difference or failed)


def argument_difference(expected: Mapping[str, Any], got: Mapping[str, Any]) -> str | None:
    """The first difference between two sets of arguments, or None."""
    one, two = _flat(expected), _flat(got)
    for name in sorted(one.keys() | two.keys()):
        if name not in two:
            return f"'{name}' is missing"
        if name not in one:
            return f"'{name}' was not expected"
        if not _equal(one[name], two[name]):
            return f"'{name}' is {two[name]!r}, expected {one[name]!r}"
    return None


def _flat(arguments: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in arguments.items():
        if name in WRAPPERS and isinstance(value, Mapping):
            flat |= value
        elif name not in PAGING:
            flat[name] = value
    return flat


def _equal(one: Any, two: Any) -> bool:
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, int | float) and isinstance(two, int | float):
        return abs(one - two) <= 1e-6 * max(abs(one), abs(two))
    return bool(one == two)
