"""docs/formats.md lists every key of what is stored, and no other."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest
from pydantic import BaseModel

from crmbench.core import record as aside
from crmbench.core import trace as t
from crmbench.core.fact import KINDS
from crmbench.core.journal import Change
from crmbench.errors import InputError
from crmbench.formats import blocks as b
from crmbench.formats.arc_model import ArcConversation, ArcTurn
from crmbench.formats.arc_results import result_record
from crmbench.formats.episode_rows import EpisodeRow, JudgePart, ToolCalls, UserPart
from crmbench.formats.episode_store import frames
from crmbench.grading.decisions import OpenReading, decision_from
from crmbench.grading.tool_match import ToolMatch
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict
from crmbench.ladder.climb import Stop
from crmbench.ladder.fit import Half
from crmbench.ladder.pool import load_tasks
from crmbench.ladder.run import run_ladder
from crmbench.models.request_log import Exchange, RawLog
from crmbench.report import answers, exclusions, ladder, role_figures, run_files, summary, timings
from crmbench.runner.configuration import configuration
from crmbench.runner.options import RunOptions
from crmbench.runner.play import start_play
from crmbench.runner.play_cache import PlayCache
from crmbench.runner.play_grade import grade_plays
from crmbench.runner.run import execute
from crmbench.runner.run_dir import TRACES, RunDir
from crmbench.runner.task_sets import read_data

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
MODELS: dict[str, type[BaseModel]] = {
    "Conversation": ArcConversation,
    "Turn": ArcTurn,
    "A conversation's `crmbench`": b.ConversationBlock,
    "A turn's `crmbench`": b.TurnBlock,
    "Fact": b.FactBlock,
    "Answer": b.AnswerBlock,
    "Clarification": b.ClarificationBlock,
    "Gold call": b.GoldCallBlock,
    "Path": b.PathBlock,
    "Item": b.ItemBlock,
    "Alternative": b.AlternativeBlock,
}
STORED: dict[str, type[Any]] = {
    "Trace": t.EpisodeTrace,
    "Trace of a turn": t.TurnTrace,
    "Call": t.CallRecord,
    "Change": Change,
    "Message": t.Message,
    "Judgement": t.Judgement,
    "Decision": t.Decision,
    "Usage": t.TokenUsage,
    "Verdict": EpisodeVerdict,
    "Verdict on a turn": TurnVerdict,
    "Tool match": ToolMatch,
    "Aside": aside.ParticipantRecords,
    "User's part": aside.UserRecord,
    "Judge's part": aside.JudgeRecord,
    "Question to the judge": aside.TurnJudgement,
}
FIGURES: dict[str, type[Any]] = {
    "Arc's figures": summary.ArcMetrics,
    "Tool's errors": summary.ToolErrors,
    "Passed": summary.Passed,
    "Answers": answers.AnswerFigures,
    "User's figures": role_figures.UserFigures,
    "Judge's figures": role_figures.JudgeFigures,
    "Agreement": role_figures.Agreement,
    "Effort": timings.CategoryEffort,
    "Mechanism": ladder.MechanismFigures,
    "Half": Half,
    "Level": ladder.LevelFigures,
}


def text_under(title: str) -> str:
    page = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^#+ (.+)$", page, flags=re.MULTILINE)
    assert parts[1::2].count(title) == 1, title
    return parts[parts.index(title) + 1]


def rows_under(title: str) -> dict[str, str]:
    """Each documented key with what its absence means."""
    rows = re.findall(r"^\| `([^`]+)` \| [^|]+ \| ([^|]+) \|", text_under(title), re.MULTILINE)
    assert rows, title
    return dict(rows)


def keys_under(title: str) -> list[str]:
    return list(rows_under(title))


def required_under(title: str) -> list[str]:
    return [key for key, absent in rows_under(title).items() if absent == "required"]


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``crmbench run demo --sample 2 --out`` writes."""
    options = RunOptions(file="demo", agent="heuristic", sample=2)
    out = tmp_path_factory.mktemp("runs") / "demo"
    run_files.conclude_run(options, execute(options, out), out)
    return out


