"""Families: small programs, each of which writes many conversations that test one thing."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from crmbench.authoring.family import Family
from crmbench.domains.sales.authoring.builder import ConversationBuilder
from crmbench.domains.sales.policy import rules as house_rules
from crmbench.errors import HarnessError

CATEGORIES = (
    "Opportunity Management",
    "Quote Management",
    "Client Management",
    "Contact Management",
    "Contract Management",
    "Document Management",
    "Notes & Communication",
    "Company & Account",
    "Cross-entity",
)
TAGS = frozenset(
    [
        "by_description",
        "near_duplicate",
        "multi_hop",
        "computed_value",
        "relative_date",
        "cross_turn_reference",
        "correction",
        "undo",
        "batch",
        "api_refusal",
        "policy_refusal",
        "missing_detail",
        "irrelevant_chatter",
        "misleading_note",
        "about_change",
    ]
)
"""What makes a conversation hard; a report can be sliced by each."""


Write = Callable[[ConversationBuilder], None]


@dataclass(frozen=True, kw_only=True)
class SalesFamily(Family[Write]):
    """A program that writes the heart of a conversation.

    Weights are after the frequencies of tasks in production.
    """

    by_manager: bool | None = None
    """Whether the sales manager must be speaking (True), must not (False), or either (None)."""


_FOUND: dict[str, SalesFamily] = {}


def family(
    category: str, weight: int, *, by_manager: bool | None = None
) -> Callable[[Write], Write]:
    """Register the function below as a family.

    It takes a `ConversationBuilder`, picks its records, and writes one to three turns; follow-up
    turns are added by the composer. It raises `NoCandidate` where the world has no fitting record.

    Raises:
        HarnessError: There is no such category, or the function has no docstring or a name that is
            taken.
    """
    if category not in CATEGORIES:
        raise HarnessError(f"there is no category '{category}'")

    def register(write: Write) -> Write:
        name = write.__name__
        if name in _FOUND:
            raise HarnessError(f"there are two families '{name}'")
        if not write.__doc__:
            raise HarnessError(f"the family '{name}' does not say what it tests")
        about = " ".join(write.__doc__.split())
        _FOUND[name] = SalesFamily(
            name=name,
            category=category,
            about=about,
            write=write,
            weight=weight,
            by_manager=by_manager,
        )
        return write

    return register


@cache
def load_families() -> dict[str, SalesFamily]:
    """All families, by name, in the order of their names."""
    import crmbench.domains.sales.families as package

    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return dict(sorted(_FOUND.items()))


def check_rules(cited: set[str]) -> None:
    """Every rule that is cited exists.

    Raises:
        HarnessError: One does not.
    """
    unknown = cited - house_rules().keys()
    if unknown:
        raise HarnessError(f"the policy has no rules {sorted(unknown)}")
