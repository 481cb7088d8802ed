"""The drawings put things where the figures say."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbench.grading.metrics import Interval
from crmbench.report import plots

NS = "{http://www.w3.org/2000/svg}"
shares = st.floats(0, 1)


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def numbers(element: ElementTree.Element) -> list[float]:
    """Every coordinate of an element and what is in it."""
    found = []
    for each in element.iter():
        for name, value in each.attrib.items():
            if name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "d"):
                found += [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?(?!\d*%)", value)]
    return found


def interval(value: float, reach: float) -> Interval:
    return Interval(value, max(0.0, value - reach), min(1.0, value + reach))


def test_bars_are_as_long_as_their_shares() -> None:
    group = [plots.Share(0, 0.25, interval(0.25, 0.1), "a"), plots.Share(9, 0.5, None, "b")]
    svg = parsed(plots.grouped_bars([("Quotes", group)]))
    bars = svg.findall(".//rect")
    assert [float(bar.attrib["width"]) for bar in bars] == [
        pytest.approx(0.25 * plots.SCALE),
        pytest.approx(0.5 * plots.SCALE),
    ]
    # Past the eighth run colours come again.
    assert [bar.attrib["class"] for bar in bars] == ["c0", "c1"]
    assert len(svg.findall(".//path[@class='interval']")) == 1


@given(
    st.lists(st.tuples(st.floats(0, 1e6), shares), min_size=1, max_size=12),
    st.booleans(),
)
def test_points_lie_within_the_drawing(
    given_points: list[tuple[float, float]], money: bool
) -> None:
    points = [
        plots.Point(run, f"run {run}", x, interval(value, 0.1), "")
        for run, (x, value) in enumerate(given_points)
    ]
    svg = parsed(plots.scatter(points, "cost", money))
    height = float(svg.attrib["viewBox"].split()[3])
    spots = svg.findall(".//circle")
    assert len(spots) == len(points)
    for spot in spots:
        assert 59 <= float(spot.attrib["cx"]) <= 641
        assert 0 <= float(spot.attrib["cy"]) <= height
    assert all(math.isfinite(n) for n in numbers(svg))


def test_costs_far_apart_have_a_logarithmic_axis() -> None:
    near = [plots.Point(n, "r", x, interval(0.5, 0.1), "") for n, x in enumerate((1.0, 2.0))]
    far = [plots.Point(n, "r", x, interval(0.5, 0.1), "") for n, x in enumerate((0.01, 1.0))]
    assert "logarithmic" not in plots.scatter(near, "cost", True)
    drawn = plots.scatter(far, "cost", True)
    assert "logarithmic" in drawn
    assert "$0.01" in drawn
    assert "$1.00" in drawn


def test_a_label_does_not_stand_on_another() -> None:
    points = [plots.Point(n, f"run {n}", 1.0, interval(0.5, 0.1), "") for n in range(4)]
    svg = parsed(plots.scatter(points, "cost", False))
    heights = sorted(float(t.attrib["y"]) for t in svg.findall(".//text[@class='label']"))
    assert all(b - a >= 14 for a, b in pairwise(heights))


def test_courses_share_the_axis_of_turns() -> None:
    svg = parsed(plots.turn_courses([[(1, 1.0, ""), (2, 0.5, ""), (4, 0.0, "")], [(2, 0.5, "")]]))
    spots = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in svg.findall(".//circle")]
    assert spots[1] == spots[3]
    assert spots[0][1] < spots[1][1] < spots[2][1]
    assert plots.turn_courses([[], []]) == ""


@given(st.lists(st.tuples(st.floats(-1, 1), shares, shares), min_size=1, max_size=6))
def test_differences_are_drawn_around_zero(rows: list[tuple[float, float, float]]) -> None:
    deltas = [
        plots.Delta(n, f"run {n}", Interval(v, max(-1.0, v - w), min(1.0, v + w)), seen, "")
        for n, (v, w, seen) in enumerate(rows)
    ]
    svg = parsed(plots.differences(deltas))
    (zero,) = svg.findall(".//line[@class='zero']")
    middle = float(zero.attrib["x1"])
    for spot, delta in zip(svg.findall(".//circle"), deltas, strict=True):
        place = float(spot.attrib["cx"])
        assert plots.LABEL - 0.1 <= place <= plots.LABEL + plots.SCALE + 0.1
        assert (place - middle) * delta.difference.value >= -0.1


def test_an_unknown_detectable_difference_is_not_shaded() -> None:
    delta = plots.Delta(1, "r", Interval(0.1, 0.0, 0.2), math.nan, "")
    assert "unseen" not in plots.differences([delta])
    assert "NaN" not in plots.differences([delta]).replace("nan", "NaN")


@given(st.text(max_size=60))
def test_labels_are_escaped(text: str) -> None:
    hostile = f"<&\"'{text}"
    for drawn in (
        plots.grouped_bars([(hostile, [plots.Share(0, 0.5, None, hostile)])]),
        plots.scatter([plots.Point(0, hostile, 1.0, interval(0.5, 0.1), hostile)], hostile, True),
        plots.turn_courses([[(1, 0.5, hostile)]]),
        plots.differences([plots.Delta(1, hostile, Interval(0.0, 0.0, 0.0), 0.1, hostile)]),
        plots.legend([hostile]),
    ):
        assert "<&" not in drawn
