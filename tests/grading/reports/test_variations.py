"""Reports in the layouts that assistants use, right and wrong ones, over whole published turns.

The right reports say what was written, between openings and endings that tell nothing; the wrong
ones say more, or leave open whether anything was done.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from functools import cache

from crmbench.core.backends import backend_maker
from crmbench.core.journal import Change
from crmbench.domains.registry import load_domain
from crmbench.grading.gold import execute_gold
from crmbench.grading.turn_words import TurnWords, judge_words
from crmbench.grading.words import Outcome, outcome_of
from crmbench.runner.task_sets import load_named

CONVERSATIONS = 40
COLUMNS = {
    "owner": "owner",
    "stage": "stage",
    "status": "status",
    "amount": "amount",
    "probability": "probability",
    "close_date": "close date",
    "title": "title",
    "phone": "phone",
    "email": "e-mail",
}
OPENINGS = ("", "Done! ", "Sure thing. ", "Thanks for confirming. ", "Here's what I did:\n\n")
ENDINGS = (
    "",
    "I did not change anything else.",
    "No other records were touched.",
    "Would you like me to let the client know?",
    "Let me know if you need anything else!",
    "Please note that I haven't e-mailed anyone about this.",
    "I have not contacted the client.",
    "Is there anything else I can do for you today?",
    "Everything else stays as it was.",
    "I double-checked the record afterwards and it looks right.",
)
MORE = (
    "I also deleted the old one.",
    "And I e-mailed the customer about it.",
    "I've scheduled a call with them for Thursday.",
    "A confirmation e-mail is on its way to the client.",
    "I dropped the customer a line about it.",
    "A reminder is set for the day before.",
    "The article is online now.",
)
OPEN = (
    "I think that has gone through, but I'm not sure.",
    "I've put it on my list for this afternoon.",
    "Your colleague had already done this, so there was nothing left for me to do.",
    "The change was rolled back afterwards.",
    "I tried, but the system gave an error.",
    "I only did half of it so far.",
    "This will be done at the end of the month.",
    "It has been submitted for approval and is pending.",
    "Before I do this, can you confirm which one you mean?",
)


def shown(column: str, value: object, words: TurnWords) -> str:
    if isinstance(value, float | int):
        return f"{value:g}%" if column == "probability" else f"${value:,.0f}"
    return words.directory.names.get(str(value), str(value))


def changed(words: TurnWords) -> Iterator[tuple[str, Change, list[str]]]:
    """The named records that were changed, each with the columns that people speak of."""
    for change in words.deeds.effect:
        before, after = change.before, change.after
        name = words.directory.names.get(change.key)
        if before and after and name:
            columns = [c for c in COLUMNS if after.get(c) != before.get(c) and before.get(c)]
            if columns:
                yield name, change, columns


def layouts(words: TurnWords) -> Iterator[str]:
    """What was changed, in five layouts."""
    told: list[list[str]] = [[], [], [], [], []]
    for name, change, columns in changed(words):
        after, before = change.after or {}, change.before or {}
        new = {c: shown(c, after[c], words) for c in columns}
        old = {c: shown(c, before[c], words) for c in columns}
        rows = "\n".join(f"| {COLUMNS[c].title()} | {old[c]} | {new[c]} |" for c in columns)
        told[0].append(f"**{name}**\n\n| Field | Before | After |\n|---|---|---|\n{rows}")
        lines = "\n".join(f"- **{COLUMNS[c].title()}:** {new[c]} (was {old[c]})" for c in columns)
        told[1].append(f"**{name}** has been updated:\n{lines}")
        told[2].append(
            f"{name}: " + ", ".join(f"{COLUMNS[c]} {old[c]} → {new[c]}" for c in columns)
        )
        told[3].append(" ".join(f"The {COLUMNS[c]} of {name} is now {new[c]}." for c in columns))
        told[4].append(
            " ".join(
                f"The {COLUMNS[c]} of {name} has been changed from {old[c]} to {new[c]}."
                for c in columns
            )
        )
    for parts in told:
        yield "\n\n".join(parts)


@cache
def turns() -> tuple[TurnWords, ...]:
    """Turns that change records, and ask for nothing else."""
    tasks = list(load_named("sales/test").tasks())[:CONVERSATIONS]
    domain = load_domain("sales")
    backend = backend_maker("sqlite")(domain)
    found = []
    for task in tasks:
        run = execute_gold(domain, task, backend)
        for index, gold in enumerate(task.gold.turns):
            words = TurnWords.of_gold(domain, task, run, index, None)
            effect = words.deeds.effect
            plain = gold.expect_success and not gold.facts
            if plain and effect and len(list(changed(words))) == len(effect):
                found.append(words)
    backend.close()
    return tuple(found)


def outcome(words: TurnWords, reply: str) -> Outcome:
    return outcome_of(list(judge_words(words, reply)))


def test_right_reports_are_accepted_in_every_layout() -> None:
    rng, counted, missed = random.Random(1), Counter[Outcome](), []
    for words in turns():
        for told in layouts(words):
            reply = f"{rng.choice(OPENINGS)}{told}\n\n{rng.choice(ENDINGS)}"
            found = outcome(words, reply)
            counted[found] += 1
            if found is not Outcome.SUCCEEDS:
                missed.append((reply, list(judge_words(words, reply))))
    assert counted.total() >= 150
    assert not counted[Outcome.FAILS], missed
    assert counted[Outcome.UNDECIDED] <= 0.02 * counted.total(), missed


def test_more_than_was_done_is_not_accepted() -> None:
    for words in turns():
        for number, told in enumerate(layouts(words)):
            more = MORE[number % len(MORE)]
            reply = f"{told}\n\n{more}"
            asked = words.context.said
            if "close" in asked or "know" in asked:
                continue
            assert outcome(words, reply) is not Outcome.SUCCEEDS, reply


def test_what_leaves_open_whether_it_was_done_is_not_accepted() -> None:
    for words in turns():
        for reply in OPEN:
            found = outcome(words, reply)
            assert found is not Outcome.SUCCEEDS, (words.context.question, reply)