@pytest.mark.parametrize("title", MODELS)
def test_the_keys_of_a_file_of_conversations_are_documented(title: str) -> None:
    found = MODELS[title].model_fields
    assert keys_under(title) == list(found)
    assert required_under(title) == [key for key, field in found.items() if field.is_required()]


def test_the_kinds_of_facts_are_documented() -> None:
    kinds = " or ".join(f"`{kind}`" for kind in KINDS)
    assert text_under("Fact").count(kinds) == 2


@pytest.mark.parametrize("title", STORED)
def test_the_keys_of_a_stored_episode_are_documented(title: str) -> None:
    found = fields(STORED[title])
    assert keys_under(title) == [field.name for field in found]
    given = [f.name for f in found if f.default is MISSING and f.default_factory is MISSING]
    assert required_under(title) == given


@pytest.mark.parametrize("title", FIGURES)
def test_the_keys_of_figures_are_documented(title: str) -> None:
    assert required_under(title) == keys_under(title)
    assert keys_under(title) == [field.name for field in fields(FIGURES[title])]


def test_the_files_of_a_run_are_documented(demo: Path) -> None:
    elsewhere = {"agents/", "raw.jsonl", "ladder.json", "parts/", "outlines.parquet"}
    named = set(re.findall(r"^\| `([^`]+)` \|", text_under("A run's directory"), re.MULTILINE))
    assert named == {path.name for path in demo.iterdir()} | elsewhere


def test_the_keys_of_a_configuration_are_documented(demo: Path) -> None:
    config = orjson.loads((demo / "config.json").read_bytes())
    assert sorted(required_under("`config.json`")) == sorted(config)
    options = RunOptions(file="demo", model="openai/gpt-4.1", sample=2)
    laid = replace(
        options,
        condition="timeouts",
        condition_seed=1,
        budget=2.0,
        judge="openai/gpt-4.1",
        judge_weight=0.5,
        judge_pass=0.5,
        prompts="with_examples",
    )
    full = configuration(laid, read_data(laid.file, laid))
    assert sorted(keys_under("`config.json`")) == sorted(
        [*full, "ladder", "parts", "conversations"]
    )


def test_the_keys_of_the_configuration_of_plays_are_documented(tmp_path: Path) -> None:
    cache = PlayCache(tmp_path / "cache")
    start_play(
        tmp_path / "play",
        "demo",
        "1",
        condition="timeouts",
        condition_seed=1,
        budget=2.0,
        cache=cache,
    ).close()
    grade_plays([tmp_path / "play"], tmp_path / "run")
    config = orjson.loads((tmp_path / "run" / "config.json").read_bytes())
    said = re.findall(r"`(\w+)`", text_under("A run of plays"))
    offered = {"salesforce_tools"}  # A server's, where it offers them.
    assert sorted(said) == sorted([*config, *offered])


def test_the_keys_of_a_ladder_are_documented(tmp_path: Path) -> None:
    tasks = load_tasks([], ["sales"], ["worklist"], 1, 42, (1,))
    options = RunOptions(file="sales", agent="noop")
    found = run_ladder(tasks, options, Stop(1), tmp_path / "ladder")
    config = RunDir(tmp_path / "ladder").config()
    assert sorted(config) == sorted([*required_under("`config.json`"), "ladder"])
    [figures] = [each.to_data() for each in ladder.ladder_figures(tasks, found.episodes)]
    assert list(figures) == keys_under("Mechanism")
    assert list(figures["n50"]) == keys_under("Half")
    assert list(figures["levels"][0]) == keys_under("Level")
    assert len(figures["levels"][0]["success"]) == len(keys_under("Interval"))


def test_the_keys_of_episodes_and_timings_are_documented(demo: Path) -> None:
    for row in lines(demo / "episodes.jsonl"):
        assert list(row) == required_under("`episodes.jsonl`")
    packed = next(frames(demo / TRACES))
    data = (demo / TRACES).read_bytes()[packed.start + packed.head : packed.end]
    row = orjson.loads(pa.Codec("zstd").decompress(data, packed.size, asbytes=True))
    assert list(row) == keys_under(f"`{TRACES}`")
    assert set(row["calls"][0][0]) == {"result", "changes"} < set(keys_under("Call"))
    (first, *_) = RunDir(demo).episodes()
    judged = replace(first, participants=aside.ParticipantRecords())
    other = RunDir(demo.parent / "judged")
    other.make()
    other.append(judged)
    other.close()
    assert list(*lines(other.path / "episodes.jsonl")) == keys_under("`episodes.jsonl`")
    for row in lines(demo / "timings.jsonl"):
        assert list(row) == keys_under("`timings.jsonl`")


