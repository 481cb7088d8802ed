"""Fixtures for the models: a clock that does not wait, tools, and limits for tests."""

from __future__ import annotations

import asyncio

import pytest

from crmbench.models import Limits, ToolSpec


class FakeClock:
    """Time that passes only when someone sleeps."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def tools() -> list[ToolSpec]:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "stage": {"enum": ["Open", "Closed"]}},
        "required": ["name", "stage"],
        "additionalProperties": False,
    }
    return [ToolSpec("client_search", "Find clients.", schema), ToolSpec("add", "Add.", schema)]


@pytest.fixture
def quick() -> Limits:
    """Retries without noticeable waits."""
    return Limits(retries=2, first_delay=0.001, max_delay=0.002, timeout=5.0)
