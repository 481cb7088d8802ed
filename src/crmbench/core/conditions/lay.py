"""Conditions by name, and laid over a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from crmbench.core.conditions.asked import AskedFor
from crmbench.core.conditions.automation import Automation
from crmbench.core.conditions.base import Condition, Draw
from crmbench.core.conditions.colleague import Colleague
from crmbench.core.conditions.failures import Budget, Rate, Timeouts
from crmbench.core.conditions.handbook import Handbook
from crmbench.core.conditions.lures import Lures
from crmbench.core.conditions.memory import Notebook
from crmbench.core.conditions.names import Names
from crmbench.core.conditions.searching import Pages, Stale
from crmbench.core.domain import Domain
from crmbench.core.episode import MAX_CALLS
from crmbench.core.overlay import DomainOverlay
from crmbench.core.sandbox import Conditions, Sandbox
from crmbench.core.task import Task
from crmbench.core.trace import CallRecord
from crmbench.errors import InputError

Made = Callable[[Draw, int], Condition]


@dataclass(frozen=True)
class Kind:
    """A condition that can be named."""

    make: Made
    about: str
    number: int | None = None
    """What the number after the colon is where none is given; None: it takes none."""


KINDS: dict[str, Kind] = {
    "names": Kind(Names, "other names, and N tools of no use", 20),
    "lures": Kind(Lures, "orders in records' texts, of strengths 1 to N", 4),
    "colleague": Kind(lambda draw, _: Colleague(draw), "edits just before a first write"),
    "handbook": Kind(lambda _, __: Handbook(), "the house rules as articles to search"),
    "stale": Kind(lambda _, m: Stale(m), "searches do not know of the last N writes", 3),
    "pages": Kind(lambda _, k: Pages(k), "lists in pages of N records", 5),
    "rate": Kind(Rate, "about one call in N has to wait", 4),
    "timeouts": Kind(lambda draw, _: Timeouts(draw), "writes without an answer"),
    "automation": Kind(lambda draw, _: Automation(draw), "flows that put a field back"),
}
"""In the order in which they are asked before a call, and change the tools (names do so last)."""
ALLOWANCE = 10
"""Times as many calls a turn are allowed under conditions: pages and waits take many, and a limit
that bites the careful would be our failure."""
BREAK = "break"
NAMES = (*KINDS, BREAK)


@dataclass(frozen=True)
class Spec:
    """A condition as it was asked for."""

    name: str
    number: int | None = None

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name}:{self.number}"


def parse_conditions(text: str) -> tuple[Spec, ...]:
    """The conditions that a text such as ``timeouts,pages:5`` names, in their own order.

    Raises:
        InputError: One is not known, is named twice, or its number is none.
    """
    specs = [_spec(part.strip()) for part in text.split(",") if part.strip()]
    names = [spec.name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the condition '{name}' is named twice")
    return tuple(sorted(specs, key=lambda spec: NAMES.index(spec.name)))


def _spec(text: str) -> Spec:
    name, colon, number = text.partition(":")
    if name not in NAMES:
        raise InputError(f"there is no condition '{name}'", expected=", ".join(sorted(NAMES)))
    default = KINDS[name].number if name in KINDS else None
    if default is None:
        if colon:
            raise InputError(f"the condition '{name}' takes no number", expected=name)
        return Spec(name)
    if not colon:
        return Spec(name, default)
    if not number.isdigit() or not 1 <= int(number) <= 1000:
        raise InputError(f"'{text}' needs a number from 1 to 1000", expected=f"{name}:{default}")
    return Spec(name, int(number))


@dataclass(frozen=True)
class Laid:
    """A task with its conditions: what the agent plays with, and what its gold is walked with."""

    domain: Domain
    task: Task
    conditions: Conditions | None
    max_calls: int
    """Tool calls a turn: the task's own limit or the usual one, and more under conditions that make
    many calls of one."""


def lay(
    domain: Domain,
    task: Task,
    specs: Sequence[Spec] = (),
    *,
    seed: int = 0,
    budget: int | None = None,
    max_calls: int = MAX_CALLS,
    asked: AskedFor | None = None,
) -> Laid:
    """Lay conditions over a task, afresh for each episode.

    Args:
        seed: Of the conditions' chance.
        budget: Tool calls for the whole conversation; see `budget_calls`.
        max_calls: Tool calls a turn, where the task has no limit of its own.
        asked: What the conversation asks for, where the task comes without its gold.

    Raises:
        InputError: The domain cannot have one of them.
    """
    task = _broken(task, specs, seed)
    parts = [
        KINDS[spec.name].make(Draw(task.task_id, seed, spec.name), spec.number or 0)
        for spec in specs
        if spec.name != BREAK
    ]
    if task.breaks:
        parts.append(Notebook(task.notebook))
    if task.budget is not None:
        own = task.budget * (ALLOWANCE if specs else 1)
        budget = own if budget is None else min(own, budget)
    if budget is not None:
        # Refused before anything else is asked: so it stands first.
        parts.insert(0, Budget(budget))
    limit = (task.call_limit or max_calls) * (ALLOWANCE if parts else 1)
    if task.call_limit is None:
        # Who may make so many in all may make them in one turn: it is told of no other limit.
        limit = max(limit, budget or 0)
    laid = Laid(domain, task, Chain(parts) if parts else None, limit)
    told = []
    if task.call_limit is not None:
        told.append(f"At most {limit} tool calls a turn.")
    if not parts and not told:
        return laid
    policy, toolbox = domain.policy, domain.toolbox
    # Other names come last: what the other conditions do to a tool depends on its usual one.
    for part in sorted(parts, key=lambda part: isinstance(part, Names)):
        part.about(task, lambda: asked or AskedFor.of(task))
        toolbox = part.tools(toolbox)
    for part in parts:
        policy = part.policy(policy)
        told += [text] if (text := part.told()) else []
    bullets = "\n".join(f"- {text}" for text in told)
    policy = f"{policy.rstrip()}\n\n## The system today\n\n{bullets}\n"
    return replace(laid, domain=DomainOverlay(domain, policy=policy, toolbox=toolbox))


def budget_left(conditions: object) -> int | None:
    """The calls that a conversation's budget still allows; None where it has none."""
    parts = conditions.parts if isinstance(conditions, Chain) else ()
    return next((part.left for part in parts if isinstance(part, Budget)), None)


