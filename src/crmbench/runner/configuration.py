"""What identifies a run, as its directory keeps it."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from crmbench.core.conditions import parse_conditions
from crmbench.errors import InputError
from crmbench.grading.verdict import GRADING_VERSION
from crmbench.runner.options import RunOptions
from crmbench.runner.participants import record_of_models
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import RunData

MUST_MATCH = (
    "data_digest",
    "agent",
    "model",
    "trials",
    "seed",
    "filters",
    "sample",
    "grading_version",
    "user",
    "user_messages",
    "judge",
    "judge_all",
    "judge_weight",
    "judge_pass",
    "prompts",
    "condition",
    "condition_seed",
    "budget",
)
"""What a resumed run must have in common with the one that it goes on with."""


def configuration(options: RunOptions, data: RunData) -> dict[str, Any]:
    """What identifies a run: the options, the data's digest and the versions of what ran it."""
    from importlib.metadata import version

    settings = asdict(replace(options, resume=False, concurrency=0))
    for name in ("resume", "concurrency", "file", "max_cost", "workers", "executor"):
        del settings[name]
    settings["condition"] = ",".join(map(str, parse_conditions(options.condition)))
    settings["prompt_files"] = Path(settings.pop("prompts")).name
    for name in ("condition", "condition_seed", "budget", "prompt_files"):
        # Absent from a run that has none, which is stored as it always was.
        if not settings[name]:
            del settings[name]
    usual = RunOptions("")
    for name in ("judge_weight", "judge_pass"):
        if options.judge is None or settings[name] == getattr(usual, name):
            del settings[name]
    settings |= record_of_models(options)
    return {
        **settings,
        "filters": list(options.filters),
        "data": data.name,
        "data_digest": data.digest,
        "grading_version": GRADING_VERSION,
        "crmbench": version("crmbench"),
        "python": platform.python_version(),
        "git_revision": _revision(),
    }


def check_same(
    run_dir: RunDir,
    config: Mapping[str, Any],
    names: Sequence[str] = MUST_MATCH,
    what: str = "run",
) -> None:
    """Refuse to go on with a run that was configured otherwise.

    Args:
        names: Fields of the configuration that have to be the same.
        what: What the directory holds, for the complaint.

    Raises:
        InputError: The directory's run and this one differ in one of them.
    """
    earlier = run_dir.config()
    for name in names:
        # A run of an earlier version may lack a field whose value is none now.
        if (earlier.get(name) or None) != (config.get(name) or None):
            raise InputError(
                f"the {what} there has {name} {earlier.get(name)!r}, this one {config.get(name)!r}",
                file=str(run_dir.path),
                expected="the same command as before, with --resume",
            )


@cache
def _revision() -> str | None:
    """The commit of the code, where it runs from a checkout."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return found.stdout.strip() or None
