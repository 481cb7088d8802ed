"""Every tutorial is walked as a reader would: its files written, its commands and code run.

A block of Python whose first line is ``# name.py`` is a file; any other runs after those before it
on the page. In a console block ``crmbench`` and ``python`` run; with ``&`` until the page ends.
A comment above a block says otherwise: ``<!-- not run: why -->``, or ``<!-- exit 1: why -->``.
"""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
WALKED = (
    "start.md",
    "concepts.md",
    "tutorial_agent.md",
    "tutorial_model.md",
    "tutorial_notebook.md",
    "tutorial_failure.md",
    "tutorial_private_set.md",
    "tutorial_tasks.md",
    "guide_prompts.md",
    "api.md",
)
BLOCK = re.compile(
    r"(?:^ *<!-- (?P<remark>[^\n]*) -->\n)?"
    r"^(?P<indent> *)```(?P<language>console|python)\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
IN_A_LOOP = """
import ast, asyncio, sys
cells = compile(sys.argv[1], "cells", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
async def notebook():
    ended = eval(cells, {"__name__": "__main__"})
    if ended is not None:
        await ended
asyncio.run(notebook())
"""
"""What a notebook does with its cells: they run inside an event loop, and may await."""
FILE = re.compile(r"# (\w+\.py)\n")
PORT = "8080"


class Block(NamedTuple):
    """A block that is run."""

    language: str
    body: str
    exit_code: int


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page, those left out that say so."""
    for found in BLOCK.finditer(text):
        remark = found["remark"] or ""
        if not remark.startswith("not run: "):
            expected = re.match(r"exit (\d+): ", remark)
            yield Block(
                found["language"], dedent(found["body"]), int(expected[1]) if expected else 0
            )


class Reader:
    """Someone who types what a page says, in an empty directory."""

    def __init__(self, place: Path, stack: ExitStack, *, notebook: bool = False) -> None:
        self.place, self._stack, self._earlier = place, stack, ""
        self._before = ["-c", IN_A_LOOP] if notebook else ["-c"]
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    def follow(self, block: Block) -> None:
        """Do what a block says."""
        file = FILE.match(block.body)
        if block.language == "console":
            for line in block.body.splitlines():
                self._type(line, block.exit_code)
        elif file:
            (self.place / file[1]).write_text(block.body, encoding="utf-8")
        else:
            self._earlier += block.body
            self._run([sys.executable, *self._before, self._earlier], block.exit_code)

    def _type(self, line: str, exit_code: int) -> None:
        words = shlex.split(re.sub(r"\s+# .*", "", line))
        stays = bool(words) and words[-1] == "&"
        heads = {"crmbench": [sys.executable, "-m", "crmbench"], "python": [sys.executable]}
        assert words[0] in heads, f"nobody runs '{line}': say why above it"
        command = [*heads[words[0]], *words[1 : -1 if stays else None]]
        if stays:
            self._leave_running(command)
        else:
            self._run(command, exit_code)

    def _run(self, command: list[str], exit_code: int) -> None:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.place,
            env=self._environment,
        )
        assert done.returncode == exit_code, f"{command}\n{done.stdout[-2000:]}\n{done.stderr}"

    def _leave_running(self, command: list[str]) -> None:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=self.place, env=self._environment
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.terminate)
        assert process.stdout is not None
        self._stack.callback(process.stdout.close)
        assert process.stdout.readline().startswith("http"), "the server did not start"


def free_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


@pytest.mark.parametrize("page", WALKED)
def test_a_page_can_be_followed(page: str, tmp_path: Path) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").replace(PORT, free_port())
    found = list(blocks(text))
    assert found
    with ExitStack() as stack:
        reader = Reader(tmp_path, stack, notebook=page == "tutorial_notebook.md")
        for block in found:
            reader.follow(block)


def test_a_page_that_says_what_does_not_work_is_caught(tmp_path: Path) -> None:
    with ExitStack() as stack, pytest.raises(AssertionError):
        Reader(tmp_path, stack).follow(Block("console", "crmbench run no_such_set\n", 0))
    with ExitStack() as stack, pytest.raises(AssertionError):
        Reader(tmp_path, stack).follow(Block("python", "import no_such_module\n", 0))


def test_every_tutorial_is_walked() -> None:
    pages = {page.name for page in (ROOT / "docs").glob("tutorial_*.md")}
    assert pages <= set(WALKED) | {"tutorial_domain.md"}
