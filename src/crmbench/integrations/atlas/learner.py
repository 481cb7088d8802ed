"""Atlas as a learner: it leads the conversation, and learns from our verdict on it.

While it learns, the teacher looks at each attempt and may have the student play again, on a fresh
episode; the last attempt counts, and all are paid for. Frozen, the student plays once with what was
learnt, and no teacher helps: what is held out measures the learning alone.
"""

from __future__ import annotations

import asyncio
import copy
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from crmbench.core.trace import TokenUsage
from crmbench.domains.registry import load_domain
from crmbench.errors import HarnessError, InfrastructureError, InputError, MissingExtraError
from crmbench.grading.record import EpisodeRecord
from crmbench.integrations.atlas.relay import Relay, json_object_in, messages_of
from crmbench.integrations.atlas.settings import KEY, settings
from crmbench.learning.asker import Asker
from crmbench.learning.protocol import Attempt, Experience, LearnerContext, RecallView

# Read when the library is first imported: it would look for prices on the network.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("ATLAS_REVIEW_REQUIRE_APPROVAL", "0")
os.environ.setdefault(KEY, "none")

try:
    from atlas.config.loader import load_config
    from atlas.core import arun
    from atlas.learning import LearningSynthesizer
    from atlas.runtime.orchestration.execution_context import ExecutionContext

    from crmbench.integrations.atlas.bridge import Conversation, held
    from crmbench.integrations.atlas.telemetry import Telemetry
except ImportError as missing:
    raise MissingExtraError("atlas", "the learner 'atlas'") from missing


class _Heard(NamedTuple):
    """A model's answer, in the form that the library reads."""

    content: str
    reasoning: dict[str, Any]
    raw: Any


class _LearningClient:
    """Asks our model for the library's synthesizer."""

    def __init__(self, ask: Asker) -> None:
        self._ask = ask
        self.model = "crmbench"
        self.error: Exception | None = None

    async def acomplete(
        self,
        messages: Sequence[Mapping[str, Any]],
        response_format: Any = None,
        overrides: Any = None,
    ) -> _Heard:
        del response_format, overrides
        try:
            reply = await self._ask.complete("learning", messages_of(messages))
        except InfrastructureError as error:
            # The library would take it for an update that did not come about.
            self.error = error
            raise
        return _Heard(json_object_in(reply.text), {}, None)


