"""Replies that guess, take back, tell deeds where none was done, or give a value to another record.

The replies are right ones by strangers, to which a program added what is wrong, or what is true and
was not asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import pytest
from tests.grading.test_strangers_replies import FOLDER, judged

from crmbench.core.backends import backend_maker
from crmbench.domains.registry import load_domain
from crmbench.grading.directory import Directory
from crmbench.grading.facts.context import Context
from crmbench.grading.gold import execute_gold
from crmbench.grading.replies import Reply
from crmbench.grading.reports.deeds import NO_DEEDS
from crmbench.grading.reports.measures import wrong_measures
from crmbench.grading.reports.sources import Sources
from crmbench.grading.standing.holders import holders_of, misheld
from crmbench.grading.standing.wavering import wavering
from crmbench.grading.turn_words import TurnWords, judge_words
from crmbench.grading.words import Outcome, outcome_of
from crmbench.language.reading import read
from crmbench.runner.task_sets import load_named

SETS = ("sales", "service", "fourth")
PARAGRAPH = "\n\n"
EACH = 60
"""Replies to which each kind of addition is made."""

GUESSES = (
    "I think, but I'm not sure.",
    "At least I think so.",
    "I might be wrong, though.",
    "Don't quote me on that.",
    "That is only a guess.",
    "I couldn't check it.",
    "Take that with a grain of salt.",
)
TAKEN_BACK = (
    "Scratch that, that's wrong.",
    "Actually, no: that is not right.",
    "Wait, I misread that.",
    "On second thought, it's Negotiation.",
    "My mistake, that was wrong.",
    "Correction: it's May.",
)
DEEDS = (
    "I've also moved the deal to Negotiation.",
    "Updated the record accordingly.",
    "Note added to the record.",
    "I canceled the old quote as well.",
    "The client has been notified by e-mail.",
    "Changed the contact's phone number as well.",
    "I sent the quote to the client.",
    "A contract has been created for it.",
    "I went ahead and raised the amount.",
    "I did the same for every other deal of theirs.",
    "I've told the manager.",
)
DONE_ANYWAY = (
    "I did it anyway.",
    "I've made the change all the same.",
    "So I used the next best value instead.",
    "I've put it in nonetheless.",
    "As a workaround, I added it to the notes.",
    "It has been applied.",
)
TRUE_AS_WELL = (
    "Let me know if you need anything else.",
    "Would you like me to look up anything else?",
    "Shall I set up a reminder?",
    "Nothing else was touched.",
    "Nobody has been e-mailed.",
    "I have not sent anything to anyone.",
    "I didn't want to touch anything else.",
)


class Known:
    """A right reply, accepted, and its turn."""

    def __init__(self, reply: Reply, words: TurnWords) -> None:
        self.text, self.words = reply.text, words
        gold = words.gold
        answered = bool(gold.facts or gold.answer) and not words.deeds
        self.kind = "refused" if not gold.expect_success else "asked" if answered else "done"


@cache
def known() -> tuple[Known, ...]:
    return tuple(_known())


def _known() -> Iterator[Known]:
    for name in SETS:
        tasks = {t.task_id: t for t in load_named(str(FOLDER / f"{name}_tasks.jsonl.xz")).tasks()}
        accepted = [
            each.reply
            for each in judged(name)
            if each.reply.right and each.reply.style != "4" and each.outcome is Outcome.SUCCEEDS
        ]
        for domain in map(load_domain, sorted({task.domain for task in tasks.values()})):
            backend = backend_maker("sqlite")(domain)
            own = [reply for reply in accepted if tasks[reply.task_id].domain == domain.name]
            runs = {
                task_id: execute_gold(domain, tasks[task_id], backend)
                for task_id in sorted({reply.task_id for reply in own})
            }
            backend.close()
            for reply in own:
                task = tasks[reply.task_id]
                run = runs[reply.task_id]
                words = TurnWords.of_gold(domain, task, run, reply.turn - 1, reply.submitted)
                yield Known(reply, words)


def with_added(kinds: str, added: tuple[str, ...]) -> list[tuple[str, Outcome]]:
    """Right replies to turns of these kinds, each with one of the sentences behind it."""
    rng = random.Random(repr(added))
    of_kind = [each for each in known() if each.kind in kinds.split()]
    replies = [
        (
            each.words,
            f"{each.text}{' ' if each.text[-1] in '.!?' else PARAGRAPH}{rng.choice(added)}",
        )
        for each in rng.sample(of_kind, EACH)
    ]
    return [(text, outcome_of(list(judge_words(words, text)))) for words, text in replies]


@pytest.mark.parametrize(
    ("kinds", "added", "allowed"),
    [
        ("asked done", GUESSES, 0),
        ("asked done", TAKEN_BACK, 1),
        ("asked", DEEDS, 2),
        ("refused", DEEDS, 3),
        ("refused", DONE_ANYWAY, 1),
    ],
)
def test_what_is_wrong_beside_a_right_reply_is_not_accepted(
    kinds: str, added: tuple[str, ...], allowed: int
) -> None:
    found = with_added(kinds, added)
    accepted = [text for text, outcome in found if outcome is Outcome.SUCCEEDS]
    assert len(accepted) <= allowed, accepted


def test_what_is_true_beside_a_right_reply_is_accepted() -> None:
    found = with_added("asked done refused", TRUE_AS_WELL)
    kept = [text for text, outcome in found if outcome is not Outcome.SUCCEEDS]
    assert len(kept) <= 2, kept


ASKED = Context(question="Who is it, June or the last 18 months, more than 12 cases, in 2024?")


@pytest.mark.parametrize(
    "reply",
    [
        "It is Ida, I think.",
        "Probably Ida Ochoa.",
        "It is June or July.",
        "It came to $5,000 (or $6,000).",
        "It may also be Ida.",
        "It is May. No, hold on: June.",
        "The amount is $5,000, or maybe $6,000.",
    ],
)
def test_a_reply_that_does_not_stand_by_what_it_tells(reply: str) -> None:
    assert list(wavering(read(reply), ASKED))


@pytest.mark.parametrize(
    "reply",
    [
        "I believe so.",
        "Only the manager may have it changed.",
        "Should I add a note, or leave it?",
        "Neither June nor July, and not May or April.",
        "Perhaps you could ask the manager.",
        "Let me know if that is wrong.",
        "It is in Draft, or so the record says.",
    ],
)
def test_a_reply_that_does(reply: str) -> None:
    assert not list(wavering(read(reply), ASKED))


ROWS = (
    {"version": "v1", "amount": 5000.0, "status": "Approved"},
    {"version": "v2", "amount": 6000.0, "status": "Draft"},
    {"name": "Acme - Parts Locator", "stage": "Proposal", "amount": 7000.0},
    {"name": "Acme - Dock Scheduling", "stage": "Proposal", "amount": 8000.0},
    {"first_name": "Ida", "last_name": "Ochoa", "title": "Controller"},
    {"first_name": "Theo", "last_name": "Voss", "title": "Plant Manager"},
)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("v1 is $6,000.", "v1 is $5,000."),
        ("| v1 | $6,000 | Draft |", "| v1 | $5,000 | Approved |"),
        ("v2 is Approved now.", "v2 was Approved before, and v1 is Approved now."),
        ("$8,000 for Parts Locator.", "$7,000 for Parts Locator, and $8,000 for Dock Scheduling."),
        ("Ida Ochoa (Plant Manager)", "Ida Ochoa (Controller), Theo Voss (Plant Manager)"),
        ("The Controller is Theo Voss.", "The Plant Manager is Theo Voss."),
    ],
)
def test_a_value_that_is_another_records(wrong: str, right: str) -> None:
    assert list(misheld(read(wrong), holders_of(ROWS)))
    assert not list(misheld(read(right), holders_of(ROWS)))


def measured(reply: str, records: tuple[object, ...] = ()) -> list[str]:
    context = Context(question=ASKED.question, records=records)
    return list(wrong_measures(read(reply), Sources(NO_DEEDS, context)))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("In the last 18 weeks.", "In the last 18 months."),
        ("In the last 14 months.", "In the past year and a half, or the last six quarters."),
        ("Of those with more than 21 cases.", "Of those with at least 13 cases."),
        ("It closes on May 3, 2027.", "It closes on May 3, 2026."),
        ("$100 x 75% = $57.", "$100 x 75% = $75."),
        ("$90 (20% off $100)", "$80 (20% off $100)"),
        ("It comes to €100.", "It comes to $100."),
        ("It is $100 a month.", "It is $100 in all."),
    ],
)
def test_years_periods_minimums_and_sums(wrong: str, right: str) -> None:
    records = ({"close_date": "2026-05-03", "amount": 100.0},)
    assert measured(wrong, records)
    assert not measured(right, records)


def test_a_name_that_begins_with_wrong_takes_nothing_back() -> None:
    tables = {"wrong item received": frozenset({"Issue__c"})}
    directory = Directory({"a0": "Wrong Item Received"}, tables)
    context = Context(directory=directory)
    assert not list(wavering(read("It is Wrong Item Received."), context))
    assert list(wavering(read("It is Account Access. That is wrong, sorry."), context))
