"""Draws what the memos say, so that what must be looked up twice decides something.

A rule stands in a memo, another memo changes it, a third takes that back, a fourth takes back the
third. Each is kept only if the answers of the items in view differ with it, as a rule: a chain that
decides nothing tests nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from typing import Literal

from crmbench.authoring.handbook import Amendment, Condition, Facts, Provision, Rulebook
from crmbench.domains.service.hard.desk.words import ISSUES, Subject, subjects

BASE_DAY = date(2022, 1, 10)
"""When the written articles were published; what they say in general holds from then on."""
FIRST, TODAY = date(2023, 3, 1), date(2026, 3, 2)
FIRST_WORD = date(2022, 6, 1)
"""From when on the desk has found new words for things."""
KEPT_IDLE = 0.15
"""The share of memos on which no answer hangs that are kept."""
Judge = Callable[[Rulebook], Mapping[str, object]]
"""The right answer to every item in view, by a rulebook."""
Handle = Literal["number", "name", "day", "first", "condition", "content"]
Change = Literal["value", "repeal", "except", "extend", "since"]


@dataclass(frozen=True)
class Size:
    """How many memos of each kind there are for the questions of a mechanism."""

    provisions: int
    """Rules for each question."""
    changes: int
    seconds: int
    """What changes a change."""
    thirds: int


@dataclass
class Draft:
    """A memo before it has a number."""

    key: str
    published: date
    subject: str = ""
    term: str = ""
    provision: Provision | None = None
    amendment: Amendment | None = None
    nickname: str = ""
    """What it calls itself, or what another memo says that it is called."""
    names: str = ""
    """The key of the memo that it gives a name to."""
    word: tuple[str, str] | None = None
    """A word, and the one that it is the same as."""
    calls: Handle = "number"
    """How it speaks of its target: by its number, its name, the day that it was written on, the
    first day that it gives, the words of its condition, or what it lays down.
    """
    depth: int = 0
    """How many memos lie between it and a rule: 0 for a rule itself, 1 for what changes one."""


@dataclass
class Taken:
    """By what memos of a world are told from each other, over all mechanisms."""

    written: set[date] = field(default_factory=set)
    """Days on which one was written that rules on something."""
    begun: set[date] = field(default_factory=set)
    """Days on which something begins."""
    conditions: set[frozenset[Condition]] = field(default_factory=set)
    """Pairs of conditions under which a rule stands."""

    def day(self, low: date, last: date) -> date | None:
        """The latest day in (low, last], and not after today, on which nothing was written yet."""
        day = min(last, TODAY)
        while day > low:
            if day not in self.written:
                self.written.add(day)
                return day
            day -= timedelta(days=1)
        return None

    def release(self, draft: Draft) -> None:
        """Forget a draft that is not kept."""
        self.written.discard(draft.published)
        if draft.provision:
            self.begun.discard(draft.provision.since)
            self.conditions.discard(frozenset(draft.provision.when))
        if draft.amendment and draft.amendment.change != "since":
            self.begun.discard(draft.amendment.since)


@dataclass
class Memos:
    """All drafts of a mechanism's questions."""

    drafts: list[Draft] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    """The number of each memo by its key, once it has one."""

    @property
    def titles(self) -> dict[str, str]:
        """The title of each memo that rules on something, by its key."""
        ruling = (d.key for d in self.drafts if d.provision or d.amendment)
        return {key: f"Memo {self.numbers[key]}" for key in ruling}

    def book(self, without: frozenset[str] = frozenset()) -> Rulebook:
        """The rules, as somebody knows them who has not read some of the memos."""
        known = [d for d in self.drafts if d.key not in without]
        return Rulebook(
            [*base_rules(), *(d.provision for d in known if d.provision)],
            [d.amendment for d in known if d.amendment],
        )

    def books(self) -> tuple[Rulebook, ...]:
        """As it is, without changes of changes, without changes, and without any memo."""
        deeper = [frozenset(d.key for d in self.drafts if d.depth >= n) for n in (9, 2, 1, 0)]
        return tuple(self.book(keys) for keys in deeper)


def base_rules() -> list[Provision]:
    """What the written articles say in general."""
    return [Provision(f"base {s.key}", s.key, s.base, BASE_DAY) for s in subjects().values()]


