"""Rules as objects: which provision decides a question on a day, and how it is found.

The order of precedence, which the domain's prompt has to state in the same words:

1. Only what is in force on the day counts. A provision is in force from its first day on, until
   the day before it is repealed.
2. A provision with a condition goes before one without.
3. Of two that are alike in this, the one that came into force later wins, by the first day that
   each gives itself.
4. An amendment changes the article that it names and leaves that article's first day as it was,
   unless that day is what it changes ("since"). It may change another amendment as it may a
   provision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Literal

from crmbench.errors import HarnessError

Facts = Mapping[str, Any]
"""What is true of an item: attribute to text, number or truth value."""

Op = Literal["is", "at least", "below"]
Change = Literal["value", "repeal", "except", "extend", "since"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that must hold of an item for a provision to apply."""

    attribute: str
    value: Any = True
    op: Op = "is"

    def holds(self, facts: Facts) -> bool:
        held = facts[self.attribute]
        if self.op == "is":
            return bool(held == self.value)
        return bool(held >= self.value) if self.op == "at least" else bool(held < self.value)


@dataclass(frozen=True, slots=True)
class Provision:
    """What an article says on one question."""

    article: str
    """The number of the article that it stands in; one article may hold several."""
    subject: str
    """The question that it answers."""
    value: Any
    since: date
    """The first day on which it is in force."""
    when: tuple[Condition, ...] = ()
    """All must hold; none: it is general."""


@dataclass(frozen=True, slots=True)
class Amendment:
    """What an article changes in another one, which holds a single provision or amendment."""

    article: str
    target: str
    """The number of the article that it changes."""
    since: date
    change: Change
    value: Any = None
    """For "value" what holds from then on; for "since" the target's new first day."""
    unless: Condition | None = None
    """For "except" of what the target no longer speaks."""
    also: Condition | None = None
    """For "extend" of what the target speaks too, whatever its own conditions."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one question about one item."""

    value: Any
    winner: Provision
    fitting: tuple[Provision, ...]
    """All provisions in force whose conditions hold; the winner among them."""


class _Shelf:
    """All provisions and amendments of a book, as they are looked up."""

    def __init__(self, provisions: Iterable[Provision], amendments: Iterable[Amendment]) -> None:
        self.provisions = tuple(provisions)
        self.amendments = tuple(amendments)

    @cached_property
    def by_subject(self) -> dict[str, list[Provision]]:
        found: dict[str, list[Provision]] = {}
        for provision in self.provisions:
            found.setdefault(provision.subject, []).append(provision)
        return found

    @cached_property
    def changed(self) -> frozenset[str]:
        """The articles that some amendment names."""
        return frozenset(amendment.target for amendment in self.amendments)

    @cached_property
    def on(self) -> dict[tuple[str, Change], list[Amendment]]:
        """Article, and kind of change, to the amendments that change it so."""
        found: dict[tuple[str, Change], list[Amendment]] = {}
        for amendment in self.amendments:
            found.setdefault((amendment.target, amendment.change), []).append(amendment)
        return found


