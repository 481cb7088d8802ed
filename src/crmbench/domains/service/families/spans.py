"""Which agent is first or last by some measure, among those with enough cases in a period."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from crmbench.core.answer import Answer
from crmbench.domains.service.families.context import MANAGER, TaskContext, more_than
from crmbench.domains.service.families.draft import Candidate, ServiceRecorder, Step, best
from crmbench.domains.service.families.periods import Period

PREFIX = "005"
"""Of users' ids."""
Found = TypeVar("Found", bound=Mapping[str, float])


@dataclass(frozen=True)
class Span:
    """What is asked: among agents with more than so many cases in a period."""

    period: Period
    above: int

    @property
    def about(self) -> str:
        """What no other task may be about as well."""
        return f"{self.period.start} {self.period.end} {self.above}"


@dataclass(frozen=True)
class Measure:
    """What agents are compared by."""

    family: str
    by_tools: Callable[[ServiceRecorder, Span], Mapping[str, float]]
    """The value of each agent; empty where no agent passes the number of cases."""
    by_soql: Callable[[ServiceRecorder, Span], Mapping[str, float]]
    forms: tuple[str, str]
    """The phrases that ask for the lowest and for the highest."""
    rules: tuple[str, ...]

    def question(self, said: str, span: Span, highest: bool, found: Mapping[str, float]) -> Step:
        """A turn that asks for the agent; "None" is right where `found` is empty."""

        def gold_path(recorder: ServiceRecorder) -> None:
            values = self.by_tools(recorder, span)
            if not values:
                recorder.respond(None)
                return
            choose = "find_id_with_max_value" if highest else "find_id_with_min_value"
            recorder.respond(recorder.call(choose, values_by_id=values)[0])

        def query_path(recorder: ServiceRecorder) -> None:
            values = self.by_soql(recorder, span)
            recorder.respond(best(values, highest) if values else None)

        answer = Answer("id", (best(found, highest),) if found else (), PREFIX)
        return Step(said, gold_path, query_path, answer, rules=self.rules)

    def candidate(
        self, context: TaskContext, span: Span, highest: bool, found: Mapping[str, float]
    ) -> Candidate:
        """The question alone, as a task."""
        return Candidate(
            about=f"{span.about} {highest}",
            answers=(best(found, highest) if found else "None",),
            persona=MANAGER,
            build=partial(self._asked, context, span, highest, found),
            empty=not found,
        )

    def _asked(
        self, context: TaskContext, span: Span, highest: bool, found: Mapping[str, float]
    ) -> tuple[Step, ...]:
        said = self.phrased(context, self.forms[highest], span)
        return (self.question(said, span, highest, found),)

    def phrased(self, context: TaskContext, form: str, span: Span, **more: str) -> str:
        """An utterance about a span, in the manager's voice."""
        more |= {
            "period": context.wording(span.period),
            "above": more_than(context.rng, span.above),
        }
        if form == "done":
            return context.order(self.family, form, **more)
        return context.say(self.family, form, MANAGER, **more)


def drawn(
    context: TaskContext,
    measured: Callable[[str, str, int], Found],
    *,
    fewest: int,
    beyond: float,
    longest: int | None = None,
) -> tuple[Span, Found]:
    """A span with enough agents to choose among, or with none at all, and their values.

    Args:
        measured: The values from the start of a period to its end, of agents with more cases
            than a number.
        fewest: Agents to choose among.
        beyond: How often the number of cases is one that no agent passes.
        longest: Days of the period at most.
    """
    while True:
        period = context.period()
        if longest is not None and period.days > longest:
            continue
        most = max(context.truth.handled(period.start, period.end).values())
        over = context.rng.random() < beyond
        above = most + context.rng.randrange(3) if over else context.rng.randrange(most)
        found = measured(period.start, period.end, above)
        if over or len(found) >= fewest:
            return Span(period, above), found
