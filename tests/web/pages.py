"""Runs to look at, and a client that asks for their pages, for the tests of pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from starlette.testclient import TestClient
from tests.conftest import NORTHGATE, PartlyFactory

from crmbench.report.run_files import conclude_run
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir
from crmbench.web.runs import RunStore
from crmbench.web.view import viewer_app
from crmbench.web.viewer import Viewer

OPEN = "does not convey amount 45000: it is only guessed"
"""An open reading, as the grader words them."""


def play(out: Path, agent: str = "oracle") -> RunDir:
    """A run over the small conversations, with its figures."""
    return _concluded(RunOptions(NORTHGATE, agent=agent), out, None)


def play_partly(out: Path) -> RunDir:
    """A run in which two conversations succeed."""
    return _concluded(RunOptions(NORTHGATE, agent="partly"), out, PartlyFactory())


def _concluded(options: RunOptions, out: Path, factory: PartlyFactory | None) -> RunDir:
    conclude_run(options, execute(options, out, factory=factory), out)
    return RunDir(out)


def with_open_reading(source: RunDir, out: Path) -> RunDir:
    """The run with its first episode left undecided by one reading of its first turn."""
    target = RunDir(out)
    target.create(source.config(), source.tasks())
    first, *rest = source.episodes()
    turn = replace(first.verdict.turns[0], success=False, undecided=(OPEN,), unsaid=())
    verdict = replace(
        first.verdict,
        success=False,
        undecided=True,
        reason=f"turn 1: {OPEN}",
        failed_at_turn=1,
        turns=(turn, *first.verdict.turns[1:]),
    )
    for record in (replace(first, verdict=verdict), *rest):
        target.append(record)
    target.close()
    return target


def client_of(runs: Sequence[Path], by: str = "tester") -> TestClient:
    """The pages over some runs, all of them read."""
    store = RunStore.open(runs)
    store.read()
    return TestClient(viewer_app(Viewer(store, by), ("testserver",)))
