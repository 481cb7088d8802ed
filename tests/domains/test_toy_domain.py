"""A domain of somebody else's: one folder, found by its entry point, and every verb works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.domains.toy import TOY, environment, install


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package's metadata lies."""
    folder = tmp_path_factory.mktemp("site")
    install(folder)
    return folder


def crmbench(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "crmbench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=site,
        env=environment(site),
    )


def test_it_takes_less_than_150_lines() -> None:
    files = [file for file in TOY.rglob("*") if file.suffix in (".py", ".md", ".yaml")]
    assert sum(len(file.read_text("utf-8").splitlines()) for file in files) < 150


@pytest.mark.parametrize(("agent", "rate"), [("oracle", 1.0), ("noop", 0.0)])
def test_it_can_be_run(site: Path, agent: str, rate: float) -> None:
    done = crmbench(site, "run", "toy/test", "--agent", agent, "--quiet", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["success_rate"], summary["conversations"]) == (rate, 30)


def test_it_can_be_named_as_the_domain(site: Path) -> None:
    done = crmbench(site, "run", "--domain", "toy", "--agent", "oracle", "--quiet", "--json")
    assert json.loads(done.stdout)["conversations"] == 60, done.stderr


def test_its_data_set_is_the_same_every_time(site: Path) -> None:
    for folder in ("one", "two"):
        done = crmbench(site, "generate", "toy", "--out", folder)
        assert done.returncode == 0, done.stderr
    for name in ("train.jsonl", "test.jsonl", "README.md"):
        assert (site / "one" / name).read_bytes() == (site / "two" / name).read_bytes()


def test_its_audit_passes(site: Path) -> None:
    done = crmbench(site, "audit", "toy", "--backend", "sqlite")
    assert done.returncode == 0, done.stdout
    assert "mutants killed" in done.stdout
    assert "All gates pass" in done.stdout


def test_a_split_that_it_has_not_is_named_with_those_that_it_has(site: Path) -> None:
    done = crmbench(site, "run", "toy/dev")
    assert done.returncode != 0
    assert "there is no split 'dev' of toy" in done.stderr
    assert "expected toy/train, toy/test" in done.stderr


def test_a_domain_that_nobody_brings_is_named_with_those_that_there_are(site: Path) -> None:
    done = crmbench(site, "generate", "marketing")
    assert "there is no domain 'marketing'; expected sales or service or toy" in done.stderr
