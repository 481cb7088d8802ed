"""What a study with people found: their success beside models', their time, and how realistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from crmbench.grading.metrics import Interval, wilson_interval
from crmbench.grading.record import EpisodeRecord
from crmbench.language.counts import counted
from crmbench.report.charts import Bar, bar_chart
from crmbench.report.html import write_page
from crmbench.report.labels import player
from crmbench.report.summary import summarise
from crmbench.report.views.templates import page_style, page_template
from crmbench.runner.run_dir import RunDir
from crmbench.studies.experts import CLEAR, FAMILIARITY, REALISM, RUNS, SCALE, WORK, ExpertStudy

REALISTIC = 4
"""From this place on the scale something counts as realistic."""
FEW = 10
"""Fewer people than this say little about others."""


@dataclass(frozen=True, slots=True)
class PlayerFigures:
    """How somebody did on the tasks of the study."""

    name: str
    episodes: int
    tasks: int
    success: Interval
    at_most: float
    """The success, if all undecided episodes succeed."""
    seconds: float | None
    """Median of an episode."""

    @property
    def shown(self) -> str:
        """The success in per cent, as a range where episodes are undecided."""
        least, most = f"{100 * self.success.value:.1f}", f"{100 * self.at_most:.1f}"
        return f"{least} %" if least == most else f"{least} to {most} %"


@dataclass(frozen=True, slots=True)
class RatingFigures:
    """How something was rated."""

    what: str
    answers: int
    counts: tuple[int, ...]
    """A place of the scale each."""
    realistic: Interval
    """Share that is realistic or better."""


@dataclass(frozen=True, slots=True)
class ExpertFigures:
    """All that a study found."""

    people: int
    finished: int
    """People who finished every task."""
    simulated: bool
    human: PlayerFigures | None
    beside: tuple[PlayerFigures, ...]
    by_person: tuple[PlayerFigures, ...]
    ratings: tuple[RatingFigures, ...]
    clear: RatingFigures | None
    familiarity: dict[str, int]
    work: dict[str, int]

    def to_data(self) -> dict[str, Any]:
        """A JSON object."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data


def expert_figures(study: ExpertStudy, beside: Sequence[RunDir] = ()) -> ExpertFigures:
    """The figures of a study; of other runs only the episodes of its tasks.

    Raises:
        InputError: A directory holds no run.
    """
    plan, answers = study.plan, study.latest()
    runs = sorted((study.folder / RUNS).glob("*/config.json"))
    wanted = set(plan.tasks)
    human = _figures(RunDir(runs[0].parent), "people", wanted) if runs else None
    trials = {(a.what, a.trial): a.person for a in answers if a.about == "finished"}
    return ExpertFigures(
        people=len({a.person for a in answers}),
        finished=sum(study.next_task(person) is None for person in plan.people),
        simulated=plan.simulated,
        human=human,
        beside=tuple(
            found
            for run in beside
            if (found := _figures(run, player(run.config()), wanted)) is not None
        ),
        by_person=tuple(_by_person(RunDir(runs[0].parent), trials)) if runs else (),
        ratings=tuple(_ratings(study)),
        clear=_rated(
            "the users' wishes were clear", [a.answer for a in answers if a.question == CLEAR]
        ),
        familiarity=_counted(study, FAMILIARITY),
        work=_counted(study, WORK),
    )


def _figures(run: RunDir, name: str, wanted: set[str]) -> PlayerFigures | None:
    tasks = [task for task in run.tasks() if task.task_id in wanted]
    episodes = [e for e in run.outlines() if e.task_id in wanted and e.verdict.counted]
    if not episodes:
        return None
    found = summarise(tasks, episodes)
    seconds = median(e.seconds for e in episodes)
    most = found.at_most.value
    return PlayerFigures(name, len(episodes), found.conversations, found.success, most, seconds)


def _by_person(run: RunDir, trials: dict[tuple[str, int | None], str]) -> Sequence[PlayerFigures]:
    grouped: dict[str, list[EpisodeRecord]] = {}
    for episode in run.outlines():
        person = trials.get((episode.task_id, episode.trial))
        if person is not None and episode.verdict.counted:
            grouped.setdefault(person, []).append(episode)
    return [
        PlayerFigures(
            person,
            len(found),
            len(found),
            wilson_interval(sum(e.verdict.success for e in found), len(found)),
            sum(e.verdict.success or e.verdict.undecided for e in found) / len(found),
            median(e.seconds for e in found),
        )
        for person, found in sorted(grouped.items())
    ]


def _ratings(study: ExpertStudy) -> Sequence[RatingFigures]:
    answers = [a for a in study.latest() if a.question == REALISM]
    groups: dict[str, list[int | str]] = {}
    for answer in answers:
        what = "all tasks" if answer.about == "task" else answer.what
        groups.setdefault(what, []).append(answer.answer)
    found = (_rated(what, given) for what, given in sorted(groups.items()))
    return [each for each in found if each is not None]


def _rated(what: str, given: Sequence[int | str]) -> RatingFigures | None:
    places = [each for each in given if isinstance(each, int) and 1 <= each <= len(SCALE)]
    if not places:
        return None
    counts = tuple(places.count(place) for place in range(1, len(SCALE) + 1))
    good = sum(place >= REALISTIC for place in places)
    return RatingFigures(what, len(places), counts, wilson_interval(good, len(places)))


def _counted(study: ExpertStudy, question: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for answer in study.latest():
        if answer.question == question:
            counts[str(answer.answer)] = counts.get(str(answer.answer), 0) + 1
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _remark(found: PlayerFigures) -> str:
    episodes = counted(found.episodes, "episode")
    if found.at_most > found.success.value:
        return f"at least, {found.at_most:.1%} at most, {episodes}"
    return episodes


def write_expert_page(figures: ExpertFigures, out: Path) -> None:
    """Write the page; it needs no network.

    Raises:
        InputError: It cannot be written.
    """
    players = [each for each in (figures.human, *figures.beside) if each is not None]
    bars = [
        Bar(*(p.name, p.success.value, p.success.low, p.success.high), _remark(p)) for p in players
    ]
    rated = [
        Bar(r.what, r.realistic.value, r.realistic.low, r.realistic.high, f"{r.answers} answers")
        for r in figures.ratings
    ]
    page = page_template("experts.html").render(
        style=page_style(),
        f=figures,
        players=players,
        few=FEW,
        chart=bar_chart(bars) if bars else "",
        ratings=bar_chart(rated) if rated else "",
        scale=SCALE,
    )
    write_page(out, page)
