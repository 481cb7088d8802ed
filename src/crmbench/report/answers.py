"""How right the answers of a run are: exact match, and token F1 of texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crmbench.core.answer import Answer
from crmbench.core.task import Task
from crmbench.grading.answer import given, judge

if TYPE_CHECKING:
    from crmbench.grading.record import EpisodeRecord


@dataclass(frozen=True)
class AnswerFigures:
    """The answers of the episodes that count. A turn that was never reached has no right one."""

    exact_turns: int
    """Turns that ask for an id, a month or a state, or in which "None" is right."""
    exact_match: float | None
    """Share of them in which exactly the right ones were answered; None where there are none."""
    text_turns: int
    """Turns that ask for a text."""
    token_f1: float | None
    """Mean over them of the token F1 with the nearest accepted wording, 0 to 1."""


class AnswerScores(NamedTuple):
    """How right the answers of an episode are, from 0 to 1."""

    exact: tuple[float, ...]
    texts: tuple[float, ...]


def answer_scores(task: Task, episode: EpisodeRecord) -> AnswerScores:
    """The scores of the turns that ask for an answer; one that was never reached has 0."""
    exact: list[float] = []
    texts: list[float] = []
    turns = episode.trace.turns
    for place, gold in enumerate(task.gold.turns):
        if gold.answer is not None:
            score = judge(gold.answer, given(turns[place])).score if place < len(turns) else 0.0
            (texts if _is_text(gold.answer) else exact).append(score)
    return AnswerScores(tuple(exact), tuple(texts))


def answer_figures(tasks: Sequence[Task], episodes: Sequence[EpisodeRecord]) -> AnswerFigures:
    """Exact match and token F1, as the published benchmark reports them, over all turns alike.

    An answer is judged as it was given, whether or not the turn failed by something else.
    """
    by_id = {task.task_id: task for task in tasks}
    exact: list[float] = []
    texts: list[float] = []
    for episode in episodes:
        if episode.verdict.counted:
            found = answer_scores(by_id[episode.trace.task_id], episode)
            exact += found.exact
            texts += found.texts
    return figures_of_scores(exact, texts)


def figures_of_scores(exact: Sequence[float], texts: Sequence[float]) -> AnswerFigures:
    """The figures of all scores of a run."""
    return AnswerFigures(len(exact), _mean(exact), len(texts), _mean(texts))


def _is_text(answer: Answer) -> bool:
    return answer.kind == "text" and bool(answer.values)


def _mean(scores: Sequence[float]) -> float | None:
    return round(math.fsum(scores) / len(scores), 6) if scores else None
