"""A model that decides the readings that are not certain, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson
import pytest

from crmbench.agents.oracle import OracleFactory
from crmbench.agents.protocol import AnyFactory, Session, SimpleFactory
from crmbench.core.fact import Fact
from crmbench.core.task import Gold, GoldTurn, Task, Turn
from crmbench.grading.record import EpisodeRecord
from crmbench.models.resolve import open_model
from crmbench.models.testing.server import FakeServer
from crmbench.models.testing.wire import FakeAnswer, FakeRequest
from crmbench.roles.judge import Judge
from crmbench.roles.role_model import RoleModel
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.regrade import regrade
from crmbench.runner.run_dir import RunDir

FACT = Fact("count", 4, "contracts")
ASKED = Task(
    "open-1",
    "sales",
    "empty",
    (Turn(1, "How many contracts are there?"),),
    Gold((GoldTurn(facts=(FACT,)),), grading="state", criteria="all_turns"),
)


class Saying:
    def __init__(self, words: str) -> None:
        self._words = words

    async def turn(self, session: Session, utterance: str) -> str:
        del session, utterance
        return self._words


def saying(words: str) -> AnyFactory:
    return SimpleFactory("saying", lambda _view, _seed: Saying(words))


def play(agent: AnyFactory, answers: list[str]) -> tuple[EpisodeRecord, list[FakeRequest]]:
    """An episode judged by a server that gives the answers one after another."""
    heard: list[FakeRequest] = []

    def reply(request: FakeRequest) -> FakeAnswer:
        heard.append(request)
        return FakeAnswer(answers[min(len(heard), len(answers)) - 1])

    async def run() -> EpisodeRecord:
        async with FakeServer(reply) as server:
            judge = Judge(RoleModel(open_model(f"{server.url}/v1#fake")))
            evaluator = Evaluator(agent, grader_on("sqlite"), judge=judge)
            try:
                return await evaluator.play(Job(ASKED, 0))
            finally:
                await judge.close()
                evaluator.grader.close()

    return asyncio.run(run()), heard


OPEN = "A quartet of agreements."


@pytest.mark.parametrize(
    ("right", "success"),
    [("true", True), ("false", False)],
)
def test_an_open_reading_is_the_judges_to_decide(right: str, success: bool) -> None:
    found, heard = play(saying(OPEN), [f'{{"rationale": "so", "right": {right}}}'])
    assert (found.verdict.success, found.verdict.undecided) == (success, False)
    (decision,) = found.trace.turns[0].decisions
    assert (decision.right, decision.text) == (success, OPEN)
    assert decision.by.endswith("#fake")
    assert len(heard) == 1
    assert found.participants is not None
    assert found.participants.usage.model_calls == 1


def test_what_is_certain_is_not_asked() -> None:
    for words in ("There are 4 contracts.", "There are 5 contracts."):
        found, heard = play(saying(words), ['{"right": true}'])
        assert not heard
        assert found.trace.turns[0].decisions == ()
        assert found.verdict.success is (words == "There are 4 contracts.")


def test_no_usable_answer_leaves_it_open() -> None:
    found, heard = play(saying(OPEN), ["I would say so.", '{"right": "perhaps"}'])
    assert len(heard) == 2
    assert found.verdict.undecided
    assert found.trace.turns[0].decisions == ()


def test_a_second_attempt_is_taken() -> None:
    found, heard = play(saying(OPEN), ["Hm.", 'Well: {"right": true}'])
    assert len(heard) == 2
    assert found.verdict.success


def test_the_question_holds_the_point_and_the_words() -> None:
    found, heard = play(saying(OPEN), ['{"right": true}'])
    asked = orjson.dumps([dict(each.body) for each in heard]).decode()
    assert OPEN in asked
    assert "How many contracts are there?" in asked
    assert "contracts 4" in asked
    assert found.verdict.turns[0].success


def test_another_judge_replaces_the_decisions_of_the_runs_judge(tmp_path: Path) -> None:
    found, _ = play(saying(OPEN), ['{"right": true}'])
    run = RunDir(tmp_path / "run")
    run.create({"agent": "saying", "grading_version": 2}, [ASKED])
    run.append(found)
    run.close()
    assert regrade(tmp_path / "run").episodes[0].verdict.success
    without = regrade(tmp_path / "run", judge="none").episodes[0]
    assert without.verdict.undecided
    assert without.trace.turns[0].decisions == ()


def test_the_oracle_leaves_nothing_to_ask() -> None:
    _, heard = play(OracleFactory(), ['{"right": false}'])
    assert not heard
