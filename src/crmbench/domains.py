"""The domains by name. The one place that knows which there are; a domain loads when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from crmbench.core.domain import Domain
from crmbench.errors import InputError

DOMAINS = {"sales": "crmbench.sales.domain:SALES"}


def load_domain(name: str) -> Domain:
    """The domain of that name.

    Raises:
        InputError: There is none.
    """
    if name not in DOMAINS:
        raise InputError(f"there is no domain '{name}'", expected=" or ".join(sorted(DOMAINS)))
    module, _, attribute = DOMAINS[name].partition(":")
    return cast(Domain, getattr(import_module(module), attribute))
