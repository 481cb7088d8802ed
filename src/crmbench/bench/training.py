"""How fast sessions for training step, reset and scale, beside the same calls without grading.

Right answers are played: the gold's calls and a reply a turn. Where the reply is the same at every
episode its reading is kept; `fresh` words it anew each time, as a policy that explores does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from crmbench.agents.oracle import Oracle
from crmbench.bench.world import interleaved, ratio
from crmbench.core.episode import Episode
from crmbench.core.task import GoldTurn, Task
from crmbench.grading.phrasing.variants import realise
from crmbench.runner.task_sets import load_named
from crmbench.training.actions import Action, CallRequest
from crmbench.training.rewards import SHAPED
from crmbench.training.session import TrainingSession

STATUS = Path("/proc/self/statm")
PAGE = 4096
TASKS = 200
"""Tasks of a set that are played, drawn with a fixed seed."""

Plan = tuple[Task, list[Action]]


@dataclass(frozen=True, slots=True)
class TrainingSpeed:
    """Sessions of one set, in one process."""

    data: str
    steps_per_s: float
    """Steps a second of processor time, grading included: the same replies at every episode."""
    fresh_steps_per_s: float
    """The same, with replies in words that were never heard before."""
    bare_steps_per_s: float
    """The same calls and replies without a session and without grading."""
    ratio: float
    """Time of a step to that of a bare one; median over rounds."""
    fresh_ratio: float
    reset_ms: float
    """Median time from the end of an episode to the first message of the next."""
    steps: float
    """Steps of an episode, mean."""


@dataclass(frozen=True, slots=True)
class TrainingScale:
    """Two processes beside one."""

    speedup: float
    """Steps a second of both to those of one alone."""
    loops: float
    """The same of a loop of plain Python, which no code of ours slows down: what the machine
    gives at the moment."""
    ratio: float
    """`speedup` to `loops`."""


@dataclass(frozen=True, slots=True)
class TrainingMemory:
    """What episodes leave behind."""

    episodes: int
    grown_kb: float
    """Growth of this process from the first fifth of the episodes to the last."""
    bytes_each: float
    """The same for an episode."""


def measure_training(rounds: int, episodes: int) -> dict[str, Any]:
    """Measure sales and service, two processes, and memory.

    Args:
        rounds: How often each measurement is taken.
        episodes: Over how many memory is watched.

    Returns:
        Lists under ``speed``, objects under ``scale`` and ``memory`` (null where the system does
        not tell).
    """
    speed = [_speed(data, rounds) for data in ("sales", "service")]
    scale = _scale(rounds)
    memory = _in_new_process(_memory, episodes) if STATUS.exists() else None
    return {
        "speed": [asdict(each) for each in speed],
        "scale": asdict(scale),
        "memory": asdict(memory) if memory else None,
    }


def _chosen(data: str) -> list[Task]:
    tasks = load_named(data).tasks()
    return random.Random(1).sample(tasks, min(TASKS, len(tasks)))


def _plans(
    session: TrainingSession, tasks: Sequence[Task], rng: random.Random | None = None
) -> list[Plan]:
    """The right steps of each task; replies in words of their own if there is an rng."""
    plans = []
    for task in tasks:
        steps: list[Action] = []
        oracle = Oracle(task)
        runs = session.resources.grader.gold_runs(task)
        for calls, gold in zip(runs[0].calls, task.gold.turns, strict=True):
            steps += [CallRequest(call.tool, call.arguments) for call in calls]
            steps.append(oracle.answer(gold, []) if rng is None else _fresh(gold, rng))
        plans.append((task, steps))
    return plans


_OPENINGS = ("Sure.", "Here you go:", "Of course.", "", "Right away.", "Happy to help.")
_CLOSINGS = ("", "Anything else?", "Let me know if that helps.", "Best wishes")


def _fresh(gold: GoldTurn, rng: random.Random) -> str:
    told = [realise(fact, rng) for fact in gold.facts]
    rng.shuffle(told)
    if not gold.expect_success:
        reason = f": {gold.refusal_reasons[0]}" if gold.refusal_reasons else ""
        told.insert(0, f"I could not do that{reason}.")
    if gold.answer is not None:
        told.append(gold.answer.said)
    told = [rng.choice(_OPENINGS), *(told or ["Done."]), rng.choice(_CLOSINGS)]
    return "\n".join(part for part in told if part)


def _play(session: TrainingSession, plan: Plan) -> None:
    session.reset(plan[0])
    for action in plan[1]:
        session.step(action)


def _play_bare(session: TrainingSession, plan: Plan) -> None:
    task, actions = plan
    domain, backend = session.resources.backends.place(task.domain)
    with Episode(domain, task, backend) as episode:
        episode.say()
        for action in actions:
            if isinstance(action, CallRequest):
                episode.call(action.name, action.arguments)
            else:
                episode.reply(str(action))
                episode.say()


def _speed(data: str, rounds: int) -> TrainingSpeed:
    with TrainingSession(_chosen(data), rewards=SHAPED) as session:
        tasks = _chosen(data)
        session.resources.prepare(tasks)
        same = _plans(session, tasks)
        wordings = iter(range(10**6))
        steps = sum(len(actions) for _, actions in same)

        def timed(
            play: Callable[[TrainingSession, Plan], None], plans: Callable[[], list[Plan]]
        ) -> Callable[[], float]:
            def measure() -> float:
                todo = plans()
                # Processor time: other programs of a shared machine are not waited for.
                started = process_time()
                for plan in todo:
                    play(session, plan)
                return (process_time() - started) / steps

            return measure

        taken = interleaved(
            {
                "bare": timed(_play_bare, lambda: same),
                "same": timed(_play, lambda: same),
                "fresh": timed(
                    _play, lambda: _plans(session, tasks, random.Random(next(wordings)))
                ),
            },
            rounds,
        )
        return TrainingSpeed(
            data,
            1 / min(taken["same"]),
            1 / min(taken["fresh"]),
            1 / min(taken["bare"]),
            ratio(taken["same"], taken["bare"]),
            ratio(taken["fresh"], taken["bare"]),
            _reset_ms(session, same),
            steps / len(tasks),
        )


def _reset_ms(session: TrainingSession, plans: Sequence[Plan]) -> float:
    """From an episode that wrote what it had to, in the middle of it, to the next one's start."""
    taken = []
    for number, (_, actions) in enumerate(plans):
        session.reset(plans[number][0])
        for action in actions[:-1]:
            session.step(action)
        started = perf_counter()
        session.reset(plans[(number + 1) % len(plans)][0])
        taken.append(perf_counter() - started)
    return median(taken) * 1e3


