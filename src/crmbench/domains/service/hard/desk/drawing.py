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
from crmbench.domains.service.hard.desk.words import ISSUES, Subject, data, subjects

BASE_DAY = date(2022, 1, 10)
"""When the written articles were published; what they say in general holds from then on."""
FIRST, TODAY = date(2023, 3, 1), date(2026, 3, 2)
Judge = Callable[[Rulebook], Mapping[str, object]]
"""The right answer to every item in view, by a rulebook."""
Handle = Literal["number", "name", "day"]
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
    """How it speaks of its target."""
    depth: int = 0
    """How many memos lie between it and a rule: 0 for a rule itself, 1 for what changes one."""


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
        written: Days on which a memo was written; those of its own are added.
        near: Days among which many of them do, for some items lie before and some after.
    """

    def __init__(
        self,
        seed: str,
        of: str,
        population: Mapping[str, Sequence[Facts]],
        judge: Judge | None,
        size: Size,
        nicknames: list[str],
        days: tuple[date, date] = (FIRST, TODAY),
        near: tuple[date, date] | None = None,
        written: set[date] | None = None,
    ) -> None:
        self.rng = random.Random(f"{seed} {of} memos")
        self.of, self.population, self.judge, self.size = of, population, judge, size
        self.nicknames, self.days, self.near = nicknames, days, near
        self.memos = Memos()
        self.used: set[date] = set()
        self.written = set() if written is None else written
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
        for subject in mine:
            self._words(subject)
        self._names()
        return self.memos

    # --- what is kept -----------------------------------------------------------------------------

    def _keep(self, draw: Callable[[], Draft | None], tries: int) -> None:
        """The first draft that changes some answers and not most; none if there is none."""
        for _ in range(tries):
            draft = draw()
            if draft is None:
                return
            self.memos.drafts.append(draft)
            if self.judge is None:
                return
            then = self.judge(self.memos.book())
            changed = sum(then[key] != self.now[key] for key in then)
            if 1 <= changed <= max(2, len(then) // 2):
                self.now = then
                return
            self.memos.drafts.pop()

    def _fresh(self, low: date, high: date) -> date:
        """A day on which nothing else begins."""
        span = max(1, (high - low).days)
        while True:
            day = low + timedelta(days=self.rng.randrange(span))
            if day not in self.used:
                self.used.add(day)
                return day
            span += 3

    def _since(self, low: date, high: date) -> date:
        """The first day of something, between two days."""
        if self.near and self.near[1] > low and self.rng.random() < 0.35:
            return self._fresh(max(low, self.near[0]), self.near[1])
        return self._fresh(low, high)

    def _published(self, day: date) -> date:
        """That day, or the next one on which nothing else was written, so that a day is a name."""
        while day in self.written:
            day += timedelta(days=1)
        self.written.add(day)
        return day

    def _key(self) -> str:
        return f"{self.of} {len(self.memos.drafts) + self.rng.randrange(10**9)}"

    def _nickname(self, share: float) -> str:
        return self.nicknames.pop() if self.rng.random() < share else ""

    # --- rules ------------------------------------------------------------------------------------

    def _provision(self, subject: Subject) -> Draft:
        rng = self.rng
        since = self._since(*self.days)
        key = self._key()
        when = self._conditions(subject)
        value = self._value(subject, subject.base)
        return Draft(
            key,
            self._published(since - timedelta(days=rng.randrange(4, 25))),
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
        if self.rng.random() < 0.7:
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
        made = self._amendment(target)
        if not target.nickname and target.key not in known and rng.random() < 0.7:
            target.nickname = self.nicknames.pop()
        if target.nickname and rng.random() < 0.6:
            return replace(made, calls="name")
        return replace(made, calls="day" if rng.random() < 0.4 else "number")

    def _amendment(self, target: Draft) -> Draft:
        rng, key = self.rng, self._key()
        rule = target.provision or target.amendment
        assert rule is not None
        kinds: list[Change] = ["repeal", "repeal", "repeal", "except", "except"]
        if target.amendment and target.amendment.change != "since":
            kinds.append("since")
        if target.provision:
            kinds = ["value", "value", "except", "except", "extend", "extend", "repeal", "since"]
        elif target.amendment and target.amendment.change in ("value", "except", "extend"):
            # A figure gets another figure; who is taken out or in, gets company.
            kinds += ["value"] * 2 if target.amendment.change == "value" else ["extend"] * 2
        change = rng.choice(kinds)
        subject = subjects()[target.subject]
        low = max(rule.since, target.published) + timedelta(days=20)
        high = max(self.days[1] + timedelta(days=25), low + timedelta(days=40))
        draft = Draft(key, date.min, target.subject, target.term, depth=target.depth + 1)
        if change == "since":
            # It is put off before it begins; what it says then comes later, or is still to come.
            said = self._published(self._fresh(target.published + timedelta(days=1), rule.since))
            later = self._fresh(rule.since + timedelta(days=30), high + timedelta(days=60))
            draft.published = said
            draft.amendment = Amendment(key, rule.article, said, "since", later)
            return draft
        since = self._since(low, high)
        draft.published = self._published(
            max(since - timedelta(days=rng.randrange(4, 25)), target.published + timedelta(days=2))
        )
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

    # --- names and words --------------------------------------------------------------------------

    def _words(self, subject: Subject) -> None:
        if len(subject.terms) == 3:
            day = self._published(self._fresh(date(2022, 6, 1), self.days[0]))
            self.memos.drafts.append(Draft(self._key(), day, word=subject.terms[:0:-1]))

    def _names(self) -> None:
        """Some are named by another memo, and not by themselves."""
        rng = self.rng
        called = {
            d.amendment.target for d in self.memos.drafts if d.amendment and d.calls == "name"
        }
        for draft in list(self.memos.drafts):
            if draft.nickname and rng.random() < 0.4 and draft.key in called:
                first = min(
                    d.published
                    for d in self.memos.drafts
                    if d.amendment and d.amendment.target == draft.key and d.calls == "name"
                )
                gap = max(1, (first - draft.published).days - 1)
                day = draft.published + timedelta(days=rng.randrange(gap) + 1)
                self.memos.drafts.append(
                    Draft(
                        self._key(),
                        self._published(min(day, first)),
                        names=draft.key,
                        nickname=draft.nickname,
                    )
                )
            elif not draft.nickname and (draft.provision or draft.amendment):
                draft.nickname = self._nickname(0.25)


def all_nicknames(seed: str) -> list[str]:
    """The words that memos may be called by, in an order of the seed's."""
    found = list(data()["nicknames"])
    random.Random(f"{seed} nicknames").shuffle(found)
    return found
