"""Agents written in Python: ``--agent module:factory``."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from crmbench.agents.protocol import Agent, SimpleFactory
from crmbench.core.task import TaskView
from crmbench.errors import InputError

EXPECTED = "module:name of a class or function that returns an object with `async def turn`"


def load(spec: str) -> SimpleFactory:
    """The factory that ``module:name`` or ``path/to/file.py:name`` names.

    It is called with the `TaskView` if it takes an argument, else with nothing.

    Raises:
        InputError: There is no such module or name, or it makes no agent.
    """
    module_name, colon, attribute = spec.rpartition(":")
    if not (colon and module_name and attribute):
        raise InputError(f"'{spec}' names no agent", expected=EXPECTED)
    made = getattr(_module(module_name, spec), attribute, None)
    if not callable(made):
        raise InputError(f"{module_name} has no callable '{attribute}'", expected=EXPECTED)
    return factory_of(made, spec)


def class_in(path: Path) -> str:
    """The name of the first class with a method `turn` in a file, which is not run; `MyAgent`
    where there is none.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return "MyAgent"
    for made in tree.body:
        if isinstance(made, ast.ClassDef) and any(
            getattr(part, "name", None) == "turn" for part in made.body
        ):
            return made.name
    return "MyAgent"


def factory_of(made: Callable[..., Any], name: str) -> SimpleFactory:
    """The factory that calls a class or function for each conversation."""
    return SimpleFactory(name, _maker(made, name))


def _module(name: str, spec: str) -> Any:
    path = Path(name)
    # As `python -m` does: the working directory is where people keep their agents.
    for place in (str(Path.cwd()), str(path.parent.resolve()) if path.suffix == ".py" else ""):
        if place and place not in sys.path:
            sys.path.insert(0, place)
    try:
        return importlib.import_module(path.stem if path.suffix == ".py" else name)
    except ImportError as error:
        raise InputError(
            f"agent '{spec}' cannot be imported: {error}", expected=EXPECTED
        ) from error


def _maker(made: Callable[..., Any], spec: str) -> Callable[[TaskView, int], Agent]:
    takes_view = bool(inspect.signature(made).parameters)

    def make(view: TaskView, seed: int) -> Agent:
        del seed
        agent = made(view) if takes_view else made()
        if not inspect.iscoroutinefunction(getattr(agent, "turn", None)):
            raise InputError(f"agent '{spec}' has no `async def turn`", expected=EXPECTED)
        return cast(Agent, agent)

    return make
