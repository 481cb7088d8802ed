"""A server in a process of its own, as `crmbench serve` starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

ROOT = Path(__file__).parents[2]
ADMIN = "the-token-of-whoever-runs-it"


class ServerProcess:
    """Runs `crmbench serve` with some arguments, on a free port."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "crmbench", "serve", "--port", "0", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        self.process = subprocess.Popen(
            [*command, "--token", ADMIN], stdout=subprocess.PIPE, text=True, env=environment
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.address
        self.host, _, port = self.address.removeprefix("http://").partition(":")
        self.port = int(port)
        self.admin = httpx2.Client(
            base_url=self.address, headers={"Authorization": f"Bearer {ADMIN}"}, timeout=60
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.admin.close()
        self.process.terminate()
        self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def kill(self) -> None:
        """As `kill -9` does."""
        self.process.kill()
        self.process.wait(30)

    def open_session(self, set_name: str, task: int | str, agent: str) -> dict[str, Any]:
        """Begin a task; what the server says of the session."""
        body = {"set": set_name, "task": task, "agent": agent}
        answer = self.admin.post("/v1/sessions", json=body)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def memory(self) -> int:
        """Bytes of memory that it has."""
        text = Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")
