"""What sessions of one process share: databases, the grader, and what agents are told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from crmbench.agents.prompting import preamble
from crmbench.core.backends import Backends, backend_maker
from crmbench.core.conditions import Laid
from crmbench.core.episode import view_of
from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.grading.grader import Grader

Told = tuple[list[dict[str, Any]], dict[str, Any]]
"""The tools in OpenAI's form, and the system's message."""


class SessionResources:
    """Worlds are built once and rolled back after each episode; gold is walked once a task.

    Args:
        backend: ``sqlite`` or ``postgres``.

    Raises:
        InputError: There is no such backend.
    """

    def __init__(self, backend: str = "sqlite") -> None:
        self.backends = Backends(load_domain, backend_maker(backend))
        self.grader = Grader(self.backends)
        self._tools: dict[str, list[dict[str, Any]]] = {}
        self._told: dict[tuple[str, str, str], Told] = {}

    def prepare(self, tasks: Iterable[Task]) -> None:
        """Build the worlds and walk the gold now, so that no reset has to.

        Raises:
            TaskError: A task is broken.
        """
        for task in tasks:
            self.grader.gold_runs(task)

    def told(self, laid: Laid) -> Told:
        """What an agent is told; kept, except where conditions make it anew for each episode."""
        if laid.conditions is not None or laid.task.call_limit is not None:
            return told_of(laid)
        key = (laid.domain.name, laid.task.world, laid.task.persona)
        found = self._told.get(key)
        if found is None:
            tools, system = told_of(laid)
            found = self._told[key] = (self._tools.setdefault(laid.domain.name, tools), system)
        return found

    def close(self) -> None:
        """Close the databases; they open again when they are needed."""
        self.grader.close()


def told_of(laid: Laid) -> Told:
    """What an agent is told, made anew."""
    view = view_of(laid.domain, laid.task)
    tools = [{"type": "function", "function": schema} for schema in view.tools]
    return tools, {"role": "system", "content": preamble(view)}
