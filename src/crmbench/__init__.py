"""crmbench: find out whether an LLM agent can be trusted with a CRM.

    from crmbench import SalesCRM, load, run

Importing the package loads none of its parts; each loads when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crmbench.api import (
        CRM,
        MockCrmApi,
        Record,
        RunResult,
        SalesCRM,
        Sandbox,
        TrainingSession,
        arun,
        load,
        run,
        stream,
    )

__all__ = [
    "CRM",
    "MockCrmApi",
    "Record",
    "RunResult",
    "SalesCRM",
    "Sandbox",
    "TrainingSession",
    "arun",
    "load",
    "run",
    "stream",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from crmbench import api

        return getattr(api, name)
    raise AttributeError(f"module 'crmbench' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
