"""What the library calls: our student, and our verdict in place of its judge.

Both find the conversation that they belong to by the id in the session's metadata. That id and the
learning key are all that the metadata holds, for it goes whole into requests to models.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from atlas.evaluation.evaluator import RewardEvaluation
from atlas.learning.playbook import resolve_playbook
from atlas.runtime.orchestration.execution_context import ExecutionContext
from atlas.runtime.schema import AtlasRewardBreakdown

from crmbench.errors import HarnessError
from crmbench.grading.record import EpisodeRecord
from crmbench.learning.feedback import seen_turns
from crmbench.learning.protocol import Attempt, call_line

GUIDANCE = "Advice on your last attempt, which was not accepted; this is a new one from the start:"


@dataclass
class Conversation:
    """A conversation that the library leads."""

    attempt: Attempt
    records: list[EpisodeRecord] = field(default_factory=list)
    """One an attempt; the last one counts."""
    error: Exception | None = None
    """What an attempt raised; the library would tell it as a text."""
    told: list[str] = field(default_factory=list)
    """What the agent was told in each attempt."""


_open: dict[str, Conversation] = {}


@contextmanager
def held(key: str, conversation: Conversation) -> Iterator[Conversation]:
    """Have the library's calls find a conversation by its key."""
    _open[key] = conversation
    try:
        yield conversation
    finally:
        del _open[key]


def _current(metadata: Mapping[str, Any]) -> Conversation:
    key = str((metadata.get("session_metadata") or {}).get("episode_id"))
    if key not in _open:
        raise HarnessError(f"Atlas asks for the conversation '{key}', which nobody plays")
    return _open[key]


async def play(prompt: str, metadata: dict[str, Any] | None = None) -> str:
    """The student: plays the whole conversation on a fresh episode.

    The library's own prompt is not used: it repeats the playbook, and our agents have prompts of
    their own. They are told the playbook and, after a rejection, the teacher's guidance.
    """
    del prompt, metadata
    context = ExecutionContext.get().metadata
    conversation = _current(context)
    playbook, _, _ = resolve_playbook("student", apply=True)
    parts = [playbook or ""]
    if conversation.records:
        # First, so that no limit of the memory cuts it off.
        parts.insert(0, f"{GUIDANCE}\n{_guidance(context)}")
    told = "\n\n".join(part.strip() for part in parts if part.strip())
    conversation.told.append(told)
    try:
        record = await conversation.attempt(told)
    except Exception as error:
        conversation.error = error
        raise
    conversation.records.append(record)
    usage = record.trace.usage
    return orjson.dumps(
        {
            "content": shown(record),
            "usage": {
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
                "total_tokens": usage.total_tokens,
            },
        }
    ).decode()


def _guidance(context: Mapping[str, Any]) -> str:
    steps = (context.get("steps") or {}).values()
    return "\n".join(str(note) for step in steps for note in step.get("guidance") or ())


def shown(record: EpisodeRecord) -> str:
    """What a teacher sees of an attempt: the words and the calls, as the agent saw them."""
    lines = []
    for turn in seen_turns(record):
        for message in turn.messages:
            lines.append(f"{'User' if message.role == 'user' else 'Student'}: {message.text}")
        lines += [call_line(call) for call in turn.calls]
    return "\n".join(lines)


class VerdictReward:
    """Our verdict as the library's reward: 1 or 0, and not a word more."""

    async def aevaluate_session(self, trajectory: Any) -> RewardEvaluation:
        """The reward of a session."""
        metadata = {"session_metadata": trajectory.session_metadata}
        conversation = _current(metadata)
        await asyncio.sleep(0)
        success = bool(conversation.records) and conversation.records[-1].verdict.success
        reward = AtlasRewardBreakdown(score=float(success), judges=[], rationale=None, raw=None)
        statistics = {"score": float(success), "score_stddev": 0.0}
        return RewardEvaluation(reward=reward, statistics=statistics, audit=[])


def reward(config: Any, reward_config: Any) -> VerdictReward:
    """What the library calls to have a reward."""
    del config, reward_config
    return VerdictReward()
