"""What the figures of a run take from one episode."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from crmbench.core.persona import role_of
from crmbench.core.task import Task
from crmbench.formats.arc_results import response_success, segment_results, tool_success
from crmbench.formats.episode_rows import EpisodeRow, ToolCalls
from crmbench.grading.record import EpisodeRecord
from crmbench.report.answers import answer_scores
from crmbench.report.exclusions import excluded_for
from crmbench.report.role_figures import judge_part, user_part
from crmbench.report.views.standing import fault_kind

_KINDS = {
    "does not convey the refusal": "refusal",
    "does not convey": "fact",
    "the note": "note",
    "misreports": "report",
    "wrong answer": "answer",
    "the reply misses the answer": "answer",
    "may give away": "secret",
    "it may be no reason": "refusal",
}


def row_of(task: Task, episode: EpisodeRecord) -> EpisodeRow:
    """The row of an episode."""
    trace, verdict = episode.trace, episode.verdict
    answers = answer_scores(task, episode)
    turns = _turns(task, episode)
    open_ = verdict.success or verdict.undecided
    return EpisodeRow(
        task_id=trace.task_id,
        trial=trace.trial,
        domain=task.domain,
        category=task.category,
        complexity=task.complexity,
        family=task.family,
        persona=role_of(task.persona) if task.persona else "",
        tags=task.tags,
        task_turns=len(task.turns),
        easy=why_easy(task),
        outcome=trace.outcome,
        error=trace.error,
        counted=verdict.counted,
        excluded=excluded_for(episode),
        success=verdict.success,
        undecided=verdict.undecided,
        fault=None if open_ else fault_kind(trace.outcome, verdict),
        reason=verdict.reason,
        failed_at_turn=verdict.failed_at_turn,
        turns=len(trace.turns),
        turns_right=tuple(turn.turn_id for turn in verdict.turns if turn.success),
        all_turns_right=verdict.failed_at_turn is None
        and all(turn.success for turn in verdict.turns),
        calls=verdict.calls,
        tool_errors=verdict.tool_errors,
        tools=_tools(episode),
        tool_right=turns.tool,
        exact_right=turns.exact,
        replies_checked=turns.replies_checked,
        replies_right=turns.replies_right,
        segments=tuple(bool(each["success"]) for each in segment_results(task, verdict))
        if task.segments
        else (),
        undecided_kinds=_undecided_kinds(episode) if verdict.undecided else (),
        misreports=tuple(turn.misreport for turn in verdict.turns if turn.misreport),
        answer_scores=answers.exact,
        text_scores=answers.texts,
        usage=trace.usage,
        user=user_part(episode),
        judge=judge_part(episode),
    )


class _Turns(NamedTuple):
    """Turns of an episode that were right, in Arc's sense."""

    tool: int
    exact: int
    replies_checked: int
    replies_right: int


def _turns(task: Task, episode: EpisodeRecord) -> _Turns:
    tool = exact = checked = right = 0
    pairs = zip(episode.trace.turns, episode.verdict.turns, strict=True)
    for gold, (turn, verdict) in zip(task.gold.turns, pairs, strict=False):
        tool += tool_success(verdict)
        exact += verdict.tool.matches
        reply = response_success(gold, turn, verdict)
        if reply is not None:
            checked += 1
            right += reply
    return _Turns(tool, exact, checked, right)


def _tools(episode: EpisodeRecord) -> tuple[ToolCalls, ...]:
    counts = Counter(
        (call.tool, None if call.ok else call.error_kind or "other")
        for turn in episode.trace.turns
        for call in turn.calls
    )
    return tuple(ToolCalls(tool, error, calls) for (tool, error), calls in counts.items())


def _undecided_kinds(episode: EpisodeRecord) -> tuple[str, ...]:
    whys = {why for turn in episode.verdict.turns for why in turn.undecided[:1]}
    return tuple(sorted(map(open_reading_kind, whys)))


def open_reading_kind(why: str) -> str:
    """What kind of reading is open: a fact, a refusal, a report, an answer."""
    return next((kind for words, kind in _KINDS.items() if why.startswith(words)), "other")


def why_easy(task: Task) -> str | None:
    """Why an agent that does no work could pass a task; None if nothing says so."""
    calls = [call for turn in task.gold.turns for call in turn.calls]
    if not calls:
        return "the ground truth holds no call"
    if task.gold.grading == "tool_match" and not any(
        value for call in calls for value in call.arguments.values()
    ):
        return "the expected calls take no arguments: calling the tool at all is enough"
    if task.gold.grading == "tool_match" and len(calls) == 1:
        return "one call is expected and nothing else is checked: a lucky call is enough"
    return None
