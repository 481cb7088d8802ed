"""A program that plays: started in a folder of its own, what it prints kept, ended with all that
it started.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from crmbench.errors import AgentError, InputError

GRACE_S = 3.0
"""Seconds that a program has to end by itself, once it was asked to."""
PRINTED, COMPLAINED = "stdout.txt", "stderr.txt"


def parse_command(text: str) -> list[str]:
    """The words of a command, its files named so that they are found from any folder.

    Raises:
        InputError: It is empty, its quotes do not close, or there is no such program.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"the command cannot be read: {error}", expected="a command") from error
    if not words:
        raise InputError("there is no command", expected="mcp:COMMAND or cli:COMMAND")
    program = shutil.which(words[0], path=_search_path())
    if program is None:
        raise InputError(f"there is no program '{words[0]}'", expected="a command that runs")
    return [program, *(str(Path(word).resolve()) if _is_file(word) else word for word in words[1:])]


def _is_file(word: str) -> bool:
    return not word.startswith("-") and Path(word).is_file()


def _search_path() -> str:
    """The environment's search path, with this Python's programs first."""
    return os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))


class CommandProcess:
    """One run of a program.

    Args:
        words: The command.
        folder: Where it works.
        logs: Where what it prints goes, appended to what is there.
        environment: Beside that of this process.
        prompt: What it reads on standard input.
    """

    def __init__(
        self,
        words: Sequence[str],
        folder: Path,
        logs: Path,
        environment: Mapping[str, str],
        prompt: str,
    ) -> None:
        self._words = words
        self._folder = folder
        self._logs = logs
        self._environment = {**os.environ, "PATH": _search_path(), **environment}
        self._prompt = prompt
        self._process: asyncio.subprocess.Process | None = None
        self._feeding: asyncio.Task[None] | None = None
        self._printed_before = 0

    async def start(self) -> None:
        """Start it.

        Raises:
            AgentError: The system cannot.
        """
        self._logs.mkdir(parents=True, exist_ok=True)
        printed, complained = self._logs / PRINTED, self._logs / COMPLAINED
        with printed.open("ab") as out, complained.open("ab") as err:
            self._printed_before = out.tell()
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self._words,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=out,
                    stderr=err,
                    cwd=self._folder,
                    env=self._environment,
                    start_new_session=True,
                )
            except OSError as error:
                raise AgentError(f"{self._words[0]} cannot be started: {error}") from error
        self._feeding = asyncio.create_task(self._feed())

    async def _feed(self) -> None:
        process = self._process
        if process is None or process.stdin is None:
            return
        with suppress(OSError):
            process.stdin.write(self._prompt.encode())
            await process.stdin.drain()
        process.stdin.close()

    @property
    def exit_code(self) -> int | None:
        """As the system gives it; None while it runs."""
        return self._process.returncode if self._process else None

    async def wait(self) -> int:
        """Wait for its end, and return its exit code."""
        return await self._process.wait() if self._process else 0

    def printed(self) -> str:
        """What it has printed on standard output."""
        with (self._logs / PRINTED).open("rb") as file:
            file.seek(self._printed_before)
            return file.read().decode("utf-8", "replace")

    async def end(self) -> None:
        """Wait a moment for its end, then end it with everything that it started."""
        if self._process is None:
            return
        try:
            async with asyncio.timeout(GRACE_S):
                await self._process.wait()
        except TimeoutError:
            pass
        finally:
            await self.kill()

    async def kill(self) -> None:
        """End it at once, with everything that it started."""
        if self._process is None:
            return
        self.strike()
        await self._process.wait()
        if self._feeding is not None:
            self._feeding.cancel()

    def strike(self) -> None:
        """The same without waiting for it."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
