"""Gold calls as they are written: arguments may follow from others, or name what was just made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crmbench.authoring.derive import evaluate
from crmbench.core.task import GoldCall

JUST_MADE = "(the record that the call before created)"
"""An argument that is the id of what the previous call of the same turn created."""


@dataclass(frozen=True)
class Derived:
    """An argument that follows from other values: the formula is kept as its proof."""

    formula: str

    @property
    def value(self) -> Any:
        """What the formula comes to.

        Raises:
            FormulaError: It cannot be computed.
        """
        return evaluate(self.formula)


def call(tool: str, **arguments: Any) -> GoldCall:
    """A gold call; an argument may be `Derived`, or `JUST_MADE`."""
    return GoldCall(tool, arguments)


def plain(value: Any) -> Any:
    """An argument as a tool takes it: a derived one computed."""
    return value.value if isinstance(value, Derived) else value


def derivations(calls: Sequence[GoldCall]) -> dict[str, str]:
    """The formulas of a turn's derived arguments, by ``call.argument``, calls counted from 1."""
    return {
        f"{place}.{name}": value.formula
        for place, wanted in enumerate(calls, start=1)
        for name, value in wanted.arguments.items()
        if isinstance(value, Derived)
    }
