"""The domains by name. The one place that knows which there are; a domain loads when asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from crmbench.authoring.dataset import Dataset
from crmbench.core.domain import Domain
from crmbench.errors import InputError

DOMAINS = {
    "sales": "crmbench.domains.sales.domain:SALES",
    "sales_hard": "crmbench.domains.sales.hard.domain:SALES_HARD",
    "service": "crmbench.domains.service.domain:SERVICE",
    "service_hard": "crmbench.domains.service.hard.domain:SERVICE_HARD",
}

GENERATORS = {
    "sales": "crmbench.domains.sales.generate:generate",
    "service": "crmbench.domains.service.generate:generate",
}
"""What makes a domain's data set from a seed and, if given, a size."""

HARD = {
    "sales": "crmbench.domains.sales.hard.generate:generate",
    "service": "crmbench.domains.service.hard.generate:generate",
}
"""What makes a domain's hard set from a seed, a size and a level; called "sales/hard"."""


def load_domain(name: str) -> Domain:
    """The domain of that name.

    Raises:
        InputError: There is none.
    """
    if name not in DOMAINS:
        raise InputError(f"there is no domain '{name}'", expected=" or ".join(sorted(DOMAINS)))
    return cast(Domain, _attribute(DOMAINS[name]))


def load_generator(name: str) -> Callable[..., Dataset]:
    """The function that makes a domain's data set.

    Raises:
        InputError: There is no such domain.
    """
    if name not in GENERATORS:
        raise InputError(f"there is no domain '{name}'", expected=" or ".join(sorted(GENERATORS)))
    return cast(Callable[..., Dataset], _attribute(GENERATORS[name]))


def load_hard_generator(name: str) -> Callable[..., Dataset]:
    """The function that makes a domain's hard set.

    Raises:
        InputError: The domain has none.
    """
    if name not in HARD:
        raise InputError(f"'{name}' has no hard set", expected=" or ".join(sorted(HARD)))
    return cast(Callable[..., Dataset], _attribute(HARD[name]))


def _attribute(place: str) -> object:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
