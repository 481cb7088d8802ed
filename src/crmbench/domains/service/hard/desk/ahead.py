"""Which memos need following up: those by a change of which some answer could become another.

A reader who knows some memos asks of each: if one more said that it ends, that its figure is
another or that it reaches further, would any case be decided otherwise? If not, nobody need look
for one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from crmbench.authoring.handbook import Amendment, Condition, Facts, Provision, Rulebook

Asked = tuple[Facts, date]
"""What a question is asked about: the facts, and the day that counts."""
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


def open_to_change(book: Rulebook, asked_of: Mapping[str, Sequence[Asked]]) -> dict[str, str]:
    """The memos by a single change of which an answer could become another, with their questions.

    Args:
        book: What is known so far.
        asked_of: For each question the facts of all that it is asked about, and the day.
    """
    found: dict[str, str] = {}
    questions = question_of(book)
    for key, asked in asked_of.items():
        part = Rulebook(
            (p for p in book.provisions if p.subject == key),
            (a for a in book.amendments if questions.get(a.article) == key),
        )
        apart = [(*each, part.decide(key, *each).value) for each in _told_apart(part, asked)]
        memos = [rule for rule in _rules(part) if questions.get(rule.article) == key]
        found |= {
            rule.article: key for rule in memos if any(_moves(part, rule, key, *a) for a in apart)
        }
    return found


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
    part: Rulebook, rule: Provision | Amendment, key: str, facts: Facts, day: date, now: object
) -> bool:
    """Whether some change of a rule would make the answer to a question another."""
    attribute, value = next(iter(facts.items()))
    everything = Condition(attribute, value)
    return any(
        Rulebook(part.provisions, (*part.amendments, change)).decide(key, facts, day).value != now
        for change in (
            Amendment(UNKNOWN, rule.article, day, "repeal"),
            Amendment(UNKNOWN, rule.article, day, "value", value=UNKNOWN),
            Amendment(UNKNOWN, rule.article, day, "extend", also=everything),
        )
    )
