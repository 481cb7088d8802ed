"""The list of a run's episodes as pages show it, the static report and those that are served."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from crmbench.report.views.standing import fault_kind, standing_of
from crmbench.runner.outline import EpisodeOutline, TaskHead


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """A line of the list of episodes."""

    number: int
    """Its place in the run, from 0."""
    task_id: str
    trial: int
    standing: str
    category: str
    complexity: str
    family: str
    tags: tuple[str, ...]
    turns: int
    calls: int
    tool_errors: int
    tokens: int
    cost: float | None
    seconds: float
    fault: str
    """The kind of its first fault; empty where it has none."""
    reason: str
    failed_at: int | None
    all_turns: int
    opening: str
    text: str
    """All that a search looks through, in lower case."""

    def values(self, facet: str) -> tuple[str, ...]:
        """What it has under a facet."""
        if facet == "tag":
            return self.tags
        value = self.standing if facet == "outcome" else getattr(self, facet)
        return (value,) if value else ()


_LONG_ID = re.compile(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
"""An id that is shown by its first eight characters; the search finds the whole of it."""


def line_of(number: int, outline: EpisodeOutline, heads: Mapping[str, TaskHead]) -> EpisodeLine:
    """An episode's line.

    Args:
        number: Its place in the run, from 0.
        heads: What the run's tasks are about, by their ids.
    """
    verdict, trace = outline.verdict, outline.trace
    head = heads.get(trace.task_id) or TaskHead(trace.task_id)
    ours, reason = head.ours, verdict.reason or ""
    standing = standing_of(verdict)
    words = (trace.task_id, head.workflow_category, ours.family, *ours.tags, reason, head.opening)
    return EpisodeLine(
        number=number,
        task_id=trace.task_id,
        trial=trace.trial,
        standing=standing,
        category=head.workflow_category,
        complexity=head.complexity_level,
        family=ours.family,
        tags=ours.tags,
        turns=len(verdict.turns),
        calls=verdict.calls,
        tool_errors=verdict.tool_errors,
        tokens=trace.usage.total_tokens,
        cost=trace.usage.cost,
        seconds=outline.seconds,
        fault=fault_kind(trace.outcome, verdict) if standing == "failed" else "",
        reason=_LONG_ID.sub(r"\1…", reason),
        failed_at=verdict.failed_at_turn,
        all_turns=len(head.turns),
        opening=head.opening,
        text="\n".join(words).lower(),
    )
