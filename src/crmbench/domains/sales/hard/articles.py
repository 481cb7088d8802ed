"""Rules written out as articles, and articles read back as rules."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from crmbench.authoring.handbook import Amendment, Condition, Provision, Rulebook, Said
from crmbench.authoring.handbook.days import long_date, read_date
from crmbench.domains.sales.hard.conditions import (
    read_conditions,
    say_case,
)
from crmbench.domains.sales.hard.handbook.contents import CONNECTIVES, OTHER_CONTENTS
from crmbench.domains.sales.hard.handbook.questions import YES_NO
from crmbench.domains.sales.hard.handbook.spoken import Contents, kind_of
from crmbench.domains.sales.hard.org import Move, Team
from crmbench.domains.sales.hard.rules import DEFINITIONS, Absence, Draft, Rules
from crmbench.domains.sales.hard.wording import CHANGES, HANDBOOK, OTHER_SUBJECTS

_FILLERS = (
    "It was agreed with the regional teams after the usual round of comments.",
    "Questions go to the back office.",
    "Please keep this at hand.",
    "The reasons are in the minutes of the spring meeting.",
    "It replaces what was said on the phone.",
    "Nothing else in the handbook is touched by this.",
    "The wording was shortened after last year's survey.",
    "Colleagues who join later find it here.",
    "It is looked at again once a year.",
    "An example is given in the training material.",
)
_TITLES: Mapping[str, str] = {
    "uplift": "What we add",
    "lead time": "When it is to be signed",
    "desk": "Who handles what",
    "hold": "On hold or not",
    "ceiling": "Ceilings",
    "delay": "How long it may wait",
    "reduction": "How low it may go",
    "chance": "How sure we are",
    "keeper": "Handing over",
    "frozen": "Asked and done",
    "tax": "Tax numbers",
    "register": "Register entries",
    "renamed": "Names",
    "phone": "Phone numbers",
    "stays": "Which one stays",
    "details": "Whose details",
    "apart": "Apart or not",
}


_OLD = timedelta(days=400)


@dataclass(frozen=True)
class Naming:
    """How articles speak of each other; who follows numbers alone must miss something."""

    content: float
    """Share of what is spoken of by what it says, where that is told apart."""
    number: float
    """Share of what is spoken of by number, where what it says is told apart."""
    otherwise: float
    """The same where it is not, as of whatever changes something. The rest is named by title."""


USUAL = Naming(content=0.88, number=0.05, otherwise=0.4)
OTHERS = 0.45
"""The same of changes on other matters, as a share of that."""
TELLING = 0.2
"""Share of the changes that speak of others by what they say whose title may tell that they are
changes.
"""


class ArticleWriter:
    """Writes the rows of the table of articles."""

    def __init__(
        self, seed: str, rules: Rules, team: Team, today: date, naming: Naming = USUAL
    ) -> None:
        self.rng = random.Random(f"{seed} articles")
        self.naming = naming
        self.rules = rules
        self.team = team
        self.today = today
        self.titles: dict[str, str] = {}
        self._contents = Contents(rules.book)
        self._others = {
            p.article: p for p in rules.book.provisions if p.subject in OTHER_SUBJECTS and p.when
        }
        self._subjects = {
            p.article: p.subject for p in rules.book.provisions if p.subject in OTHER_SUBJECTS
        }
        """Article on another matter to that matter, by which its changes may be titled."""
        self._spoken: dict[str, str] = {}
        """Article that changes another one to how it speaks of that one, if by what that says."""

    def write(self) -> list[dict[str, Any]]:
        for draft in self.rules.drafts:
            for amendment in draft.amendments:
                said = self._described(amendment.target)
                other = amendment.target in self._subjects
                if said and self.rng.random() < self.naming.content * (OTHERS if other else 1):
                    self._spoken[draft.number] = said
        for draft in self.rules.drafts:
            self.titles[draft.number] = self._title(draft)
        rows = [self._row(draft) for draft in self.rules.drafts]
        rows.append(who_is_who(self.team))
        return sorted(rows, key=lambda row: row["number"])

    def _title(self, draft: Draft) -> str:
        telling = draft.plain and (
            draft.number not in self._spoken
            or draft.amendments[0].target in self._subjects
            or self.rng.random() < TELLING
        )
        plain = self._plain_title(draft) if telling else self._vague_title(draft)
        title, count = plain, 2
        while title in self.titles.values():
            title, count = f"{plain} ({count})", count + 1
            if draft.amendments or not telling:
                # A number behind it would make one title the beginning of another.
                title = plain = self._vague_title(draft)
        return title

    def _plain_title(self, draft: Draft) -> str:
        if draft.absences:
            return "Absences and deputies"
        if draft.moves:
            return "Changes of place"
        if draft.words:
            return f"Words we use: {draft.words[0][0]}"
        if draft.amendments and draft.amendments[0].target in self._subjects:
            subject = self._subjects[draft.amendments[0].target]
            return f"{subject.capitalize()}: change of {long_date(self._issued(draft))}"
        if draft.amendments:
            return f"Changes to earlier articles, {long_date(self._issued(draft))}"
        provision = draft.provisions[0]
        if provision.subject in DEFINITIONS:
            return f"What we mean by: {provision.subject}"
        head = _TITLES.get(provision.subject, provision.subject.capitalize())
        if not provision.when:
            return f"{head}: general"
        names = [
            c.attribute
            if c.value is True
            else "by value"
            if c.attribute == "value"
            else str(c.value)
            for c in provision.when
        ]
        return f"{head}: {', '.join(names)}"

    def _vague_title(self, draft: Draft) -> str:
        rng, day = self.rng, self._issued(draft)
        return rng.choice(
            (
                f"Circular {rng.randrange(1, 240)}/{day.year}",
                f"Letter to all teams of {long_date(day)}",
                f"Minutes of the sales round of {long_date(day)}",
                f"Answers to questions from the field {rng.randrange(1, 240)}/{day.year}",
                f"Note from the back office, {long_date(day)}",
            )
        )

    def _issued(self, draft: Draft) -> date:
        days = [provision.since for provision in draft.provisions]
        days += [amendment.since for amendment in draft.amendments]
        days += [absence.start for absence in draft.absences]
        days += [move.day for move in draft.moves]
        return min(min(days, default=self.today - _OLD), self.today) - timedelta(days=7)

    def _row(self, draft: Draft) -> dict[str, Any]:
        rng = self.rng
        said = [self._provision(p) for p in draft.provisions]
        said += [self._amendment(draft, a) for a in draft.amendments]
        said += [self._absence(a) for a in draft.absences]
        said += [self._move(m) for m in draft.moves]
        said += [HANDBOOK.say("word", rng, word=w, known=k) for w, k in draft.words]
        lines = rng.sample(_FILLERS, rng.randrange(3))
        if draft.provisions:
            since = HANDBOOK.say("since", rng, date=long_date(draft.provisions[0].since))
            lines.append(since)
        many = len(said) > 1
        lines += [f"({i}) {text}" if many else text for i, text in enumerate(said, 1)]
        lines += rng.sample(_FILLERS, rng.randrange(3))
        return {
            "number": draft.number,
            "title": self.titles[draft.number],
            "issued": self._issued(draft).isoformat(),
            "text": "\n".join(lines),
        }

    def _provision(self, provision: Provision) -> str:
        rng = self.rng
        cond = self._case(provision.when)
        if provision.subject in OTHER_SUBJECTS:
            told = OTHER_SUBJECTS[provision.subject][0].format(figure=provision.value)
            return f"Where {cond}, {told}." if cond else f"{told[0].upper()}{told[1:]}."
        kind = kind_of(provision) + (
            "" if cond or provision.subject in DEFINITIONS else ", general"
        )
        term = rng.choice(self.rules.terms)
        text = HANDBOOK.say(kind, rng, cond=cond, figure=str(provision.value), term=term)
        return text[0].upper() + text[1:]

    def _case(self, when: Iterable[Condition]) -> str:
        """Conditions in words; now and then in the words of this handbook."""
        return say_case(self.rng, when, self.rules.words)

    def _amendment(self, draft: Draft, amendment: Amendment) -> str:
        cond = amendment.unless or amendment.also
        text = HANDBOOK.say(
            amendment.change,
            self.rng,
            target=self._named(draft.number, amendment.target),
            date=long_date(amendment.since),
            new=str(amendment.value),
            old=draft.old.get(amendment.target, ""),
            cond=self._case([cond]) if cond else "",
        )
        return text[0].upper() + text[1:]

    def _named(self, by: str, number: str) -> str:
        """An article as another one speaks of it: by what it says, by number or by title."""
        if by in self._spoken:
            return self._spoken[by]
        draw, naming = self.rng.random(), self.naming
        described = self._contents.tells_apart(number) or number in self._others
        share = naming.number / (1 - naming.content) if described else naming.otherwise
        return number if draw < share else self.titles[number]

    def _described(self, number: str) -> str:
        """What an article says in other words; empty if that does not tell it apart."""
        other = self._others.get(number)
        if other is None:
            return self._contents.say(number, self.rng, self.rules.words)
        matter = self.rng.choice(OTHER_CONTENTS[other.subject])
        return f"{matter} {self.rng.choice(CONNECTIVES)} {self._case(other.when)}"

    def _move(self, move: Move) -> str:
        said = HANDBOOK.say(
            "move",
            self.rng,
            person=move.person,
            department=move.department,
            joins=move.joins,
            date=long_date(move.day),
        )
        return f"Add to the text on who is who: {said}"

    def _absence(self, absence: Absence) -> str:
        return HANDBOOK.say(
            "absence",
            self.rng,
            person=absence.person,
            date=long_date(absence.start),
            until=long_date(absence.until),
            deputy=absence.deputy,
        )


def who_is_who(team: Team) -> dict[str, Any]:
    """The article on who works where."""
    rng = random.Random(team.manager)
    lines = [
        f"Sales manager: {team.manager}.",
        f"Representatives: {', '.join(team.reps)}.",
        f"Desks: {', '.join(team.desks)}.",
        HANDBOOK.say("team", rng, department="Accounts", people=", ".join(team.accounts)),
        HANDBOOK.say("team", rng, department="Legal", people=", ".join(team.legal)),
        HANDBOOK.say(
            "move",
            rng,
            person=team.moved,
            department="Accounts",
            joins="Sales",
            date=long_date(team.moved_on),
        ),
    ]
    first = min([team.moved_on, *(move.day for move in team.moves)])
    issued = (first - timedelta(days=12)).isoformat()
    return {
        "number": "HB-100",
        "title": "Who is who",
        "issued": issued,
        "text": "\n".join(lines),
    }


# --- reading --------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def read_article(text: str) -> tuple[Said, ...]:
    """What an article says."""
    return tuple(HANDBOOK.read(text))


class ReadHandbook:
    """What a reader takes from the articles alone.

    Attributes:
        book: The rules.
        absences: Who is away when.
        people: Department to those who are listed there.
        moves: Person to the day on which they left their department.
        transfers: All moves: the day, the person, and where to.
    """

    def __init__(self, articles: Iterable[Mapping[str, Any]]) -> None:
        rows = list(articles)
        self._numbers: dict[str, str] = {row["title"]: row["number"] for row in rows}
        self.absences: list[Absence] = []
        self.people: dict[str, tuple[str, ...]] = {}
        self.moves: dict[str, date] = {}
        self.transfers: list[tuple[date, str, str]] = []
        self._provisions: list[Provision] = []
        self._changes: list[tuple[str, Said]] = []
        read = [(row["number"], read_article(row["text"])) for row in rows]
        for number, said in read:
            self._article(number, said)
        for number, said in read:
            self._changes += [(number, each) for each in said if each.kind in CHANGES]
        # What speaks of a change by what it says is understood once that change is.
        self.book = Rulebook(self._provisions, ())
        for _ in range(2):
            contents = Contents(self.book)
            amendments = [self._change(number, each, contents) for number, each in self._changes]
            self.book = Rulebook(self._provisions, amendments)

    def _article(self, number: str, said: Sequence[Said]) -> None:
        days = [read_date(each.gaps["date"]) for each in said if each.kind == "since"]
        for each in said:
            gaps = each.gaps
            if each.kind == "since":
                continue
            if each.kind == "absence":
                start, until = read_date(gaps["date"]), read_date(gaps["until"])
                self.absences.append(Absence(number, gaps["person"], start, until, gaps["deputy"]))
            elif each.kind == "team":
                self.people[gaps["department"]] = tuple(gaps["people"].split(", "))
            elif each.kind == "move":
                day = read_date(gaps["date"])
                self.moves[gaps["person"]] = day
                self.transfers.append((day, gaps["person"], gaps["joins"]))
            elif each.kind == "word":
                continue
            elif each.kind not in CHANGES:
                self._provisions.append(_provision(number, each, days[0]))

    def works_in(self, person: str, department: str, day: date) -> bool:
        """Whether somebody is of Accounts, or of Legal, on a day."""
        place = next((d for d, people in self.people.items() if person in people), "")
        for since, who, joins in sorted(self.transfers):
            if who == person and since <= day:
                place = joins
        return place == department

    def _change(self, number: str, said: Said, contents: Contents) -> Amendment:
        gaps = said.gaps
        target = self._target(gaps["target"], contents)
        since = read_date(gaps["date"])
        if said.kind == "value":
            return Amendment(number, target, since, "value", value=gaps["new"])
        if said.kind == "repeal":
            return Amendment(number, target, since, "repeal")
        (unless,) = read_conditions(gaps["cond"])
        if said.kind == "extend":
            return Amendment(number, target, since, "extend", also=unless)
        return Amendment(number, target, since, "except", unless=unless)

    def _target(self, named: str, contents: Contents) -> str:
        """The number of the article that is spoken of; the name itself if there is none."""
        if named in self._numbers:
            return self._numbers[named]
        return named if named.startswith("HB-") else contents.article(named) or named


def _provision(number: str, said: Said, since: date) -> Provision:
    subject = said.kind.removesuffix(", general")
    when = read_conditions(said.gaps["cond"]) if "cond" in said.gaps else ()
    value: object = said.gaps.get("figure", "")
    if subject in _ANSWERS:
        subject, value = _ANSWERS[subject]
    return Provision(number, subject, value, since, when)


_ANSWERS = {
    kind: (subject, place == 0)
    for subject, kinds in YES_NO.items()
    for place, kind in enumerate(kinds)
}
"""Kind of provision to its question and whether it says yes."""
