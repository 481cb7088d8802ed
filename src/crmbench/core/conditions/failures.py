"""Conditions under which calls fail for a reason that is not the agent's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crmbench.core.conditions.base import (
    ChanceCondition,
    Condition,
    Draw,
    is_known,
    is_write,
    with_wait,
)
from crmbench.core.conditions.kinds import is_outside
from crmbench.core.sandbox import Sandbox
from crmbench.core.tool import Toolbox
from crmbench.core.trace import CallRecord
from crmbench.errors import ToolError

NO_ANSWER = (
    "No answer from the server in time. The outcome is unknown: the change was made, or it was not."
)
"""The same text whether the write happened or not."""
MOST = 2
"""Times that one call can be left without an answer."""
SHARE = 0.35
"""Of writes that get no answer, each time that they are made."""


class Timeouts(ChanceCondition):
    """Some writes get no answer; half of those happened all the same."""

    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self._silent = False

    def told(self) -> str:
        return (
            "Writes sometimes get no answer in time. Then the outcome is unknown: the change "
            "was made, or it was not. Read first; write again only what was not made. A record "
            "that no tool shows by its id, such as a note, is found by a search."
        )

    def before(self, sandbox: Sandbox, name: Any, arguments: Any) -> None:
        """Lose the answer to some writes.

        Raises:
            ToolError: The call did not answer.
        """
        self._silent = False
        if not is_write(sandbox, name):
            return
        key, times = self.count(name, arguments)
        if times >= MOST or self.draw.fraction(*key, times) >= SHARE:
            return
        if self.draw.fraction("lost", *key, times) < 0.5:
            raise ToolError(NO_ANSWER, "timeout")
        self._silent = True

    def after(self, sandbox: Sandbox, record: CallRecord) -> CallRecord:
        if not self._silent or not record.ok:
            # A call that the CRM refuses is refused at once, with its reason.
            return record
        return replace(record, ok=False, result=None, error=NO_ANSWER, error_kind="timeout")


class Rate(ChanceCondition):
    """About one call in n is refused until the agent has waited."""

    def __init__(self, draw: Draw, n: int) -> None:
        super().__init__(draw)
        self._n = n
        self._blocked: dict[tuple[str, str], int] = {}
        """Seconds that a refused call has to be waited for."""
        self._passed: set[tuple[str, str]] = set()

    def told(self) -> str:
        return (
            "The CRM limits the rate of calls. A call that is refused with 429 passes once you "
            "have "
            "called wait for the seconds that it names; repeating it before is no use."
        )

    def tools(self, toolbox: Toolbox) -> Toolbox:
        return with_wait(toolbox, self._waited)

    def _waited(self, seconds: int) -> None:
        done = [key for key, needed in self._blocked.items() if needed <= seconds]
        self._passed.update(done)
        for key in done:
            del self._blocked[key]

    def before(self, sandbox: Sandbox, name: Any, arguments: Any) -> None:
        """Refuse a call that comes too early.

        Raises:
            ToolError: The call has to wait.
        """
        known = is_known(sandbox, name)
        if name == "wait" or not known or is_outside(name):
            return
        key, times = self.count(name, arguments)
        if key in self._passed:
            return
        if key not in self._blocked:
            if times or self.draw.fraction(*key) >= 1 / self._n:
                return
            self._blocked[key] = 5 + int(self.draw.fraction("seconds", *key) * 55)
        needed = self._blocked[key]
        raise ToolError(f"429 Too many requests. Try again after {needed} seconds.", "rate")


class Budget(Condition):
    """So many calls for the whole conversation, and no more."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self._left = self._calls = calls

    @property
    def left(self) -> int:
        """Calls that may still be made."""
        return max(0, self._left)

    def told(self) -> str:
        return (
            f"You have {self._calls} tool calls for the whole conversation, refused ones included; "
            "every further one is refused."
        )

    def before(self, sandbox: Sandbox, name: Any, arguments: Any) -> None:
        """Count the call.

        Raises:
            ToolError: The budget is used up.
        """
        del sandbox, name, arguments
        self._left -= 1
        if self._left < 0:
            raise ToolError(
                f"The {self._calls} tool calls of this conversation are used up.", "limit"
            )
