"""Formulas: what they compute, and what they refuse to."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbench.authoring.derive import FormulaError, evaluate, half_up, literals, months


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("round(116000.0 * (100 + 8) / 100)", 125280.0),
        ("round(2.5)", 3.0),
        ("days('2026-02-20', 30)", "2026-03-22"),
        ("months('2026-01-31', 1)", "2026-02-28"),
        ("month_start('2026-12-15', 1)", "2027-01-01"),
        ("days(months(month_start('2026-03-02', 1), 12), -1)", "2027-03-31"),
        ("join('Fox & Sons - Scanners', ' v', 2 + 1)", "Fox & Sons - Scanners v3"),
    ],
)
def test_formulas_compute(formula: str, value: object) -> None:
    assert evaluate(formula) == value


@pytest.mark.parametrize(
    "formula",
    ["__import__('os')", "x + 1", "1 +", "days('2026-02-30', 1)", "1 / 0", "(lambda: 1)()", "[1]"],
)
def test_what_is_no_formula_is_refused(formula: str) -> None:
    with pytest.raises(FormulaError):
        evaluate(formula)


def test_literals_are_what_a_formula_starts_from() -> None:
    assert literals("round(100.0 * (100 - 8) / 100)") == [100, 100.0, 100, 8]


@given(st.integers(-(10**9), 10**9), st.sampled_from([0.0, 0.25, 0.5, 0.75]))
def test_halves_go_up(whole: int, part: float) -> None:
    assert half_up(whole + part) == whole + (1 if part >= 0.5 else 0)


@given(st.dates(min_value=date(2000, 1, 31), max_value=date(2090, 1, 1)), st.integers(0, 60))
def test_months_keep_the_day_or_take_the_last(day: date, count: int) -> None:
    later = months(str(day), count)
    assert later[8:] <= str(day)[8:]
    assert later[8:] == str(day)[8:] or int(later[8:]) >= 28
