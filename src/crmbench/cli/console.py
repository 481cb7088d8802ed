"""What verbs print with: JSON for machines, a progress bar for people."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from crmbench.runner.run import Progress


def print_json(data: Any) -> None:
    """One JSON object on standard output."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE
    sys.stdout.write(orjson.dumps(data, option=options).decode())


def say(text: str) -> None:
    """A line for people, on standard output."""
    sys.stdout.write(text + "\n")


def remark(text: str) -> None:
    """A line for people that is not the result, on standard error."""
    sys.stderr.write(text + "\n")


@contextmanager
def if_interrupted(kept: str) -> Iterator[None]:
    """Have Ctrl-C end with a word on what is kept, unless what it stopped says so itself.

    Raises:
        KeyboardInterrupt: Somebody pressed Ctrl-C; its text says what is kept.
    """
    try:
        yield
    except KeyboardInterrupt as stop:
        if str(stop):
            raise
        raise KeyboardInterrupt(kept) from None


@contextmanager
def progress_bar(title: str, quiet: bool) -> Iterator[Progress]:
    """A bar on standard error, if that is a terminal and nobody asked for quiet."""
    if quiet:
        logging.getLogger("crmbench").setLevel(logging.ERROR)
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task(title)
        yield lambda done, everything: bar.update(line, completed=done, total=everything)
