"""Agents: from Python files, from recordings, and the text protocol's parser."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson
import pytest

from crmbench.agents import python
from crmbench.agents.json_text import parse
from crmbench.agents.protocol import Session
from crmbench.agents.recorded import RecordedFactory, read_replies
from crmbench.agents.resolve import open_agent
from crmbench.core.episode import ToolResult
from crmbench.core.task import Gold, GoldTurn, Task, TaskView, Turn
from crmbench.errors import AgentError, InputError

VIEW = TaskView("sales", "2025-01-06", "rules", ())


@pytest.mark.parametrize(
    ("text", "tool", "arguments", "reply"),
    [
        ('{"tool_name": "a", "arguments": {"x": 1}}', "a", {"x": 1}, None),
        ('Sure!\n```json\n{"tool": "a", "args": {}}\n```\nThere.', "a", {}, None),
        ('{"reply": "All done", "reasoning": "x"}', None, {}, "All done"),
        ('{"tool_name": "a", "arguments": {"x": [1, 2,],},}', "a", {"x": [1, 2]}, None),
        ('I think {this} is it: {"tool_name": "a"}', "a", {}, None),
        ('{"tool_name": "none", "reply": "Hi"}', None, {}, "Hi"),
        ('{"tool_name": "a", "arguments": {"t": "line\nbreak"}}', "a", {"t": "line\nbreak"}, None),
    ],
)
def test_steps_are_found_in_what_models_write(
    text: str, tool: str | None, arguments: dict[str, object], reply: str | None
) -> None:
    step = parse(text)
    assert (step.tool, step.arguments, step.reply) == (tool, arguments, reply)


@pytest.mark.parametrize(
    "text",
    ["", "no object", "{", '{"arguments": {}}', '{"tool_name": "a", "arguments": [1]}', "{" * 9000],
)
def test_what_names_no_tool_is_refused_not_guessed(text: str) -> None:
    with pytest.raises(AgentError, match="cannot be used"):
        parse(text)


def test_every_recorded_reply_parses_to_the_call_beside_it(arc_data: Path) -> None:
    replies = read_replies(arc_data / "model_replies.jsonl")
    assert len(replies) == 164
    for reply in replies:
        step = parse(reply.raw_reply)
        assert (step.tool, step.arguments) == (reply.tool_name, reply.arguments)


def test_a_recording_is_played_back(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    raw = '```json\n{"tool_name": "list_clients", "arguments": {"limit": 3}}\n```'
    path.write_bytes(orjson.dumps({"conversation_id": "t", "turn_id": 1, "raw_reply": raw}))
    calls: list[tuple[object, object]] = []

    def call(name: object, arguments: object) -> ToolResult:
        calls.append((name, arguments))
        return ToolResult(True, {"total_count": 0})

    task = Task("t", "sales", "empty", (Turn(1, "Hi"),), Gold((GoldTurn(),)))
    agent = RecordedFactory(path).start_with_gold(task)
    session = Session(VIEW, call, lambda _usage: None)
    reply = asyncio.run(agent.turn(session, "Hi"))
    assert calls == [("list_clients", {"limit": 3})]
    assert "total_count" in reply
    assert "nothing was recorded" in asyncio.run(agent.turn(session, "And?"))


@pytest.mark.parametrize("line", ["{", "[]", '{"turn_id": 1}'])
def test_a_bad_recording_is_explained(tmp_path: Path, line: str) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(InputError, match="not a recorded reply") as caught:
        read_replies(path)
    assert caught.value.line == 1


def test_agents_come_from_files_with_or_without_the_view(tmp_path: Path) -> None:
    source = (
        "class Plain:\n    async def turn(self, session, utterance):\n        return 'plain'\n"
        "class Viewing(Plain):\n    def __init__(self, view):\n        self.today = view.today\n"
        "    async def turn(self, session, utterance):\n        return self.today\n"
        "class Silent:\n    pass\n"
    )
    path = tmp_path / "an_agent_of_mine.py"
    path.write_text(source, encoding="utf-8")
    session = Session(VIEW, lambda _n, _a: ToolResult(True, None), lambda _u: None)
    plain = python.load(f"{path}:Plain").start(VIEW, 0)
    assert asyncio.run(plain.turn(session, "Hi")) == "plain"
    viewing = python.load(f"{path}:Viewing").start(VIEW, 0)
    assert asyncio.run(viewing.turn(session, "Hi")) == "2025-01-06"
    with pytest.raises(InputError, match="makes an object without a `turn` method"):
        asyncio.run(python.load(f"{path}:Silent").try_one(VIEW, None))
    with pytest.raises(InputError, match="has no callable 'Absent'"):
        python.load(f"{path}:Absent")


@pytest.mark.parametrize("spec", ["nobody", "a:", ":b", "recorded:/nowhere.jsonl", "react"])
def test_names_that_stand_for_no_agent_are_refused(spec: str) -> None:
    with pytest.raises(InputError):
        open_agent(spec)
