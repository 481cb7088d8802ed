"""Inspect itself reads our logs and runs our tasks: ``make test-inspect``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import NORTHGATE, PartlyFactory

pytest.importorskip("inspect_ai", reason="Inspect is not installed; see make test-inspect")

from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from crmbench.core.trace import EpisodeTrace
from crmbench.formats.readable import read_aloud
from crmbench.integrations.inspect import crm, write_log
from crmbench.models.testing.server import spawned
from crmbench.report.summary import summarise
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir

Outputs = Callable[..., Any]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDir]:
    folder = tmp_path_factory.mktemp("runs")
    execute(RunOptions(NORTHGATE, agent="oracle"), folder / "oracle")
    options = RunOptions(NORTHGATE, agent="partly", trials=2)
    execute(options, folder / "partly", factory=PartlyFactory())
    return {path.name: RunDir(path) for path in folder.iterdir()}


@pytest.mark.parametrize("ending", ["json", "eval"])
def test_a_log_holds_samples_scores_and_figures(
    ending: str, runs: dict[str, RunDir], tmp_path: Path
) -> None:
    out = tmp_path / f"run.{ending}"
    assert write_log(runs["partly"], out) == 24
    log = read_eval_log(str(out))
    summary = summarise(runs["partly"].tasks(), runs["partly"].episodes())
    assert (log.status, log.eval.task, log.eval.model) == ("success", "crmbench/crm", "partly")
    found = log.results.scores[0].metrics
    assert found["accuracy"].value == pytest.approx(summary.success.value)
    assert found["pass^2"].value == pytest.approx(summary.pass_hat[2])
    tasks = {task.task_id: task for task in runs["partly"].tasks()}
    samples = {(sample.id, sample.epoch): sample for sample in log.samples}
    assert len(samples) == 24
    for episode in runs["partly"].episodes():
        sample = samples[episode.trace.task_id, episode.trace.trial + 1]
        score = sample.scores["crm"]
        assert score.value == ("C" if episode.verdict.success else "I")
        assert score.answer == episode.trace.turns[-1].reply
        assert sample.target == read_aloud(tasks[episode.trace.task_id])
        assert "- does `" in sample.target
        assert score.explanation == (episode.verdict.reason or "Everything is as it should be.")


def test_every_call_has_its_result(runs: dict[str, RunDir], tmp_path: Path) -> None:
    write_log(runs["oracle"], tmp_path / "run.json")
    log = read_eval_log(str(tmp_path / "run.json"))
    samples = {sample.id: sample for sample in log.samples}
    for episode in runs["oracle"].episodes():
        sample = samples[episode.trace.task_id]
        calls = [call for turn in episode.trace.turns for call in turn.calls]
        asked = [call for m in sample.messages for call in getattr(m, "tool_calls", None) or ()]
        answered = [m for m in sample.messages if m.role == "tool"]
        assert [(c.function, c.arguments) for c in asked] == [(c.tool, c.arguments) for c in calls]
        assert [m.tool_call_id for m in answered] == [call.id for call in asked]
        assert [m.error is None for m in answered] == [call.ok for call in calls]
        said = [m.text for m in sample.messages if m.role == "assistant" and not m.tool_calls]
        assert said == [turn.reply for turn in episode.trace.turns]
        assert len({m.id for m in sample.messages}) == len(sample.messages)


def test_the_same_run_gives_the_same_log(runs: dict[str, RunDir], tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        write_log(runs["oracle"], tmp_path / name)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_what_does_not_count_is_unscored(tmp_path: Path) -> None:
    with spawned() as url:
        options = RunOptions(NORTHGATE, model=f"{url}/v1#fake+unauthorized", sample=2)
        execute(options, tmp_path / "run")
    write_log(RunDir(tmp_path / "run"), tmp_path / "run.json")
    log = read_eval_log(str(tmp_path / "run.json"))
    assert (log.results.total_samples, log.results.completed_samples) == (2, 0)
    assert log.results.scores[0].unscored_samples == 2
    for sample in log.samples:
        assert "401" in sample.error.message
        assert sample.scores["crm"].value != sample.scores["crm"].value  # NaN


def test_the_command_line_writes_a_log(runs: dict[str, RunDir], tmp_path: Path) -> None:
    out = tmp_path / "run.eval"
    command = [sys.executable, "-m", "crmbench", "export", str(runs["oracle"].path)]
    done = subprocess.run(
        [*command, "--format", "inspect", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "12 records" in done.stdout
    assert len(read_eval_log(str(out)).samples) == 12


# --- our tasks, run by Inspect ----------------------------------------------------------------


def scripted(traces: list[EpisodeTrace]) -> Outputs:
    """What the oracle did, as a model that says it message by message."""
    steps: dict[str, list[Any]] = {}
    for trace in traces:
        steps[trace.turns[0].utterance] = [
            step for turn in trace.turns for step in (*turn.calls, turn.reply)
        ]

    def answer(messages: list[Any], tools: Any, tool_choice: Any, config: Any) -> Any:
        del tools, tool_choice, config
        first = next(message.text for message in messages if message.role == "user")
        step = steps[first][sum(message.role == "assistant" for message in messages)]
        return said(step) if isinstance(step, str) else called(step.tool, step.arguments)

    return answer


def said(text: str) -> Any:
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def called(tool: str, arguments: dict[str, Any]) -> Any:
    output = ModelOutput.for_tool_call("mockllm/model", tool, arguments)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def played(task: Any, outputs: Any, folder: Path, **options: Any) -> Any:
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = inspect_eval(task, model=model, log_dir=str(folder), display="none", **options)
    return log


def test_a_model_that_does_the_right_thing_succeeds(
    runs: dict[str, RunDir], tmp_path: Path
) -> None:
    traces = [episode.trace for episode in runs["oracle"].episodes()]
    # By its name, as the command line finds it.
    arguments = {"data": NORTHGATE, "trials": 2, "sample": 6}
    log = played("crmbench/crm", scripted(traces), tmp_path, task_args=arguments)
    assert log.status == "success", log.error
    assert len(log.samples) == 12
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    by_id = {trace.task_id: trace for trace in traces}
    for sample in log.samples:
        calls = sum(len(turn.calls) for turn in by_id[sample.id].turns)
        events = [event for event in sample.events if event.event == "tool"]
        assert len(events) == calls == sum(m.role == "tool" for m in sample.messages)


def test_a_model_that_only_talks_fails(tmp_path: Path) -> None:
    log = played(crm(filters="", sample=3), lambda *_: said("Done."), tmp_path)
    assert log.results.scores[0].metrics["accuracy"].value == 0.0
    assert all(sample.scores["crm"].explanation for sample in log.samples)


def test_the_crm_itself_refuses_what_does_not_fit(tmp_path: Path) -> None:
    def answer(messages: list[Any], *_: Any) -> Any:
        asked = sum(message.role == "assistant" for message in messages)
        wrong = [("no_such_tool", {}), ("list_clients", {"limit": "many", "x": 1})]
        return called(*wrong[asked]) if asked < len(wrong) else said("Done.")

    log = played(crm(sample=1), answer, tmp_path)
    refused = [m for m in log.samples[0].messages if m.role == "tool"]
    assert len(refused) == 2
    assert "no_such_tool" in refused[0].error.message
    assert "Validation error" in refused[1].error.message


def test_a_model_that_never_stops_calling_has_to_answer(tmp_path: Path) -> None:
    def answer(messages: list[Any], tools: Any, tool_choice: Any, config: Any) -> Any:
        del messages, tools, config
        return said("I stop.") if tool_choice == "none" else called("list_clients", {"limit": 1})

    log = played(crm(sample=1, max_steps=3), answer, tmp_path)
    (sample,) = log.samples
    assert log.status == "success"
    turns = sum(m.role == "user" for m in sample.messages)
    assert sum(m.role == "tool" for m in sample.messages) == 3 * turns


def test_a_limit_is_a_failure_and_an_error_is_inspects(tmp_path: Path) -> None:
    talks = played(crm(sample=1), lambda *_: said("Hm."), tmp_path, message_limit=2)
    (sample,) = talks.samples
    assert (talks.status, sample.limit.type) == ("success", "message")
    assert sample.scores["crm"].value == "I"

    def breaks(*_: Any) -> Any:
        raise ConnectionResetError("the line is dead")

    log = played(crm(sample=1), breaks, tmp_path)
    assert log.status == "error"
    assert "the line is dead" in log.error.message
