"""The command line. One file a verb; a verb's own imports happen when it runs.

Exit codes: 0 all well · 1 it ran, and the result falls short · 2 bad input or usage ·
3 a model, server or database failed · 4 a fault of crmbench or of a task · 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from crmbench.cli import (
    audit,
    bench,
    check_replies,
    compare,
    conditions,
    doctor,
    grade,
    ladder,
    launch,
    learn,
    mcp,
    play,
    replay,
    report,
    run,
    serve,
    show,
    soql,
    study,
)
from crmbench.cli.data import db, export, generate, import_, import_org, paraphrase, publish
from crmbench.cli.pages import explore, site, view
from crmbench.errors import CrmbenchError, HarnessError, InfrastructureError

EPILOG = (
    "Exit codes: 0 all well, 1 the result falls short, 2 bad input, 3 a model or server failed, "
    "4 a fault of crmbench or of a task, 130 interrupted."
)

INTERRUPTED = 130

app = typer.Typer(
    name="crmbench",
    help="Find out whether an LLM agent can be trusted with a CRM.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        sys.stdout.write(f"crmbench {version('crmbench')}\n")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_version
        ),
    ] = False,
) -> None:
    """Find out whether an LLM agent can be trusted with a CRM."""
    del version


run.register(app)
play.register(app)
ladder.register(app)
learn.register(app)
replay.register(app)
report.register(app)
view.register(app)
explore.register(app)
site.register(app)
compare.register(app)
conditions.register(app)
import_.register(app)
import_org.register(app)
export.register(app)
grade.register(app)
doctor.register(app)
db.register(app)
bench.register(app)
audit.register(app)
soql.register(app)
generate.register(app)
publish.register(app)
show.register(app)
check_replies.register(app)
paraphrase.register(app)
study.register(app)
serve.register(app)
launch.register(app)
mcp.register(app)


def main() -> None:
    """Run the command line; errors of people's making are said in one line, without a traceback."""
    try:
        try:
            _read_env_file()
            app()
        finally:
            sys.stdout.flush()
    except CrmbenchError as error:
        kind = "fault" if isinstance(error, HarnessError) else "error"
        sys.stderr.write(f"{kind}: {error}\n")
        sys.exit(exit_code(error))
    except SystemExit as end:
        if end.code == INTERRUPTED:
            sys.stderr.write(f"interrupted{_said_at(end)}\n")
        raise
    except BrokenPipeError:
        # Whoever read our output has gone, as `head` does; that is no fault.
        _discard_output()
        sys.exit(0)
    except OSError as error:
        if error.filename is not None:
            raise
        _discard_output()
        sys.stderr.write(f"error: the output cannot be written: {error.strerror}\n")
        sys.exit(2)


def _read_env_file() -> None:
    """Keys and addresses from a file ``.env`` where the command is given; what is set already
    stays. Where there is none, nothing is imported for it.
    """
    if os.path.exists(".env"):
        from dotenv import load_dotenv

        load_dotenv(".env", override=False)


def _said_at(error: BaseException | None) -> str:
    """What the interruption that led to an error has to say, after a colon."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return f": {error}" if error is not None and str(error) else ""


def _discard_output() -> None:
    # Else the interpreter tries once more to write what is left, and says so.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_code(error: CrmbenchError) -> int:
    """The exit code that an error ends the process with."""
    if isinstance(error, InfrastructureError):
        return 3
    if isinstance(error, HarnessError):
        return 4
    return 2