class Rulebook:
    """Provisions and amendments, and what they come to.

    Args:
        provisions: At least one general one for every question and every day that is asked about.
        amendments: What changes them; an amendment may be repealed like a provision.
    """

    def __init__(self, provisions: Iterable[Provision], amendments: Iterable[Amendment]) -> None:
        self._shelf = _Shelf(provisions, amendments)
        self._lacking: frozenset[str] = frozenset()
        self._bearing: set[str] = set()

    @property
    def provisions(self) -> tuple[Provision, ...]:
        own = self._shelf.provisions
        return tuple(p for p in own if p.article not in self._lacking) if self._lacking else own

    @property
    def amendments(self) -> tuple[Amendment, ...]:
        own = self._shelf.amendments
        return tuple(a for a in own if a.article not in self._lacking) if self._lacking else own

    @property
    def articles(self) -> tuple[str, ...]:
        """The numbers of all articles that say something, in order."""
        own = {provision.article for provision in self.provisions}
        return tuple(sorted(own | {amendment.article for amendment in self.amendments}))

    def without(self, *articles: str) -> Rulebook:
        """The rulebook of somebody who has not read those articles; cheap, for it shares what this
        one looks things up by.
        """
        lesser = Rulebook((), ())
        lesser._shelf = self._shelf
        lesser._lacking = self._lacking.union(articles)
        return lesser

    @contextmanager
    def noting(self) -> Iterator[set[str]]:
        """Note the articles that all decisions made meanwhile rest on: those that win, and the
        changes in force that were met on the way. Without others the decisions are the same, for
        what loses, or does not fit or apply by itself, changes nothing by being left out.
        """
        outer, self._bearing = self._bearing, set()
        try:
            yield self._bearing
        finally:
            outer |= self._bearing
            self._bearing = outer

    def note(self, articles: Iterable[str]) -> None:
        """Note what a decision rests on that was kept from an earlier time."""
        self._bearing.update(articles)

    def applies(self, rule: Provision | Amendment, facts: Facts, day: date) -> bool:
        """Whether it is in force, and is neither repealed nor set aside for such an item."""
        if rule.article not in self._shelf.changed:
            return rule.since <= day
        return (
            self.first_day(rule, facts, day) <= day
            and not self._changes(rule, "repeal", facts, day)
            and not any(
                self._covers(amendment, facts, day)
                for amendment in self._changes(rule, "except", facts, day)
            )
        )

    def first_day(self, rule: Provision | Amendment, facts: Facts, day: date) -> date:
        """When it comes into force by what is known on a day; the latest change counts."""
        moved = self._changes(rule, "since", facts, day)
        return max(moved, key=lambda a: a.since).value if moved else rule.since

    def _covers(self, amendment: Amendment, facts: Facts, day: date) -> bool:
        """Whether an exception, or an extension, speaks of such an item; it may be extended too."""
        condition = amendment.unless or amendment.also
        return (condition is not None and condition.holds(facts)) or any(
            self._covers(wider, facts, day)
            for wider in self._changes(amendment, "extend", facts, day)
        )

    def decide(self, subject: str, facts: Facts, day: date) -> Decision:
        """The answer that holds on a day.

        Raises:
            HarnessError: No provision fits, or two of the same rank do.
        """
        fitting = [
            p
            for p in self._shelf.by_subject.get(subject, ())
            if p.article not in self._lacking and self._fits(p, facts, day)
        ]
        if not fitting:
            raise HarnessError(f"no provision answers '{subject}' on {day}")
        ranks = [(bool(p.when), p.since) for p in fitting]
        rank = max(ranks)
        winners = [p for p, own in zip(fitting, ranks, strict=True) if own == rank]
        if len(winners) > 1:
            articles = ", ".join(p.article for p in winners)
            raise HarnessError(f"'{subject}' on {day} is decided by each of {articles}")
        self._bearing.add(winners[0].article)
        return Decision(self._value(winners[0], facts, day), winners[0], tuple(fitting))

    def _fits(self, provision: Provision, facts: Facts, day: date) -> bool:
        speaks = all(condition.holds(facts) for condition in provision.when) or any(
            self._covers(amendment, facts, day)
            for amendment in self._changes(provision, "extend", facts, day)
        )
        return speaks and self.applies(provision, facts, day)

    def _value(self, rule: Provision | Amendment, facts: Facts, day: date) -> Any:
        """Its value as amended; the latest amendment counts, and may itself be amended."""
        changes = self._changes(rule, "value", facts, day)
        if not changes:
            return rule.value
        return self._value(max(changes, key=lambda a: a.since), facts, day)

    def _changes(
        self, rule: Provision | Amendment, kind: Change, facts: Facts, day: date
    ) -> Sequence[Amendment]:
        on = self._shelf.on.get((rule.article, kind))
        if on is None:
            return ()
        found = [a for a in on if a.article not in self._lacking and self.applies(a, facts, day)]
        self._bearing.update(a.article for a in found)
        return found
