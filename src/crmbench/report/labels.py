"""What runs are called on pages and in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def player(config: Mapping[str, Any]) -> str:
    """Who was evaluated: the model with the framework that ran it, else the agent."""
    model, agent = config.get("model"), str(config.get("agent"))
    return f"{model}, {agent}" if model else agent


def short_player(config: Mapping[str, Any]) -> str:
    """The model alone, else the agent; the address of a server is long and left out."""
    return str(config.get("model") or config.get("agent")).rpartition("#")[2]


def labels_of(configs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """What tells runs apart: the model, else with its framework, else with the directory.

    Args:
        names: Of the runs' directories.
    """
    short = [short_player(config) for config in configs]
    models = [str(config.get("model") or config.get("agent")) for config in configs]
    full = [player(config) for config in configs]
    for labels in (short, models, full):
        if len(set(labels)) == len(labels):
            return labels
    return [f"{label} ({name})" for label, name in zip(short, names, strict=True)]
