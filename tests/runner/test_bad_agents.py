"""Agents that loop, block, exit or raise: each its own recorded failure, and the others go on."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.conftest import NORTHGATE

from crmbench import load, run
from crmbench.agents.protocol import Session
from crmbench.agents.python import PlainSession, PythonAgents
from crmbench.core.task import Task, TaskView
from crmbench.errors import AgentError, InputError
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.options import RunOptions
from crmbench.runner.run import execute

GIVE_UP = threading.Event()
"""Set at the end of a test, for threads that wait for nothing."""


@pytest.fixture(autouse=True)
def _end_of_blocking() -> Any:
    GIVE_UP.clear()
    yield
    GIVE_UP.set()


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return load("demo")[:4]


def first_bad(bad: Callable[[Session], Any]) -> Callable[[], object]:
    """Makes agents of which the first does something bad, the others say "Done."."""
    made: list[object] = []

    class Agent:
        def __init__(self) -> None:
            made.append(self)
            self.bad = len(made) == 1

        async def turn(self, session: Session, utterance: str) -> str:
            if self.bad:
                await bad(session)
            return "Done."

    return Agent


async def loops(session: Session) -> None:
    while True:
        await session.call("client_search", {})


async def loops_whatever_happens(session: Session) -> None:
    while not GIVE_UP.is_set():
        try:
            await session.call("client_search", {})
        except Exception:
            await asyncio.sleep(0)


async def blocks(session: Session) -> None:
    del session
    GIVE_UP.wait()


async def exits(session: Session) -> None:
    del session
    sys.exit(7)


async def exits_hard(session: Session) -> None:
    del session
    os._exit(7)


async def interrupts(session: Session) -> None:
    del session
    raise KeyboardInterrupt


async def cancels_itself(session: Session) -> None:
    del session
    raise asyncio.CancelledError


async def raises_what_is_ours(session: Session) -> None:
    del session
    load("nowhere.jsonl")


@pytest.mark.parametrize(
    ("bad", "outcome", "error"),
    [
        (loops, "agent_error", "called tools 100 times past the limit of 5 a turn"),
        (loops_whatever_happens, "agent_error", "called tools 100 times past the limit"),
        (blocks, "timeout", "took longer than 1.0 s, and blocked its thread"),
        (exits, "agent_error", "it called sys.exit(7)"),
        (exits_hard, "agent_error", "it called os._exit(7)"),
        (interrupts, "agent_error", "it raised KeyboardInterrupt"),
        (cancels_itself, "agent_error", "it cancelled itself"),
        (raises_what_is_ours, "agent_error", "InputError: nowhere.jsonl"),
    ],
)
def test_one_bad_agent_is_that_agents_failure(
    bad: Callable[[Session], Any], outcome: str, error: str, tasks: list[Task]
) -> None:
    result = run(tasks, first_bad(bad), time_limit=1.0, max_calls=5, concurrency=4)
    found: dict[str, str] = {
        e.trace.outcome: e.trace.error or "" for e in result if e.trace.outcome != "finished"
    }
    assert list(found) == [outcome]
    assert error in found[outcome]
    assert sum(e.trace.outcome == "finished" for e in result) == 3


class AlwaysBlocks:
    async def turn(self, session: Session, utterance: str) -> str:
        del session, utterance
        GIVE_UP.wait()
        return "Too late."


class ExitsPlainly:
    def turn(self, session: PlainSession, utterance: str) -> str:
        os._exit(7)


def test_agents_that_all_block_are_each_a_recorded_failure(tasks: list[Task]) -> None:
    result = run(tasks, AlwaysBlocks, time_limit=0.5, concurrency=4)
    errors = {e.trace.error for e in result}
    assert (len(result), errors) == (4, {"took longer than 0.5 s, and blocked its thread"})


def test_a_plain_turn_that_ends_the_process_ends_its_conversation(tasks: list[Task]) -> None:
    result = run(tasks, ExitsPlainly)
    assert {e.trace.error for e in result} == {"it called os._exit(7)"}


def test_a_process_that_an_agent_forked_ends_as_ever(tasks: list[Task]) -> None:
    class Forks:
        def turn(self, session: PlainSession, utterance: str) -> str:
            child = os.fork()
            if child == 0:
                os._exit(5)
            return f"It ended with {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}."

    result = run(tasks[:1], Forks)
    assert next(iter(result)).trace.turns[0].reply == "It ended with 5."


def test_an_agent_that_blocks_is_named_once(
    tasks: list[Task], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "crmbench"):
        run(tasks, first_bad(blocks), time_limit=1.0)
    assert len(caplog.records) == 1
    assert "blocks its event loop" in caplog.text
    assert "first_bad.<locals>.Agent" in caplog.text


class PlainAgent:
    """A plain `turn`, which may block."""

    threads: ClassVar[set[int]] = set()

    def turn(self, session: PlainSession, utterance: str) -> str:
        del utterance
        PlainAgent.threads.add(threading.get_ident())
        time.sleep(0)
        found = session.call("client_search", {})
        assert found.ok
        assert session.view.domain == "sales"
        return f"{found.value['total_count']} of {len(session.tools)}"


def test_a_plain_turn_runs_in_a_thread_of_its_own(tasks: list[Task]) -> None:
    PlainAgent.threads.clear()
    result = run(tasks, PlainAgent)
    assert {e.trace.outcome for e in result} == {"finished"}
    assert threading.get_ident() not in PlainAgent.threads
    assert all(turn.calls[0].ok for e in result for turn in e.trace.turns)
    through_function = run(tasks, lambda: PlainAgent())
    assert [e.trace for e in through_function] == [e.trace for e in result]


def test_a_plain_turn_that_blocks_is_timed_out(tasks: list[Task]) -> None:
    class Blocks:
        def turn(self, session: PlainSession, utterance: str) -> str:
            GIVE_UP.wait()
            return "late"

    result = run(tasks[:2], Blocks, time_limit=0.3)
    assert {e.trace.outcome for e in result} == {"timeout"}


class WantsMore:
    def __init__(self, view: TaskView, more: int) -> None: ...


class Raises:
    def __init__(self) -> None:
        raise ValueError("no key")


class Silent:
    pass


class Waits:
    def __init__(self) -> None:
        GIVE_UP.wait()


class Exits:
    def __init__(self) -> None:
        sys.exit("bye")


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        (WantsMore, "missing 1 required positional argument"),
        (Raises, "ValueError: no key"),
        (Silent, "without a `turn` method"),
        (Waits, "took longer than 0.5 s to be made"),
        (Exits, r"sys.exit\('bye'\)"),
    ],
)
def test_an_agent_that_cannot_be_made_leaves_no_directory(
    agent: type, why: str, tmp_path: Path, tasks: list[Task]
) -> None:
    with pytest.raises(InputError, match=f"the agent '{agent.__name__}' cannot be made: .*{why}"):
        run(tasks, agent, out=tmp_path / "run", time_limit=0.5)
    assert not (tmp_path / "run").exists()


def test_an_agent_that_can_be_made_only_once_fails_the_others(tasks: list[Task]) -> None:
    made: list[int] = []

    class Once:
        def __init__(self) -> None:
            made.append(1)
            if len(made) > 1:
                raise ValueError("there can be only one")

        async def turn(self, session: Session, utterance: str) -> str:
            return "Done."

    outcomes = [e.trace.outcome for e in run(tasks, Once)]
    assert sorted(outcomes) == ["agent_error"] * 3 + ["finished"]
    # As often as there are conversations: the one made beforehand plays too.
    assert len(made) == len(tasks)


def test_a_module_that_raises_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "broken_agent.py").write_text("raise ValueError('no key')\n", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be imported: ValueError: no key"):
        run("demo", f"{tmp_path / 'broken_agent.py'}:Agent")


def test_a_lone_surrogate_is_kept_as_a_question_mark(tmp_path: Path, tasks: list[Task]) -> None:
    class Odd:
        async def turn(self, session: Session, utterance: str) -> str:
            if "x" in utterance:
                raise ValueError("bad \ud800")
            return "bad \ud800"

    result = run(tasks, Odd, out=tmp_path / "run")
    assert len(result) == 4
    replies = {turn.reply for e in result for turn in e.trace.turns}
    assert replies <= {"bad ?", ""}


def test_time_limits_need_no_help_from_the_agent_on_the_command_line(tmp_path: Path) -> None:
    """As a newcomer met it: an agent that loops on tools, for ever and full of memory."""
    path = tmp_path / "looping_agent.py"
    path.write_text(
        "class Loops:\n"
        "    async def turn(self, session, utterance):\n"
        "        while True:\n"
        "            await session.call('client_search', {'name': 'x'})\n",
        encoding="utf-8",
    )
    outcome = execute(RunOptions(NORTHGATE, agent=f"{path}:Loops", sample=1))
    (record,) = outcome.outlines
    assert record.trace.error == "called tools 100 times past the limit of 100 a turn"
    assert len(record.trace.turns[0].calls) == 101


def test_agents_and_factories_hear_what_came_of_each_episode(tasks: list[Task]) -> None:
    heard: list[tuple[str, str, bool]] = []

    class Learner:
        async def turn(self, session: Session, utterance: str) -> str:
            return "Done."

        async def observe(self, record: EpisodeRecord) -> None:
            heard.append(("agent", record.task_id, record.verdict.success))

    class Factory:
        def __call__(self) -> Learner:
            return Learner()

        def observe(self, record: EpisodeRecord) -> None:
            heard.append(("factory", record.task_id, record.verdict.success))

    run(tasks, Factory(), concurrency=1)
    assert heard == [(who, t.task_id, False) for t in tasks for who in ("agent", "factory")]


def test_an_observer_that_raises_ends_the_run_and_the_episode_is_kept(
    tmp_path: Path, tasks: list[Task]
) -> None:
    class Fails:
        async def turn(self, session: Session, utterance: str) -> str:
            return "Done."

        def observe(self, record: EpisodeRecord) -> None:
            raise ValueError(f"trial {record.trial}")

    with pytest.raises(AgentError, match=r"observe\(\) of the agent '.*Fails' raised ValueError"):
        run(tasks, Fails, out=tmp_path / "run", concurrency=1)
    assert len((tmp_path / "run" / "episodes.jsonl").read_bytes().splitlines()) == 1


def test_what_one_agent_does_to_its_tools_changes_nobody_elses(tasks: list[Task]) -> None:
    seen: list[int] = []

    class Edits:
        def __init__(self, view: TaskView) -> None:
            seen.append(sum(len(tool["parameters"]["properties"]) for tool in view.tools))
            for tool in view.tools:
                tool["parameters"]["properties"].clear()

        async def turn(self, session: Session, utterance: str) -> str:
            return "Done."

    run(tasks, Edits)
    assert len(set(seen)) == 1
    assert seen[0] > 50


def test_a_factory_of_ones_own_may_be_passed(tasks: list[Task]) -> None:
    factory = PythonAgents(PlainAgent, "mine")
    assert run(tasks, factory).outcome.outlines[0].trace.outcome == "finished"
