"""What runs become for fine-tuning: chats, pairs, and nothing of a published test set."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from crmbench import run
from crmbench.agents.oracle import Oracle
from crmbench.agents.protocol import Session
from crmbench.cli import app
from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.runner.options import RunOptions
from crmbench.runner.run import play_run
from crmbench.runner.task_sets import load_named, read_data
from crmbench.training.decontaminate import Contamination, ngrams, published_tests
from crmbench.training.export import export_chats, export_pairs, read_runs
from crmbench.training.session import TrainingSession

LAST = "I could not say."


class WrongAtTheEnd(Oracle):
    """Follows the gold, and says nothing of use in the last turn."""

    async def turn(self, session: Session, utterance: str) -> str:
        reply = await super().turn(session, utterance)
        return LAST if len(self._done) == len(self._gold.turns) else reply


class WrongFactory:
    name = "wrong"

    def start_with_gold(self, task: Task) -> WrongAtTheEnd:
        return WrongAtTheEnd(task)

    async def close(self) -> None:
        return None


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    run("demo", "oracle", out=folder / "right")
    options = RunOptions(file="demo", agent="wrong")
    data = read_data("demo", options)
    asyncio.run(play_run(data, options, folder / "wrong", None, WrongFactory()))
    return folder / "right", folder / "wrong"


def _failures(path: Path) -> int:
    return sum(not record.verdict.success for _, record in read_runs([path]))


def test_a_chat_played_again_is_the_same_success(runs: tuple[Path, Path]) -> None:
    tasks = load_named("demo").tasks()
    exported = export_chats(read_runs(runs), None)
    failed = exported.dropped["not a success"]
    assert failed == _failures(runs[1]) > 15
    assert len(exported.rows) == 2 * len(tasks) - failed
    exported = export_chats(read_runs(runs[:1]), None)
    assert len(exported.rows) == len(tasks)
    with TrainingSession(tasks) as session:
        for row in exported.rows:
            messages = row["messages"]
            heard, _ = session.reset(row["task_id"])
            assert heard == messages[:2]
            assert orjson.loads(row["tools"]) == session.tools
            step = None
            for place, message in enumerate(messages):
                if message["role"] == "assistant":
                    step = session.step(message)
                    after = [m for m in messages[place + 1 : place + 2] if m["role"] != "assistant"]
                    assert step.messages == after
            assert step is not None
            assert step.reward == 1.0


def test_a_pair_is_the_first_wrong_step_beside_the_right_one(runs: tuple[Path, Path]) -> None:
    tasks = {task.task_id: task for task in load_named("demo").tasks()}
    exported = export_pairs(read_runs(runs), None)
    assert len(exported.rows) == _failures(runs[1])
    for row in exported.rows:
        assert row["rejected"] == [{"role": "assistant", "content": LAST}]
        assert row["chosen"][0]["content"] != LAST
        said = [message["content"] for message in row["prompt"] if message["role"] == "user"]
        assert said[-1] == tasks[row["task_id"]].turns[-1].utterance
    alone = export_pairs(read_runs(runs[1:]), None)
    assert alone.rows == []
    assert alone.dropped == {"no right episode of its task": _failures(runs[1])}


def test_what_is_too_near_to_a_test_set_is_left_out(runs: tuple[Path, Path]) -> None:
    tasks = load_named("demo").tasks()
    same = export_chats(read_runs(runs[:1]), Contamination(tasks[:3]))
    worlds = {task.world for task in tasks[:3]}
    assert same.dropped["same task"] == 3
    assert {row["task_id"] for row in same.rows}.isdisjoint(task.task_id for task in tasks[:3])
    assert same.dropped["same world"] == sum(task.world in worlds for task in tasks[3:])


def test_words_that_a_test_set_says_are_found() -> None:
    task = next(
        task for task in load_named("demo").tasks() if len(ngrams(task.turns[0].utterance)) > 2
    )
    found = Contamination([task])
    elsewhere = replace(task, task_id="other", world="another")
    assert found.of(elsewhere) == "same words"
    first = replace(task.turns[0], utterance="Which client in Genoa has no open deal at all now?")
    assert found.of(replace(elsewhere, turns=(first,))) is None
    assert ngrams("too short to tell") == []


def test_the_published_test_sets_are_those_that_are_not_for_training() -> None:
    assert published_tests() == [
        "sales/test",
        "sales/standard",
        "sales/hard",
        *(f"sales/{rung}" for rung in ("L1", "L2", "L4", "L5")),
        "service/test",
        "service/hard",
        *(f"service/{rung}" for rung in ("L1", "L2", "L4", "L5")),
    ]


def test_the_command_says_what_it_left_out(runs: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    options = ["--also", str(runs[0]), "--format", "pairs", "--keep-tests", "--out", str(out)]
    done = CliRunner().invoke(app, ["export", str(runs[1]), *options, "--json"])
    assert done.exit_code == 0, done.output
    told = orjson.loads(done.stdout)
    rows = [orjson.loads(line) for line in out.read_bytes().splitlines()]
    assert told["records"] == len(rows) > 0
    assert set(rows[0]) >= {"prompt", "chosen", "rejected", "tools"}
    with pytest.raises(InputError):
        read_runs([tmp_path])
