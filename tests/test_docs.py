"""The docs are held true: every command, flag, path and Python example in them works."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?crmbench (\w+)(.*?)(?:#.*)?$", re.MULTILINE)
INLINE = re.compile(r"`crmbench (\w+)([^`]*)`")
LINK = re.compile(r"\]\(([^)#:]+)\)")
TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


@cache
def help_of(verb: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "crmbench", verb, "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"there is no verb '{verb}'"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_flag_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for verb, rest in [*COMMAND.findall(text), *INLINE.findall(text)]:
        shown = help_of(verb)
        for flag in re.findall(r"(?<!\S)--[a-z-]+", rest):
            assert flag in shown, f"{page.name}: crmbench {verb} has no {flag}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_linked_file_exists(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_menu_of_the_site_names_every_page() -> None:
    named = re.findall(
        r"^([a-z_]+)$", "\n".join(TOCTREE.findall((DOCS / "index.md").read_text("utf-8"))), re.M
    )
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert set(named) == pages, "each page of docs/ stands in one toctree of docs/index.md"
    assert len(named) == len(set(named))


@pytest.mark.parametrize("target", ["demo", "test", "bench", "check", "docs"])
def test_every_make_target_that_is_named_exists(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def examples() -> list[str]:
    return PYTHON.findall((ROOT / "docs" / "api.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", range(2))
def test_the_python_examples_run(number: int, tmp_path: Path) -> None:
    code = examples()[number]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_the_agent_of_the_readme_runs(tmp_path: Path) -> None:
    (code,) = PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    (tmp_path / "my_agent.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "crmbench", "run", "demo", "--agent", "my_agent.py:MyAgent"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "24 conversations" in " ".join(done.stdout.split())


def test_no_page_names_a_path_of_a_machine() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w.])/(?:root|home|tmp|mnt)/", text), page.name
