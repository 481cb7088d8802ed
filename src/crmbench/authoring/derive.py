"""Values that follow from others: small formulas that a task states and anyone can recompute.

A formula is arithmetic over literals (numbers, ISO dates and text in quotes) and the functions
below: ``round(116000 * (100 + 8) / 100)``, ``days('2026-03-02', 30)``. The gate on values evaluates
it again and asks of each literal where it was said or read.
"""

from __future__ import annotations

import ast
import math
import operator
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from crmbench.errors import CrmbenchError


class FormulaError(CrmbenchError):
    """A formula cannot be read or computed."""


def half_up(number: float) -> float:
    """The nearest whole number, halves upwards."""
    return float(math.floor(round(number, 6) + 0.5))


def days(day: str, count: int) -> str:
    """The date `count` days later."""
    return (date.fromisoformat(day) + timedelta(days=count)).isoformat()


def months(day: str, count: int) -> str:
    """The same day `count` months later, or the last one of that month if it has no such day."""
    start = date.fromisoformat(day)
    year, month = divmod(start.year * 12 + start.month - 1 + count, 12)
    last = monthrange(year, month + 1)[1]
    return date(year, month + 1, min(start.day, last)).isoformat()


def month_start(day: str, count: int = 0) -> str:
    """The first day of the month `count` months later."""
    return months(day[:8] + "01", count)


def join(*parts: Any) -> str:
    """The parts written one behind the other; whole numbers without a point."""
    return "".join(f"{p:g}" if isinstance(p, float) else str(p) for p in parts)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "round": half_up,
    "days": days,
    "months": months,
    "month_start": month_start,
    "join": join,
}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def evaluate(formula: str) -> Any:
    """What a formula comes to: a number or text.

    Raises:
        FormulaError: It is not of the form that the module describes.
    """
    try:
        return _value(_parse(formula))
    except (SyntaxError, TypeError, ValueError, ZeroDivisionError) as error:
        raise FormulaError(f"cannot compute {formula!r}: {error}") from error


def literals(formula: str) -> list[Any]:
    """The numbers and texts that a formula starts from, in their order."""
    return [node.value for node in ast.walk(_parse(formula)) if isinstance(node, ast.Constant)]


@lru_cache(maxsize=4096)
def _parse(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = _FUNCTIONS.get(node.func.id)
        if function is not None:
            return function(*map(_value, node.args))
    raise ValueError(f"'{ast.unparse(node)}' is not allowed in a formula")