def test_the_keys_of_results_are_documented(demo: Path) -> None:
    rows = lines(demo / "results.jsonl")
    turns = [turn for row in rows for turn in row["per_turn_results"]]
    for row in rows:
        assert list(row) == keys_under("Result")
        assert list(row["metadata"]) == keys_under("Metadata")
        assert list(row["metadata"]["agent"]) == keys_under("Result's agent")
        usage = row["metadata"]["agent"]["token_usage"]
        assert list(usage) == [*keys_under("Usage"), "total_tokens"]
    assert {key for turn in turns for key in turn} == set(keys_under("Result of a turn"))
    for turn in turns:
        assert [key for key in turn if key not in {"result", "error"}] == required_under(
            "Result of a turn"
        )
        assert ("result" in turn) != ("error" in turn)


def test_the_keys_of_a_segment_are_documented(demo: Path) -> None:
    run = RunDir(demo)
    task, episode = run.tasks()[0], run.episodes()[0]
    chain = replace(task, segments=(2, len(task.turns)))
    segments = result_record(chain, episode.trace, episode.verdict)["per_segment_results"]
    assert [list(segment) for segment in segments] == [keys_under("Result of a segment")] * 2


def test_the_keys_of_a_summary_are_documented(demo: Path) -> None:
    found = orjson.loads((demo / "summary.json").read_bytes())
    assert list(found) == keys_under("Figures")
    assert list(found["success"]) == list(found["at_most"]) == keys_under("Interval")
    assert list(found["not_counted"]) == keys_under("Not counted")
    assert len(fields(exclusions.NotCounted)) == len(keys_under("Not counted")) - 1
    assert list(found["arc"]) == keys_under("Arc's figures")
    assert list(found["usage"]) == list(found["total_usage"]) == keys_under("Usage")
    slices = [each for groups in found["slices"].values() for each in groups.values()]
    assert slices
    assert all(list(each) == keys_under("Slice") for each in slices)
    (row,) = re.findall(r"^\| `slices` .+$", text_under("Figures"), re.MULTILINE)
    assert all(f"`{name}`" in row for name in summary.SLICES)


def test_the_columns_of_outlines_are_documented() -> None:
    title = "`outlines.parquet`"
    columns = re.findall(r"^\| `([^`]+)` \|", text_under(title), re.MULTILINE)
    assert columns == list(EpisodeRow.__struct_fields__)
    for kind, column in ((ToolCalls, "tools"), (UserPart, "user"), (JudgePart, "judge")):
        (row,) = re.findall(rf"^\| `{column}` .+$", text_under(title), re.MULTILINE)
        assert all(f"`{name}`" in row for name in kind.__struct_fields__)


def test_the_keys_of_kept_requests_are_documented(tmp_path: Path) -> None:
    with RawLog(tmp_path / "raw.jsonl") as log:
        log.write(Exchange("t", "m", 1, 0.5, b"{}", 200, b"{}", None))
    (row,) = lines(tmp_path / "raw.jsonl")
    assert list(row) == keys_under("`raw.jsonl`")


def test_the_keys_of_decisions_are_documented() -> None:
    title = "A file of decisions"
    line = {
        "task_id": "demo-1",
        "trial": 0,
        "turn": 1,
        "reading": "does not convey 5",
        "right": True,
        "by": "a reader",
    }
    assert keys_under(title) == list(line)
    assert decision_from(line, 1)[0] == ("demo-1", 0, 1)
    for key in line:
        with pytest.raises(InputError, match=key):
            decision_from({name: value for name, value in line.items() if name != key}, 1)
    said = text_under(title)
    assert all(f"`{field.name}`" in said for field in fields(OpenReading))
