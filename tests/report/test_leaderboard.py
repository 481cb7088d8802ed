"""Who stands where, and who does not stand on one board."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from tests.conftest import NORTHGATE

from crmbench.agents.protocol import Session, SimpleFactory
from crmbench.report.leaderboard import leaderboard, write_leaderboard
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir


class Silent:
    """An agent of somebody's that does nothing."""

    async def turn(self, session: Session, utterance: str) -> str:
        del session, utterance
        return "Hm."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunDir]:
    base = tmp_path_factory.mktemp("board")
    for name in ("noop", "oracle"):
        execute(RunOptions(file=NORTHGATE, agent=name), base / name)
    silent = SimpleFactory("silent", lambda _view, _seed: Silent())
    for name, trials in (("one", 1), ("two", 2)):
        options = RunOptions(file=NORTHGATE, agent="mine", trials=trials)
        execute(options, base / name, factory=silent)
    return [RunDir(base / name) for name in ("noop", "one", "two", "oracle")]


def test_agents_are_ranked_and_equals_share_a_rank(runs: list[RunDir]) -> None:
    (board,) = leaderboard(runs)
    assert [entry.run for entry in board.entries] == ["oracle", "one", "two", "noop"]
    assert [entry.rank for entry in board.entries] == [None, 1, 1, None]
    assert [entry.role for entry in board.entries] == ["ceiling", "agent", "agent", "baseline"]


def test_repeated_trials_show_pass_hat_k(runs: list[RunDir]) -> None:
    by_run = {entry.run: entry for entry in leaderboard(runs)[0].entries}
    assert by_run["one"].pass_hat is None
    assert (by_run["two"].pass_hat, by_run["two"].k) == (0.0, 2)


def test_other_data_is_another_board(runs: list[RunDir], tmp_path: Path) -> None:
    other = RunDir(tmp_path / "other")
    other.create({**runs[0].config(), "data_digest": "different"}, runs[0].tasks())
    assert [len(board.entries) for board in leaderboard([*runs, other])] == [4, 1]


def test_the_page_and_the_data_name_every_run(runs: list[RunDir], tmp_path: Path) -> None:
    write_leaderboard(runs, tmp_path / "board.html")
    page = (tmp_path / "board.html").read_text(encoding="utf-8")
    data = orjson.dumps([board.to_data() for board in leaderboard(runs)]).decode()
    for run in ("noop", "one", "two", "oracle"):
        assert f"<td>{run}</td>" in page
        assert f'"run":"{run}"' in data
    assert "<script" not in page
    assert "http" not in page
