"""The truth that the tasks are made of: two computations, compared every time."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from math import isclose
from typing import Any, TypeVar

from crmbench.domains.service.families.mention import Mention
from crmbench.domains.service.truth.plain import PlainTruth
from crmbench.domains.service.truth.query import QueryTruth
from crmbench.errors import HarnessError

T = TypeVar("T")


@dataclass(frozen=True)
class Truth:
    """Every figure computed twice; a difference is an error of the build.

    Raises:
        HarnessError: From every method, when the two computations differ.
    """

    plain: PlainTruth
    query: QueryTruth
    known: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """What was computed before."""

    def issue_counts(self, product: str, start: str, end: str) -> dict[str, int]:
        """The cases about a product that were created in a period, by issue."""
        return self._both(self.plain.issue_counts, self.query.issue_counts, product, start, end)

    def month_counts(self, product: str, start: str, end: str) -> dict[str, int]:
        """The cases about a product that were created in a period, by month (``2024-05``)."""
        return self._both(self.plain.month_counts, self.query.month_counts, product, start, end)

    def closing_times(self, start: str, end: str) -> dict[str, float]:
        """Mean seconds from creation to closing of the cases created in a period, by state."""
        return self._both(self.plain.closing_times, self.query.closing_times, start, end)

    def handled(self, start: str, end: str) -> dict[str, int]:
        """How many different cases were assigned to each agent in a period."""
        return self._both(self.plain.handled, self.query.handled, start, end)

    def handle_times(self, start: str, end: str, more_than: int) -> dict[str, float]:
        """Mean minutes to close, of agents who handled more than so many cases in a period."""
        return self._both(self.plain.handle_times, self.query.handle_times, start, end, more_than)

    def transfers(self, start: str, end: str, more_than: int) -> dict[str, int]:
        """Assignments away from each agent who handled more than so many cases in a period."""
        return self._both(self.plain.transfers, self.query.transfers, start, end, more_than)

    def route(self, issue: str, product: str, absent: Collection[str] = ()) -> list[str]:
        """The active agents to whom a new case could go, all that are equal by the rules."""
        return self._both(self.plain.route, self.query.route, issue, product, tuple(absent))

    def bought(self, account: str, day: str) -> dict[str, str]:
        """The products that a customer ordered on a day: names by id."""
        return self._both(self.plain.bought, self.query.bought, account, day)

    def fitting(self, account: str, day: str, mention: Mention) -> list[str]:
        """The products that a customer ordered on a day and that some words fit."""
        return self._both(self.plain.fitting, self.query.fitting, account, day, mention)

    def broken(self, case: str) -> str | None:
        """The id of the article that the agent of a closed case broke, if any."""
        return self._both(self.plain.broken, self.query.broken, case)

    def _both(self, one: Callable[..., T], two: Callable[..., T], *arguments: Any) -> T:
        what = one.__name__
        key = (what, *arguments)
        if key not in self.known:
            first, second = one(*arguments), two(*arguments)
            if not same(first, second):
                text = f"{what}{arguments}: {first!r} by the rows, {second!r} by queries"
                raise HarnessError(text)
            self.known[key] = first
        found: T = self.known[key]
        return found


def same(one: Any, two: Any) -> bool:
    """Whether two results agree, numbers up to rounding."""
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, float) or isinstance(two, float):
        return isclose(one, two, rel_tol=1e-9)
    return bool(one == two)
