"""Rates, waits and retries, with a clock that does not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbench.errors import InputError
from crmbench.models import FinalModelError, Limits, ModelError, Reply, TransientModelError, Usage
from crmbench.models.limits import Bucket, Gate, SystemClock

if TYPE_CHECKING:
    from tests.models.conftest import FakeClock


class _StepClock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


def _failing(*errors: ModelError) -> Callable[[], Awaitable[Reply]]:
    left = list(errors)

    async def attempt() -> Reply:
        if left:
            raise left.pop(0)
        return Reply("done", usage=Usage(100, 50))

    return attempt


def _transient(retry_after: float | None = None) -> TransientModelError:
    if retry_after is None:
        return TransientModelError("no", kind="server", status=500)
    return TransientModelError("no", kind="rate_limit", status=429, retry_after=retry_after)


def _run(
    limits: Limits, clock: FakeClock, attempt: Callable[[], Awaitable[Reply]]
) -> tuple[Reply, int]:
    async def go() -> tuple[Reply, int]:
        return await Gate(limits, clock).run(attempt, 100)

    return asyncio.run(go())


def test_back_off_doubles_up_to_its_limit(clock: FakeClock) -> None:
    limits = Limits(retries=6, first_delay=1.0, max_delay=8.0)
    _, attempts = _run(limits, clock, _failing(*[_transient() for _ in range(6)]))
    assert attempts == 7
    for slept, longest in zip(clock.slept, [1, 2, 4, 8, 8, 8], strict=True):
        assert longest / 2 <= slept <= longest


def test_waits_follow_the_seed(clock: FakeClock) -> None:
    def waits(seed: int) -> list[float]:
        clock.slept.clear()
        _run(Limits(seed=seed), clock, _failing(*[_transient() for _ in range(4)]))
        return list(clock.slept)

    assert waits(1) == waits(1)
    assert waits(1) != waits(2)


def test_retry_after_is_honoured(clock: FakeClock) -> None:
    _, attempts = _run(Limits(), clock, _failing(_transient(20.0)))
    assert attempts == 2
    assert 20.0 <= clock.slept[0] <= 21.0


def test_final_errors_are_not_retried(clock: FakeClock) -> None:
    final = FinalModelError("no", kind="auth", status=401)
    with pytest.raises(FinalModelError) as caught:
        _run(Limits(), clock, _failing(final))
    assert (caught.value.attempts, clock.slept) == (1, [])


def test_retries_are_used_up(clock: FakeClock) -> None:
    with pytest.raises(TransientModelError) as caught:
        _run(Limits(retries=3), clock, _failing(*[_transient() for _ in range(9)]))
    assert (caught.value.attempts, len(clock.slept)) == (4, 3)


@pytest.mark.parametrize(("asked", "held"), [(30.0, 30.0), (301.0, 0.0)])
def test_a_rate_limit_holds_other_calls_back(clock: FakeClock, asked: float, held: float) -> None:
    async def go() -> float:
        gate = Gate(Limits(retries=0, max_retry_after=300.0), clock)
        with pytest.raises(TransientModelError):
            await gate.run(_failing(_transient(asked)), 1)
        started = clock.now()
        await gate.run(_failing(), 1)
        return clock.now() - started

    assert held <= asyncio.run(go()) <= held + 1.0


def test_concurrency() -> None:
    running = peak = 0

    async def attempt() -> Reply:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0)
        running -= 1
        return Reply("")

    async def go() -> None:
        gate = Gate(Limits(concurrency=3), SystemClock())
        await asyncio.gather(*[gate.run(attempt, 1) for _ in range(20)])

    asyncio.run(go())
    assert peak == 3


def test_a_waiting_call_holds_no_place(clock: FakeClock) -> None:
    order: list[str] = []

    def named(name: str, attempt: Callable[[], Awaitable[Reply]]) -> Callable[[], Awaitable[Reply]]:
        async def run() -> Reply:
            order.append(name)
            return await attempt()

        return run

    async def go() -> None:
        gate = Gate(Limits(concurrency=1), clock)
        first = named("a", _failing(_transient()))
        await asyncio.gather(gate.run(first, 1), gate.run(named("b", _failing()), 1))

    asyncio.run(go())
    assert order == ["a", "b", "a"]


def test_requests_per_minute(clock: FakeClock) -> None:
    times: list[float] = []

    async def attempt() -> Reply:
        times.append(clock.now())
        return Reply("")

    async def go() -> None:
        gate = Gate(Limits(requests_per_minute=60), clock)
        for _ in range(10):
            await gate.run(attempt, 1)

    asyncio.run(go())
    # One second's worth at once, then one a second.
    assert [round(b - a, 6) for a, b in pairwise(times)] == [0.0] + [1.0] * 8


def test_tokens_per_minute_are_corrected_by_usage(clock: FakeClock) -> None:
    async def go(reported: int) -> float:
        gate = Gate(Limits(tokens_per_minute=6000), clock)

        async def attempt() -> Reply:
            return Reply("", usage=Usage(reported, 0))

        started = clock.now()
        for _ in range(5):
            await gate.run(attempt, 1000)
        return clock.now() - started

    assert asyncio.run(go(100)) < 10.0
    assert asyncio.run(go(3000)) > 100.0


_ASKED = st.lists(st.tuples(st.floats(0.0, 30.0), st.floats(0.0, 500.0)), min_size=1, max_size=60)


@given(st.floats(10.0, 10_000.0), _ASKED)
def test_no_span_of_time_gets_more_than_its_rate(
    per_minute: float, asked: list[tuple[float, float]]
) -> None:
    clock = _StepClock()
    bucket = Bucket(per_minute, clock)
    granted = []
    for pause, amount in asked:
        clock.time += pause
        granted.append((clock.time + bucket.reserve(amount), amount))
    for first in range(len(granted)):
        total = 0.0
        for time, amount in granted[first:]:
            total += amount
            span = time - granted[first][0]
            assert total <= per_minute / 60 * (span + 1) + amount + 1e-6


@given(st.floats(10.0, 10_000.0), _ASKED)
def test_grants_keep_the_order_of_asking(
    per_minute: float, asked: list[tuple[float, float]]
) -> None:
    clock = _StepClock()
    bucket = Bucket(per_minute, clock)
    times = []
    for pause, amount in asked:
        clock.time += pause
        times.append(clock.time + bucket.reserve(amount))
    # A sum and a difference of floats: equal moments may differ in the last digit.
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(times))


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Limits(concurrency=0), "concurrency"),
        (lambda: Limits(requests_per_minute=0.0), "requests_per_minute"),
        (lambda: Limits(retries=-1), "retries"),
    ],
)
def test_senseless_limits_are_refused(make: Callable[[], Limits], field: str) -> None:
    with pytest.raises(InputError, match=field):
        make()
