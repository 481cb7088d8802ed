"""Act, ReAct and JSON: models that write their calls as text.

All three are one loop; they differ in how an answer is read. A text that holds no usable step is
answered with what was wrong, which costs a step; after three in a row the turn is given up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from crmbench.agents.chat import ChatAgent, ModelSettings, result_text
from crmbench.agents.json_text import TextStep, parse
from crmbench.agents.prompting import preamble_with_tools
from crmbench.agents.protocol import Session
from crmbench.core.task import TaskView
from crmbench.errors import AgentError
from crmbench.models import Model, system

MAX_MISSTEPS = 3
_RESPOND = re.compile(r"<respond>(.*?)(?:</respond>|\Z)", re.DOTALL | re.IGNORECASE)
_EXECUTE = re.compile(r"<execute>(.*?)(?:</execute>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"<thought>.*?</thought>", re.DOTALL | re.IGNORECASE)


def parse_tags(text: str) -> TextStep:
    """The step in a text with ``<execute>`` or ``<respond>`` tags; the first one counts.

    Raises:
        AgentError: It holds neither, or what is to be executed is no tool call.
    """
    acting = _THOUGHT.sub("", text)
    execute, respond = _EXECUTE.search(acting), _RESPOND.search(acting)
    if execute and (not respond or execute.start() < respond.start()):
        step = parse(execute[1])
        if step.tool is None:
            raise AgentError("what is in <execute> names no tool")
        return step
    if respond:
        return TextStep(None, {}, respond[1].strip())
    raise AgentError("neither <execute> nor <respond> was found")


class TextProtocol(ChatAgent):
    """A model that calls tools by writing."""

    def __init__(
        self,
        framework: str,
        read: Callable[[str], TextStep],
        model: Model,
        settings: ModelSettings,
        view: TaskView,
    ) -> None:
        super().__init__(model, settings)
        self._read = read
        self.messages = [system(preamble_with_tools(view, framework, settings.prompts))]

    async def turn(self, session: Session, utterance: str) -> str:
        self.hear(utterance)
        missteps = 0
        for _ in range(self.settings.max_steps):
            reply = await self.ask(session)
            try:
                step = self._read(reply.text)
            except AgentError as problem:
                missteps += 1
                if missteps == MAX_MISSTEPS:
                    raise
                self.hear(f"That could not be used: {problem} Answer in the form you were given.")
                continue
            missteps = 0
            if step.tool is None:
                return step.reply or ""
            result = await session.call(step.tool, step.arguments)
            self.hear(f"Result of {step.tool}:\n{result_text(result)}")
        self.hear("No more tools can be used in this turn. Tell the user how far you got.")
        last = await self.ask(session)
        return _last_words(self._read, last.text)


def _last_words(read: Callable[[str], TextStep], text: str) -> str:
    try:
        return read(text).reply or ""
    except AgentError:
        return text


act = partial(TextProtocol, "act", parse_tags)
react = partial(TextProtocol, "react", parse_tags)
json_protocol = partial(TextProtocol, "json", parse)
