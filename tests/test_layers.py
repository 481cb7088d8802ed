"""Who may import whom, and what an import may cost."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "crmbench"
LAYERS = (
    ("language",),
    ("core",),
    ("grading",),
    ("authoring", "salesforce"),
    ("domains",),
    ("formats",),
    ("models",),
    ("seats",),
    ("agents",),
    ("roles",),
    ("runner",),
    ("validity", "paraphrase", "studies", "ladder", "training", "learning"),
    ("report",),
    ("bench",),
    ("integrations", "serve"),
    ("web",),
    ("cli",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
ANYWHERE = {"errors"}


def imported(path: Path) -> set[str]:
    """The parts of crmbench that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("crmbench.")}
    return found


FILES = sorted(path for name in RANK for path in (SOURCE / name).rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_imports_to_its_right(path: Path) -> None:
    layer = path.relative_to(SOURCE).parts[0]
    for name in imported(path) - ANYWHERE:
        if name != layer:
            assert name in RANK, f"{path} imports crmbench.{name}, which is in no layer"
            assert RANK[name] < RANK[layer], f"{layer} imports {name}"


@pytest.mark.parametrize("domain", ["sales", "service"])
def test_domains_do_not_import_each_other(domain: str) -> None:
    other = {"sales": "service", "service": "sales"}[domain]
    for path in (SOURCE / "domains" / domain).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert f"crmbench.domains.{other}" not in text, path


HEAVY = (
    *("plotly", "pyarrow", "aiohttp", "openai", "anthropic", "litellm", "lark", "numpy", "rich"),
    *("starlette", "uvicorn", "mcp"),
)


@pytest.mark.parametrize("module", ["crmbench", "crmbench.cli"])
def test_imports_are_light_and_silent(module: str, tmp_path: Path) -> None:
    code = f"import sys, {module}; print(*[m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == ""
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_no_file_reads_the_wall_clock_or_unseeded_chance() -> None:
    forbidden = ("datetime.now", "date.today", "utcnow", "time.time(", "uuid4(", "urandom")
    for part in ("core", "grading", "authoring", "domains", "validity", "formats"):
        for path in (SOURCE / part).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert not [word for word in forbidden if word in text], path
