"""A learner by its name: ours, or a class of anybody's as ``module:Class``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from crmbench.errors import InputError
from crmbench.learning.protocol import Learner, LearnerContext

OURS: Mapping[str, str] = {
    "none": "crmbench.learning.learners.plain:NoMemory",
    "history": "crmbench.learning.learners.plain:FullHistory",
    "placebo": "crmbench.learning.learners.plain:Placebo",
    "playbook": "crmbench.learning.learners.playbook:Playbook",
    "retrieval": "crmbench.learning.learners.retrieval:Retrieval",
    "simulated": "crmbench.learning.simulated:SimulatedLearner",
    "atlas": "crmbench.integrations.atlas.learner:AtlasLearner",
}
"""Loaded when asked for: the last one needs the extra ``atlas``."""
EXPECTED = ", ".join(OURS) + " or module:Class"


def split_name(spec: str) -> tuple[str, str]:
    """Where a learner is and what stands after its name.

    ``retrieval:5`` is ours with the argument ``5``; ``my.module:Mine`` is a class.

    Raises:
        InputError: It names none.
    """
    name, _, argument = spec.partition(":")
    if name in OURS:
        return OURS[name], argument
    module, colon, attribute = spec.rpartition(":")
    if not (colon and module and attribute):
        raise InputError(f"there is no learner '{spec}'", field="--learner", expected=EXPECTED)
    return spec, ""


def open_learner(spec: str, context: LearnerContext) -> Learner:
    """The learner of that name, made with its context if it takes an argument.

    Raises:
        InputError: It names none, or what it names is no learner.
        MissingExtraError: It needs an extra that is not installed.
    """
    place, context.argument = split_name(spec)
    made = _found(place, spec)
    learner = made(context) if signature(made).parameters else made()
    if not isinstance(learner, Learner):
        raise InputError(
            f"'{spec}' is no learner",
            field="--learner",
            expected="methods reset, recall, observe, snapshot, restore and freeze",
        )
    return learner


def _found(place: str, spec: str) -> Callable[..., Any]:
    module, _, attribute = place.rpartition(":")
    path = Path(module)
    # As `python -m` does: the working directory is where people keep their learners.
    for folder in (str(Path.cwd()), str(path.parent.resolve()) if path.suffix == ".py" else ""):
        if folder and folder not in sys.path and place == spec:
            sys.path.insert(0, folder)
    try:
        found = getattr(import_module(path.stem if path.suffix == ".py" else module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"the learner '{spec}' cannot be loaded: {error}", field="--learner", expected=EXPECTED
        ) from error
    if not callable(found):
        raise InputError(f"'{spec}' makes no learner", field="--learner", expected=EXPECTED)
    made: Callable[..., Any] = found
    return made
