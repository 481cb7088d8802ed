"""What every condition is made of: what it tells, what it does to the tools, its chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import orjson

from crmbench.core.arguments import INTEGER
from crmbench.core.conditions.asked import AskedFor
from crmbench.core.sandbox import Sandbox
from crmbench.core.task import Task
from crmbench.core.tool import Param, Tool, Toolbox
from crmbench.core.trace import CallRecord, json_safe
from crmbench.errors import ToolError

LONGEST = 3_600
"""Seconds that one call of ``wait`` lets pass at most."""
Key = tuple[str, str]
"""A tool's name and its canonical arguments."""


@dataclass(frozen=True)
class Draw:
    """Chance that follows from the task and from what is asked about, never from a count of calls.

    Two agents that come to the same call by different ways meet the same world.
    """

    task_id: str
    seed: int
    condition: str

    def fraction(self, *about: str | int) -> float:
        """A number from 0 up to 1."""
        data = orjson.dumps([self.task_id, self.seed, self.condition, *about])
        return int.from_bytes(blake2b(data, digest_size=8).digest(), "big") / 2**64


def key_of(name: Any, arguments: Any) -> Key:
    """A call reduced to what tells it from others: fields that are null or in another order count
    as the same call.
    """
    safe = json_safe(arguments)
    if isinstance(safe, Mapping):
        safe = {field: value for field, value in safe.items() if value is not None}
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    return str(json_safe(name)), orjson.dumps(safe, option=options).decode()


class Condition:
    """A condition in one episode. It has the hooks of `crmbench.core.sandbox.Conditions`, which
    here do nothing, and may change the tools and tell the agent of it.
    """

    def __init__(self) -> None:
        self._seen: Counter[Key] = Counter()

    def about(self, task: Task, asked: Callable[[], AskedFor]) -> None:
        """Told the task that it is laid over, before anything else.

        Args:
            task: In a play it has no gold, and what happens must be the same with and without.
            asked: Gives what the conversation asks for; worked out when it is called.
        """

    def usual(self, name: Any, arguments: Any) -> tuple[Any, Any]:
        """A call under the names that the domain itself has for it."""
        return name, arguments

    def told(self) -> str:
        """What the agent is told of it, before the first turn; "" if nothing."""
        return ""

    def policy(self, policy: str) -> str:
        """The house rules as the agent is told them."""
        return policy

    def tools(self, toolbox: Toolbox) -> Toolbox:
        """The tools that the agent has."""
        return toolbox

    def before(self, sandbox: Sandbox, name: Any, arguments: Any) -> None:
        """See `Conditions.before`."""

    def after(self, sandbox: Sandbox, record: CallRecord) -> CallRecord:
        """See `Conditions.after`."""
        del sandbox
        return record

    def between(self, sandbox: Sandbox, turn: int) -> None:
        """See `Conditions.between`."""

    def count(self, name: Any, arguments: Any) -> tuple[Key, int]:
        """The call's key, and how often it came before."""
        key = key_of(name, arguments)
        self._seen[key] += 1
        return key, self._seen[key] - 1


class ChanceCondition(Condition):
    """A condition of which chance decides where it strikes."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        self.draw = draw


def is_write(sandbox: Sandbox, name: Any) -> bool:
    """Whether a call may change the org."""
    tool = _known(sandbox, name)
    return tool is not None and tool.writes


def is_known(sandbox: Sandbox, name: Any) -> bool:
    """Whether there is a tool of that name, be it the domain's own for it."""
    return _known(sandbox, name) is not None


def _known(sandbox: Sandbox, name: Any) -> Tool | None:
    if not isinstance(name, str):
        return None
    # Under other names the domain's own are in the overlaid domain alone.
    whole = getattr(sandbox.domain, "inner", sandbox.domain)
    found: Tool | None = sandbox.domain.toolbox.by_name.get(name)
    return found or whole.toolbox.by_name.get(name)


def with_tools(toolbox: Toolbox, *added: Tool) -> Toolbox:
    """The tools and a few more."""
    return Toolbox([*toolbox.by_name.values(), *added])


def with_wait(toolbox: Toolbox, passed: Callable[[int], None]) -> Toolbox:
    """The tools and ``wait``, which lets simulated time pass.

    Args:
        passed: Told the seconds, each time.
    """
    earlier = toolbox.by_name.get("wait")

    def wait(handle: Any, seconds: int) -> Any:
        if not 1 <= seconds <= LONGEST:
            raise ToolError(f"Seconds must be between 1 and {LONGEST:,}.")
        passed(seconds)
        return earlier.function(handle, seconds) if earlier else {"waited_seconds": seconds}

    if earlier is not None:
        return with_changed(toolbox, lambda tool: tool is earlier, lambda tool: wrapped(tool, wait))
    seconds = Param("seconds", INTEGER, True, f"from 1 to {LONGEST:,}; no real time passes")
    return with_tools(toolbox, Tool("wait", "Let time pass.", False, (seconds,), wait))


def with_changed(
    toolbox: Toolbox, chosen: Callable[[Tool], bool], change: Callable[[Tool], Tool]
) -> Toolbox:
    """The tools, some of them changed."""
    return Toolbox([change(each) if chosen(each) else each for each in toolbox.by_name.values()])


def wrapped(tool: Tool, function: Callable[..., Any], said: str = "") -> Tool:
    """The same tool with another function and a sentence more."""
    return replace(tool, function=function, description=f"{tool.description} {said}".strip())
