"""A model as the user: goals one at a time, nothing made up, and its faults are its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from tests.conftest import NORTHGATE

from crmbench.agents.protocol import Session, SimpleFactory
from crmbench.core.task import Clarification, Task
from crmbench.core.trace import Message as Said
from crmbench.errors import HarnessError, InputError
from crmbench.grading.record import EpisodeRecord
from crmbench.models import (
    Message,
    Model,
    Reply,
    ScriptedModel,
    ToolSpec,
    TransientModelError,
    Usage,
)
from crmbench.models.resolve import open_model
from crmbench.models.testing.server import FakeServer, spawned
from crmbench.models.testing.wire import FakeAnswer, FakeRequest
from crmbench.roles.inventions import invented
from crmbench.roles.role_model import RoleModel
from crmbench.roles.user import ModelUser
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import load_named

SEARCH = {"name": "Northwind Traders - Warehouse Suite"}


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load_named(NORTHGATE).tasks()


class Helpful:
    """Solves the first task when it is asked straight out, and asks back when it is not."""

    heard: list[str]

    def __init__(self) -> None:
        self.heard = []

    async def turn(self, session: Session, utterance: str) -> str:
        self.heard.append(utterance)
        if "deal" in utterance:
            return "Which customer is it about?"
        if "Northwind" in utterance:
            await session.call("opportunity_search", SEARCH)
            return "It is in Proposal and worth $125,000."
        if "70" in utterance:
            found = await session.call("opportunity_search", SEARCH)
            key = found.value["records"][0]["opportunity_id"]
            change = {"opportunity_id": key, "stage": "Negotiation", "probability": 70}
            await session.call("modify_opportunity", change)
            return "Moved to Negotiation with 70 %."
        return "You're welcome."


def play(
    task: Task,
    model: Model,
    agent: Callable[[], object] = Helpful,
    *,
    max_messages: int = 6,
    time_limit: float | None = None,
) -> EpisodeRecord:
    made: list[Helpful] = []

    def make(_view: object, _seed: int) -> Helpful:
        found = agent()
        assert isinstance(found, Helpful)
        made.append(found)
        return found

    evaluator = Evaluator(
        SimpleFactory("helpful", make),
        grader_on("sqlite"),
        user=ModelUser(RoleModel(model), max_messages),
        time_limit=time_limit,
    )
    try:
        return asyncio.run(evaluator.play(Job(task, 0)))
    finally:
        evaluator.grader.close()


GOOD = (
    "Hi, where are we with the warehouse deal?",
    "Northwind Traders. And how much is it?",
    "Thanks!",
    "[NEXT]",
    "Put it to Negotiation please, with 70 percent.",
    "[DONE]",
)


def test_each_goal_is_a_turn_and_all_its_replies_count(tasks: list[Task]) -> None:
    finished = play(tasks[0], ScriptedModel(GOOD))
    assert finished.verdict.success, finished.verdict.reason
    one, two = finished.trace.turns
    assert [m.role for m in one.messages] == ["user", "assistant"] * 3
    assert one.reply == "You're welcome."  # the figures were told before it
    assert [call.tool for call in one.calls] == ["opportunity_search"]
    assert not any(call.changes for call in one.calls)
    assert any(call.changes for call in two.calls)
    assert two.utterance == "Put it to Negotiation please, with 70 percent."
    assert finished.participants is not None
    assert finished.participants.user is not None
    assert (finished.participants.user.messages, finished.participants.user.corrections) == (4, 0)
    assert finished.participants.user.usage.model_calls == 6
    assert finished.trace.usage.model_calls == 0


def test_a_goal_is_not_known_before_its_time(tasks: list[Task]) -> None:
    prompts: list[str] = []

    def script(messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> str:
        prompts.append("\n".join(message.text for message in messages))
        return GOOD[len(prompts) - 1]

    play(tasks[0], ScriptedModel(script))
    later = tasks[0].turns[1].utterance
    assert [later in prompt for prompt in prompts] == [False] * 4 + [True] * 2
    assert tasks[0].turns[0].utterance in prompts[0]
    assert "2 requests" in prompts[0]
    assert "[REPLY]\nWhich customer is it about?" in prompts[1]
    assert tasks[0].task_id not in prompts[-1]
    assert tasks[0].gold.canary is not None
    assert tasks[0].gold.canary not in prompts[-1]


def test_an_answer_that_the_scripted_user_would_keep_back_is_part_of_the_goal(
    tasks: list[Task],
) -> None:
    clarification = Clarification("It is the Northwind one.", ("customer", "client"))
    turns = (replace(tasks[0].turns[0], clarification=clarification), tasks[0].turns[1])
    briefs: list[str] = []

    def script(messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> str:
        briefs.append(messages[1].text)
        return GOOD[sum(m.role == "assistant" for m in messages)]

    play(replace(tasks[0], turns=turns), ScriptedModel(script))
    assert "only when you are asked (customer, client): It is the Northwind one." in briefs[0]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("The deal over $130,000, is it in?", "never told '$130,000'"),
        ("", "wrote nothing"),
        ("  \n", "wrote nothing"),
        ("[NEXT]", "have not asked yet"),
        ("[done]", "have not asked yet"),
    ],
)
def test_a_message_that_cannot_be_sent_goes_back_once(
    tasks: list[Task], wrong: str, told: str
) -> None:
    heard: list[str] = []

    def script(messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> str:
        heard.append(messages[-1].text)
        return (wrong, *GOOD)[len(heard) - 1]

    finished = play(tasks[0], ScriptedModel(script))
    assert finished.verdict.success
    assert told in heard[1]
    assert finished.trace.turns[0].utterance == GOOD[0]
    assert finished.participants is not None
    assert finished.participants.user is not None
    assert finished.participants.user.corrections == 1


@pytest.mark.parametrize(
    ("script", "error", "turns"),
    [
        (["It is $99,999.", "It is $99,998."], "never told '$99,998'", 0),
        (["", ""], "wrote nothing", 0),
        ([*GOOD[:4], "Close it on 2026-05-05.", "Or on May 6th, 2026."], "'May 6th, 2026'", 1),
        ([*GOOD[:3], "[DONE]", "[DONE]"], "There is more to ask", 1),
    ],
)
def test_a_user_that_does_not_keep_to_its_part_is_not_the_agents_failure(
    tasks: list[Task], script: list[str], error: str, turns: int
) -> None:
    finished = play(tasks[0], ScriptedModel(script))
    assert finished.trace.outcome == "user_error"
    assert error in (finished.trace.error or "")
    assert not finished.verdict.counted
    assert not finished.verdict.success
    assert len(finished.trace.turns) == turns


def test_a_refusal_of_the_users_model_is_its_own(tasks: list[Task]) -> None:
    refusing = ScriptedModel(lambda _m, _t: Reply("I cannot help.", refusal=True))
    assert play(tasks[0], refusing).trace.outcome == "user_error"


def test_a_user_that_never_ends_is_ended(tasks: list[Task]) -> None:
    finished = play(tasks[0], ScriptedModel(lambda _m, _t: "And then?"), max_messages=3)
    assert finished.trace.outcome == "finished"
    assert [len(turn.messages) for turn in finished.trace.turns] == [6, 6]
    assert finished.verdict.counted


def test_a_model_that_cannot_be_reached_is_infrastructure(tasks: list[Task]) -> None:
    def script(_messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> str:
        raise TransientModelError("no answer", kind="connection")

    finished = play(tasks[0], ScriptedModel(script))
    assert finished.trace.outcome == "infrastructure"
    assert not finished.verdict.counted


class Slow(ScriptedModel):
    async def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec] = (), **_: object
    ) -> Reply:
        await asyncio.sleep(60)
        return await super().complete(messages, tools)


class SlowAgent(Helpful):
    async def turn(self, session: Session, utterance: str) -> str:
        await asyncio.sleep(60)
        return ""


def test_time_runs_out_for_whoever_was_waited_for(tasks: list[Task]) -> None:
    assert play(tasks[0], Slow(GOOD), time_limit=0.05).trace.outcome == "user_error"
    slow = play(tasks[0], ScriptedModel(GOOD), SlowAgent, time_limit=0.05)
    assert slow.trace.outcome == "timeout"
    assert slow.verdict.counted


def test_an_agents_error_in_a_free_conversation_is_the_agents(tasks: list[Task]) -> None:
    class Broken(Helpful):
        async def turn(self, session: Session, utterance: str) -> str:
            raise ValueError("oops")

    finished = play(tasks[0], ScriptedModel(GOOD), Broken)
    assert finished.trace.outcome == "agent_error"
    assert finished.verdict.counted
    assert finished.trace.turns[0].messages == (Said("user", GOOD[0]),)


def test_a_script_that_is_too_short_is_our_own_fault(tasks: list[Task]) -> None:
    with pytest.raises(HarnessError, match="has 2 replies"):
        play(tasks[0], ScriptedModel(GOOD[:2]))


TOLD = (
    "Quote for Alpine, $91,000, version v1, good until March 31, 2025, 60 percent. Mail "
    "a@b.example, phone +1 555 0148, id 00000000-0000-4000-8000-00000000000a, order Q-1042. "
    "Fifty thousand."
)


@pytest.mark.parametrize(
    "text",
    [
        "91k for the quote, until 2025-03-31",
        "USD 91,000.00 and 60%",
        "until the end of March 2025",
        "until 3/31/2025, or March 31",
        "A@B.example is the mail, +1 (555) 0148 the number",
        "the one with 00000000-0000-4000-8000-00000000000A, order q-1042",
        "50,000 then, both of the 2 quotes",
        "the 1st one, by 10am",
        "today, 2025-01-15, that is",
        "ninety-one thousand",
    ],
)
def test_values_that_were_told_may_be_said_in_any_form(text: str) -> None:
    assert invented(text, [TOLD], "2025-01-15") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$9,100 for the quote", "$9,100"),
        ("91.5k is fine", "91.5k"),
        ("make it 65 percent", "65 percent"),
        ("until April 30", "April 30"),
        ("until 2026-03-31", "2026-03-31"),
        ("until March 30, 2025", "March 30, 2025"),
        ("mail c@b.example", "c@b.example"),
        ("call +1 555 0149", "+1 555 0149"),
        ("order Q-1043", "Q-1043"),
        ("id 00000000-0000-4000-8000-00000000000b", "00000000-0000-4000-8000-00000000000b"),
        ("seventy thousand", "seventy thousand"),
        ("3 of them at 5%", "5%"),
    ],
)
def test_values_that_nobody_told_are_found(text: str, value: str) -> None:
    assert invented(text, [TOLD], "2025-01-15") == value


def test_what_the_agent_said_may_be_said_back() -> None:
    assert invented("Yes, the $77,000 one", [TOLD, "There are two: $77,000 and $80,000."]) is None


def of_a_user(request: FakeRequest) -> FakeAnswer:
    return FakeAnswer(GOOD[sum(role == "assistant" for role, _ in request.texts)])


@pytest.mark.parametrize("wire", ["{}/v1#fake", "anthropic+{}#fake"])
def test_the_user_speaks_over_both_wire_formats(tasks: list[Task], wire: str) -> None:
    async def run() -> EpisodeRecord:
        async with FakeServer(of_a_user) as server:
            model = open_model(wire.format(server.url))
            evaluator = Evaluator(
                SimpleFactory("helpful", lambda _view, _seed: Helpful()),
                grader_on("sqlite"),
                user=ModelUser(RoleModel(model)),
            )
            try:
                return await evaluator.play(Job(tasks[0], 0))
            finally:
                await model.close()
                evaluator.grader.close()

    finished = asyncio.run(run())
    assert finished.verdict.success, finished.verdict.reason
    assert finished.participants is not None
    assert finished.participants.usage.prompt_tokens > 1000


def test_a_run_with_a_user_is_kept_resumed_and_leaks_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "bodies.jsonl"
    with spawned("--tool-calls", "1", "--keep", str(kept)) as url:
        options = RunOptions(
            NORTHGATE, model=f"{url}/v1#fake", user=f"{url}/v1#user", user_messages=1, keep_raw=True
        )
        outcome = execute(options, tmp_path / "run")
        again = execute(replace(options, resume=True), tmp_path / "run")
    bodies = [orjson.loads(line) for line in kept.read_bytes().splitlines()]
    of_user = [body for body in bodies if body["model"] == "user"]
    assert len(of_user) == 33
    assert not any("tools" in body for body in of_user)
    (canary,) = {task.gold.canary for task in outcome.tasks}
    assert canary is not None
    assert canary.encode() not in kept.read_bytes()
    assert [e.trace.outcome for e in outcome.episodes] == ["finished"] * 12
    assert len(again.episodes) == 12
    episodes = RunDir(tmp_path / "run").episodes()
    assert [e.participants for e in episodes] == [e.participants for e in outcome.episodes]
    assert all(
        e.participants and e.participants.user and e.participants.user.messages for e in episodes
    )
    config = RunDir(tmp_path / "run").config()
    assert {"user.md", "function_calling.md"} <= set(config["prompts"])
    assert config["prices_as_of"]


def test_episodes_that_the_user_spoilt_are_played_again(tmp_path: Path) -> None:
    with spawned() as url:
        options = RunOptions(NORTHGATE, agent="noop", user=f"{url}/v1#fake+empty", sample=2)
        first = execute(options, tmp_path / "run")
        assert [e.trace.outcome for e in first.episodes] == ["user_error"] * 2
        assert not any(e.verdict.counted for e in first.episodes)
        again = execute(replace(options, resume=True), tmp_path / "run")
    assert again.turns_played == 0
    assert [e.trace.outcome for e in again.episodes] == ["user_error"] * 2


def test_the_users_tokens_count_towards_the_limit_of_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with spawned() as url:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        options = RunOptions(
            NORTHGATE, agent="noop", user="gpt4.1", user_messages=1, concurrency=1, max_cost=0.005
        )
        outcome = execute(options, tmp_path / "run")
    assert outcome.stopped is not None
    assert 0 < len(outcome.episodes) < 12


def test_an_agent_that_follows_the_gold_cannot_talk_freely() -> None:
    with pytest.raises(InputError, match="follows the task's own turns"):
        execute(RunOptions(NORTHGATE, agent="oracle", user="scripted:x:y"))


def test_usage_that_is_not_told_is_none_of_our_making() -> None:
    reply = Reply("x", usage=Usage())

    async def ask() -> float | None:
        answer = await RoleModel(ScriptedModel(lambda _m, _t: reply)).ask([], "user")
        assert answer.usage.total_tokens == 0
        return answer.usage.cost

    assert asyncio.run(ask()) is None
