"""Writing conversations: the org to choose from, the builder, and how house rules become calls."""

from crmbench.domains.sales.talk import describe, house
from crmbench.domains.sales.talk.family import Family, family, load_families
from crmbench.domains.sales.talk.org import Org
from crmbench.domains.sales.talk.talk import Derived, NoFit, Talk, call

__all__ = [
    "Derived",
    "Family",
    "NoFit",
    "Org",
    "Talk",
    "call",
    "describe",
    "family",
    "house",
    "load_families",
]
