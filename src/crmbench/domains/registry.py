"""The domains by name: our own, and those that installed packages bring.

A package adds a domain with an entry point, and nothing here changes::

    [project.entry-points."crmbench.domains"]
    library = "my_package.domain:LIBRARY"

The object that it names implements `crmbench.authoring.domain.AuthoredDomain`. Ours are built in,
so that they are there in a source tree that nobody installed. A domain loads when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from crmbench.authoring.dataset import Dataset
from crmbench.authoring.domain import AuthoredDomain, Generate, TaskSet
from crmbench.authoring.pools import Pool
from crmbench.errors import InputError

GROUP = "crmbench.domains"
BUILT_IN: Mapping[str, str] = {
    "sales": "crmbench.domains.sales.domain:SALES",
    "service": "crmbench.domains.service.domain:SERVICE",
}


HARD: Mapping[str, str] = {
    "sales_hard": "crmbench.domains.sales.hard.domain:SALES_HARD",
    "service_hard": "crmbench.domains.service.hard.domain:SERVICE_HARD",
}
"""Domains that other domains' hard sets play in; they publish no sets of their own."""


def domain_names() -> tuple[str, ...]:
    """The names of all domains that publish tasks, sorted."""
    return tuple(sorted({*BUILT_IN, *_installed()}))


def load_domain(name: str) -> AuthoredDomain:
    """The domain of that name.

    Raises:
        InputError: There is none, or the package that should bring it cannot be loaded.
    """
    place = BUILT_IN.get(name) or HARD.get(name)
    if place is None:
        return _load_installed(name)
    module, _, attribute = place.partition(":")
    domain: AuthoredDomain = getattr(import_module(module), attribute)
    return domain


def load_generator(name: str, split: str = "") -> Generate:
    """The function that makes a domain's data set, from a seed and, if given, a size.

    Args:
        name: Of the domain.
        split: One of the set that is meant, such as ``hard``, or its name; the domain's first set
            if empty.

    Raises:
        InputError: There is no such domain, or it publishes no such tasks.
    """
    return _set_of(name, split).load()


def load_pool_generator(name: str) -> Callable[[Pool, int, int], Dataset]:
    """The function that makes a domain's tasks for training, of a pool, from a seed and a size.

    Its place is the domain's ``pool_generator``, as ``package.module:function``; a domain may
    have none.

    Raises:
        InputError: There is no such domain, or it makes none.
    """
    place = getattr(load_domain(name), "pool_generator", "")
    if not place:
        raise InputError(
            f"the domain '{name}' makes no tasks for training", expected="sales or service"
        )
    module, _, function = place.partition(":")
    make: Callable[[Pool, int, int], Dataset] = getattr(import_module(module), function)
    return make


def _set_of(domain: str, split: str) -> TaskSet:
    """The set of a domain that has a split; its first one if the split is empty."""
    sets = load_domain(domain).task_sets
    found = next((each for each in sets if not split or split in (*each.splits, each.name)), None)
    if found is None:
        known = ", ".join(f"{domain}/{split}" for each in sets for split in each.splits)
        raise InputError(
            f"there is no split '{split}' of {domain}" if split else f"{domain} publishes no tasks",
            expected=known or "a domain with tasks",
        )
    return found


def _installed() -> dict[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        if point.value not in [other.value for other in found.get(point.name, [])]:
            found.setdefault(point.name, []).append(point)
    return found


@cache
def _load_installed(name: str) -> AuthoredDomain:
    points = _installed().get(name, [])
    if not points:
        raise InputError(f"there is no domain '{name}'", expected=" or ".join(domain_names()))
    if len(points) > 1:
        places = " and ".join(sorted(point.value for point in points))
        raise InputError(
            f"two packages bring a domain '{name}': {places}", expected="one of them installed"
        )
    try:
        domain: AuthoredDomain = points[0].load()
    except Exception as error:
        raise InputError(
            f"the domain '{name}' ({points[0].value}) cannot be loaded: "
            f"{type(error).__name__}: {error}",
            expected="a package that can be imported",
        ) from error
    missing = [part for part in _PARTS if not hasattr(domain, part)]
    if missing or domain.name != name:
        wrong = f"has no {', '.join(missing)}" if missing else f"calls itself '{domain.name}'"
        raise InputError(
            f"the domain '{name}' ({points[0].value}) {wrong}",
            expected="an object with all that crmbench.authoring.domain.AuthoredDomain has",
        )
    return domain


_PARTS = (
    *("name", "schema", "toolbox", "tool_sets", "default_world", "latents", "policy", "handle"),
    *("world", "with_tools", "seed", "worlds", "task_sets"),
)
