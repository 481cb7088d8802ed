"""The toy domain of examples/, as an installed package would bring it."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TOY = ROOT / "examples" / "toy_domain"


def install(folder: Path, name: str = "crmbench_toy_domain", points: str | None = None) -> None:
    """Write the metadata that an installer would write, from the package's own pyproject.

    Args:
        folder: Where; it has to be on `sys.path`.
        points: Entry points in place of the package's own.
    """
    project = tomllib.loads((TOY / "pyproject.toml").read_text("utf-8"))["project"]
    info = folder / f"{name}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {project['version']}\n", "utf-8"
    )
    lines = [f"{k} = {v}" for k, v in project["entry-points"]["crmbench.domains"].items()]
    text = "\n".join(["[crmbench.domains]", *lines]) if points is None else points
    (info / "entry_points.txt").write_text(text + "\n", "utf-8")


def environment(folder: Path) -> dict[str, str]:
    """Environment variables under which Python finds the toy domain and its metadata."""
    path = [str(folder), str(TOY), *(p for p in sys.path if p)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
