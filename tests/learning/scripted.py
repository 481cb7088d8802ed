"""A model in the process itself, for runs whose bytes are compared: no address stands in them."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from crmbench.errors import InfrastructureError
from crmbench.models.base import Message, Reply, ToolCall, ToolSpec, Usage
from crmbench.models.scripted import Script

left: int | None = None
"""Calls after which the model is out of reach; None: it always answers."""


def make() -> Script:
    return answer


def answer(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
    global left
    if left is not None:
        left -= 1
        if left < 0:
            raise InfrastructureError("the server is down")
    used = Usage(sum(len(m.text) for m in messages) // 4, 7, 0, 0, 0)
    if not tools:
        rule = f"Rule of {len(messages[1].text) % 17}."
        return Reply(orjson.dumps({"add": [rule], "helpful": ["r1"]}).decode(), (), used)
    if messages[-1].role == "user":
        return Reply("", (ToolCall(f"c{len(messages)}", "list_clients", {}),), used)
    return Reply(f"There are {len(messages[0].text) % 5}.", (), used)