def _scale(rounds: int) -> TrainingScale:
    """Two processes at work at the same time, against one of them alone."""
    context = get_context("spawn")
    found, plain = [], []
    with ProcessPoolExecutor(2, mp_context=context) as pool:

        def rate(work: Callable[[int], float], count: int) -> float:
            """Units a second of `count` processes that work at the same time."""
            started = perf_counter()
            units = sum(pool.map(work, [1] * count))
            return units / (perf_counter() - started)

        for work in (_work, _loop):
            # Both processes have what they need before anything counts.
            list(pool.map(work, [0, 0, 0, 0]))
        for _ in range(rounds):
            found.append(rate(_work, 2) / rate(_work, 1))
            plain.append(rate(_loop, 2) / rate(_loop, 1))
    best, loops = max(found), max(plain)
    return TrainingScale(
        best, loops, median(one / two for one, two in zip(found, plain, strict=True))
    )


_KEPT: dict[str, tuple[TrainingSession, list[Plan]]] = {}


def _work(times: int) -> float:
    """Play the demo set many times over; how many steps that were."""
    if "demo" not in _KEPT:
        session = TrainingSession("demo", rewards=SHAPED)
        tasks = load_named("demo").tasks()
        session.resources.prepare(tasks)
        _KEPT["demo"] = session, _plans(session, tasks)
    session, plans = _KEPT["demo"]
    for _ in range(100 * times or 1):
        for plan in plans:
            _play(session, plan)
    return 100.0 * times * sum(len(actions) for _, actions in plans)


def _loop(times: int) -> float:
    total = 0
    for number in range(20_000_000 * times):
        total += number & 3
    return float(20_000_000 * times)


def _in_new_process(measure: Callable[[int], TrainingMemory], count: int) -> TrainingMemory:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, count).result()


def _memory(episodes: int) -> TrainingMemory:
    """Play the demo set again and again, in words that change, and look at the process's size."""
    tasks = load_named("demo").tasks()
    session = TrainingSession(tasks, rewards=SHAPED)
    session.resources.prepare(tasks)
    played, early = 0, 0
    while played < episodes:
        for plan in _plans(session, tasks, random.Random(played)):
            _play(session, plan)
            played += 1
        if not early and played >= episodes // 5:
            early = _resident()
    grown = _resident() - early
    session.close()
    return TrainingMemory(played, grown / 1024, grown / (played - episodes // 5))


def _resident() -> int:
    return int(STATUS.read_text(encoding="ascii").split()[1]) * PAGE


def render_training(results: dict[str, Any]) -> str:
    """The results as text."""
    lines = ["Training, steps a second of processor time, grading included"]
    for each in results["speed"]:
        lines.append(
            f"  {each['data']:<9}{each['steps_per_s']:>9,.0f}   {each['ratio']:.2f} times a bare "
            f"step ({each['bare_steps_per_s']:,.0f}/s); in new words "
            f"{each['fresh_steps_per_s']:,.0f}, {each['fresh_ratio']:.2f} times; "
            f"{each['steps']:.1f} steps an episode; reset {each['reset_ms']:.3f} ms"
        )
    scale = results["scale"]
    lines.append(
        f"  two processes: {scale['speedup']:.2f} times one; two plain loops "
        f"{scale['loops']:.2f} times one; {scale['ratio']:.2f} of them"
    )
    memory = results["memory"]
    if memory:
        lines.append(
            f"  memory over {memory['episodes']:,} episodes: {memory['grown_kb']:,.0f} kB more, "
            f"{memory['bytes_each']:.1f} bytes an episode"
        )
    return "\n".join(lines)
