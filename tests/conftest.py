"""What tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from crmbench.agents.oracle import Oracle
from crmbench.agents.protocol import Agent
from crmbench.agents.trivial import Noop
from crmbench.core.task import Task

# The same examples on every machine, and none refused because the machine is slow today.
settings.register_profile(
    "suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")

NORTHGATE = str(Path(__file__).parent / "data" / "northgate.jsonl")
"""Twelve small conversations (33 turns) about five clients, for tests that need to know what is
in them; the bundled set may change."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A suite in the background ignores Ctrl-C, and so would every process that a test interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ARC = Path(__file__).parents[2] / "shared" / "data" / "arc"

SOLVED = ("northgate-01", "northgate-04")
"""The conversations that `PartlyFactory` solves, both about opportunities."""


class PartlyFactory:
    """An agent with known figures: it follows the gold in two conversations and is idle else."""

    name = "partly"

    def start_with_gold(self, task: Task) -> Agent:
        return Oracle(task) if task.task_id in SOLVED else Noop()

    async def close(self) -> None:
        return None


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is kept between runs lies in a folder of this suite: neither finds the other's."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        # Workers of one suite share it, as the processes of one person do.
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CRMBENCH_CACHE", str(folder / "cache"))
        yield


@pytest.fixture(scope="session")
def arc_data() -> Path:
    """The published Arc files, where somebody has put them beside the repository."""
    if not (ARC / "evaluation_400.jsonl").exists():
        pytest.skip("the published Arc files are not beside the repository")
    return ARC
