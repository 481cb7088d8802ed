"""Recorded replies of a model, played back through the text protocol's parser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from crmbench.agents.json_text import parse
from crmbench.agents.protocol import Agent, Session
from crmbench.core.conditions.failures import NO_ANSWER
from crmbench.core.task import Task
from crmbench.errors import InputError


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """One line of a recording."""

    conversation_id: str
    turn_id: int
    raw_reply: str
    tool_name: str | None = None
    """The call that the reply holds, where the recording says so."""
    arguments: dict[str, Any] | None = None


def read_replies(path: Path) -> list[RecordedReply]:
    """The replies of a JSONL file.

    Raises:
        InputError: The file or a line of it cannot be read.
    """
    replies = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            data = orjson.loads(line)
            reply = RecordedReply(
                data["conversation_id"],
                data["turn_id"],
                data["raw_reply"],
                data.get("tool_name"),
                data.get("arguments"),
            )
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"not a recorded reply: {error!r}",
                file=str(path),
                line=number,
                expected="an object with conversation_id, turn_id and raw_reply",
            ) from error
        replies.append(reply)
    return replies


class Recorded:
    """Says in each turn what was recorded for it."""

    def __init__(self, replies: dict[int, str]) -> None:
        self._replies = replies
        self._turn = 0

    async def turn(self, session: Session, utterance: str) -> str:
        del utterance
        self._turn += 1
        raw = self._replies.get(self._turn)
        if raw is None:
            return "(nothing was recorded for this turn)"
        step = parse(raw)
        if step.tool is None:
            return step.reply or ""
        result = await session.call(step.tool, step.arguments)
        if result.ok:
            return f"{step.tool} gave {orjson.dumps(result.value).decode()}"
        if result.value == NO_ANSWER:
            return f"{step.tool}: {result.value}"
        return f"{step.tool} was refused: {result.value}"


class RecordedFactory:
    """Plays back a file of recorded replies. Implements `GoldAgentFactory`: it needs the id."""

    name = "recorded"

    def __init__(self, path: Path) -> None:
        self._by_task: dict[str, dict[int, str]] = {}
        for reply in read_replies(path):
            self._by_task.setdefault(reply.conversation_id, {})[reply.turn_id] = reply.raw_reply

    def start_with_gold(self, task: Task) -> Agent:
        return Recorded(self._by_task.get(task.task_id, {}))

    async def close(self) -> None:
        return None
