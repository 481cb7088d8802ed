"""Inspect (extra ``inspect``): runs as its logs, and our tasks as a task of its.

    crmbench export runs/mine --format inspect --out mine.json && inspect view
    inspect eval crmbench/crm --model openai/gpt-4.1 -T data=conversations.jsonl

All that touches inspect_ai is in this file. Its names are untyped here, as it is never installed
together with the type checker; ``make test-inspect`` runs what is below against the real package.
"""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import orjson

from crmbench.agents.prompting import preamble
from crmbench.agents.protocol import Session, SimpleFactory
from crmbench.core.task import Task, TaskView
from crmbench.core.trace import CallRecord, TokenUsage, TurnTrace
from crmbench.errors import AgentError, InfrastructureError, MissingExtraError
from crmbench.formats.readable import read_aloud
from crmbench.grading import metrics
from crmbench.grading import paired as compare
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import GRADING_VERSION, EpisodeVerdict
from crmbench.runner.evaluate import Evaluator, Job, grader_on
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import choose, load_named

try:
    from inspect_ai import Task as InspectTask
    from inspect_ai import dataset as idataset
    from inspect_ai import log as ilog
    from inspect_ai import model as imodel
    from inspect_ai import scorer as iscorer
    from inspect_ai import solver as isolver
    from inspect_ai import task as itask
    from inspect_ai import tool as itool
    from inspect_ai.util import LimitExceededError
except ImportError as missing:
    raise MissingExtraError("inspect", "Inspect's format") from missing

NAME = "crm"
"""Of the task, the solver and the scorer in Inspect."""
STORE = "crmbench"
"""Where the solver leaves the verdict in a sample's store."""
MAX_STEPS = 20


# --- a run as a log ---------------------------------------------------------------------------


def write_log(run_dir: RunDir, out: Path) -> int:
    """Write a run as an Inspect log; the ending of the name (.eval or .json) is the format.

    A trace does not hold how a model spread its calls over messages, so each call is shown as a
    message of its own, before the reply. Samples that do not count are unscored, with an error.
    The same run gives the same JSON.

    Returns:
        The number of samples.

    Raises:
        InputError: The directory holds no run.
    """
    config, tasks, episodes = run_dir.config(), run_dir.tasks(), run_dir.episodes()
    by_id = {task.task_id: task for task in tasks}
    model = str(config.get("model") or config["agent"])
    began, ended = _written(run_dir, "config.json"), _written(run_dir, "episodes.jsonl")
    identity = sha256(orjson.dumps(config, option=orjson.OPT_SORT_KEYS)).hexdigest()[:22]
    usage = sum((episode.trace.usage for episode in episodes), TokenUsage())
    samples = [_sample(by_id[e.trace.task_id], e, model, identity) for e in episodes]
    log = ilog.EvalLog(
        status="success",
        eval=ilog.EvalSpec(
            eval_id=identity,
            run_id=identity,
            task_id=identity,
            created=began,
            task=f"crmbench/{NAME}",
            task_version=int(config.get("grading_version") or 0),
            dataset=ilog.EvalDataset(
                name=str(config.get("data")),
                samples=len(tasks),
                sample_ids=[task.task_id for task in tasks],
            ),
            model=model,
            config=ilog.EvalConfig(epochs=int(config.get("trials") or 1)),
            packages={"crmbench": str(config.get("crmbench"))},
            metadata=config,
        ),
        plan=ilog.EvalPlan(steps=[ilog.EvalPlanStep(solver=str(config["agent"]))]),
        results=_results(tasks, episodes),
        stats=ilog.EvalStats(
            started_at=began,
            completed_at=ended,
            model_usage={model: _usage(usage)} if usage.model_calls else {},
        ),
        samples=samples,
    )
    ilog.write_eval_log(log, str(out))
    return len(samples)


def _written(run_dir: RunDir, name: str) -> str:
    """When a file of the run was written; a clock read now would say nothing about the run."""
    path = run_dir.path / name
    seconds = int(path.stat().st_mtime) if path.exists() else 0
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _results(tasks: Sequence[Task], episodes: Sequence[EpisodeRecord]) -> Any:
    outcomes: dict[str, list[bool]] = {}
    for episode in episodes:
        if episode.verdict.counted:
            outcomes.setdefault(episode.verdict.task_id, []).append(episode.verdict.success)
    counted = sum(map(len, outcomes.values()))
    found = {}
    if outcomes:
        clusters = {task.task_id: task.family for task in tasks if task.family}
        whole = metrics.summarise(outcomes, clusters)
        shares = [sum(trials) / len(trials) for trials in outcomes.values()]
        error = compare.clustered_standard_error(
            shares, [clusters.get(name) or f"\0{name}" for name in outcomes]
        )
        found = {"accuracy": whole.success.value, "stderr": error}
        found |= {f"pass^{k}": share for k, share in whole.pass_hat.items() if k > 1}
    measured = {name: ilog.EvalMetric(name=name, value=value) for name, value in found.items()}
    lost = len(episodes) - counted
    score = ilog.EvalScore(
        name=NAME, scorer=NAME, scored_samples=counted, unscored_samples=lost, metrics=measured
    )
    return ilog.EvalResults(total_samples=len(episodes), completed_samples=counted, scores=[score])


