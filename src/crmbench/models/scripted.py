"""A model that says what it is told to: for tests, examples and dry runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crmbench.errors import HarnessError
from crmbench.models.base import Message, Reply, ToolChoice, ToolSpec, Usage

Script = Callable[[Sequence[Message], Sequence[ToolSpec]], Reply | str]


class ScriptedModel:
    """Answers from a list or a function; keeps no state, so any number of calls may overlap.

    Args:
        script: A list of replies, or a function of the messages and tools. Of a list, the reply
            is chosen by how many messages of the assistant the conversation holds already: the
            same conversation always gets the same reply, in whatever order calls come. A text
            stands for a reply with that text.
        name: How the model is called in reports.
    """

    def __init__(self, script: Sequence[Reply | str] | Script, name: str = "scripted") -> None:
        self._script = script
        self._name = name

    @property
    def name(self) -> str:
        """The name it was opened by."""
        return self._name

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        tool_choice: ToolChoice | None = None,
        tag: str = "",
    ) -> Reply:
        """The scripted reply.

        Raises:
            HarnessError: The list has no reply for a conversation this long.
        """
        if callable(self._script):
            reply = self._script(messages, tools)
        else:
            said = sum(message.role == "assistant" for message in messages)
            if said >= len(self._script):
                raise HarnessError(
                    f"{self._name} has {len(self._script)} replies; reply {said + 1} was asked for"
                )
            reply = self._script[said]
        return Reply(reply, usage=Usage(0, 0, 0, 0, 0)) if isinstance(reply, str) else reply

    async def close(self) -> None:
        """Nothing to close."""
