"""OpenEnv: the sessions for training behind its server, for its clients, TRL and verifiers.

    pip install crmbench openenv
    uvicorn --factory crmbench.integrations.openenv:make_app --port 8000

An episode lives as long as its web socket. `reset` takes ``seed``, or ``task`` (an id); an action
has a ``reply``, or the ``name`` and ``arguments`` of a tool.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from crmbench.errors import MissingExtraError
from crmbench.training.actions import Action, CallRequest
from crmbench.training.resources import SessionResources
from crmbench.training.rewards import VERDICT, Rewards
from crmbench.training.session import TrainingSession
from crmbench.training.tasks import TaskPool, TaskSource

try:
    from openenv.core.env_server import create_app, interfaces, types
    from pydantic import Field
except ImportError as missing:
    raise MissingExtraError("openenv", "OpenEnv's server") from missing


# Its base is Any where types are checked: the library is not installed there.
class CrmAction(types.Action):  # type: ignore[misc]
    """One step: a reply to the user, or a tool call."""

    reply: str | None = None
    name: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)

    def step(self) -> Action:
        """The step that a session takes."""
        return (self.reply or "") if self.name is None else CallRequest(self.name, self.arguments)


class CrmObservation(types.Observation):  # type: ignore[misc]
    """The new messages; after a reset the tools too."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = Field(default_factory=list)
    info: dict[str, Any] = Field(default_factory=dict)


class CrmEnvironment(interfaces.Environment):  # type: ignore[misc]
    """One client's episodes.

    Args:
        tasks: What is played.
        rewards: What is paid for what.
        resources: The databases, shared with the other clients' environments.
        lock: Held while a session of these databases is at work: a server steps in threads.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self, tasks: TaskSource, rewards: Rewards, resources: SessionResources, lock: Lock
    ) -> None:
        super().__init__()
        self._session = TrainingSession(tasks, rewards=rewards, resources=resources)
        self._lock = lock
        self._state = types.State()

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        task: str | int | None = None,
        **_: Any,
    ) -> CrmObservation:
        """Begin an episode."""
        with self._lock:
            messages, info = self._session.reset(task, seed=seed)
        self._state = types.State(episode_id=episode_id, step_count=0)
        return CrmObservation(messages=messages, tools=self._session.tools, info=info)

    def step(self, action: CrmAction, timeout_s: float | None = None, **_: Any) -> CrmObservation:
        """One step."""
        del timeout_s
        with self._lock:
            done = self._session.step(action.step())
        self._state.step_count += 1
        return CrmObservation(
            messages=done.messages,
            info=done.info,
            reward=done.reward,
            done=done.terminated or done.truncated,
        )

    @property
    def state(self) -> Any:
        """Which episode, and how many steps it has had."""
        return self._state

    def close(self) -> None:
        """Give up the episode that is being played."""
        with self._lock:
            self._session.close()


def make_app(tasks: TaskSource | None = None, rewards: Rewards = VERDICT, clients: int = 64) -> Any:
    """The server's application.

    Args:
        tasks: What is played; tasks of sales made for training if None.
        rewards: What is paid for what.
        clients: How many may play at once.
    """
    source = tasks if tasks is not None else TaskPool.made("sales")
    shared, lock = SessionResources(), Lock()
    return create_app(
        lambda: CrmEnvironment(source, rewards, shared, lock),
        CrmAction,
        CrmObservation,
        env_name="crmbench",
        max_concurrent_envs=clients,
    )