def _sample(task: Task, episode: EpisodeRecord, model: str, identity: str) -> Any:
    trace, verdict = episode.trace, episode.verdict
    why = trace.error or verdict.reason or ""
    place = f"{identity}/{task.task_id}/{trace.trial}"
    messages = [message for turn in trace.turns for message in _messages(turn, place, model)]
    last = trace.turns[-1].reply if trace.turns else ""
    return ilog.EvalSample(
        id=task.task_id,
        epoch=trace.trial + 1,
        input=task.turns[0].utterance,
        # What a right agent does and tells: Inspect's viewer shows it beside what was done.
        target=read_aloud(task),
        messages=messages,
        output=imodel.ModelOutput(model=model, completion=last),
        scores={NAME: _score(verdict, last)},
        metadata=_metadata(task),
        model_usage={model: _usage(trace.usage)} if trace.usage.model_calls else {},
        total_time=episode.seconds,
        uuid=sha256(place.encode()).hexdigest()[:22],
        error=None
        if verdict.counted
        else ilog.EvalError(message=why, traceback="", traceback_ansi=""),
    )


def _messages(turn: TurnTrace, place: str, model: str) -> list[Any]:
    """A turn: what was said, with the calls before the last thing that the agent said."""
    said: list[Any] = []
    for number, message in enumerate(turn.messages):
        name = f"{place}/{turn.turn_id}/{number}"
        if message.role == "user":
            said.append(imodel.ChatMessageUser(id=name, content=message.text))
        else:
            said.append(imodel.ChatMessageAssistant(id=name, content=message.text, model=model))
    replied = turn.messages[-1].role == "assistant"
    cut = len(said) - 1 if replied else len(said)
    calls = [
        message
        for number, call in enumerate(turn.calls)
        for message in _call_messages(call, f"{place}/{turn.turn_id}/call{number}", model)
    ]
    return [*said[:cut], *calls, *said[cut:]]


def _call_messages(call: CallRecord, name: str, model: str) -> tuple[Any, Any]:
    asked = itool.ToolCall(id=name, function=call.tool, arguments=call.arguments)
    text = orjson.dumps(call.result).decode() if call.ok else f"Error: {call.error}"
    return (
        imodel.ChatMessageAssistant(id=f"{name}/ask", content="", tool_calls=[asked], model=model),
        imodel.ChatMessageTool(
            id=f"{name}/result",
            content=text,
            tool_call_id=name,
            function=call.tool,
            error=None if call.ok else itool.ToolCallError("unknown", str(call.error)),
        ),
    )


def _score(verdict: EpisodeVerdict, answer: str) -> Any:
    if not verdict.counted:
        return iscorer.Score.unscored(reason="error", answer=answer, explanation=verdict.reason)
    turns = [
        {
            "turn": turn.turn_id,
            "success": turn.success,
            "problems": [*turn.mismatches, *turn.unsaid],
        }
        for turn in verdict.turns
    ]
    return iscorer.Score(
        value=iscorer.CORRECT if verdict.success else iscorer.INCORRECT,
        answer=answer,
        explanation=verdict.reason or "Everything is as it should be.",
        metadata={"turns": turns, "failed_at_turn": verdict.failed_at_turn},
    )


def _usage(usage: TokenUsage) -> Any:
    return imodel.ModelUsage(
        input_tokens=usage.prompt_tokens - usage.cached_tokens,
        input_tokens_cache_read=usage.cached_tokens,
        output_tokens=usage.completion_tokens,
        total_tokens=usage.total_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        total_cost=usage.cost,
    )


def _metadata(task: Task) -> dict[str, Any]:
    return {
        "category": task.category,
        "complexity": task.complexity,
        "persona": task.persona,
        "tags": list(task.tags),
        "turns": len(task.turns),
        # What the standard error is clustered by; a task of no family stands alone.
        "family": task.family or task.task_id,
    }


# --- our tasks in Inspect ---------------------------------------------------------------------


