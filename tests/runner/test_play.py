"""Plays: what is kept, what is replayed, what is refused."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import orjson
import pytest
from tests.conftest import NORTHGATE
from typer.testing import CliRunner

from crmbench.agents.oracle import Oracle
from crmbench.cli import app
from crmbench.core.conditions import lay, parse_conditions
from crmbench.core.conditions.lay import KINDS
from crmbench.core.episode import view_of
from crmbench.core.trace import CallRecord
from crmbench.domains.registry import load_domain
from crmbench.errors import HarnessError, InputError
from crmbench.formats.arc import load
from crmbench.grading.gold import resolve_references
from crmbench.runner.play import STEPS, Play, PlaySettings, is_play, start_play
from crmbench.runner.play_cache import PlayCache
from crmbench.runner.play_grade import grade_plays
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import load_named


@pytest.fixture
def cache(tmp_path: Path) -> PlayCache:
    return PlayCache(tmp_path / "cache")


def play_gold(directory: Path, task_id: str, cache: PlayCache, added: str = "") -> None:
    """Play the gold path, with the directory opened anew for every step.

    Args:
        added: Said at the end of every reply.
    """
    task = next(task for task in load(Path(NORTHGATE)).tasks() if task.task_id == task_id)
    start_play(directory, NORTHGATE, task_id, cache=cache).close()
    oracle, done = Oracle(task), list[list[CallRecord]]()
    for turn in task.gold.turns:
        made: list[CallRecord] = []
        for call in turn.calls:
            arguments = resolve_references(call.arguments, [*done, made])
            with Play(directory, cache) as play:
                result = play.call(call.tool, arguments)
            error = None if result.ok else str(result.value)
            made.append(CallRecord(call.tool, arguments, result.ok, result.value, error))
        done.append(made)
        with Play(directory, cache) as play:
            play.reply(oracle.answer(turn, made) + added)


@pytest.mark.parametrize("task_id", ["northgate-01", "northgate-04", "northgate-07"])
def test_the_gold_played_step_by_step_succeeds(
    task_id: str, tmp_path: Path, cache: PlayCache
) -> None:
    play_gold(tmp_path / "play", task_id, cache)
    with Play(tmp_path / "play", cache) as play:
        assert play.over
        with pytest.raises(InputError, match="over"):
            play.call("summarize_counts", {})
    [graded] = grade_plays([tmp_path / "play"])
    assert graded.episode.verdict.success
    assert graded.finished


def test_open_readings_of_a_play_are_listed(tmp_path: Path, cache: PlayCache) -> None:
    play_gold(tmp_path / "play", "northgate-01", cache, " I think, but I am not sure.")
    done = CliRunner().invoke(app, ["grade", str(tmp_path / "play"), "--undecided", "--json"])
    assert done.exit_code == 0, done.output
    listed = orjson.loads(done.stdout)
    assert listed
    assert {each["task_id"] for each in listed} == {"northgate-01"}
    assert any("not sure" in each["reading"] for each in listed)
    told = CliRunner().invoke(app, ["grade", str(tmp_path / "play")])
    assert "is undecided: " in told.stdout


@pytest.mark.parametrize("name", KINDS)
def test_a_play_under_a_condition_meets_what_its_grading_meets(
    name: str, tmp_path: Path, cache: PlayCache
) -> None:
    contacts = changed = 0
    for number in (1, 2, 3):
        directory = tmp_path / str(number)
        start_play(directory, "sales/standard", str(number), condition=name, cache=cache).close()
        for _ in range(12):
            with Play(directory, cache) as play:
                if play.over:
                    break
                contacts += _write_about(play)
                changed += len(play.steps)
                play.reply("Done.")
    graded = grade_plays([tmp_path / str(number) for number in (1, 2, 3)])
    assert all(each.finished for each in graded)
    assert contacts
    assert changed


def _write_about(play: Play) -> int:
    """Read and write as a player might, whatever the tools are called."""
    tools = {tool["name"] for tool in play.tools}
    search = "contact_search" if "contact_search" in tools else "person_lookup"
    modify = "modify_contact" if search == "contact_search" else "revise_person"
    key = "contact_id" if search == "contact_search" else "person_id"
    found = play.call(search, {})
    records = found.value["records"] if found.ok else []
    for record in records[:6]:
        given = {key: record[key], "title": "Head of Fleet"}
        if "record_version" in record:
            given["record_version"] = record["record_version"]
        play.call(modify, given)
        play.call(search, {key: record[key]})
    return len(records)


@pytest.mark.parametrize("name", ["colleague", "lures"])
def test_a_play_meets_the_world_of_a_run(name: str, tmp_path: Path, cache: PlayCache) -> None:
    """Call by call the same, though a play has no gold."""
    for number, task in enumerate(load_named("sales/standard").tasks()[:12], start=1):
        directory = tmp_path / str(number)
        with start_play(
            directory, "sales/standard", str(number), condition=name, cache=cache
        ) as play:
            for call in (call for turn in task.gold.turns for call in turn.calls):
                play.call(call.tool, {**call.arguments, "record_version": 1})
                play.call(call.tool, dict(call.arguments))
            for shown in ("list_clients", "list_contacts", "list_opportunities", "list_quotes"):
                play.call(shown, {})
    # It replays every step with the gold, and compares what comes back.
    assert len(grade_plays([tmp_path / str(number) for number in range(1, 13)])) == 12


@pytest.mark.parametrize("name", ["sales/standard", "service", "sales/hard", "service/hard"])
@pytest.mark.parametrize("condition", ["", "pages:5,timeouts"])
def test_a_play_tells_what_a_run_tells(
    name: str, condition: str, tmp_path: Path, cache: PlayCache
) -> None:
    task = load_named(name).tasks()[0]
    laid = lay(load_domain(task.domain), task, parse_conditions(condition))
    expected = view_of(laid.domain, laid.task)
    with start_play(tmp_path / "fresh", name, "1", condition=condition, cache=cache) as play:
        assert play.episode.view == expected
    for which in ("fresh", "cached"):
        if which == "cached":
            start_play(tmp_path / which, name, "1", condition=condition, cache=cache).close()
        with Play(tmp_path / which, cache) as play:
            assert play.episode.view == expected
    assert ("## Who is who" in expected.policy) == (name == "sales/standard")


def test_a_play_of_many_decisions_says_which_of_them_are_wrong(
    tmp_path: Path, cache: PlayCache
) -> None:
    name = "sales/hard"
    place = next(
        number
        for number, task in enumerate(load_named(name).tasks(), 1)
        if task.tag("mechanism") == "worklist"
    )
    task = load_named(name).tasks()[place - 1]
    first, *_ = task.gold.turns[0].calls
    with start_play(tmp_path / "play", name, str(place), cache=cache) as play:
        play.call(first.tool, dict(first.arguments))
        play.reply("There are none on hold.")
    [graded] = grade_plays([tmp_path / "play"])
    right = [item.key for item in graded.items if item.right]
    assert first.arguments["opportunity_id"] in right
    assert len(graded.items) == len(task.gold.items) > len(right)
    assert all(item.wrong and item.blame == () for item in graded.items if not item.right)


def test_nothing_in_the_directory_was_not_said_or_done(tmp_path: Path, cache: PlayCache) -> None:
    task = load(Path(NORTHGATE)).tasks()[0]
    with start_play(tmp_path / "play", NORTHGATE, "1", cache=cache) as play:
        assert play.heard == [task.turns[0].utterance]
    kept = b"".join(path.read_bytes() for path in (tmp_path / "play").iterdir()).decode()
    assert list(orjson.loads(kept)) == [field.name for field in fields(PlaySettings)]
    assert all(turn.utterance not in kept for turn in task.turns)
    # Nor can a search through the cache come upon it by chance.
    cached = b"".join(path.read_bytes() for path in cache.folder.glob("task-*"))
    assert task.turns[-1].utterance.encode() not in cached
    assert cached


def test_a_play_left_before_its_end_fails_and_is_named(tmp_path: Path, cache: PlayCache) -> None:
    start_play(tmp_path / "play", NORTHGATE, "1", cache=cache).close()
    [graded] = grade_plays([tmp_path / "play"])
    assert not graded.episode.verdict.success
    assert graded.episode.verdict.counted
    assert not graded.finished


def test_plays_of_one_task_become_trials_of_a_run(tmp_path: Path, cache: PlayCache) -> None:
    play_gold(tmp_path / "a", "northgate-01", cache)
    play_gold(tmp_path / "b", "northgate-04", cache)
    start_play(tmp_path / "c", NORTHGATE, "northgate-01", cache=cache).close()
    grade_plays([tmp_path / name for name in "abc"], tmp_path / "run")
    run = RunDir(tmp_path / "run")
    assert [(e.verdict.task_id, e.verdict.trial, e.verdict.success) for e in run.episodes()] == [
        ("northgate-01", 0, True),
        ("northgate-01", 1, False),
        ("northgate-04", 0, True),
    ]
    assert run.config()["agent"] == "player"
    assert run.config()["trials"] == 2


def test_plays_of_several_agents_are_no_run(tmp_path: Path, cache: PlayCache) -> None:
    for name in ("one", "two"):
        start_play(tmp_path / name, NORTHGATE, "1", agent=name, cache=cache).close()
    with pytest.raises(InputError, match="one, two"):
        grade_plays([tmp_path / "one", tmp_path / "two"], tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_step_that_gives_something_else_is_noticed(tmp_path: Path, cache: PlayCache) -> None:
    with start_play(tmp_path / "play", NORTHGATE, "1", cache=cache) as play:
        play.call("summarize_counts", {})
    steps = tmp_path / "play" / STEPS
    step = orjson.loads(steps.read_bytes())
    steps.write_bytes(orjson.dumps({**step, "result": "00ff00ff00ff"}))
    with pytest.raises(HarnessError, match=r"steps.jsonl:1: summarize_counts"):
        Play(tmp_path / "play", cache)


def test_what_another_command_did_meanwhile_is_noticed(tmp_path: Path, cache: PlayCache) -> None:
    start_play(tmp_path / "play", NORTHGATE, "1", cache=cache).close()
    with Play(tmp_path / "play", cache) as one, Play(tmp_path / "play", cache) as two:
        one.call("summarize_counts", {})
        with pytest.raises(InputError, match="another command"):
            two.call("summarize_counts", {})


def test_a_task_that_changed_is_not_graded(tmp_path: Path, cache: PlayCache) -> None:
    file = tmp_path / "tasks.jsonl"
    lines = Path(NORTHGATE).read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines), encoding="utf-8")
    start_play(tmp_path / "play", str(file), "1", cache=cache).close()
    first = orjson.loads(lines[0])
    first["turns"][0]["user_utterance"] += " Please."
    file.write_text(orjson.dumps(first).decode() + "\n" + "".join(lines[1:]), encoding="utf-8")
    with pytest.raises(InputError, match="has changed"):
        grade_plays([tmp_path / "play"])


@pytest.mark.parametrize(
    ("which", "expected"), [("0", "from 1 to 12"), ("13", "from 1 to 12"), ("none", "northgate-01")]
)
def test_a_task_that_is_not_there_is_said(
    which: str, expected: str, tmp_path: Path, cache: PlayCache
) -> None:
    with pytest.raises(InputError) as raised:
        start_play(tmp_path / "play", NORTHGATE, which, cache=cache)
    assert expected in str(raised.value)
    assert not is_play(tmp_path / "play")


def test_a_world_from_the_cache_is_the_world(tmp_path: Path, cache: PlayCache) -> None:
    from crmbench.core.clock import WorldClock
    from crmbench.domains.registry import load_domain

    domain = load_domain("service")
    digests = []
    for _ in range(2):
        backend, world = cache.backend(domain, "org-7-x0.1")
        database = backend.acquire(world)
        database.start(WorldClock(world.now, "t"))
        digests.append((database.digest(), world.name, world.now, database.orders()))
        backend.close()
    assert list(cache.folder.glob("world-*.sqlite"))
    assert digests[0] == digests[1]
