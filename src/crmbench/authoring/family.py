"""Families: small programs, each of which writes many tasks that test one thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Generator = TypeVar("Generator", bound=Callable[..., Any], covariant=True)


class NoCandidate(Exception):
    """The world has no record (left) that a family or follow-up needs."""


@dataclass(frozen=True, kw_only=True)
class Family(Generic[Generator]):
    """A program that writes tasks, or the heart of one."""

    name: str
    category: str
    about: str
    """What it tests, in a sentence or two."""
    write: Generator
    """It takes what the domain writes with; it raises `NoCandidate` where no record fits."""
    weight: int = 1
    """How often it occurs, in proportion."""
    rules: tuple[str, ...] = ()
    """Ids of the policy's rules that all its tasks are about."""
