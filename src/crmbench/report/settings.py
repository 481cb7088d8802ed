"""What a run was asked to do, as a report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMES = {
    "agent": "agent",
    "model": "model",
    "user": "user played by",
    "user_messages": "messages of the user a request, at most",
    "judge": "judge",
    "judge_all": "judge asked about every turn",
    "judge_weight": "share of a judge's first score",
    "judge_pass": "least score of a judge that passes",
    "prompt_files": "prompts",
    "tools": "part of the tools",
    "condition": "conditions",
    "condition_seed": "seed of the conditions",
    "budget": "calls a conversation, at most, as a multiple of the gold's",
    "trials": "trials",
    "seed": "seed",
    "filters": "filters",
    "sample": "sample",
    "temperature": "temperature",
    "max_steps": "model calls a turn, at most",
    "max_calls": "tool calls a turn, at most",
    "max_tokens": "tokens a reply, at most",
    "time_limit": "seconds an episode, at most",
    "backend": "backend",
    "data": "data",
    "data_digest": "digest of the data",
    "grading_version": "grading version",
    "prices_as_of": "prices of",
    "crmbench": "crmbench",
    "git_revision": "revision",
    "python": "Python",
}
"""Fields of ``config.json`` in the order in which they are shown."""


def settings(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and value of everything that was set, and the digests of the prompts."""
    hidden = set() if config.get("user") else {"user_messages"}
    if not config.get("model"):
        hidden |= {"max_steps", "max_tokens"}
    shown = [
        (label, _shown(config[name]))
        for name, label in NAMES.items()
        if name not in hidden and _is_set(config.get(name))
    ]
    prompts = config.get("prompts")
    digests = sorted(prompts.items()) if isinstance(prompts, dict) else []
    return shown + [(f"prompt {name}", str(digest)[:12]) for name, digest in digests]


def _is_set(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [])


def _shown(value: Any) -> str:
    if value is True:
        return "yes"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
