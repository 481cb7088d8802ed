"""What is beside an answer, or recited from the records, is neither another answer nor a denial.

The conversations are those of `play`, whose replies are judged as a whole elsewhere.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from crmbench.core.backends import backend_maker
from crmbench.domains.registry import load_domain
from crmbench.grading.answer_rivals import AGAINST, GIVEN, OF_THE_OTHERS, TIED
from crmbench.grading.facts.doubts import OR_ELSE
from crmbench.grading.gold import execute_gold
from crmbench.grading.reports.pairs import STATUS
from crmbench.grading.reports.recited import DENIES, QUOTED
from crmbench.grading.reports.values import EITHER
from crmbench.grading.turn_words import TurnWords, judge_words
from crmbench.grading.words import DENIED, Outcome, outcome_of
from crmbench.runner.task_sets import load_named

PLAYED = Path(__file__).parents[2] / "data" / "replies" / "play_tasks.jsonl.xz"


@cache
def turn(task_id: str, submitted: str | None = None) -> TurnWords:
    """The first turn of a conversation of `play`, rightly played."""
    task = next(task for task in load_named(str(PLAYED)).tasks() if task.task_id == task_id)
    domain = load_domain(task.domain)
    backend = backend_maker("sqlite")(domain)
    run = execute_gold(domain, task, backend)
    backend.close()
    return TurnWords.of_gold(domain, task, run, 0, submitted)


SUBJECT = "Aldermoor II 2-Seat Patio Table Set in Black has not arrived"


def check(words: TurnWords, reply: str, right: bool) -> None:
    outcome = outcome_of(list(judge_words(words, reply)))
    assert (outcome is Outcome.SUCCEEDS) is right


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("NC, with 40,826.67 s on average. Runner-up: CO with 42,874.67 s.", True),
        ("It is NC. Next: CO, with 42,874.67 seconds.", True),
        ("NC (40,826.67 s). Second place: Colorado with 42,874.67 s.", True),
        (
            "North Carolina had the shortest mean closing time. The runner-up: CO, at 42,874.67 s.",
            True,
        ),
        ("NC: 40,826.67 s over 6 cases (runner-up: CO, 42,874.67 s).", True),
        ("**NC**\n- Runner-up: CO with 42,874.67 s", True),
        ("CO with 42,874.67 s. Runner-up: NC with 40,826.67 s.", False),
        ("Runner-up: NC with 40,826.67 s. First: CO.", False),
        ("NC with 40,826.67 s. Correction: CO with 42,874.67 s.", False),
        ("It is either of NC and CO. Runner-up: GA.", False),
        ("Next: NC, with 40,826.67 s. The shortest is CO.", False),
        ("The answer: CO, 42,874.67 s. Next: NC.", False),
    ],
)
def test_a_label_says_who_is_behind(reply: str, right: bool) -> None:
    check(turn("svc-1018", "NC"), reply, right)


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        (
            (
                "Linda Webb (005Hs0000m0000bIAA) gets it. She, Logan Boyle and Kaito "
                "Ziegler are tied at four closed cases, but Linda has no open ones."
            ),
            True,
        ),
        (
            (
                "Linda Webb gets it. Logan Boyle and Kaito Ziegler are level with her "
                "on closed cases of this issue. She has no open case at all."
            ),
            True,
        ),
        (
            (
                "The case goes to Linda Webb. There was a tie: Logan Boyle, Kaito "
                "Ziegler and she have closed four each. None of them knows the product,"
                " and Linda has nothing open."
            ),
            True,
        ),
        (
            (
                "Linda Webb. Three agents are tied with four closed cases (Linda Webb, "
                "Logan Boyle, Kaito Ziegler). Linda has the fewest open cases."
            ),
            True,
        ),
        (
            (
                "It should go to Linda Webb. She, Logan Boyle and Kaito Ziegler have "
                "the same number of closed cases, four. Linda has no open cases."
            ),
            True,
        ),
        ("Linda Webb and Logan Boyle are equal with four closed cases.", False),
        (
            (
                "Logan Boyle gets it. He and Linda Webb are equal with four closed "
                "cases; Logan has no open ones."
            ),
            False,
        ),
        (
            (
                "Linda Webb (005Hs0000m0000bIAA) gets it. She and Logan Boyle are "
                "equal, so Logan could take it too."
            ),
            False,
        ),
        (
            (
                "Linda Webb (005Hs0000m0000bIAA) gets it. She and Logan Boyle are tied,"
                " either will do."
            ),
            False,
        ),
        ("Linda Webb or Logan Boyle gets it. They are tied.", False),
        (
            (
                "Linda Webb looks right. She and Logan Boyle are equal. But Logan Boyle"
                " has no open cases, so it is his."
            ),
            False,
        ),
    ],
)
def test_who_was_tied_before_the_tie_broke_is_no_second_answer(reply: str, right: bool) -> None:
    check(turn("svc-0253", "005Hs0000m0000bIAA"), reply, right)


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        (
            (
                f'I moved Ida Ochoa\'s oldest open case, "{SUBJECT}", to Anita Underwood '
                "and left a comment on it naming both."
            ),
            True,
        ),
        (
            (
                f"Done. The case “{SUBJECT}” now belongs to Anita Underwood; the comment"
                " names Ida Ochoa as the previous owner."
            ),
            True,
        ),
        (
            f"Done. Case '{SUBJECT}' went from Ida Ochoa to Anita Underwood, with a comment on it.",
            True,
        ),
        (
            f"The case {SUBJECT} is now with Anita Underwood (before: Ida Ochoa). Comment added.",
            True,
        ),
        (
            (
                'Anita Underwood is now the owner of "Aldermoor II ... has not arrived"'
                " and the comment is on it. Before, it was Ida Ochoa's."
            ),
            True,
        ),
        (
            (
                f"**{SUBJECT}** (500Hs0000t0000UIAQ): reassigned from Ida Ochoa to Anita"
                " Underwood, comment left."
            ),
            True,
        ),
        (
            f'The case "{SUBJECT}" has not been moved to Anita Underwood.',
            False,
        ),
        (
            f'I have not moved "{SUBJECT}": it is still with Ida Ochoa.',
            False,
        ),
        (
            f'I moved "{SUBJECT}" to Anita Underwood, but the comment was not saved.',
            False,
        ),
        (
            f"I could not assign {SUBJECT} to Anita Underwood.",
            False,
        ),
        (
            f'Case "{SUBJECT}" is with Anita Underwood; I did not leave a comment.',
            False,
        ),
        ('I moved the case. The comment "has not been saved".', False),
    ],
)
def test_what_a_subject_denies_is_not_said_of_the_deed(reply: str, right: bool) -> None:
    check(turn("svc-1068"), reply, right)


@pytest.mark.parametrize(
    ("pattern", "matched", "unmatched"),
    [
        (TIED, "she and logan boyle are equal with four", "logan boyle has four"),
        (GIVEN, "so it goes to", "follows with"),
        (OR_ELSE, "* or maybe 25%", ", organised"),
        (EITHER, "was June or July", "in June, or so"),
        (STATUS, "set v1 to sent", "v1 will be resent"),
        (DENIED, "the deal is not yet won", "it is not clear who won"),
        (AGAINST, " with 5 against 2", " is at the top"),
        (OF_THE_OTHERS, "1 for each of the others (", "of another state, "),
        (QUOTED, 'the case "lamp has not arrived" is moved', "ida's case isn't moved"),
        (DENIES, "sign-in does not work", "a knot in the rope"),
    ],
)
def test_what_the_patterns_match(pattern: re.Pattern[str], matched: str, unmatched: str) -> None:
    assert pattern.search(matched)
    assert not pattern.search(unmatched)
