"""The docs are held true: every command, flag, path and Python example in them works."""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest
import typer
import yaml
from tests.test_layers import LAYERS, RANK

import crmbench
from crmbench.cli import EPILOG, app

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
CONFIG = ROOT / ".github/ISSUE_TEMPLATE/config.yml"
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")),
    *sorted((ROOT / "docs").glob("*.md")),
]
FORMS = sorted(set((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")) - {CONFIG})
COMMAND = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?crmbench ([\w-]+)(.*?)(?:#.*)?$", re.MULTILINE)
INLINE = re.compile(r"`crmbench ([\w-]+)([^`]*)`")
LINK = re.compile(r"\]\(([^)#:]+)\)")
TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
ROOMS = re.compile(r"<!-- rooms -->\n```text\n(.*?)\n```", re.DOTALL)
PATH = re.compile(r"`((?:src|docs|tests|examples)/[\w./-]+)`")
PUBLIC = re.compile(r"```\{public\}\n(.*?)```", re.DOTALL)
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


def test_the_map_of_rooms_is_the_order_that_is_held() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    found = ROOMS.search(text)
    assert found, "docs/architecture.md has no block of rooms"
    lines = [line.split()[0] for line in found[1].splitlines()]
    assert set(lines) == set(RANK), "docs/architecture.md: a line a room, as in test_layers.LAYERS"
    assert [RANK[name] for name in lines] == sorted(RANK.values(), reverse=True)
    alone = {names[0] for names in LAYERS if len(names) == 1}
    for line in found[1].splitlines():
        assert (line.split()[1] == "=") == (line.split()[0] not in alone), line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_is_named_exists(page: Path) -> None:
    for path in PATH.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / path).exists(), f"{page.name} names {path}"


def documented() -> list[tuple[str, str]]:
    """Module and name of everything that the reference shows."""
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    found = []
    for line in "".join(PUBLIC.findall(text)).splitlines():
        module, *names = line.split()
        found += [(module, name) for name in names or public_names(module)]
    return found


def public_names(module: str) -> list[str]:
    loaded = importlib.import_module(module)
    own = [
        name
        for name, value in vars(loaded).items()
        if getattr(value, "__module__", "") == module and not name.startswith("_")
    ]
    return [name for name in getattr(loaded, "__all__", own) if callable(getattr(loaded, name))]


@pytest.mark.parametrize(("module", "name"), documented())
def test_what_the_reference_shows_has_words(module: str, name: str) -> None:
    text = inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
    assert text, f"{module}.{name} has no docstring"
    # A dataclass without words has its signature for a docstring.
    assert not text.startswith(f"{name}("), f"{module}.{name} has no docstring"


def test_the_reference_shows_the_package_and_what_agents_meet() -> None:
    shown = set(documented())
    assert {("crmbench", name) for name in crmbench.__all__} <= shown
    assert {("crmbench.agents.protocol", name) for name in ("Agent", "Session")} <= shown
    assert ("crmbench.core.task", "TaskView") in shown
    assert {("crmbench.errors", "InputError"), ("crmbench.errors", "ToolError")} <= shown


def test_the_table_of_commands_names_every_verb() -> None:
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `crmbench ([\w-]+)", text, re.MULTILINE)
    assert sorted(named) == sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_a_reader_can_type_crmbench_where_the_page_does(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert 0 < text.index("\n. .venv/bin/activate") < text.index("\ncrmbench ")
    assert ".venv/bin/crmbench" not in text


def test_the_citation_says_which_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["authors"] == [{"name": "The crmbench authors"}]
    assert citation["version"] == version("crmbench")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"version = {{{citation['version']}}}" in readme


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_an_issue_form_can_be_filled_in(form: Path) -> None:
    data = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(data)
    for part in data["body"]:
        assert part["type"] in {"textarea", "input", "dropdown"}
        assert {"label"} <= set(part["attributes"])
        assert part["id"]


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (\d+) \|", text, re.MULTILINE)
    assert listed == re.findall(r"(\d+) [a-z]", EPILOG)


def test_what_loads_from_elsewhere_is_told_from_links() -> None:
    rules = runpy.run_path(str(DOCS / "_ext" / "foreign.py"))
    assert all(rules["FOREIGN"].search(text) for text in rules["FOUND"])
    assert not any(rules["FOREIGN"].search(text) for text in rules["PASSED"])


@pytest.mark.parametrize("target", ["demo", "test", "bench", "check", "docs", "pictures"])
def test_every_make_target_that_is_named_exists(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)


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
