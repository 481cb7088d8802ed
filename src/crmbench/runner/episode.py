"""One episode, from the first word to the trace, with a scripted user or a model as the user."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from crmbench.agents.protocol import Agent, Session, session_for
from crmbench.agents.python import PythonAgent
from crmbench.core.episode import Episode
from crmbench.core.trace import EpisodeTrace, Outcome, plain_text
from crmbench.errors import (
    AgentError,
    DisplacedError,
    HarnessError,
    InfrastructureError,
    InputError,
)
from crmbench.roles.user import SimulatedUser, UserEpisode, UserFailure, converse


async def play(
    episode: Episode,
    agent: Agent,
    time_limit: float | None = None,
    user: SimulatedUser | None = None,
    renew: Callable[[], Agent] | None = None,
) -> EpisodeTrace:
    """Let an agent play an episode to its end.

    Whatever the agent raises ends the episode and is recorded with the boundary it came from: its
    own fault, its model's, or the simulated user's. Errors of the benchmark itself are raised.

    Args:
        time_limit: Seconds for the whole episode; past it the outcome is ``timeout``.
        user: Speaks for the user of a `UserEpisode`; else the task's own words are said.
        renew: Makes the agent that goes on after a break of the session, remembering nothing; None:
            the same one goes on.
    """
    relay = _Relay(episode, agent, renew)
    session = session_for(episode)
    outcome: Outcome = "finished"
    error: str | None = None
    try:
        async with asyncio.timeout(time_limit):
            if user is not None and isinstance(episode, UserEpisode):
                await converse(episode, relay, session, user)
            else:
                await _converse(episode, relay, session)
    except TimeoutError:
        outcome, error = "timeout", f"took longer than {time_limit} s"
        by = await relay.blocked_by()
        if by == "another":
            raise DisplacedError from None
        if by == "itself":
            error = f"{error}, and blocked its thread"
        if user is not None and user.speaking:
            outcome, error = "user_error", f"{error}, and the simulated user was waited for"
    except UserFailure as failure:
        outcome, error = "user_error", str(failure)
    except (HarnessError, InputError, DisplacedError):
        raise
    except InfrastructureError as failure:
        outcome, error = "infrastructure", str(failure)
    except AgentError as failure:
        outcome, error = "agent_error", str(failure)
    except Exception as failure:
        # An agent is anybody's code; whatever it raises is its own failure, not ours.
        outcome, error = "agent_error", f"{type(failure).__name__}: {failure}"
    trace = episode.finish(outcome, error if error is None else plain_text(error))
    if episode.fault is not None:
        raise episode.fault
    return trace


class _Relay:
    """The agent, a fresh one after each break of the session. Implements `Agent`."""

    def __init__(self, episode: Episode, agent: Agent, renew: Callable[[], Agent] | None) -> None:
        self._episode = episode
        self._agent = agent
        self._renew = renew
        self._broken = 0

    async def blocked_by(self) -> Literal["itself", "another"] | None:
        """Who blocks the thread of the agent, if it has one and somebody does."""
        return await self._agent.blocked_by() if isinstance(self._agent, PythonAgent) else None

    async def turn(self, session: Session, utterance: str) -> str:
        breaks = self._episode.task.breaks
        passed = sum(turn <= self._episode.turns_done for turn in breaks) if breaks else 0
        if passed > self._broken and self._renew is not None:
            self._agent = self._renew()
        self._broken = passed
        return await self._agent.turn(session, utterance)


async def _converse(episode: Episode, agent: Agent, session: Session) -> None:
    while (utterance := episode.say()) is not None:
        reply = await agent.turn(session, utterance)
        if not isinstance(reply, str):
            raise AgentError(f"turn() returned {type(reply).__name__}, not text")
        episode.reply(reply)
