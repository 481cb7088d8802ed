"""A session for policies that only write text: tools in the prompt, steps as JSON objects."""

from __future__ import annotations

from typing import Any, NamedTuple

from crmbench.agents.json_text import parse
from crmbench.agents.prompting import preamble_with_tools
from crmbench.core.episode import view_of
from crmbench.domains.registry import load_domain
from crmbench.errors import AgentError
from crmbench.training.actions import CallRequest
from crmbench.training.session import Info, TrainingSession


class TextOutcome(NamedTuple):
    """What a text led to."""

    text: str
    """What the policy reads next; empty at the end."""
    reward: float
    done: bool
    info: Info


class TextSession:
    """Plays a session with texts: ``{"tool": …, "arguments": …}`` or ``{"reply": …}``.

    What is written wrongly is told to the policy, and changes nothing else.

    Args:
        session: What is played.
        max_texts: After so many texts the episode is over, usable or not.
    """

    def __init__(self, session: TrainingSession, max_texts: int) -> None:
        self.session = session
        self.max_texts = max_texts
        self._texts = 0

    def reset(self, task: str | int | None = None) -> tuple[str, str, Info]:
        """Begin an episode: the system's text with the tools written out, and the user's words."""
        (_, said), info = self.session.reset(task)
        self._texts = 0
        played = self.session.task
        assert played is not None
        view = view_of(load_domain(played.domain), played)
        return preamble_with_tools(view, "json"), str(said["content"]), info

    def step(self, text: str) -> TextOutcome:
        """One text of the policy."""
        self._texts += 1
        last = self._texts >= self.max_texts
        try:
            read = parse(text)
        except AgentError as error:
            return TextOutcome(str(error), 0.0, last, {})
        action: Any = CallRequest(read.tool, read.arguments) if read.tool else read.reply or ""
        done = self.session.step(action)
        heard = "\n".join(message["content"] for message in done.messages)
        return TextOutcome(heard, done.reward, last or done.terminated or done.truncated, done.info)
