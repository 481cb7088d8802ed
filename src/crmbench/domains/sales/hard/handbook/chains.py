"""Changes that decide: amendments, amendments of amendments and of these, aimed at rows of a list.

A change that no row meets is mere length. So a chain starts at the provision that decides a
question of some row, and is kept only if the row comes out otherwise for a reader who misses its
last article.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Protocol

from crmbench.authoring.handbook import (
    Amendment,
    Condition,
    Facts,
    Provision,
    Rulebook,
)
from crmbench.domains.sales.hard.handbook.questions import YES_NO
from crmbench.domains.sales.hard.rules import DEFINITIONS, Draft, RuleWriter
from crmbench.errors import HarnessError

DEPTHS: Mapping[int, int] = {1: 4, 2: 5, 3: 3}
"""Articles in a chain, and how often."""
_TRIES = 60
_IDLE = 0.1
"""Share of the provisions to be kept that chains may leave without a row that hangs on them."""
_MOST = 2
"""Chains at most, as a multiple of those that are asked for."""
_ROOM = 12
"""Days that must lie between the article that is changed and the day that counts."""
RECENT = (200, 500, 1500)
"""Days before today after which a chain begins at the earliest."""
GENERAL = 0.3
"""Share of the general provisions that decide at which a chain may begin: the others are spoken of
by what they lay down in which case.
"""
PLAIN = 0.4
"""Share of changes whose title says that they are some."""


class Aim(Protocol):
    """What a chain is made for, such as a row of a list."""

    day: date
    """The day that counts for it."""
    subjects: Mapping[str, int]
    """Questions at which its chains begin, and how often; "defined" stands for a definition."""

    def facts(self, book: Rulebook) -> Facts:
        """What is true of it under these rules."""

    def outcome(self, book: Rulebook) -> object:
        """What these rules come to.

        Raises:
            HarnessError: They leave a question open, or answer it twice.
        """


class ChainWriter:
    """Adds chains of changes to the provisions of a handbook.

    Args:
        writer: Whose provisions are drawn.
        aims: What is asked about.
        places: Attribute that has a name for a value to the values that it may have.
        depths: Articles in a chain, and how often.
        whole: What all aims come to together, where that is quicker to ask than each.
        keep: Provisions that are to go on deciding, and the aim that each decides.
    """

    def __init__(
        self,
        writer: RuleWriter,
        aims: Sequence[Aim],
        places: Mapping[str, Sequence[str]],
        depths: Mapping[int, int] = DEPTHS,
        whole: Aim | None = None,
        keep: Mapping[str, Aim] | None = None,
    ) -> None:
        self.writer = writer
        self.rng = writer.rng
        self.aims = list(aims)
        self.places = places
        self.depths = depths
        self.keep = keep or {}
        self._judged = self.aims if whole is None else [whole]
        self.rng.shuffle(self.aims)
        self._taken: set[str] = set()
        """Articles at which a chain begins."""

    def write(self, chains: int) -> None:
        """Add so many chains, and more while fewer changes than that decide something.

        A later chain can leave an earlier one idle. Each aim is tried in turn; where nothing more
        is found, there are fewer.
        """
        place = written = 0
        while written < chains or (
            written < chains * _MOST and len(self.deciding(chains)) < chains
        ):
            written += 1
            for _ in range(_TRIES):
                aim = self.aims[place % len(self.aims)]
                place += 1
                if self._chain(aim):
                    break

    def deciding(self, enough: int) -> set[str]:
        """The changes without which some aim comes out otherwise, or so many of them."""
        book, found = self.writer.book, set[str]()
        right: list[tuple[Aim, object, set[str]]] = []
        for aim in self._judged:
            with book.noting() as bearing:
                right.append((aim, aim.outcome(book), bearing))
        for amendment in book.amendments:
            other = book.without(amendment.article)
            if any(
                amendment.article in bearing and self._differs(aim, outcome, other)
                for aim, outcome, bearing in right
            ):
                found.add(amendment.article)
            if len(found) >= enough:
                break
        return found

    def _differs(self, aim: Aim, right: object, book: Rulebook) -> bool:
        try:
            return aim.outcome(book) != right
        except HarnessError:
            return False

    def _chain(self, aim: Aim) -> bool:
        """Try one chain; what does not decide is taken back."""
        book = self.writer.book
        facts = aim.facts(book)
        subject = self.rng.choices(list(aim.subjects), list(aim.subjects.values()))[0]
        target = self._target(book, facts, aim.day, subject)
        if target.article in self._taken:
            return False
        depth = self.rng.choices(list(self.depths), list(self.depths.values()))[0]
        before = len(self.writer.drafts)
        links = self._links(target, _Link(facts, aim.day), depth)
        if not self._decides(aim, links):
            self.writer.take_back(before)
            return False
        self._taken.add(target.article)
        return True

    def _decides(self, aim: Aim, links: Sequence[Amendment]) -> bool:
        """Whether all comes out otherwise without the last link, and the book is sound."""
        book = self.writer.book
        if not links:
            return False
        try:
            decides = aim.outcome(book) != aim.outcome(book.without(links[-1].article))
            return decides and self._idle(book) <= _IDLE * len(self.keep)
        except HarnessError:
            return False

    def _idle(self, book: Rulebook) -> int:
        """How many of those to be kept no longer decide what they were drawn for."""
        idle = 0
        for aim in dict.fromkeys(self.keep.values()):
            with book.noting() as bearing:
                right = aim.outcome(book)
            for article in (article for article, own in self.keep.items() if own is aim):
                decides = article in bearing and self._differs(aim, right, book.without(article))
                idle += not decides
        return idle

    # --- where a chain begins ---------------------------------------------------------------------

    def _target(self, book: Rulebook, facts: Facts, day: date, subject: str) -> Provision:
        rng = self.rng
        if subject == "defined":
            names = sorted({p.subject for p in book.provisions} & {*DEFINITIONS})
            return book.decide(rng.choice(names), {}, day).winner
        decision = book.decide(subject, facts, day)
        if rng.random() < 0.7 and (decision.winner.when or rng.random() < GENERAL):
            return decision.winner
        later = [
            p
            for p in book.provisions
            if p.subject == subject
            and p.when
            and p not in decision.fitting
            and (not decision.winner.when or p.since > decision.winner.since)
        ]
        return rng.choice(later) if later else decision.winner

    # --- links ------------------------------------------------------------------------------------

    def _links(self, target: Provision, aim: _Link, depth: int) -> list[Amendment]:
        links: list[Amendment] = []
        days = self._days(target.since, aim.day, depth)
        fits = all(condition.holds(aim.facts) for condition in target.when)
        figure = str(target.value)
        for day in days:
            on: Provision | Amendment = links[-1] if links else target
            make = self.rng.choice(self._kinds(target, on, fits))
            last = len(links) + 1 == depth
            made = make(target, on, aim, day, figure, last)
            if made is None:
                return []
            figure = str(made.value)
            links.append(made)
        return links

    def _days(self, since: date, end: date, depth: int) -> list[date]:
        """Rising days up to the one that counts, now and then that very day; none before what is
        changed has come into force, and none where there is no room.
        """
        rng, writer = self.rng, self.writer
        recent = rng.choice(RECENT)
        first = max(writer.org.today - timedelta(days=recent), since + timedelta(days=9))
        if (end - first).days < _ROOM:
            return []
        found: set[date] = set()
        while len(found) < depth:
            day = first + timedelta(days=rng.randrange((end - first).days))
            found.add(end if rng.random() < 0.05 else day)
        return sorted(found)

    def _kinds(
        self, target: Provision, on: Provision | Amendment, fits: bool
    ) -> list[Callable[..., Amendment | None]]:
        """What may change such an article."""
        if isinstance(on, Provision):
            if not fits:
                return [self._extend]
            value = on.subject not in YES_NO and bool(on.value)
            kinds: list[Callable[..., Amendment | None]] = [self._value, self._value] * value
            if on.when and on.subject not in DEFINITIONS:
                kinds += [self._except, self._repeal]
            return kinds or [self._nothing]
        if target.subject in DEFINITIONS:
            return [self._value, self._repeal] if on.change == "value" else [self._repeal]
        more: dict[str, list[Callable[..., Amendment | None]]] = {
            "value": [self._value, self._value, self._except, self._repeal],
            "repeal": [self._except, self._repeal],
            "except": [self._extend, self._except, self._repeal],
            "extend": [self._extend, self._except, self._repeal],
        }
        return more[on.change]

    def _add(self, on: Provision | Amendment, day: date, change: Any, **what: Any) -> Amendment:
        draft = self.writer.draft()
        # As those of other articles about which nobody asks.
        draft.plain = self.rng.random() < PLAIN
        made = Amendment(draft.number, on.article, day, change, **what)
        draft.amendments.append(made)
        return made

    def _nothing(self, *_: Any) -> None:
        return None

    def _value(
        self, target: Provision, on: Any, aim: _Link, day: date, figure: str, last: bool
    ) -> Amendment | None:
        del aim, last
        made = self._add(on, day, "value", value=self.writer.other_figure(target.subject, figure))
        self._draft_of(made).old[on.article] = figure
        return made

    def _draft_of(self, made: Amendment) -> Draft:
        return next(d for d in self.writer.drafts if d.number == made.article)

    def _repeal(
        self, target: Provision, on: Any, aim: _Link, day: date, figure: str, last: bool
    ) -> Amendment | None:
        del target, aim, figure, last
        return self._add(on, day, "repeal")

    def _except(
        self, target: Provision, on: Any, aim: _Link, day: date, figure: str, last: bool
    ) -> Amendment | None:
        del figure
        # Of what holds of the row if this is the end of the chain; else a later link takes it in.
        condition = self._condition(target, on, aim, holds=last or self.rng.random() < 0.5)
        return None if condition is None else self._add(on, day, "except", unless=condition)

    def _extend(
        self, target: Provision, on: Any, aim: _Link, day: date, figure: str, last: bool
    ) -> Amendment | None:
        del figure
        condition = self._condition(target, on, aim, holds=last or self.rng.random() < 0.5)
        return None if condition is None else self._add(on, day, "extend", also=condition)

    def _condition(
        self, target: Provision, on: Provision | Amendment, aim: _Link, holds: bool
    ) -> Condition | None:
        """One that holds, or does not hold, of the row, and is not spoken of in what it changes."""
        used = {c.attribute for c in target.when}
        if isinstance(on, Amendment):
            used |= {c.attribute for c in (on.unless, on.also) if c is not None}
        options: list[Condition] = []
        for name, value in sorted(aim.facts.items()):
            if name in used or (target.subject == "hold" and name in _NOT_FOR_HOLDS):
                continue
            if isinstance(value, bool) and value == holds:
                # What few rows are is asked about more often than where they are.
                options += [Condition(name)] * 2
            elif name in self.places and holds:
                options += [Condition(name, value)] * bool(value)
            elif name in self.places:
                others = sorted({*self.places[name]} - {value})
                options += [Condition(name, other) for other in others[:1]]
        return self.rng.choice(options) if options else None


_NOT_FOR_HOLDS = ("group hold",)
"""No hold depends on another hold."""


@dataclass(frozen=True, slots=True)
class _Link:
    """What holds of that for which a link is made."""

    facts: Facts
    day: date
