"""The handbook of a hard world: which provisions, amendments and absences there are."""

from __future__ import annotations

import itertools
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property
from typing import Protocol

from crmbench.authoring.handbook import Amendment, Change, Condition, Provision, Rulebook
from crmbench.domains.sales.hard.conditions import NOUNS, OTHER_WORDS
from crmbench.domains.sales.hard.handbook.questions import YES_NO
from crmbench.domains.sales.hard.org import COUNTRIES, PRODUCTS, Move, Org
from crmbench.domains.sales.hard.wording import OTHER_SUBJECTS, TERMS

DEFINITIONS = ("public body", "long-standing", "large account", "slow payer", "changed hands")
TRAITS = ("public body", "long-standing", "large account", "slow payer")
RELATED = (
    "buyer public",
    "buyer hold",
    "head public",
    "head slow",
    "group stop",
    "group hold",
    "close reminders",
)
"""Traits that stand on records of others, or between several notes."""
ON_RECORD = ("payment stop", "dispute", "changed hands")
OTHER_PLAIN = 0.45
"""Share of the articles on other matters whose title says what they are on."""
VAGUE_CASED = 0.15
"""Share of the other provisions on other matters that speak of a case: whoever looks for a case
need not open all articles whose titles say nothing.
"""
PLAIN_PEOPLE = 0.25
"""Share of absences and of moves whose title says what they are."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Somebody is away, and somebody else stands in; both days included."""

    article: str
    person: str
    start: date
    until: date
    deputy: str


@dataclass(slots=True)
class Draft:
    """An article before it is written out: what it says, in order."""

    number: str
    provisions: list[Provision] = field(default_factory=list)
    amendments: list[Amendment] = field(default_factory=list)
    absences: list[Absence] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    words: list[tuple[str, str]] = field(default_factory=list)
    """A term, and the term of which it is another name."""
    old: dict[str, str] = field(default_factory=dict)
    """Target to the figure that an amendment of its value replaces."""
    plain: bool = True
    """Whether the title says what it is about."""


@dataclass(slots=True)
class Rules:
    """All of a handbook, before it is written out."""

    drafts: list[Draft]
    terms: tuple[str, ...]
    """What a renewal is called, each told to be the one before."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Kind of client to what it is called too."""

    @property
    def book(self) -> Rulebook:
        return Rulebook(
            (p for d in self.drafts for p in d.provisions),
            (a for d in self.drafts for a in d.amendments),
        )

    @property
    def absences(self) -> tuple[Absence, ...]:
        return tuple(a for d in self.drafts for a in d.absences)


@dataclass(frozen=True)
class Size:
    """How much there is of everything at a level."""

    uplift: int
    lead: int
    desk: int
    ceiling: int
    terms: int
    """Names that a renewal has."""
    chains: int
    """Amendments, and amendments of these, of which each decides a row of the list."""
    changes: int
    """Amendments beside them of provisions that renewals ask about."""
    absences: int
    articles: int
    """All in all, those about other things included."""
    niches: int = 0
    """Provisions that go for few renewals, of which each decides a row of the list."""


class Extent(Protocol):
    """How much there is in a handbook besides its provisions; `Size` is one."""

    @property
    def terms(self) -> int: ...
    @property
    def changes(self) -> int: ...
    @property
    def absences(self) -> int: ...
    @property
    def articles(self) -> int: ...


