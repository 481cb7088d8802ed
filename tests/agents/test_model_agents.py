"""Model agents against a real local server, and remote agents over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import ClientSession, web
from tests.conftest import NORTHGATE

from crmbench.agents.chat import ModelSettings
from crmbench.agents.http import HttpAgentFactory
from crmbench.agents.protocol import AnyFactory
from crmbench.agents.resolve import FRAMEWORKS, model_agent
from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.errors import InputError
from crmbench.grading.record import EpisodeRecord
from crmbench.models import Message, Model, Reply, ScriptedModel, ToolCall, ToolSpec
from crmbench.models.testing.server import spawned
from crmbench.runner.evaluate import Evaluator, grader_on, jobs_for
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.task_sets import load_named


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load_named(NORTHGATE).tasks()


async def play(agent: AnyFactory, tasks: list[Task]) -> list[EpisodeRecord]:
    evaluator = Evaluator(agent, grader_on("sqlite"))
    finished: list[EpisodeRecord] = []
    try:
        await evaluator.run(jobs_for(tasks, 1), finished.append, 4)
    finally:
        await agent.close()
        evaluator.grader.close()
    return finished


def scripted(framework: str, model: Model, **settings: Any) -> AnyFactory:
    return model_agent(model, framework, ModelSettings(**settings))


SEARCH = {"name": "Northwind Traders - Warehouse Suite"}
ANSWER = "The stage is Proposal and the amount is $125,000."


def search_then_change(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
    """What a good model does in the first task, with the provider's own tools."""
    assert len(tools) > 30
    last = messages[-1]
    if last.role == "user" and "stage" in last.text:
        return Reply("", (ToolCall("1", "opportunity_search", SEARCH),))
    if last.role == "user":
        found = next(m for m in messages if m.role == "tool")
        key = orjson.loads(found.text)["records"][0]["opportunity_id"]
        change = {"opportunity_id": key, "stage": "Negotiation", "probability": 70}
        return Reply("", (ToolCall("2", "modify_opportunity", change),))
    return Reply(ANSWER if "records" in last.text else "Done.")


def test_function_calling_solves_a_task(tasks: list[Task]) -> None:
    model = ScriptedModel(search_then_change)
    (finished,) = asyncio.run(play(scripted("function_calling", model), tasks[:1]))
    assert finished.verdict.success, finished.verdict.reason
    assert finished.trace.usage.model_calls == 4
    spent = [turn.usage for turn in finished.trace.turns]
    assert [usage.model_calls for usage in spent if usage] == [2, 2]
    assert sum((u for u in spent if u), TokenUsage()) == finished.trace.usage


TEXT_FORMS = {
    "act": ("<execute>{}</execute>", "<respond>{}</respond>"),
    "react": (
        "<thought>Look.</thought>\n<execute>{}</execute>",
        "<thought>x</thought><respond>{}</respond>",
    ),
    "json": ("```json\n{}\n```", '{{"reply": "{}"}}'),
}