class _InspectAgent:
    """A model of Inspect's with native tools, as an agent of ours. Implements `Agent`."""

    def __init__(self, state: Any, view: TaskView, max_steps: int) -> None:
        self._state = state
        self._tools = [_offered(schema) for schema in view.tools]
        self._max_steps = max_steps
        self.failure: Exception | None = None
        state.messages = [imodel.ChatMessageSystem(content=preamble(view))]

    async def turn(self, session: Session, utterance: str) -> str:
        self._state.messages.append(imodel.ChatMessageUser(content=utterance))
        try:
            for _ in range(self._max_steps):
                message = await self._ask("auto")
                if not message.tool_calls:
                    return str(message.text)
                tools = [_running(session, call.function) for call in message.tool_calls]
                done = await imodel.execute_tools(self._state.messages, tools, max_output=0)
                self._state.messages.extend(done.messages)
            # Out of steps: the model has to say how far it got.
            return str((await self._ask("none")).text)
        except LimitExceededError as failure:
            self.failure = failure
            raise AgentError(str(failure)) from failure
        except Exception as failure:
            self.failure = failure
            raise InfrastructureError(f"{type(failure).__name__}: {failure}") from failure

    async def _ask(self, tool_choice: str) -> Any:
        output = await imodel.get_model().generate(self._state.messages, self._tools, tool_choice)
        self._state.output = output
        self._state.messages.append(output.message)
        return output.message


def _offered(schema: dict[str, Any]) -> Any:
    """A tool as the model sees it; what it would run is never asked for."""

    async def unused(**kwargs: Any) -> str:
        raise RuntimeError(f"{schema['name']} is run by the session")

    parameters = itool.ToolParams.model_validate(schema["parameters"])
    return itool.ToolDef(unused, schema["name"], schema["description"], parameters)


def _running(session: Session, name: str) -> Any:
    """A tool that takes any arguments and hands them to the episode.

    Inspect would refuse what does not fit the schema; here the CRM does, so that the refusal is
    worded and recorded as in any other run. A name that no tool has is treated in the same way.
    """

    async def run(**kwargs: Any) -> str:
        result = await session.call(name, kwargs)
        if not result.ok:
            raise itool.ToolError(f"Error: {result.value}")
        return orjson.dumps(result.value).decode()

    return itool.ToolDef(run, name, name, itool.ToolParams(additionalProperties=True))


@cache
def _tasks(data: str) -> dict[str, Task]:
    return {task.task_id: task for task in load_named(data).tasks()}


def _make_solver(data: str, max_steps: int) -> Any:
    tasks = _tasks(data)
    grader = grader_on("sqlite")
    atexit.register(grader.close)

    async def solve(state: Any, generate: Any) -> Any:
        del generate
        agents: list[_InspectAgent] = []

        def start(view: TaskView, _seed: int) -> _InspectAgent:
            agents.append(_InspectAgent(state, view, max_steps))
            return agents[-1]

        evaluator = Evaluator(SimpleFactory("inspect", start), grader)
        finished = await evaluator.play(Job(tasks[str(state.sample_id)], state.epoch - 1))
        state.store.set(STORE, {"verdict": orjson.loads(orjson.dumps(finished.verdict))})
        if agents[0].failure is not None:
            # Limits and errors are Inspect's to handle, as its user has told it to.
            raise agents[0].failure
        return state

    return solve


def _make_scorer() -> Any:
    async def score(state: Any, target: Any) -> Any:
        del target
        verdict = msgspec.convert(state.store.get(STORE)["verdict"], EpisodeVerdict)
        return _score(verdict, state.output.completion if state.output else "")

    return score


def _make_task(
    data: str = "demo",
    filters: str = "",
    sample: int | None = None,
    seed: int = 0,
    trials: int = 1,
    max_steps: int = MAX_STEPS,
) -> Any:
    """Our conversations as a task of Inspect.

    Args:
        data: A file of conversations, or a bundled set.
        filters: As `crmbench run --filter` takes them, separated by commas.
        sample: Only so many conversations, chosen by `seed`.
        trials: How often each is played: Inspect's epochs.
        max_steps: Model calls a turn at most.

    Raises:
        InputError: The file cannot be used, or nothing fits the filters.
    """
    wanted = [text for text in filters.split(",") if text]
    chosen = choose(list(_tasks(data).values()), filters=wanted, sample=sample, seed=seed)
    return InspectTask(
        dataset=[
            idataset.Sample(
                input=task.turns[0].utterance, id=task.task_id, metadata=_metadata(task)
            )
            for task in chosen
        ],
        solver=crm_solver(data=data, max_steps=max_steps),
        scorer=crm_scorer(),
        epochs=trials,
        version=GRADING_VERSION,
    )


# Called, not written as decorators, which would leave the functions without types.
crm_solver = isolver.solver(name="crm_conversation")(_make_solver)
crm_scorer = iscorer.scorer(
    metrics=[iscorer.accuracy(), iscorer.stderr(cluster="family")], name=NAME
)(_make_scorer)
crm = itask(name=NAME)(_make_task)