class RuleWriter(ABC):
    """Draws the rules of a handbook for an org; what they are on, its subclasses say."""

    family: Sequence[str] = TERMS
    """What that which the handbook is on may be called, the common word first."""
    related: Sequence[str] = RELATED
    """Traits that stand on records of others, of which a condition may speak."""

    def __init__(self, seed: str, org: Org, size: Extent) -> None:
        self.rng = random.Random(f"{seed} rules")
        self.org = org
        self.extent = size
        self.drafts: list[Draft] = []
        self._numbers = self.rng.sample(range(1001, 9999), 2000)
        self._days: set[date] = set()
        self._ends = [c.end for f in org.firms for c in f.contracts if c.renewal]

    @abstractmethod
    def provisions(self) -> None:
        """Draw what the handbook lays down, before anything of it is changed."""

    @abstractmethod
    def exception(self, provision: Provision) -> Condition:
        """A condition on which a provision might no longer, or also, speak."""

    @abstractmethod
    def other_figure(self, subject: str, figure: str) -> str:
        """Another answer to a question."""

    def finish(self) -> Rules:
        """Draw the rest: further changes, people, words and articles on other things."""
        relevant = [d for d in self.drafts if d.provisions]
        self._change(relevant)
        self._absences()
        self._bundle(relevant)
        terms = self._terms()
        words = self._words()
        self._moves()
        while len(self.drafts) < self.extent.articles - 1:
            self._other()
        return Rules(self.drafts, terms, words)

    def _words(self) -> dict[str, str]:
        words = {kind: self.rng.choice(other) for kind, other in OTHER_WORDS.items()}
        for kind, word in words.items():
            draft = self.draft()
            draft.plain = True
            draft.words.append((word, NOUNS[kind]))
        return words

    def draft(self) -> Draft:
        """A new article that says nothing yet and whose title says nothing."""
        made = Draft(f"HB-{self._numbers.pop()}", plain=False)
        self.drafts.append(made)
        return made

    @property
    def book(self) -> Rulebook:
        """What is drawn so far."""
        return Rulebook(
            (p for d in self.drafts for p in d.provisions),
            (a for d in self.drafts for a in d.amendments),
        )

    def take_back(self, place: int) -> None:
        """Drop the articles from that place on; their numbers are free again."""
        self._numbers += [int(d.number[len("HB-") :]) for d in reversed(self.drafts[place:])]
        del self.drafts[place:]

    def _terms(self) -> tuple[str, ...]:
        rng = self.rng
        terms = (self.family[0], *rng.sample(self.family[1:], self.extent.terms - 1))
        for known, word in itertools.pairwise(terms):
            draft = Draft(f"HB-{self._numbers.pop()}", plain=rng.random() < 0.5)
            draft.words.append((word, known))
            self.drafts.append(draft)
        return terms

    def _moves(self) -> None:
        for move in self.org.team.moves:
            draft = Draft(f"HB-{self._numbers.pop()}", plain=self.rng.random() < PLAIN_PEOPLE)
            draft.moves.append(move)
            self.drafts.append(draft)

    # --- days -------------------------------------------------------------------------------------

    def _past(self) -> date:
        return self._fresh(lambda: self.org.today - timedelta(days=self.rng.randrange(30, 2600)))

    def _ahead(self) -> date:
        """A day on which some of the contracts to renew have ended and others have not."""
        return self._fresh(self._near_an_end)

    def _near_an_end(self) -> date:
        """Often the very day on which a contract ends, or the day after."""
        if self.rng.random() < 0.6:
            return self.rng.choice(self._ends) + timedelta(days=self.rng.randrange(2))
        return self.org.today + timedelta(days=self.rng.randrange(140, 225))

    def _fresh(self, draw: Callable[[], date]) -> date:
        day = draw()
        while day in self._days:
            day = draw()
        self._days.add(day)
        return day

    def _since(self) -> date:
        return self._ahead() if self.rng.random() < 0.25 else self._lately()

    def _lately(self) -> date:
        return self._fresh(lambda: self.org.today - timedelta(days=self.rng.randrange(30, 1300)))

    # --- provisions -------------------------------------------------------------------------------

    def _add(
        self, subject: str, value: object, since: date, when: Sequence[Condition] = ()
    ) -> Draft:
        number = f"HB-{self._numbers.pop()}"
        draft = Draft(number, [Provision(number, subject, value, since, tuple(when))])
        draft.plain = self.rng.random() < 0.5
        self.drafts.append(draft)
        return draft

    def _percent(self) -> str:
        return f"{self.rng.randrange(1, 19) / 2:g} %"

    def _low(self) -> str:
        return f"{self.rng.randrange(1, 9) / 2:g} %"

    def _lead(self) -> str:
        return f"{self.rng.randrange(14, 105)} days"

    def _conditions(self, count: int) -> list[tuple[Condition, ...]]:
        """Different conditions, broad ones first."""
        rng = self.rng
        trades = sorted({firm.industry for firm in self.org.firms})
        traits = [*rng.sample(TRAITS, 4), *rng.sample(self.related, min(4, len(self.related)))]
        single: list[Condition] = [Condition(trait) for trait in rng.sample(traits, 7)]
        single[2:2] = [Condition("industry", rng.choice(trades))]
        single[4:4] = [Condition("product", rng.choice(PRODUCTS))]
        countries = rng.sample(sorted(COUNTRIES.values()), 2)
        single += [Condition("country", name) for name in countries]
        values = sorted(c.value for f in self.org.firms for c in f.contracts if c.renewal)
        high, low = values[len(values) * 3 // 4], values[len(values) // 5]
        single[3:3] = [
            rng.choice((Condition("value", high, "at least"), Condition("value", low, "below")))
        ]
        single += [Condition("industry", t) for t in trades if t != single[1].value]
        found: list[tuple[Condition, ...]] = [(condition,) for condition in single[:count]]
        for _ in range(max(1, count // 3)):
            first, second = rng.sample(single[:8], 2)
            if first.attribute != second.attribute:
                found.append((first, second))
        return list(dict.fromkeys(found))

    # --- changes ----------------------------------------------------------------------------------

    def _change(self, relevant: Sequence[Draft]) -> None:
        """Further changes, of provisions that no chain of changes begins at."""
        rng = self.rng
        changed = {a.target for d in self.drafts for a in d.amendments}
        targets = [
            d
            for d in relevant
            if d.provisions[0].when
            and d.number not in changed
            and d.provisions[0].subject not in DEFINITIONS
        ]
        rng.shuffle(targets)
        for place, draft in enumerate(targets[: self.extent.changes]):
            provision = draft.provisions[0]
            change = rng.choice(("value", "value", "except", "extend", "repeal"))
            if provision.subject in YES_NO and change == "value":
                change = rng.choice(("except", "extend"))
            made = self._amendment(provision, change)
            if place % 4 == 3:
                self._withdraw(made)

    def _amendment(self, provision: Provision, change: str) -> Amendment:
        number = f"HB-{self._numbers.pop()}"
        earliest = max(provision.since, self.org.today - timedelta(days=300))
        since = self._fresh(lambda: self._changed_on(earliest))
        draft = Draft(number, plain=False)
        target = provision.article
        if change == "value":
            draft.old[target] = str(provision.value)
            new = self.other_figure(provision.subject, str(provision.value))
            made = Amendment(number, target, since, "value", value=new)
        elif change == "repeal":
            made = Amendment(number, target, since, "repeal")
        elif change == "extend":
            made = Amendment(number, target, since, "extend", also=self.exception(provision))
        else:
            made = Amendment(number, target, since, "except", unless=self.exception(provision))
        draft.amendments.append(made)
        self.drafts.append(draft)
        return made

    def _changed_on(self, earliest: date) -> date:
        if self.rng.random() < 0.4:
            return max(earliest + timedelta(days=9), self._near_an_end())
        return earliest + timedelta(days=self.rng.randrange(9, 330))

    def _withdraw(self, amendment: Amendment) -> None:
        """An amendment that is itself repealed, on its first day."""
        number = f"HB-{self._numbers.pop()}"
        draft = Draft(number, plain=False)
        draft.amendments.append(Amendment(number, amendment.article, amendment.since, "repeal"))
        self.drafts.append(draft)

    # --- the rest ---------------------------------------------------------------------------------

    def _absences(self) -> None:
        rng, team = self.rng, self.org.team
        people = [*rng.sample(team.desks, 4), *rng.sample(team.reps, len(team.reps))]
        away = [people[i // 2 if i % 2 == 0 else 4 + i // 2] for i in range(self.extent.absences)]
        present = [person for person in people if person not in away] or [team.manager]
        for person in away:
            number = f"HB-{self._numbers.pop()}"
            start = self.org.today + timedelta(days=rng.randrange(50, 150))
            until = start + timedelta(days=rng.randrange(30, 60))
            draft = Draft(number, plain=rng.random() < PLAIN_PEOPLE)
            draft.absences.append(Absence(number, person, start, until, rng.choice(present)))
            self.drafts.append(draft)

    def _bundle(self, relevant: Sequence[Draft]) -> None:
        """Provisions with a condition that nobody changes come in circulars, between others."""
        changed = {a.target for d in self.drafts for a in d.amendments}
        for draft in relevant:
            (provision,) = draft.provisions
            if provision.when and draft.number not in changed and self.rng.random() < 0.6:
                draft.plain = False
                others = [
                    self._noise(draft.number, provision.since)
                    for _ in range(self.rng.randrange(1, 4))
                ]
                draft.provisions = [*others, provision]
                self.rng.shuffle(draft.provisions)

    def _noise(self, number: str, since: date, cased: float = 0.85) -> Provision:
        rng = self.rng
        subject = rng.choice(sorted(OTHER_SUBJECTS))
        unit = OTHER_SUBJECTS[subject][1]
        figure = self._percent() if unit == "%" else self._lead()
        when = self._any_case() if rng.random() < cased else ()
        return Provision(number, subject, figure, since, when)

    def _any_day(self) -> date:
        """When provisions on other matters and their changes come into force: as those that count,
        mostly of late, and some not yet."""
        draw = self.rng.random()
        if draw < 0.15:
            return self.org.today + timedelta(days=self.rng.randrange(1, 200))
        return self.org.today - timedelta(days=self.rng.randrange(1, 500 if draw < 0.6 else 2600))

    def _any_case(self) -> tuple[Condition, ...]:
        """What provisions on other matters speak of: all that may be true of a client, evenly."""
        first, second = self.rng.sample(self._possible, 2)
        both = self.rng.random() < 0.2 and first.attribute != second.attribute
        return (first, second) if both else (first,)

    @cached_property
    def _possible(self) -> list[Condition]:
        return self.possible()

    def possible(self) -> list[Condition]:
        """All that may be true of what the handbook is on."""
        values = sorted(c.value for f in self.org.firms for c in f.contracts if c.renewal)
        trades = sorted({firm.industry for firm in self.org.firms})
        return [
            *(Condition("country", name) for name in sorted(COUNTRIES.values())),
            *(Condition("industry", name) for name in trades),
            *(Condition("product", name) for name in PRODUCTS),
            *(Condition(trait) for trait in (*TRAITS, *self.related, *ON_RECORD)),
            Condition("value", values[len(values) * 3 // 4], "at least"),
            Condition("value", values[len(values) // 5], "below"),
        ]

    def _other(self) -> None:
        """An article about something else, or a change of one."""
        rng = self.rng
        number = f"HB-{self._numbers.pop()}"
        draft = Draft(number, plain=rng.random() < OTHER_PLAIN)
        targets = [
            d
            for d in self.drafts
            if len(d.provisions) == 1 and d.provisions[0].subject in OTHER_SUBJECTS
        ]
        if targets and rng.random() < 0.35:
            draft.plain = rng.random() < 0.5
            self._change_other(draft, rng.choice(targets).provisions[0])
        else:
            since = self._any_day()
            count = 1 if draft.plain else rng.choice((1, 1, 2))
            cased = 0.95 if draft.plain else VAGUE_CASED
            draft.provisions = [self._noise(number, since, cased) for _ in range(count)]
        self.drafts.append(draft)

    def _change_other(self, draft: Draft, target: Provision) -> None:
        """A change of an article about something else, worded as all changes are."""
        rng = self.rng
        since = max(target.since + timedelta(days=9 + rng.randrange(90)), self._any_day())
        change: Change = rng.choice(
            ("value", "value", "value", "repeal", "repeal", "except", "extend")
        )
        made = Amendment(draft.number, target.article, since, change)
        if change == "value":
            unit = OTHER_SUBJECTS[target.subject][1]
            new = str(target.value)
            while new == target.value:
                new = self._percent() if unit == "%" else self._lead()
            draft.old[target.article] = str(target.value)
            made = replace(made, value=new)
        elif change == "except":
            made = replace(made, unless=self.exception(target))
        elif change == "extend":
            made = replace(made, also=self.exception(target))
        draft.amendments.append(made)
