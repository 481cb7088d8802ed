"""Days that replies tell in words."""

from __future__ import annotations

import pytest

from crmbench.grading.facts.day_words import tells_day
from crmbench.language.reading import read

TODAY = "2026-02-10"


@pytest.mark.parametrize(
    ("reply", "day"),
    [
        ("We want to wrap it up on the second of May this year.", "2026-05-02"),
        ("It ends on the final day of May '28.", "2028-05-31"),
        ("Until the twenty-seventh day of May 2026.", "2026-05-27"),
        ("It dates from the eleventh of February.", "2026-02-11"),
        ("The first of March next year.", "2027-03-01"),
        ("On April the third.", "2026-04-03"),
    ],
)
def test_a_day_in_words_is_told(reply: str, day: str) -> None:
    assert tells_day(read(reply), day, TODAY)


@pytest.mark.parametrize(
    ("reply", "day"),
    [
        ("The first of June last year.", "2026-06-01"),
        ("The last day of March 2027.", "2026-03-31"),
        ("At the end of March.", "2026-03-31"),
        ("It is not the second of May.", "2026-05-02"),
        ("The second of May.", "2028-05-02"),
        ("The last day of April.", "2026-04-29"),
    ],
)
def test_another_year_and_a_rough_time_are_not_the_day(reply: str, day: str) -> None:
    assert not tells_day(read(reply), day, TODAY)


def test_without_knowing_the_day_a_year_is_wanted() -> None:
    assert not tells_day(read("The second of May."), "2026-05-02", "")
    assert tells_day(read("The second of May 2026."), "2026-05-02", "")
