"""TRL: a class for the ``environment_factory`` of its GRPOTrainer, made from a domain's tools.

    Environment = environment_class(TaskPool.made("sales"))
    GRPOTrainer(..., train_dataset=Dataset.from_list(rows(pool)), environment_factory=Environment)

Every public method of the class is a tool there, and a rollout ends at the first answer without a
call: so the user is answered with a tool of its own, ``reply``, which gives the user's next words.
Needs no package: TRL looks at nothing but the class.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from crmbench.core.tool import Param, Tool
from crmbench.domains.registry import load_domain
from crmbench.training.actions import Action, CallRequest
from crmbench.training.resources import SessionResources
from crmbench.training.rewards import SHAPED, Rewards
from crmbench.training.session import TrainingSession
from crmbench.training.tasks import TaskPool

TYPES: dict[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}
OVER = "The conversation is over."


class ToolEnvironment:
    """What the made classes have in common; its methods but `reply` are no tools of the CRM."""

    _pool: TaskPool
    _rewards: Rewards
    _resources: SessionResources

    def __init__(self) -> None:
        self._session = TrainingSession(
            self._pool, rewards=self._rewards, resources=self._resources
        )
        self._paid = 0.0
        self._over = False

    def reset(self, task: str | int | None = None, **_: Any) -> str:
        """Begin an episode of the row's task; the user's first words."""
        (_, said), _ = self._session.reset(task)
        self._paid, self._over = 0.0, False
        return str(said["content"])

    def get_reward(self) -> float:
        """What the episode has paid so far."""
        return self._paid

    def reply(self, text: str) -> str:
        """Answer the user and hear what they say next.

        Args:
            text: what you say to the user
        """
        return self._step(text)

    def _step(self, action: Action) -> str:
        if self._over:
            return OVER
        step = self._session.step(action)
        self._paid += step.reward
        self._over = step.terminated or step.truncated
        return "\n".join(message["content"] for message in step.messages) or OVER


def environment_class(pool: TaskPool, rewards: Rewards = SHAPED) -> type[ToolEnvironment]:
    """A class with a method for every tool of the pool's domain.

    Args:
        pool: What is played; all of one domain.
        rewards: What is paid for what.
    """
    tools = load_domain(pool.tasks[0].domain).toolbox.by_name
    parts: dict[str, Any] = {name: _method(tool) for name, tool in sorted(tools.items())}
    parts |= {"_pool": pool, "_rewards": rewards, "_resources": SessionResources()}
    return type("CrmEnvironment", (ToolEnvironment,), parts)


def rows(pool: TaskPool) -> list[dict[str, Any]]:
    """A row a task for the trainer's data set: ``prompt``, to whose last message the user's words
    are added, and ``task``.
    """
    with TrainingSession(pool) as session:
        found = []
        for task in pool.tasks:
            system = session.reset(task)[0][0]
            prompt = [system, {"role": "user", "content": ""}]
            found.append({"prompt": prompt, "task": task.task_id})
    return found


def _method(tool: Tool) -> Callable[..., str]:
    def call(self: ToolEnvironment, **arguments: Any) -> str:
        given = {name: value for name, value in arguments.items() if value is not None}
        return self._step(CallRequest(tool.name, given))

    mine = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    taken = sorted(tool.params, key=lambda param: not param.required)
    described = "\n".join(f"    {param.name}: {_described(param)}" for param in taken)
    call.__name__ = call.__qualname__ = tool.name
    call.__doc__ = f"{tool.description}\n\nArgs:\n{described}" if taken else tool.description
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*mine, *map(_parameter, taken)], return_annotation=str
    )
    call.__annotations__ = {param.name: _type(param) for param in taken} | {"return": str}
    return call


def _described(param: Param) -> str:
    """In words; never empty, or the trainer could not read the docstring."""
    return param.description or param.name.replace("_", " ")


def _type(param: Param) -> Any:
    known: Any = TYPES.get(str(param.kind.schema.get("type")), str)
    return known if param.required else known | None


def _parameter(param: Param) -> inspect.Parameter:
    default = inspect.Parameter.empty if param.required else None
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(param.name, kind, default=default, annotation=_type(param))
