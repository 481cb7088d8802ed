"""What several workers bring, and what the run's directory costs; ratios taken in one run.

A machine that does other work as well gives two processes less than twice of what it gives one. So
each round also has bare loops do the same: efficiency stands beside what the machine allowed.
"""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from crmbench.bench.bench import backends_here
from crmbench.bench.tools import Statement, raw_runner, recording, tool_calls
from crmbench.bench.world import BenchDomain, BenchWorld, seconds_of, task_in
from crmbench.core.backends import backend_maker
from crmbench.core.clock import WorldClock
from crmbench.core.episode import Episode
from crmbench.domains.registry import load_domain
from crmbench.runner.executors.generating import generate_shards, plan_shards
from crmbench.runner.executors.spread import cores
from crmbench.runner.options import RunOptions
from crmbench.runner.run import RunOutcome, execute_on
from crmbench.runner.task_sets import RunData, read_data
from crmbench.validity.audit import audit

LOOPS = 3_000_000
GENERATED = (6, 200)
"""Shards that a round generates, and conversations of each: some nine seconds of one core."""
INSERTS = 400
REQUIRED = {"sqlite": 0.04, "postgres": 0.008}
"""Turns replayed with the run's directory for each raw insert of the driver."""


@dataclass(frozen=True, slots=True)
class DirectorySpeed:
    """Replaying with everything written down, against bare inserts of the driver."""

    backend: str
    turns: int
    turns_per_s: float
    inserts_per_s: float
    ratio: float
    """Median over rounds of the one by the other."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One piece of work by some workers; seconds are medians over rounds."""

    work: str
    executor: str
    workers: int
    seconds: float
    cpu_seconds: float
    """Of this process and its children; not of Ray's."""
    first_s: float
    """Until the first result."""
    speedup: float
    """Time of one worker to this, median over rounds."""
    allowed: float
    """The same of bare loops."""


@dataclass(frozen=True, slots=True)
class ScaleResults:
    """All that was measured."""

    kept: tuple[DirectorySpeed, ...]
    spread: tuple[Spread, ...]
    episodes: int
    """That each replay by workers has."""
    worker_mb: float
    """Peak memory of the largest process, pages that it shares with others included."""
    load: float
    """Processes that wanted to run, besides ours, when it began."""
    remarks: tuple[str, ...]

    @property
    def ray_ms(self) -> float | None:
        """What an episode takes longer by one worker on Ray than by one process, everything that
        starts and ends included; None without Ray.
        """
        took = {s.executor: s.seconds for s in self.spread if (s.work, s.workers) == ("replay", 1)}
        if "ray" not in took:
            return None
        return 1000 * (took["ray"] - took["processes"]) / self.episodes


