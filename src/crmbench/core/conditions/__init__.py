"""Conditions: the same tasks with the same gold, in a less obliging world."""

from crmbench.core.conditions.lay import Laid, Spec, lay, parse_conditions

__all__ = ["Laid", "Spec", "lay", "parse_conditions"]
