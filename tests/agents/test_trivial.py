"""Agents that do no work, recordings that hold less than is asked, and the names they go by."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from crmbench.agents import trivial
from crmbench.agents.http import HttpAgentFactory
from crmbench.agents.oracle import OracleFactory
from crmbench.agents.protocol import Agent, Session
from crmbench.agents.recorded import Recorded, RecordedFactory, read_replies
from crmbench.agents.resolve import open_agent
from crmbench.core.episode import ToolResult
from crmbench.core.task import Gold, GoldTurn, Task, TaskView, Turn
from crmbench.errors import InputError


def _schema(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    return {"required": required, "properties": properties}


STAGE = {"type": "string", "enum": ["Open", "Won"]}
TOOLS: tuple[dict[str, Any], ...] = (
    {"name": "list_clients", "parameters": _schema(limit={"type": "integer"})},
    {"name": "count", "parameters": _schema()},
    {
        "name": "make",
        "parameters": _schema(
            ("stage", "amount", "sure", "client_id", "names", "number"),
            stage=STAGE,
            amount={"type": "number"},
            sure={"type": "boolean"},
            client_id={"type": "string"},
            names={"type": "array", "items": {"type": "string"}},
            number={"type": "integer"},
            updates={"type": "object"},
        ),
    },
)


class Desk:
    """Answers calls from a table and keeps them."""

    def __init__(self, answers: dict[str, ToolResult] | None = None) -> None:
        self.answers = answers or {}
        self.calls: list[tuple[Any, Any]] = []
        view = TaskView("sales", "2030-01-02", "", TOOLS)
        self.session = Session(view, self._call, lambda _usage: None)

    def _call(self, name: Any, arguments: Any) -> ToolResult:
        self.calls.append((name, arguments))
        return self.answers.get(str(name), ToolResult(False, "refused"))

    def hear(self, agent: Agent, words: str = "Show me Oak") -> str:
        return asyncio.run(agent.turn(self.session, words))


@pytest.mark.parametrize(
    ("factory", "word"), [(trivial.NOOP, "Done"), (trivial.REFUSE_ALL, "can't do that")]
)
def test_the_idle_call_nothing(factory: Any, word: str) -> None:
    desk = Desk()
    assert word in desk.hear(factory.start(desk.session.view, 0))
    assert desk.calls == []


def test_the_dump_lists_what_needs_no_argument_once_and_tells_nothing_twice() -> None:
    records = [{"client_id": f"c{n}"} for n in range(250)]
    desk = Desk(
        {
            "list_clients": ToolResult(True, {"records": records}),
            "count": ToolResult(True, {"first": records[:1], "clients": 250}),
        }
    )
    agent = trivial.DUMP.start(desk.session.view, 0)
    told = desk.hear(agent)
    assert desk.calls == [("list_clients", {"limit": 200}), ("count", {})]
    assert told.count('"c0"') == 1
    assert '"c199"' in told
    assert '"c200"' not in told
    assert '"clients":250' in told
    assert desk.hear(agent) == told
    assert len(desk.calls) == 2


def test_the_dump_leaves_out_what_is_refused() -> None:
    desk = Desk({"count": ToolResult(True, {"clients": 3})})
    told = desk.hear(trivial.DUMP.start(desk.session.view, 0))
    assert told == 'Here is everything:\n{"clients":3}'


def test_random_calls_fit_the_schema_and_depend_on_the_seed_alone() -> None:
    played: dict[int, list[tuple[Any, Any]]] = {}
    for seed in (1, 1, 2):
        desk = Desk({"list_clients": ToolResult(True, {"records": [{"client_id": "c7"}]})})
        agent = trivial.RANDOM.start(desk.session.view, seed)
        for _ in range(40):
            desk.hear(agent)
        assert len(desk.calls) == 40 * trivial.RANDOM_CALLS
        assert played.setdefault(seed, desk.calls) == desk.calls
    assert played[1] != played[2]
    made = [arguments for name, arguments in played[1] if name == "make"]
    for arguments in made:
        assert arguments.keys() == {"stage", "amount", "sure", "client_id", "names", "number"}
        assert arguments["stage"] in STAGE["enum"]
        assert isinstance(arguments["amount"], float)
        assert isinstance(arguments["sure"], bool)
        assert type(arguments["number"]) is int
        assert set(arguments["names"]) <= {"Show", "me", "Oak"}
    ids = [arguments["client_id"] for arguments in made]
    assert ids.count("c7") > len(ids) / 2, "ids that were seen are used"
    assert {name for name, _ in played[1]} == {tool["name"] for tool in TOOLS}


# --- recordings -----------------------------------------------------------------------------------


def test_a_recording_says_what_was_refused_and_what_was_replied() -> None:
    call = '{"tool": "make", "args": {"x": 1}}'
    desk = Desk()
    agent = Recorded({1: call, 2: '{"reply": "All done"}', 4: call})
    assert [desk.hear(agent) for _ in range(4)] == [
        "make was refused: refused",
        "All done",
        "(nothing was recorded for this turn)",
        "make was refused: refused",
    ]
    assert desk.calls == [("make", {"x": 1})] * 2


def test_each_conversation_gets_its_own_replies(tmp_path: Path) -> None:
    lines = [
        {"conversation_id": key, "turn_id": 1, "raw_reply": orjson.dumps({"reply": key}).decode()}
        for key in ("a", "b")
    ]
    path = tmp_path / "replies.jsonl"
    path.write_bytes(b"\n\n".join(map(orjson.dumps, lines)))
    factory = RecordedFactory(path)
    for key, reply in (("a", "a"), ("b", "b"), ("c", "(nothing was recorded for this turn)")):
        task = Task(key, "sales", "empty", (Turn(1, "Hi"),), Gold((GoldTurn(),)))
        assert Desk().hear(factory.start_with_gold(task)) == reply
    path.write_bytes(orjson.dumps(lines[0]) + b"\n\n{}")
    with pytest.raises(InputError) as caught:
        read_replies(path)
    assert caught.value.line == 3


# --- names ----------------------------------------------------------------------------------------


def test_every_name_stands_for_its_own_agent() -> None:
    for agent in trivial.TRIVIAL:
        assert open_agent(agent.name) is agent
    assert {"noop", "refuse_all", "random", "dump"} == trivial.TRIVIAL_NAMES
    assert open_agent("heuristic").name == "heuristic"
    assert isinstance(open_agent("oracle"), OracleFactory)
    assert isinstance(open_agent("mock"), OracleFactory)
    for url in ("http://127.0.0.1:9/turn", "https://agent.example/turn"):
        remote = open_agent(url)
        assert isinstance(remote, HttpAgentFactory)
        assert remote.name == url
    names = {open_agent(f"oracle{kind}").name for kind in ("", ":defensive", ":naive")}
    assert len(names) == 3
    assert open_agent("slip:0.25").name != open_agent("slip:0.5").name


def test_a_file_is_told_which_agent_in_it_to_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "class Mine:\n    async def turn(self, session, utterance):\n        return ''\n"
    )
    with pytest.raises(InputError) as caught:
        open_agent(str(path))
    assert f"{path}:Mine" in str(caught.value)
    with pytest.raises(InputError, match="needs a model"):
        open_agent("act")
