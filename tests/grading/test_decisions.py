"""Open readings, and what a person decides of them."""

from __future__ import annotations

import pytest

from crmbench.core.trace import EpisodeTrace, Message, TurnTrace
from crmbench.errors import InputError
from crmbench.grading.decisions import decision_from, with_decisions
from crmbench.grading.turn_words import settle
from crmbench.grading.words import Problem

LINE = {"task_id": "t", "trial": 0, "turn": 1, "reading": "may be", "right": True, "by": "Ada"}


def test_a_decision_is_kept_with_the_reply_that_was_read() -> None:
    place, decision = decision_from(LINE, 1)
    turn = TurnTrace(1, (Message("user", "Who?"), Message("assistant", "Her.")), ())
    trace = with_decisions(EpisodeTrace("t", 0, (turn,)), {place: [decision]})
    (kept,) = trace.turns[0].decisions
    assert (kept.reading, kept.right, kept.by, kept.text) == ("may be", True, "Ada", "Her.")


@pytest.mark.parametrize(("right", "left"), [(True, []), (False, [Problem("may be", True)])])
def test_a_decision_settles_the_reading_it_names(right: bool, left: list[Problem]) -> None:
    _, decision = decision_from({**LINE, "right": right}, 1)
    other = Problem("may be else", False)
    assert settle([Problem("may be", False), other], [decision]) == [*left, other]


def test_a_decision_never_settles_what_is_certain() -> None:
    _, decision = decision_from(LINE, 1)
    assert settle([Problem("may be", True)], [decision]) == [Problem("may be", True)]


def test_a_line_without_a_name_is_refused() -> None:
    with pytest.raises(InputError, match="by"):
        decision_from({key: value for key, value in LINE.items() if key != "by"}, 3)
