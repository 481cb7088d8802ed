"""Which memos need following up: those by a change of which some answer could become another.

A reader who knows some memos asks of each: if one more said that it ends, that its figure is
another or that it reaches further, would any case be decided otherwise? If not, nobody need look
for one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from crmbench.authoring.handbook import Amendment, Condition, Facts, Provision, Rulebook

Asked = tuple[Facts, date]
"""What a question is asked about: the facts, and the day that counts."""
Rules = frozenset[Provision | Amendment]
UNKNOWN = "?"
"""The number of a memo that nobody has seen, and the figure that it might give."""


def question_of(book: Rulebook) -> dict[str, str]:
    """The question that each article bears on whose target is known."""
    found = {p.article: p.subject for p in book.provisions if p.when}
    while True:
        more = {
            a.article: found[a.target]
            for a in book.amendments
            if a.target in found and a.article not in found
        }
        if not more:
            return found
        found |= more


Known = dict[tuple[str, Rules], frozenset[str]]
"""What was found for a question, and the rules that are known on it."""


def open_to_change(
    book: Rulebook, asked_of: Mapping[str, Sequence[Asked]], known: Known | None = None
) -> dict[str, str]:
    """The memos by a single change of which an answer could become another, with their questions.

    Args:
        book: What is known so far.
        asked_of: For each question the facts of all that it is asked about, and the day.
        known: What was found before for these; it is added to.
    """
    known = {} if known is None else known
    found: dict[str, str] = {}
    questions = question_of(book)
    for key, asked in asked_of.items():
        part = Rulebook(
            (p for p in book.provisions if p.subject == key),
            (a for a in book.amendments if questions.get(a.article) == key),
        )
        rules = frozenset(_rules(part))
        if (key, rules) not in known:
            apart = [_answered(part, key, *each) for each in _told_apart(part, asked)]
            memos = [rule for rule in _rules(part) if questions.get(rule.article) == key]
            known[key, rules] = frozenset(
                rule.article for rule in memos if _moves(part, rule, key, apart)
            )
        found |= dict.fromkeys(sorted(known[key, rules]), key)
    return found


@dataclass(frozen=True)
class _Answered:
    """What a question is asked about, and its answer so far."""

    facts: Facts
    day: date
    value: object
    bearing: frozenset[str]
    """The articles that the answer rests on."""


def _answered(part: Rulebook, key: str, facts: Facts, day: date) -> _Answered:
    with part.noting() as bearing:
        value = part.decide(key, facts, day).value
    return _Answered(facts, day, value, frozenset(bearing))


def _rules(part: Rulebook) -> Iterator[Provision | Amendment]:
    yield from part.provisions
    yield from part.amendments


def _told_apart(part: Rulebook, asked: Sequence[Asked]) -> list[Asked]:
    """One of each kind that the rules can tell from others."""
    conditions = [c for p in part.provisions for c in p.when]
    conditions += [c for a in part.amendments for c in (a.unless, a.also) if c]
    days = {rule.since for rule in _rules(part)}
    days |= {a.value for a in part.amendments if a.change == "since"}
    ordered = sorted(days)
    kinds = {
        (*(c.holds(facts) for c in conditions), bisect_right(ordered, day)): (facts, day)
        for facts, day in asked
    }
    return list(kinds.values())


def _moves(
    part: Rulebook, rule: Provision | Amendment, key: str, apart: Iterable[_Answered]
) -> bool:
    """Whether some change of a rule would make an answer to a question another."""
    wider: dict[tuple[Condition, date], Rulebook] = {}
    for asked in apart:
        day = asked.day
        changes = [
            Amendment(UNKNOWN, rule.article, day, "repeal"),
            Amendment(UNKNOWN, rule.article, day, "value", value=UNKNOWN),
        ]
        # To end a rule, or to give it another figure, is nothing to an answer that hangs on others.
        books = [
            Rulebook(part.provisions, (*part.amendments, change))
            for change in changes
            if rule.article in asked.bearing
        ]
        everything = Condition(*next(iter(asked.facts.items())))
        if (everything, day) not in wider:
            change = Amendment(UNKNOWN, rule.article, day, "extend", also=everything)
            wider[everything, day] = Rulebook(part.provisions, (*part.amendments, change))
        books.append(wider[everything, day])
        if any(book.decide(key, asked.facts, day).value != asked.value for book in books):
            return True
    return False
