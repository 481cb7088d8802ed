"""A learning run as one self-contained page, without a script."""

from __future__ import annotations

import math
from pathlib import Path

from markupsafe import Markup

from crmbench.grading.metrics import Interval
from crmbench.learning.figures import CurvePoint, LearnerFigures
from crmbench.learning.plan import STATELESS
from crmbench.report import plots
from crmbench.report.html import write_page
from crmbench.report.learning.figures import (
    LearningReport,
    bounds,
    break_even_words,
    cautions,
    percent,
    points,
)
from crmbench.report.views.templates import page_style, page_template


def write_learning(report: LearningReport, out: Path) -> None:
    """Write the page."""
    arms = report.arms
    page = page_template("learning.html").render(
        style=page_style(),
        plan=report.plan,
        arms=arms,
        learners=report.learners,
        stateless=STATELESS,
        legend=plots.legend([arm.arm for arm in arms]),
        notes=cautions(report),
        curves=plots.learning_curves([_course(arm) for arm in arms]),
        gains=_gains(report),
        percent=percent,
        bounds=bounds,
        points=points,
        paid=break_even_words,
    )
    write_page(out, page)


def _remark(arm: LearnerFigures, point: CurvePoint) -> str:
    return (
        f"{arm.arm}, conversations {point.first} to {point.last}: "
        f"{percent(point.success.value)} ({bounds(point.success)}), gain {points(point.gain)}"
    )


def _course(arm: LearnerFigures) -> list[tuple[float, Interval, str]]:
    """Middle, success and remark of each stretch."""
    return [
        (
            (point.first + point.last) / 2,
            point.success,
            _remark(arm, point),
        )
        for point in arm.curve
    ]


def _gains(report: LearningReport) -> Markup | None:
    """The gains over the stateless arm: online, and on what was held out."""
    places = {arm.arm: place for place, arm in enumerate(report.arms)}
    deltas = []
    for arm in report.learners:
        if not arm.episodes:
            continue
        parts = [(arm.arm, arm.gain)]
        parts += [(f"held out, {name}", gain) for name, gain in arm.held_out.items()]
        for label, gain in parts:
            if math.isnan(gain.value):  # the arm to compare with was not played so far
                continue
            place = places[arm.arm]
            deltas.append(plots.Delta(place, label, gain, float("nan"), points(gain)))
    return plots.differences(deltas) if deltas else None