@pytest.mark.parametrize("framework", sorted(TEXT_FORMS))
def test_text_protocols_solve_a_task(tasks: list[Task], framework: str) -> None:
    execute_form, respond_form = TEXT_FORMS[framework]
    key = "tool_name" if framework == "json" else "tool"

    def script(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        assert not tools
        said = sum(m.role == "assistant" for m in messages)
        if said == 0:
            call = {key: "opportunity_search", "arguments": SEARCH}
            return Reply(execute_form.format(orjson.dumps(call).decode()))
        if said == 1:
            return Reply(respond_form.format(ANSWER))
        if said == 2:
            found = next(m.text for m in messages if m.text.startswith("Result of"))
            record = orjson.loads(found.split("\n", 1)[1])["records"][0]
            change = {
                "opportunity_id": record["opportunity_id"],
                "updates": {"stage": "Negotiation", "probability": 70},
            }
            call = {key: "modify_opportunity", "arguments": change}
            return Reply(execute_form.format(orjson.dumps(call).decode()))
        return Reply(respond_form.format("Done."))

    agent = scripted(framework, ScriptedModel(script))
    (finished,) = asyncio.run(play(agent, tasks[:1]))
    assert finished.verdict.success, finished.verdict.reason


def test_a_model_that_never_keeps_to_the_form_is_given_up(tasks: list[Task]) -> None:
    agent = scripted("react", ScriptedModel(lambda _m, _t: Reply("I would rather chat.")))
    (finished,) = asyncio.run(play(agent, tasks[:1]))
    assert finished.trace.outcome == "agent_error"
    assert finished.trace.usage.model_calls == 3


def test_a_model_that_only_calls_tools_has_to_answer_in_the_end(tasks: list[Task]) -> None:
    calls = 0

    def script(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        nonlocal calls
        calls += 1
        return Reply("so far", (ToolCall("1", "summarize_counts", {}),))

    agent = scripted("function_calling", ScriptedModel(script), max_steps=5)
    (finished,) = asyncio.run(play(agent, tasks[:1]))
    assert calls == 12
    assert [len(turn.calls) for turn in finished.trace.turns] == [5, 5]
    assert finished.trace.turns[0].reply == "so far"


def test_a_bad_call_is_answered_with_what_was_wrong(tasks: list[Task]) -> None:
    heard: list[str] = []

    def script(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        last = messages[-1]
        if last.role == "user":
            bad = ToolCall("1", "x", None, "{", "The arguments are not JSON.")
            return Reply("", (bad, ToolCall("2", "no_such_tool", {})))
        heard.extend(m.text for m in messages if m.role == "tool")
        return Reply("I could not do it.")

    asyncio.run(play(scripted("function_calling", ScriptedModel(script)), tasks[:1]))
    assert heard[0] == "Error: The arguments are not JSON."
    assert "There is no tool named 'no_such_tool'" in heard[1]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_whole_run_over_http_leaks_nothing(framework: str, tmp_path: Path) -> None:
    kept = tmp_path / "bodies.jsonl"
    with spawned("--tool-calls", "2", "--keep", str(kept)) as url:
        options = RunOptions(
            NORTHGATE, agent=framework, model=f"{url}/v1#fake", concurrency=8, keep_raw=True
        )
        outcome = execute(options, tmp_path / "run")
    bodies = kept.read_bytes()
    assert len(bodies.splitlines()) >= 33
    (canary,) = {task.gold.canary for task in outcome.tasks}
    assert canary is not None
    assert canary.encode() not in bodies
    for task in outcome.tasks:
        assert task.task_id.encode() not in bodies
        assert f'"{task.family}"'.encode() not in bodies
    assert b"House rules" in bodies
    assert (tmp_path / "run" / "raw.jsonl").stat().st_size > 0
    assert sum(e.trace.usage.model_calls for e in outcome.episodes) >= 33


def test_a_server_that_fails_does_not_count_against_the_agent(tmp_path: Path) -> None:
    with spawned() as url:
        options = RunOptions(NORTHGATE, model=f"{url}/v1#fake+unauthorized", agent="act", sample=2)
        outcome = execute(options, tmp_path / "run")
    assert [e.trace.outcome for e in outcome.episodes] == ["infrastructure"] * 2
    assert not any(e.verdict.counted for e in outcome.episodes)


async def serve(handler: Any) -> tuple[web.AppRunner, str]:
    app = web.Application()
    app.router.add_post("/turn", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    return runner, f"http://127.0.0.1:{port}/turn"


def test_a_remote_agent_calls_tools_back_through_us(tasks: list[Task]) -> None:
    views: list[dict[str, Any]] = []

    async def turn(request: web.Request) -> web.Response:
        asked = await request.json()
        if "view" in asked:
            views.append(asked["view"])
        async with ClientSession() as client:
            call = {"name": "client_search", "arguments": {"name": "Northwind"}}
            async with client.post(asked["call_url"], json=call) as response:
                result = await response.json()
            async with client.post(asked["call_url"], data="garbage") as response:
                assert response.status == 400
        usage = {"prompt_tokens": 7, "completion_tokens": 2}
        return web.json_response(
            {"reply": f"{result['value']['total_count']} clients", "usage": usage}
        )

    async def run() -> list[EpisodeRecord]:
        runner, url = await serve(turn)
        try:
            return await play(HttpAgentFactory(url), tasks[:3])
        finally:
            await runner.cleanup()

    finished = asyncio.run(run())
    assert {t.reply for f in finished for t in f.trace.turns} == {"2 clients"}
    assert all(f.trace.usage.prompt_tokens == 7 * len(f.trace.turns) for f in finished)
    assert [view["domain"] for view in views] == ["sales"] * 3


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, "no json", "agent_error"),
        (200, '{"answer": "x"}', "agent_error"),
        (404, "", "agent_error"),
        (503, "", "infrastructure"),
    ],
)
def test_a_remote_agents_faults_have_their_outcome(
    tasks: list[Task], status: int, body: str, outcome: str
) -> None:
    async def turn(_request: web.Request) -> web.Response:
        return web.Response(status=status, text=body)

    async def run() -> list[EpisodeRecord]:
        runner, url = await serve(turn)
        try:
            return await play(HttpAgentFactory(url), tasks[:1])
        finally:
            await runner.cleanup()

    (finished,) = asyncio.run(run())
    assert finished.trace.outcome == outcome


def test_an_address_where_nobody_listens_is_infrastructure(tasks: list[Task]) -> None:
    (finished,) = asyncio.run(play(HttpAgentFactory("http://127.0.0.1:9/turn"), tasks[:1]))
    assert finished.trace.outcome == "infrastructure"


def test_frameworks_and_models_are_checked() -> None:
    with pytest.raises(InputError, match="no framework 'dance'"):
        model_agent(ScriptedModel([]), "dance", ModelSettings())
    with pytest.raises(InputError, match="there is no model"):
        execute(RunOptions(NORTHGATE, model="nobody/knows"))
    with pytest.raises(InputError, match="--out with --keep-raw"):
        execute(RunOptions(NORTHGATE, model="http://127.0.0.1:9/v1#x", keep_raw=True))


def test_a_run_stops_at_its_limit_of_cost_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with spawned() as url:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        options = RunOptions(NORTHGATE, model="openai/gpt-4.1", agent="act", concurrency=1)
        limited = replace(options, max_cost=0.03)
        first = execute(limited, tmp_path / "run")
        assert 0 < len(first.episodes) < 12
        assert first.stopped is not None
        assert "of $0.03 allowed" in first.stopped
        second = execute(replace(options, resume=True), tmp_path / "run")
        assert second.stopped is None
        assert len(second.episodes) == 12
        spent = [e.trace.usage.cost for e in second.episodes]
        assert all(cost is not None and cost > 0 for cost in spent)
    with pytest.raises(InputError, match="is not known, so no limit of cost"):
        execute(RunOptions(NORTHGATE, model="http://127.0.0.1:9/v1#x", max_cost=1.0))


def test_a_models_run_records_its_prompts(tmp_path: Path) -> None:
    with spawned() as url:
        execute(
            RunOptions(NORTHGATE, model=f"{url}/v1#fake", agent="json", sample=1), tmp_path / "r"
        )
    config = orjson.loads((tmp_path / "r" / "config.json").read_bytes())
    assert set(config["prompts"]) >= {"json.md", "function_calling.md", "text_tools.md"}
    assert config["model"].endswith("#fake")
