"""skyrl-gym: the sessions for training as text environments of its.

    pip install crmbench skyrl-gym
    skyrl_gym.register("crmbench", "crmbench.integrations.skyrl:CrmTextEnv")
    env = skyrl_gym.make("crmbench", env_config={"domain": "sales"}, extras={"task": 3})

A model's text is a JSON object: ``{"tool": …, "arguments": …}`` or ``{"reply": …}``. What it wrote
wrongly is told to it as the next observation.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from threading import Lock
from typing import Any

from crmbench.errors import MissingExtraError
from crmbench.training.resources import SessionResources
from crmbench.training.rewards import SHAPED
from crmbench.training.session import Messages, TrainingSession
from crmbench.training.tasks import TaskPool
from crmbench.training.text_session import TextSession

try:
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
except ImportError as missing:
    raise MissingExtraError("skyrl-gym", "skyrl-gym's environments") from missing

MAX_STEPS = 60
_LOCK = Lock()
"""Rollouts are threads, and share the databases."""
_resources = lru_cache(maxsize=1)(SessionResources)
_pool = lru_cache(maxsize=4)(TaskPool.made)


# Its base is Any where types are checked: the library is not installed there.
class CrmTextEnv(BaseTextEnv):  # type: ignore[misc]
    """One conversation.

    Args:
        env_config: ``domain``, ``split``, ``seed`` (of the tasks) and ``max_steps``, all optional.
        extras: The row of data: ``task`` is the task's id or place.
    """

    def __init__(
        self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        config = dict(env_config or {})
        self._task = (extras or {}).get("task")
        self.max_turns = int(config.get("max_steps", MAX_STEPS))
        named = {key: config[key] for key in ("split", "seed") if key in config}
        with _LOCK:
            pool = _pool(config.get("domain", "sales"), **named)
            session = TrainingSession(pool, rewards=SHAPED, resources=_resources())
        self.texts = TextSession(session, self.max_turns)

    def init(self, prompt: Messages) -> tuple[Messages, dict[str, Any]]:
        """The first prompt: the rules with the tools written out, and the user's words."""
        with _LOCK:
            system, said, info = self.texts.reset(self._task)
        told = {"role": "system", "content": system}
        return [told, *prompt, {"role": "user", "content": said}], info

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """One step of the model's text."""
        self.turns += 1
        with _LOCK:
            text, reward, done, info = self.texts.step(action)
        heard = [{"role": "user", "content": text}] if text else []
        return BaseTextEnvStepOutput(observations=heard, reward=reward, done=done, metadata=info)

    def close(self) -> None:
        """Give up the conversation that is being played."""
        with _LOCK:
            self.texts.session.close()
