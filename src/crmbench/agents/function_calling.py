"""Function calling: the provider's own tools, several at once where the model asks for them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from crmbench.agents.chat import ChatAgent, ModelSettings, result_text
from crmbench.agents.prompting import preamble
from crmbench.agents.protocol import Session
from crmbench.core.task import TaskView
from crmbench.models import Message, Model, Reply, ToolSpec, system, tool_result


class FunctionCalling(ChatAgent):
    """Runs the tools that the model calls until it answers in words."""

    def __init__(self, model: Model, settings: ModelSettings, view: TaskView) -> None:
        super().__init__(model, settings)
        self.messages = [_system(preamble(view, settings.prompts))]
        self._tools = tool_specs(view.tools)

    async def turn(self, session: Session, utterance: str) -> str:
        self.hear(utterance)
        for _ in range(self.settings.max_steps):
            reply = await self.ask(session, self._tools)
            if not reply.tool_calls:
                return reply.text
            await self._run(session, reply)
        # Out of steps: the model has to say how far it got.
        return (await self.ask(session, self._tools, "none")).text

    async def _run(self, session: Session, reply: Reply) -> None:
        for call in reply.tool_calls:
            if call.arguments is None:
                problem = call.error or "The arguments are not a JSON object."
                self.messages.append(tool_result(call, f"Error: {problem}", is_error=True))
                continue
            result = await session.call(call.name, call.arguments)
            self.messages.append(tool_result(call, result_text(result), is_error=not result.ok))


_SPECS: dict[int, tuple[tuple[dict[str, Any], ...], tuple[ToolSpec, ...]]] = {}


def tool_specs(tools: tuple[dict[str, Any], ...]) -> tuple[ToolSpec, ...]:
    """The tools for a model. The same objects each time, so that they are encoded once a run."""
    kept = _SPECS.get(id(tools))
    if kept is None or kept[0] is not tools:
        specs = tuple(ToolSpec(t["name"], t["description"], t["parameters"]) for t in tools)
        kept = _SPECS[id(tools)] = (tools, specs)
    return kept[1]


@lru_cache(maxsize=64)
def _system(text: str) -> Message:
    """The system message; shared, as its bytes are kept on it."""
    return system(text)
