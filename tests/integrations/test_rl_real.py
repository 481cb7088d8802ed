"""OpenEnv's server and skyrl-gym, each as it comes. ``make test-rl`` runs it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.training.conftest import right_actions

from crmbench.runner.task_sets import load_named
from crmbench.training.actions import CallRequest
from crmbench.training.resources import SessionResources
from crmbench.training.rewards import SHAPED
from crmbench.training.tasks import TaskPool

POOL = TaskPool(load_named("demo").tasks()[:6])


def ask(socket: Any, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """One message over an OpenEnv socket, and what its answer holds."""
    socket.send_json({"type": kind, "data": data})
    answer: dict[str, Any] = socket.receive_json()
    assert answer["type"] != "error", answer
    return dict(answer["data"])


def test_openenv_pays_right_steps_and_keeps_its_clients_apart() -> None:
    pytest.importorskip("openenv")
    from fastapi.testclient import TestClient

    from crmbench.integrations.openenv import make_app

    shared = SessionResources()
    with TestClient(make_app(POOL, SHAPED)) as client:
        for task in POOL.tasks:
            with client.websocket_connect("/ws") as one, client.websocket_connect("/ws") as two:
                begun = ask(one, "reset", {"task": task.task_id})["observation"]
                assert begun["messages"][1]["content"] == task.turns[0].utterance
                assert begun["tools"][0]["type"] == "function"
                ask(two, "reset", {"task": task.task_id})
                paid, done = 0.0, False
                for action in right_actions(shared, task):
                    if isinstance(action, CallRequest):
                        data = {"name": action.name, "arguments": action.arguments}
                    else:
                        data = {"reply": action}
                    answer = ask(one, "step", data)
                    paid, done = paid + answer["reward"], answer["done"]
                assert done
                assert paid == pytest.approx(2.0)
                other = ask(two, "step", {"reply": "I do not know."})
                assert other["reward"] < 2
    shared.close()


def test_skyrl_gym_steps_through_texts() -> None:
    skyrl_gym = pytest.importorskip("skyrl_gym")
    from crmbench.integrations.skyrl import _pool

    skyrl_gym.register("crmbench", "crmbench.integrations.skyrl:CrmTextEnv")
    pool, shared = _pool("sales"), SessionResources()
    for place in range(5):
        task = pool.tasks[place]
        env = skyrl_gym.make("crmbench", env_config={}, extras={"task": place})
        prompt, info = env.init([])
        assert [message["role"] for message in prompt] == ["system", "user"]
        assert info["task_id"] == task.task_id
        wrong = env.step("I will look it up for you.")
        assert wrong["reward"] == 0
        assert "no JSON object" in wrong["observations"][0]["content"]
        paid, done = 0.0, False
        for action in right_actions(shared, task):
            if isinstance(action, CallRequest):
                text = json.dumps({"tool": action.name, "arguments": action.arguments})
            else:
                text = json.dumps({"reply": action})
            out = env.step(text)
            paid, done = paid + out["reward"], out["done"]
        assert done
        assert paid == pytest.approx(2.0)
        env.close()
    shared.close()


def test_exports_load_with_datasets(tmp_path: Any) -> None:
    datasets = pytest.importorskip("datasets")
    from crmbench import run
    from crmbench.training.export import export_chats, read_runs

    run("demo", "oracle", out=tmp_path / "run")
    exported = export_chats(read_runs([tmp_path / "run"]), None)
    exported.write(tmp_path / "chats.jsonl")
    loaded = datasets.load_dataset(
        "json", data_files=str(tmp_path / "chats.jsonl"), cache_dir=str(tmp_path / "cache")
    )["train"]
    assert len(loaded) == len(exported.rows)
    for row, ours in zip(loaded, exported.rows, strict=True):
        assert json.loads(row["tools"]) == json.loads(ours["tools"])
        for message, mine in zip(row["messages"], ours["messages"], strict=True):
            assert {k: v for k, v in message.items() if v} == {k: v for k, v in mine.items() if v}
