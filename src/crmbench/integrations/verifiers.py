"""verifiers (prime-rl): tasks and an environment of its, in an environment of its own.

    pip install crmbench verifiers
    vf-eval crmbench.integrations.verifiers --no-push

verifiers pins what other extras refuse, so it is never installed beside them. Its agents write
text: the tools stand in the first message, and each text is a JSON object with a tool and its
arguments, or with the reply. Its own defaults would upload results and run in somebody's cloud:
``--no-push``, and a runtime of ``subprocess``, keep it here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from crmbench.errors import MissingExtraError
from crmbench.training.resources import SessionResources
from crmbench.training.rewards import SHAPED
from crmbench.training.session import TrainingSession
from crmbench.training.tasks import TaskPool
from crmbench.training.text_session import TextSession

try:
    import verifiers.v1 as vf
except ImportError as missing:
    raise MissingExtraError("verifiers", "verifiers' environments") from missing

__all__ = ["CrmConversation", "CrmTaskset"]

MAX_TEXTS = 60
_resources = lru_cache(maxsize=1)(SessionResources)
_pool = lru_cache(maxsize=4)(TaskPool.made)


# Its base is Any where types are checked: the library is not installed there.
class CrmData(vf.TaskData):  # type: ignore[misc]
    """Which task of which made ones."""

    domain: str
    split: str
    seed: int
    place: int


class CrmConfig(vf.TasksetConfig):  # type: ignore[misc]
    """Which tasks are made; see `crmbench.training.tasks.TaskPool.made`."""

    domain: str = "sales"
    split: str = "train"
    seed: int = 0


class CrmTask(vf.Task[CrmData]):  # type: ignore[misc]
    """One conversation."""


class CrmTaskset(vf.Taskset[CrmTask, CrmConfig]):  # type: ignore[misc]
    """The tasks of a split."""

    def load(self) -> Iterator[CrmTask]:
        """Each task of the pool, by its place."""
        domain, split, seed = self.config.domain, self.config.split, self.config.seed
        for place, task in enumerate(_pool(domain, split, seed).tasks):
            data = CrmData(
                name=task.task_id, prompt=None, domain=domain, split=split, seed=seed, place=place
            )
            yield CrmTask(data, self.config.task)


class CrmPlayers(vf.EnvConfig):  # type: ignore[misc]
    """Who plays."""

    player: vf.AgentConfig = vf.AgentConfig()


class CrmConversation(vf.Env[CrmPlayers]):  # type: ignore[misc]
    """Our scripted user on one side, the model on the other."""

    async def run(self, task: CrmTask, agents: Any) -> None:
        """One conversation, to its end."""
        data = task.data
        pool = _pool(data.domain, data.split, data.seed)
        # Between two awaits nobody else is at work, so the databases can be shared.
        session = TrainingSession(pool, rewards=SHAPED, resources=_resources())
        texts, paid, over = TextSession(session, MAX_TEXTS), 0.0, False
        system, said, _ = texts.reset(data.place)
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn(f"{system}\n\n{said}")
            while not segment.terminated and not over:
                said, reward, over, _ = texts.step(segment.last_reply)
                paid += reward
                if not over:
                    segment = await interaction.turn(said)
        session.close()
        success = session.verdict is not None and session.verdict.success
        interaction.trace.record_reward("crmbench", paid)
        interaction.trace.record_metric("success", float(success))