class AtlasLearner:
    """The library as a learner of `crmbench.learning`. ``atlas:postgres`` keeps its telemetry too.

    Args:
        context: Its key is the learning key; its folder is not used, for all is in the state.

    Raises:
        InputError: No model is named, or learners are told nothing of outcomes.
    """

    def __init__(self, context: LearnerContext) -> None:
        if context.ask is None:
            raise InputError("atlas learns with a model", field="--learner-model")
        if context.feedback == "none":
            raise InputError(
                "atlas learns from a reward",
                field="--feedback",
                expected="binary, message or gold",
            )
        if context.argument not in ("", "postgres"):
            raise InputError(
                f"'{context.argument}' is no way to keep telemetry",
                field="--learner",
                expected="atlas or atlas:postgres",
            )
        self._key = context.key
        self._own = context.teach
        self._client = _LearningClient(context.ask)
        self._relay = Relay(context.teach or context.ask)
        self._stores = context.argument == "postgres"
        self._telemetry: Telemetry | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="crmbench-atlas-")
        self.counts: dict[str, int] = {}
        """Interventions of the teacher, updates, and what the tables hold."""
        self.reset(0)

    @property
    def spent(self) -> dict[str, TokenUsage]:
        """Tokens of a teacher that has a model of its own; else they are the learner's."""
        return dict(self._own.spent) if self._own else {}

    def reset(self, seed: int) -> None:
        del seed
        self._state: dict[str, Any] = {}
        self._played = 0
        self._session: dict[str, Any] = {}
        self._frozen = False

    async def recall(self, view: RecallView, budget: int) -> str:
        """The student's pamphlet; `conduct` has the library hand it out itself."""
        del view, budget
        return str(self._state.get("student_learning") or "")

    async def conduct(self, view: RecallView, budget: int, attempt: Attempt) -> EpisodeRecord:
        """Have the library lead the conversation, in one attempt or two.

        Raises:
            InfrastructureError: A model or server failed, or the teacher answered no JSON.
            HarnessError: The library made no attempt, or took no reward.
        """
        del budget
        self._played += 1
        name = f"{self._key}/{self._played}"
        path = await self._settings(view.domain)
        self._relay.error = None
        about = {"episode_id": name, "learning_key_override": self._key}
        with held(name, Conversation(attempt)) as conversation:
            try:
                await arun(
                    view.first_words,
                    str(path),
                    session_metadata=about,
                    stream_progress=False,
                    test_learning_state=copy.deepcopy(self._state),
                )
            except Exception as error:
                raise self._cause(conversation, error) from error
        if not conversation.records:
            raise HarnessError("Atlas ended a conversation without an attempt")
        # Kept now: the library's context is of this conversation only until the next one.
        found = ExecutionContext.get().metadata
        if found.get("session_reward") is None:
            raise HarnessError("Atlas has taken no reward from the verdict")
        self._session = {
            "task": view.first_words,
            "trajectory": found.get("session_trajectory"),
            "id": found.get("session_id"),
        }
        self._count("interventions", len(conversation.records) - 1)
        return conversation.records[-1]

    def _cause(self, conversation: Conversation, error: Exception) -> Exception:
        """What went wrong, rather than what the library says of it."""
        cause = conversation.error or self._relay.error
        if cause is not None:
            return cause
        return InfrastructureError(f"Atlas ended a conversation: {type(error).__name__}: {error}")

    async def observe(self, experience: Experience) -> None:
        """Have the library learn from the verdict, with as many words as the feedback allows."""
        if self._frozen or experience.success is None:
            return
        rationale = "\n".join(filter(None, (experience.message, experience.gold)))
        reward = {"score": float(experience.success), "rationale": rationale or None}
        config = load_config(str(await self._settings(experience.view.domain)))
        learner = LearningSynthesizer(config.learning, client=self._client)
        self._client.error = None
        found = await learner.asynthesize(
            learning_key=self._key,
            task=self._session.get("task", experience.view.first_words),
            reward=reward,
            trajectory=self._session.get("trajectory"),
            learning_state=copy.deepcopy(self._state),
            history=None,
        )
        if self._client.error is not None:
            raise self._client.error
        if found is None:
            self._count("refused updates", 1)
            return
        self._count("entries refused", len(found.gate_failures or ()))
        self._count("updates", 1)
        self._state = dict(found.learning_state)
        await self._keep(reward)

    async def _keep(self, reward: Mapping[str, Any]) -> None:
        if self._telemetry is None:
            return
        await self._telemetry.keep(self._key, self._session.get("id"), self._state, reward)
        held_now = await self._telemetry.counts(self._key)
        self.counts |= {
            "sessions": held_now.sessions,
            "attempts kept": held_now.attempts,
            "guidance notes": held_now.guidance_notes,
            "events": held_now.events,
            "student tokens kept": held_now.student_tokens,
        }

    def _count(self, name: str, number: int) -> None:
        self.counts[name] = self.counts.get(name, 0) + number

    async def _settings(self, domain: str) -> Path:
        """The file of settings for the way in which the next conversation is led."""
        if self._stores and self._telemetry is None:
            self._telemetry = await asyncio.to_thread(Telemetry)
            await self._telemetry.open()
        path = Path(self._folder.name) / f"{domain}{'-frozen' if self._frozen else ''}.yaml"
        if not path.exists():
            made = settings(
                await self._relay.url("teacher"),
                sorted(load_domain(domain).toolbox.by_name),
                learning=not self._frozen,
                database=self._telemetry.url if self._telemetry and not self._frozen else None,
            )
            path.write_text(yaml.safe_dump(made), encoding="utf-8")
        return path

    def snapshot(self) -> dict[str, Any]:
        return {"state": copy.deepcopy(self._state), "played": self._played}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._state = copy.deepcopy(dict(state["state"]))
        self._played = int(state["played"])
        self._frozen = False

    def freeze(self) -> None:
        self._frozen = True

    async def close(self) -> None:
        """Stop listening, disconnect, and remove the files of settings."""
        await self._relay.close()
        if self._telemetry is not None:
            await self._telemetry.close()
        self._folder.cleanup()
