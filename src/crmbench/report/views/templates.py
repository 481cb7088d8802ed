"""Templates of pages: those of the report, and the parts that it shares with pages that are served.

Whatever is put into a template is escaped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape

from crmbench.report.views.values import count, money, seconds, share, shown


@cache
def _plain_environment() -> Environment:
    return Environment(autoescape=select_autoescape(default=True), trim_blocks=True)


@cache
def page_template(name: str) -> Any:
    """A template of this package that stands alone."""
    return _plain_environment().from_string(report_source(name))


@cache
def page_style() -> str:
    """The style that all pages share."""
    return report_source("style.css")


@cache
def parts_style() -> str:
    """The style of the shared parts."""
    return part_source("parts.css")


def report_source(name: str) -> str:
    """The text of a file of this package."""
    return (resources.files("crmbench.report") / name).read_text(encoding="utf-8")


def part_source(name: str) -> str:
    """The text of a shared part: an episode, the list of episodes, their style."""
    return report_source(f"parts/{name}")


def strict_environment(source: Callable[[str], str]) -> Environment:
    """Templates that may import others, in which a name that is missing is an error.

    Args:
        source: The text of a template by its name.
    """
    made = Environment(
        loader=FunctionLoader(source),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update(share=share, money=money, count=count, shown=shown, seconds=seconds)
    return made


@cache
def parts() -> Environment:
    """The shared parts, for pages that are made without a server."""
    return strict_environment(part_source)
