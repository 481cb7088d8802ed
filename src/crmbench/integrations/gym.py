"""Gymnasium (extra ``gym``): the sessions for training as environments of its.

    import gymnasium, crmbench.integrations.gym
    env = gymnasium.make("crmbench/sales-v0")

Importing this module registers ``crmbench/sales-v0`` and ``crmbench/service-v0``; Gymnasium looks
for no plugins by itself, but imports what stands before a colon:
``gymnasium.make("crmbench.integrations.gym:crmbench/sales-v0")``.

An observation is the new messages as JSON text; an action is a step as JSON text (a call, a list
of calls or an assistant's message), and any other text is the reply to the user.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from crmbench.errors import InputError, MissingExtraError
from crmbench.training.actions import Action, read_action
from crmbench.training.rewards import VERDICT, Rewards
from crmbench.training.session import Messages, TrainingSession
from crmbench.training.tasks import TaskPool, TaskSource

try:
    import gymnasium
except ImportError as missing:
    raise MissingExtraError("gym", "Gymnasium's environments") from missing

MAX_LENGTH = 10_000_000
"""Characters of an observation or an action at most."""
PRINTABLE = "".join(map(chr, range(32, 127)))
"""What a text may hold: JSON escapes all else."""


# Its base is Any where types are checked: the library is not installed there.
class CrmEnv(gymnasium.Env[str, str]):  # type: ignore[misc]
    """Tasks of a domain, one after another.

    Args:
        domain: Whose tasks are made, where none are given.
        split: ``train`` or ``held_out``, for tasks that are made.
        seed: Of the tasks that are made; `reset` takes the seed of what is drawn from them.
        tasks: What is played instead.
        rewards: What is paid for what.
        max_steps: After so many steps an episode is truncated.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        domain: str = "sales",
        split: str = "train",
        seed: int = 0,
        tasks: TaskSource | None = None,
        rewards: Rewards = VERDICT,
        max_steps: int | None = 200,
    ) -> None:
        source = tasks if tasks is not None else TaskPool.made(domain, split, seed)
        self.session = TrainingSession(source, rewards=rewards, max_steps=max_steps)
        self.observation_space = gymnasium.spaces.Text(MAX_LENGTH, charset=PRINTABLE)
        self.action_space = gymnasium.spaces.Text(MAX_LENGTH, charset=PRINTABLE)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode; ``options={"task": …}`` names one, else chance draws it."""
        super().reset(seed=seed)
        named = (options or {}).get("task")
        messages, info = self.session.reset(named, seed=int(self.np_random.integers(2**31)))
        return as_text(messages), {**info, "tools": self.session.tools}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """One step; see the module."""
        step = self.session.step(from_text(action))
        return as_text(step.messages), step.reward, step.terminated, step.truncated, step.info

    def close(self) -> None:
        """Free the databases."""
        self.session.close()


def as_text(messages: Messages) -> str:
    """Messages as an observation."""
    return json.dumps(messages)


def from_text(action: str) -> Action:
    """The step that a text is."""
    try:
        said = json.loads(action)
        read_action(said)
    except (ValueError, RecursionError, InputError):
        return action
    return action if isinstance(said, str) else said


for _domain in ("sales", "service"):
    gymnasium.register(
        id=f"crmbench/{_domain}-v0",
        entry_point="crmbench.integrations.gym:CrmEnv",
        kwargs={"domain": _domain},
    )