def measure_scale(file: str, rounds: int, turns: int, tasks_audited: int) -> ScaleResults:
    """Take all measurements; on Ray if it is installed, PostgreSQL's if its extra is.

    Args:
        file: Conversations to replay.
        turns: That a round replays at least, with each conversation as often as that takes.
        tasks_audited: Of the sales set.
    """
    load = os.getloadavg()[0]
    data = read_data(file, RunOptions(file))
    backends, remarks = backends_here()
    kept = [_measure_kept(data, backend, rounds) for backend in backends]
    trials = -(-turns // sum(len(task.turns) for task in data.tasks))
    spread = _measure_spread(data, "processes", rounds, trials, tasks_audited)
    if find_spec("ray"):
        spread += _measure_spread(data, "ray", rounds, trials, 0)
    else:
        remarks.append("Ray was left out: `make bench-ray` measures it too")
    kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return ScaleResults(
        kept=tuple(kept),
        spread=tuple(spread),
        episodes=trials * len(data.tasks),
        worker_mb=kilobytes / 1024,
        load=load,
        remarks=tuple(remarks),
    )


# --- the run's directory --------------------------------------------------------------------------


def _measure_kept(data: RunData, backend_name: str, rounds: int) -> DirectorySpeed:
    """The server runs already, in both measurements: its start is not part of a replay."""
    domain = load_domain("sales")
    backend = backend_maker(backend_name)(domain)
    url = getattr(backend, "url", None)
    before = os.environ.get("DATABASE_URL")
    options = RunOptions(data.name, agent="oracle", backend=backend_name, concurrency=1, workers=1)
    rates: list[float] = []
    inserts: list[float] = []
    turns = 0
    try:
        if url:
            os.environ["DATABASE_URL"] = url
        world = BenchWorld(clients=0)
        with Episode(BenchDomain(domain, [world]), task_in(world), backend) as episode:
            statements = _inserts(episode, world)
            run = raw_runner(episode.database.connection)
            for _ in range(rounds):
                seconds, outcome = _replay(data, options)
                turns = outcome.turns_played
                rates.append(turns / seconds)
                inserts.append(_raw_rate(episode, world, statements, run, seconds))
    finally:
        os.environ.pop("DATABASE_URL", None)
        if before is not None:
            os.environ["DATABASE_URL"] = before
        backend.close()
    ratio = median(rate / insert for rate, insert in zip(rates, inserts, strict=True))
    return DirectorySpeed(backend_name, turns, median(rates), median(inserts), ratio)


def _inserts(episode: Episode, world: BenchWorld) -> list[Statement]:
    """The insert of a client as the driver is given it, some hundred times."""
    _restart(episode, world)
    made: list[Statement] = []
    with recording(episode, made):
        for name, arguments in tool_calls(INSERTS)["create_new_client"]:
            episode.execute(name, arguments)
    return [statement for statement in made if statement[0].startswith("INSERT")]


def _raw_rate(
    episode: Episode,
    world: BenchWorld,
    statements: Sequence[Statement],
    run: Callable[[Sequence[Statement]], None],
    least: float,
) -> float:
    """Inserts a second, over as long as the replay took: on a busy machine a short burst would be
    done in one slice of time, and the replay is not.
    """
    seconds, count = 0.0, 0
    while seconds < least:
        _restart(episode, world)
        seconds += seconds_of(lambda: run(statements))
        count += len(statements)
    return count / seconds


def _restart(episode: Episode, world: BenchWorld) -> None:
    episode.database.reset()
    episode.database.start(WorldClock(world.now, "bench"))


def _replay(
    data: RunData, options: RunOptions, on_progress: Callable[[int, int], None] | None = None
) -> tuple[float, RunOutcome]:
    with tempfile.TemporaryDirectory(prefix="crmbench-bench-") as folder:
        started = perf_counter()
        outcome = execute_on(data, options, Path(folder) / "run", on_progress)
        return perf_counter() - started, outcome


# --- several workers ------------------------------------------------------------------------------


@dataclass
class _Timed:
    """One piece of work, done once."""

    seconds: float
    cpu: float
    first: float


def _measure_spread(
    data: RunData, executor: str, rounds: int, trials: int, tasks_audited: int
) -> list[Spread]:
    counts = sorted({1, 2, cores()}) if cores() > 1 else [1]
    works: dict[str, Callable[[int], _Timed]] = {
        "replay": lambda workers: _timed_replay(data, executor, workers, trials)
    }
    if executor == "processes":
        works["generate"] = _timed_generate
    if tasks_audited:
        works["audit"] = lambda workers: _timed_audit(workers, tasks_audited)
    found = []
    for name, work in works.items():
        taken: dict[int, list[_Timed]] = {count: [] for count in counts}
        allowed: dict[int, list[float]] = {count: [] for count in counts}
        for _ in range(rounds):
            for count in counts:
                allowed[count].append(_allowed(count))
                taken[count].append(work(count))
        found += [_spread(name, executor, n, taken[1], taken[n], allowed[n]) for n in counts]
    return found


def _spread(
    work: str,
    executor: str,
    workers: int,
    one: Sequence[_Timed],
    taken: Sequence[_Timed],
    allowed: Sequence[float],
) -> Spread:
    return Spread(
        work,
        executor,
        workers,
        median(each.seconds for each in taken),
        median(each.cpu for each in taken),
        median(each.first for each in taken),
        median(a.seconds / b.seconds for a, b in zip(one, taken, strict=True)),
        median(allowed),
    )


def _timed_replay(data: RunData, executor: str, workers: int, trials: int) -> _Timed:
    options = RunOptions(
        data.name, agent="oracle", trials=trials, workers=workers, executor=executor
    )
    first: list[float] = []
    started, cpu = perf_counter(), _cpu()

    def note(done: int, total: int) -> None:
        del done, total
        if not first:
            first.append(perf_counter() - started)

    seconds, _ = _replay(data, options, note)
    return _Timed(seconds, _cpu() - cpu, first[0])


def _timed_generate(workers: int) -> _Timed:
    shards, size = GENERATED
    plan = plan_shards("sales", 7, shards * size, shards)
    first: list[float] = []
    with tempfile.TemporaryDirectory(prefix="crmbench-bench-") as folder:
        started, cpu = perf_counter(), _cpu()

        def note(done: int, total: int) -> None:
            del done, total
            if not first:
                first.append(perf_counter() - started)

        generate_shards(plan, Path(folder) / "set", workers=workers, on_progress=note)
        return _Timed(perf_counter() - started, _cpu() - cpu, first[0])


def _timed_audit(workers: int, count: int) -> _Timed:
    tasks = read_data("sales", replace(RunOptions("sales"), sample=count)).tasks
    first: list[float] = []
    started, cpu = perf_counter(), _cpu()

    def note(gate: object) -> None:
        del gate
        if not first:
            first.append(perf_counter() - started)

    audit(tasks, "sales", backends=("sqlite",), workers=workers, on_gate=note)
    return _Timed(perf_counter() - started, _cpu() - cpu, first[0])


def _cpu() -> float:
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def _loop(count: int) -> int:
    total = 0
    for number in range(count):
        total += number & 3
    return total


def _allowed(workers: int) -> float:
    """How much faster that many processes do bare loops than one does them."""
    # Not forked: Ray leaves threads behind, which a fork would cut off in the middle.
    with get_context("spawn").Pool(workers) as pool:
        pool.map(_loop, [1000] * workers)
        many = seconds_of(lambda: pool.map(_loop, [LOOPS] * workers, chunksize=1))
        one = seconds_of(lambda: pool.apply(_loop, (LOOPS,)))
    return workers * one / many


# --- said -----------------------------------------------------------------------------------------


def render_scale(results: ScaleResults) -> str:
    """The results as text."""
    lines = [f"Load when it began: {results.load:.1f}", "", "Replay with the run's directory"]
    for kept in results.kept:
        least = REQUIRED[kept.backend]
        mark = "met" if kept.ratio >= least else "MISSED"
        rates = f"{kept.turns_per_s:>8,.0f} turns/s to {kept.inserts_per_s:>8,.0f} raw inserts/s"
        lines.append(f"  {kept.backend:<9}{rates}: {kept.ratio:.4f}, at least {least} ({mark})")
    lines += ["", "Workers                      s    CPU s  first s  speed-up  bare loops"]
    for each in results.spread:
        name = f"{each.work}, {each.workers} on {each.executor}"
        lines.append(
            f"  {name:<22}{each.seconds:>7.2f}{each.cpu_seconds:>9.2f}{each.first_s:>9.2f}"
            f"{each.speedup:>10.2f}{each.allowed:>12.2f}"
        )
    if results.ray_ms is not None:
        lines.append(f"An episode on Ray, beside one process: {results.ray_ms:+.2f} ms")
    lines.append(f"Peak memory of the largest worker: {results.worker_mb:,.0f} MB")
    return "\n".join([*lines, *(f"Note: {remark}" for remark in results.remarks)])


def results_data(results: ScaleResults) -> dict[str, Any]:
    """The results as a JSON object."""
    from dataclasses import asdict

    return asdict(results)