class Drawer:
    """Draws the memos on one mechanism's questions.

    Args:
        seed: Of all chance.
        of: The mechanism.
        population: For each question the facts of all that it is asked about.
        judge: What the rules come to; none: everything is kept.
        size: How many of each kind.
        days: When rules come into force, the first and the last day.
        taken: By what memos are told from each other; its own are added.
        memos: Those of the same questions that are there already, which it adds to.
        near: Days among which many of them do, for some items lie before and some after.
    """

    def __init__(
        self,
        seed: str,
        of: str,
        population: Mapping[str, Sequence[Facts]],
        judge: Judge | None,
        size: Size,
        days: tuple[date, date] = (FIRST, TODAY),
        near: tuple[date, date] | None = None,
        taken: Taken | None = None,
        memos: Memos | None = None,
    ) -> None:
        self.rng = random.Random(f"{seed} {of} memos")
        self.of, self.population, self.judge, self.size = of, population, judge, size
        self.days, self.near = days, near
        self.memos = Memos() if memos is None else memos
        self._found = frozenset(draft.key for draft in self.memos.drafts)
        """The memos that were there, which stay."""
        self.taken = Taken() if taken is None else taken
        self.now: Mapping[str, object] = {}

    def draw(self) -> Memos:
        mine = [s for s in subjects().values() if s.of == self.of]
        if self.judge:
            self.now = self.judge(self.memos.book())
        for _ in range(self.size.provisions):
            for subject in mine:
                self._keep(partial(self._provision, subject), 14)
        for _ in range(self.size.changes):
            self._keep(partial(self._change, 0), 40)
        for _ in range(self.size.seconds):
            self._keep(partial(self._change, 1), 40)
        for _ in range(self.size.thirds):
            self._keep(partial(self._change, 2), 40)
        self._thin()
        if not self._found:
            for subject in mine:
                self._words(subject)
        return self.memos

    # --- what is kept -----------------------------------------------------------------------------

    def _keep(self, draw: Callable[[], Draft | None], tries: int) -> None:
        """The first draft that changes some answers and not most; none if there is none."""
        for _ in range(tries):
            draft = draw()
            if draft is None:
                continue
            self.memos.drafts.append(draft)
            if self.judge is None:
                return
            then = self.judge(self.memos.book())
            changed = sum(then[key] != self.now[key] for key in then)
            if 1 <= changed <= max(2, len(then) // 2):
                self.now = then
                return
            self.taken.release(self.memos.drafts.pop())

    def _thin(self) -> None:
        """Drop most of what no answer hangs on any more: to read it would be length alone."""
        if self.judge is None:
            return
        book = self.memos.book()
        with book.noting() as bearing:
            self.judge(book)
        for draft in reversed(list(self.memos.drafts)):
            changed = any(
                d.amendment and d.amendment.target == draft.key for d in self.memos.drafts
            )
            if changed or draft.key in self._found or self.rng.random() < KEPT_IDLE:
                continue
            without = book.without(draft.key)
            if draft.key in bearing:
                with without.noting() as rest:
                    if self.judge(without) != self.now:
                        continue
                bearing = rest
            book = without
            self.memos.drafts.remove(draft)
            self.taken.release(draft)

    def _fresh(self, low: date, high: date) -> date:
        """A day on which nothing else begins."""
        span = max(1, (high - low).days)
        while True:
            day = low + timedelta(days=self.rng.randrange(span))
            if day not in self.taken.begun:
                self.taken.begun.add(day)
                return day
            span += 3

    def _since(self, low: date, high: date) -> date:
        """The first day of something, between two days."""
        if self.near and self.near[1] > low and self.rng.random() < 0.35:
            return self._fresh(max(low, self.near[0]), self.near[1])
        return self._fresh(low, high)

    def _key(self) -> str:
        return f"{self.of} {len(self.memos.drafts) + self.rng.randrange(10**9)}"

    # --- rules ------------------------------------------------------------------------------------

    def _provision(self, subject: Subject) -> Draft | None:
        rng = self.rng
        when = self._conditions(subject)
        pair = frozenset(when)
        since = self._since(*self.days)
        day = self.taken.day(BASE_DAY, since - timedelta(days=rng.randrange(4, 25)))
        if day is None or pair in self.taken.conditions:
            self.taken.begun.discard(since)
            self.taken.written.discard(day or since)
            return None
        if len(pair) > 1:
            self.taken.conditions.add(pair)
        key = self._key()
        value = self._value(subject, subject.base)
        return Draft(
            key,
            day,
            subject.key,
            self._term(subject),
            Provision(key, subject.key, value, since, when),
        )

    def _term(self, subject: Subject) -> str:
        """What a rule calls its question; nothing where it is said in the short form."""
        if subject.short and self.rng.random() < 0.3:
            return ""
        return self.rng.choices(subject.terms, (2, 3, 4)[: len(subject.terms)])[0]

    def _value(self, subject: Subject, old: str) -> str:
        if subject.values == ("issues",):
            head = "the skill for " if subject.key == "relief" else ""
            return self.rng.choice([v for i in ISSUES if (v := head + i) != old])
        return self.rng.choice([value for value in subject.values if value != old])

    def _conditions(self, subject: Subject) -> tuple[Condition, ...]:
        first = self._condition(subject, set())
        if self.rng.random() < 0.6:
            return (first,)
        return (first, self._condition(subject, {first.attribute}))

    def _condition(self, subject: Subject, taken: set[str]) -> Condition:
        rng, facts = self.rng, self.population[subject.key]
        while True:
            attribute = rng.choice(subject.attributes)
            if attribute in taken and len(set(subject.attributes)) > len(taken):
                continue
            held = rng.choice(facts)["price" if attribute == "cheap" else attribute]
            if attribute in ("price", "cheap"):
                price = int(held) // 5 * 5
                return Condition("price", price, "at least" if attribute == "price" else "below")
            if isinstance(held, bool):
                if held or rng.random() < 0.1:
                    return Condition(attribute)
                continue
            if held is not None:
                return Condition(attribute, held)

    # --- changes ----------------------------------------------------------------------------------

    def _change(self, depth: int) -> Draft | None:
        """A change of something of that depth."""
        rng = self.rng
        known = {d.amendment.target for d in self.memos.drafts if d.amendment}
        found = [d for d in self.memos.drafts if d.depth == depth and (d.provision or d.amendment)]
        fresh = [d for d in found if d.key not in known]
        if not found:
            return None
        target = rng.choice(fresh if fresh and rng.random() < 0.8 else found)
        return self._amendment(target)

    def _amendment(self, target: Draft) -> Draft | None:
        rng, key = self.rng, self._key()
        rule = target.provision or target.amendment
        assert rule is not None
        kinds: list[Change] = ["repeal", "repeal", "repeal", "except", "except"]
        if target.amendment and target.amendment.change != "since":
            kinds.append("since")
        if target.provision:
            kinds = ["value", "except", "except", "extend", "extend", "repeal", "since"]
        elif target.amendment and target.amendment.change in ("value", "except", "extend"):
            # A figure gets another figure; who is taken out or in, gets company.
            kinds += ["value"] if target.amendment.change == "value" else ["extend"] * 2
        change = rng.choice(kinds)
        subject = subjects()[target.subject]
        low = max(rule.since, target.published) + timedelta(days=20)
        high = max(self.days[1] + timedelta(days=25), low + timedelta(days=40))
        draft = Draft(key, date.min, target.subject, target.term, depth=target.depth + 1)
        if change == "since":
            return self._put_off(draft, target, rule, high)
        since = self._since(low, high)
        before = since - timedelta(days=rng.randrange(4, 25))
        day = self.taken.day(target.published, max(before, target.published + timedelta(days=2)))
        if day is None:
            self.taken.begun.discard(since)
            return None
        draft.published = day
        made = Amendment(key, rule.article, since, change)
        if change == "value":
            made = replace(made, value=self._value(subject, str(rule.value)))
        elif change in ("except", "extend"):
            when = target.provision.when if target.provision else ()
            condition = self._condition(subject, {condition.attribute for condition in when})
            made = (
                replace(made, unless=condition)
                if change == "except"
                else replace(made, also=condition)
            )
        draft.amendment = made
        return draft

    def _put_off(
        self, draft: Draft, target: Draft, rule: Provision | Amendment, high: date
    ) -> Draft | None:
        """It is put off before it begins; what it says then comes later, or is still to come."""
        span = max(1, (rule.since - target.published).days - 1)
        last = target.published + timedelta(days=1 + self.rng.randrange(span))
        day = self.taken.day(target.published, last)
        if day is None:
            return None
        later = self._fresh(rule.since + timedelta(days=30), high + timedelta(days=60))
        draft.published = day
        draft.amendment = Amendment(draft.key, rule.article, day, "since", later)
        return draft

    # --- words --------------------------------------------------------------------------

    def _words(self, subject: Subject) -> None:
        if len(subject.terms) == 3:
            span = (self.days[0] - FIRST_WORD).days
            last = FIRST_WORD + timedelta(days=self.rng.randrange(span))
            day = self.taken.day(BASE_DAY, last)
            if day is not None:
                self.memos.drafts.append(Draft(self._key(), day, word=subject.terms[:0:-1]))
