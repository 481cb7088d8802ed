"""What does not lead to the right answers: constants, articles alone, texts learnt elsewhere."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from crmbench.authoring.masking import mask
from crmbench.domains.service.hard import census, checks, merging, worklist
from crmbench.domains.service.hard.desk.asked import focus_queues
from crmbench.domains.service.hard.desk.drawing import Memos
from crmbench.domains.service.hard.desk.words import phrasebook, subjects
from crmbench.domains.service.hard.queues import TODAY
from crmbench.domains.service.hard.staffing import Router
from crmbench.domains.service.hard.world import hard_world

WORLD = hard_world(42)
MAKERS = {"census": census.tasks, "routing": worklist.tasks, "duplicates": merging.tasks}


@pytest.mark.parametrize("mechanism", MAKERS)
def test_the_records_alone_lead_to_the_gold_within_the_calls(mechanism: str) -> None:
    task = next(MAKERS[mechanism](WORLD, "L3", 42, "canary"))
    found = checks.problems(task)
    assert set(found) == {"two truths", "irrelevance", "budget", "necessity", "readings"}
    assert not any(found.values())
    assert task.call_limit is not None
    # They do not suffice to list every article, ten a page, to open each, and to do each case.
    articles = len(WORLD.made.rows["Knowledge__kav"])
    assert task.call_limit < articles + articles // 10 + 2 * len(task.gold.items)


def test_a_wrong_gold_is_found() -> None:
    task = next(MAKERS["routing"](WORLD, "L3", 42, "canary"))
    made = WORLD.made
    other = dict(made.rows)
    other["Knowledge__kav"] = [
        row for row in made.rows["Knowledge__kav"] if not row["Title"].startswith("Memo ")
    ]
    read = checks.READERS["routing"]
    ids = [item.key for item in task.gold.items]
    assert read(made.rows, ids) != read(other, ids)


@pytest.mark.parametrize("least", [1, 2])
def test_who_does_not_look_again_goes_wrong(least: int) -> None:
    """Half of a queue at least hangs on what changes a memo, and on what changes that."""
    made = WORLD.made
    cases = made.desk.queues[focus_queues(WORLD.seed, made.desk)[0]]
    memos = made.rules["routing"]
    deep = frozenset(draft.key for draft in memos.drafts if draft.depth >= least)

    def routed(memos: Memos, without: frozenset[str]) -> dict[str, str | None]:
        return Router(memos.book(without), made.desk.agents, TODAY).route(cases)

    right, naive = routed(memos, frozenset()), routed(memos, deep)
    assert sum(right[key] != naive[key] for key in right) >= 3


def test_no_outcome_fits_most_reviews() -> None:
    outcomes = Counter(case.outcome.outcome for case in WORLD.made.late if case.outcome)
    assert max(outcomes.values()) <= 0.6 * sum(outcomes.values())


def test_letters_repeat_little() -> None:
    kinds = {
        mask(sentence.strip())
        for row in WORLD.made.rows["EmailMessage"]
        for sentence in re.split(r"(?<=[.?!])\s+|\n+", row["TextBody"])
        if sentence.strip()
    }
    assert len(kinds) >= 15_000


@pytest.mark.parametrize("subject", [s for s in subjects().values() if s.short])
def test_the_short_form_names_nothing_and_is_found_by_its_answer(subject: object) -> None:
    found = next(s for s in subjects().values() if s is subject)
    assert not any(term in found.short for term in found.terms)
    said = [kind for kind in phrasebook().templates if kind == f"{found.key}, short"]
    assert said == [f"{found.key}, short"]
