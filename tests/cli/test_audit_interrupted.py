"""Ctrl-C in an audit leaves no database server behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from crmbench.api import load
from crmbench.formats.arc import save_tasks
from crmbench.validity.work import WORTH_IT

GONE_S = 60
"""Far more than a server that was told to stop needs to be gone."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the audit's servers keep their data; a short path, as sockets need it."""
    with TemporaryDirectory(prefix="audit-") as name:
        yield Path(name)


def servers_in(folder: Path) -> list[psutil.Process]:
    """PostgreSQL servers with their data in a folder, and the processes that serve connections."""
    found = []
    for process in psutil.process_iter(["name", "cmdline"]):
        words = " ".join(process.info["cmdline"] or ())
        if process.info["name"] == "postgres" and str(folder) in words:
            found += [process, *process.children()]
    return found


@contextmanager
def audit_of(folder: Path, tasks: int) -> Iterator[subprocess.Popen[str]]:
    """An audit on PostgreSQL, in a process group that hears Ctrl-C as a terminal's does."""
    save_tasks(folder / "some.jsonl", load("sales/standard")[:tasks])
    line = ["audit", str(folder / "some.jsonl"), "--backend", "postgres"]
    with subprocess.Popen(
        [sys.executable, "-m", "crmbench", *line],
        # Not on a server of the tester's own.
        env={**os.environ, "TMPDIR": str(folder), "DATABASE_URL": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as audit:
        yield audit


SIZES = pytest.mark.parametrize(
    "tasks", [WORTH_IT - 1, WORTH_IT], ids=["one process", "two processes"]
)


@SIZES
def test_an_interrupted_audit_leaves_no_server(folder: Path, tasks: int) -> None:
    with audit_of(folder, tasks) as audit:
        assert audit.stderr is not None
        told = [audit.stderr.readline() for _ in range(2)]
        assert "oracle" in told[1], "its servers run once the oracle has played"
        servers = servers_in(folder)
        os.killpg(audit.pid, signal.SIGINT)
        said = audit.stderr.read()
    assert servers, "a server was running"
    assert audit.returncode == 130
    assert "interrupted: no report was written" in said
    assert "Traceback" not in said
    psutil.wait_procs(servers, GONE_S)
    assert [p for p in servers if p.is_running() and p.status() != psutil.STATUS_ZOMBIE] == []
    assert servers_in(folder) == []
    assert list(folder.glob("crmbench-pg-*")) == []


@SIZES
def test_nor_does_one_whose_servers_were_only_starting(folder: Path, tasks: int) -> None:
    with audit_of(folder, tasks) as audit:
        while not list(folder.glob("crmbench-pg-*/data/postmaster.pid")):
            assert audit.poll() is None
        os.killpg(audit.pid, signal.SIGINT)
        audit.communicate()
    assert audit.returncode == 130
    psutil.wait_procs(servers_in(folder), GONE_S)
    assert servers_in(folder) == []
    assert list(folder.glob("crmbench-pg-*")) == []