def budget_calls(task: Task, multiple: float) -> int:
    """The calls that a budget allows: a multiple of the gold's, at least one."""
    return max(1, ceil(multiple * sum(len(turn.calls) for turn in task.gold.turns)))


def _broken(task: Task, specs: Sequence[Spec], seed: int) -> Task:
    """The task with the break that the condition lays over it, if it has turns enough and none."""
    if task.breaks or len(task.turns) < 2 or all(spec.name != BREAK for spec in specs):
        return task
    chance = Draw(task.task_id, seed, BREAK).fraction("turn")
    return replace(task, breaks=(1 + int(chance * (len(task.turns) - 1)),))


class Chain:
    """Several conditions as one. Implements `Conditions`.

    What happens first on the way to the tool happens last on the way back.
    """

    def __init__(self, parts: Sequence[Condition]) -> None:
        self.parts = tuple(parts)

    def before(self, sandbox: Sandbox, name: Any, arguments: Any) -> None:
        for part in self.parts:
            name, arguments = part.usual(name, arguments)
        for part in self.parts:
            part.before(sandbox, name, arguments)

    def after(self, sandbox: Sandbox, record: CallRecord) -> CallRecord:
        for part in reversed(self.parts):
            record = part.after(sandbox, record)
        return record

    def between(self, sandbox: Sandbox, turn: int) -> None:
        for part in self.parts:
            part.between(sandbox, turn)
