"""How pages write values."""

from __future__ import annotations

from typing import Any

import orjson


def share(value: float | None, digits: int = 0) -> str:
    """A share as a percentage."""
    return "–" if value is None else f"{100 * value:.{digits}f} %"


def money(value: float | None) -> str:
    """US dollars, with cents or, below one, with four decimals."""
    if value is None:
        return "–"
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def count(value: float | None) -> str:
    """A whole number with commas."""
    return "–" if value is None else f"{value:,.0f}"


def seconds(value: float) -> str:
    """A time in seconds, or in minutes and seconds."""
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def shown(value: Any) -> str:
    """A value as people write it; an object or list as JSON."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return f"{value:,.0f}"
    if isinstance(value, int):
        return str(value)
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
