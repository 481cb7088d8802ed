"""The figures of a run: everything that its report, its tables and ``--json`` show.

All of it follows from traces and verdicts, so two runs of the same thing give the same bytes;
what was measured with a clock is apart, in `timings`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from crmbench.agents.trivial import TRIVIAL_NAMES
from crmbench.core.persona import role_of
from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.errors import InputError
from crmbench.formats.arc_results import response_success, segment_results, tool_success
from crmbench.grading import metrics
from crmbench.grading.metrics import Interval
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import SAID_DONE, SAID_NOT_DONE
from crmbench.report.answers import AnswerFigures, answer_figures
from crmbench.report.exclusions import NotCounted, count_exclusions
from crmbench.report.role_figures import JudgeFigures, UserFigures, judge_figures, user_figures
from crmbench.report.timings import CategoryEffort, effort_by_category
from crmbench.report.views.standing import fault_kind
from crmbench.runner.run_dir import RunDir

SLICES: dict[str, Callable[[Task], Iterable[str]]] = {
    "category": lambda task: (task.category,),
    "complexity": lambda task: (task.complexity,),
    "tag": lambda task: task.tags,
    "domain": lambda task: (task.domain,),
    # By role: of people with names there are hundreds, with a few conversations each.
    "persona": lambda task: (role_of(task.persona),) if task.persona else (),
}


@dataclass(frozen=True)
class ToolErrors:
    """How often a tool refused, and why."""

    tool: str
    calls: int
    errors: int
    kinds: dict[str, int]


@dataclass(frozen=True)
class ArcMetrics:
    """Arc's figures under Arc's names."""

    strict_success: float | None
    """Share of conversations all of whose turns succeeded; None, like every share here, where
    nothing counts."""
    tool_success: float | None
    """Share with at least one turn whose tool call was right."""
    response_success: float | None
    """Share with at least one right reply; None where nothing says what is right."""
    turn_tool_accuracy: float | None
    turn_response_accuracy: float | None
    exact_match: float | None
    """Share of turns whose tool and arguments match exactly."""
    chain_success: float | None
    """Share of chained conversations all of whose segments succeeded; None: none is chained."""
    segment_success: float | None
    """Share of their segments, those that were never reached included."""


@dataclass(frozen=True)
class Passed:
    """A task that the agent passed, and why doing little can be enough."""

    conversation_id: str
    reason: str


_UNKNOWN = Interval(0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Summary:
    """The figures of one run."""

    conversations: int
    trials: int
    """Episodes that count, all trials together."""
    turns: int
    succeeded: int
    """Episodes that succeeded."""
    success: Interval
    method: str
    pass_hat: dict[int, float]
    pass_at: dict[int, float]
    not_counted: NotCounted
    """Episodes that do not count, by who failed."""
    slices: dict[str, dict[str, metrics.Summary]]
    by_turn: dict[int, tuple[int, int]]
    """Turn number to how many such turns succeeded, of how many."""
    arc: ArcMetrics
    tool_errors: tuple[ToolErrors, ...]
    reasons: dict[str, int]
    """Why conversations failed: the kinds of first faults."""
    calls: float
    """Tool calls a conversation."""
    usage: TokenUsage
    """Of the agent alone, episodes that do not count included."""
    missing: int
    """Episodes that were never played, as the run was stopped; 0 if the trials are not known."""
    passed: tuple[Passed, ...]
    """What was passed although the ground truth asks for next to nothing."""
    undecided: int = 0
    """Episodes that only readings that are not certain keep from succeeding."""
    at_most: Interval = _UNKNOWN
    """The success with every undecided episode taken to succeed; `success` takes them to fail."""
    pass_hat_at_most: dict[int, float] = field(default_factory=dict)
    pass_at_at_most: dict[int, float] = field(default_factory=dict)
    undecided_why: dict[str, int] = field(default_factory=dict)
    """The kinds of readings that leave episodes undecided."""
    misreports: dict[str, int] = field(default_factory=dict)
    """Turns whose reply certainly tells the opposite of what was written, by kind."""
    answers: AnswerFigures | None = None
    """How right the answers are; None where no turn asks for one."""
    user: UserFigures | None = None
    """The model that played the users; None if they were scripted."""
    judge: JudgeFigures | None = None
    """None if nobody judged."""
    effort: dict[str, CategoryEffort] = field(default_factory=dict)
    """By category, what a conversation took."""

    @property
    def infrastructure_failures(self) -> int:
        """Episodes whose agent or simulated user had a model or server that could not be used."""
        return self.not_counted.agent + self.not_counted.user

    @property
    def total_usage(self) -> TokenUsage:
        """Of the agent, the user and the judge; the cost is None if that of a part is unknown."""
        parts = [self.usage, *(part.usage for part in (self.user, self.judge) if part)]
        whole = sum(parts, TokenUsage())
        unknown = any(part.model_calls and part.cost is None for part in parts)
        return replace(whole, cost=None) if unknown else whole

    def to_data(self) -> dict[str, Any]:
        """A JSON object."""
        data = asdict(self)
        data["success"] = self.success._asdict()
        data["at_most"] = self.at_most._asdict()
        data["infrastructure_failures"] = self.infrastructure_failures
        data["not_counted"]["total"] = self.not_counted.total
        data["total_usage"] = asdict(self.total_usage)
        data["slices"] = {
            name: {value: _slice_data(found) for value, found in groups.items()}
            for name, groups in self.slices.items()
        }
        return data


def _slice_data(found: metrics.Summary) -> dict[str, Any]:
    return {"tasks": found.tasks, "trials": found.trials, **found.success._asdict()}


def summarise(
    tasks: Sequence[Task],
    episodes: Sequence[EpisodeRecord],
    *,
    trivial: bool = False,
    trials: int | None = None,
) -> Summary:
    """The figures of a run's episodes; those that do not count are left out of every rate.

    Args:
        trivial: The agent does no work, so whatever it passed is listed with the reason.
        trials: Of each task, as they were asked for.
    """
    counted = [episode for episode in episodes if episode.verdict.counted]
    outcomes: dict[str, list[bool]] = defaultdict(list)
    for episode in counted:
        outcomes[episode.verdict.task_id].append(episode.verdict.success)
    clusters = {task.task_id: task.family for task in tasks if task.family}
    whole = _whole(outcomes, clusters)
    most = _whole(_at_most(counted), clusters)
    usage = TokenUsage()
    for episode in episodes:
        usage = usage + episode.trace.usage
    calls = sum(episode.verdict.calls for episode in counted)
    return Summary(
        conversations=len(outcomes),
        trials=len(counted),
        turns=sum(len(episode.trace.turns) for episode in counted),
        succeeded=sum(episode.verdict.success for episode in counted),
        success=whole.success,
        method=whole.method,
        pass_hat=whole.pass_hat,
        pass_at=whole.pass_at,
        not_counted=count_exclusions(episodes),
        slices=_slices(tasks, outcomes, clusters),
        by_turn=_by_turn(tasks, counted),
        arc=_arc(tasks, counted),
        tool_errors=_tool_errors(counted),
        reasons=_reasons(counted),
        calls=round(calls / len(counted), 2) if counted else 0.0,
        usage=usage,
        missing=max(0, len(tasks) * trials - len(episodes)) if trials else 0,
        passed=_passed(tasks, counted) if trivial else (),
        undecided=sum(episode.verdict.undecided for episode in counted),
        at_most=most.success,
        pass_hat_at_most=most.pass_hat,
        pass_at_at_most=most.pass_at,
        undecided_why=_undecided_why(counted),
        misreports=_misreports(counted),
        answers=answer_figures(tasks, counted) if _ask(tasks) else None,
        user=user_figures(episodes),
        judge=judge_figures(episodes),
        effort=effort_by_category(tasks, counted),
    )


def _at_most(episodes: Sequence[EpisodeRecord]) -> dict[str, list[bool]]:
    """The outcomes with every undecided episode taken to succeed."""
    outcomes: dict[str, list[bool]] = defaultdict(list)
    for episode in episodes:
        verdict = episode.verdict
        outcomes[verdict.task_id].append(verdict.success or verdict.undecided)
    return outcomes


def _undecided_why(episodes: Sequence[EpisodeRecord]) -> dict[str, int]:
    kinds = Counter(
        open_reading_kind(why)
        for episode in episodes
        if episode.verdict.undecided
        for why in {why for turn in episode.verdict.turns for why in turn.undecided[:1]}
    )
    return dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0])))


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


def open_reading_kind(why: str) -> str:
    """What kind of reading is open: a fact, a refusal, a report, an answer."""
    return next((kind for words, kind in _KINDS.items() if why.startswith(words)), "other")


def _misreports(episodes: Sequence[EpisodeRecord]) -> dict[str, int]:
    """Both kinds, also where there are none: a figure of its own in every report."""
    counts = Counter(
        turn.misreport for episode in episodes for turn in episode.verdict.turns if turn.misreport
    )
    return {kind: counts[kind] for kind in (SAID_DONE, SAID_NOT_DONE)}


def _ask(tasks: Sequence[Task]) -> bool:
    return any(turn.answer for task in tasks for turn in task.gold.turns)


def summary_of(
    run_dir: RunDir,
    outlines: Sequence[EpisodeRecord] | None = None,
    tasks: Sequence[Task] | None = None,
) -> Summary:
    """The figures of a stored run.

    Args:
        outlines: Its episodes, where they were read already.
        tasks: Its tasks, likewise.

    Raises:
        InputError: The directory holds no run, or one that cannot be read.
    """
    config = run_dir.config()
    trials = config.get("trials")
    tasks = run_dir.tasks() if tasks is None else tasks
    episodes = run_dir.for_figures() if outlines is None else outlines
    known = {task.task_id for task in tasks}
    lacking = sorted({e.trace.task_id for e in episodes} - known)
    if lacking:
        raise InputError(
            f"lacks '{lacking[0]}', of which there are episodes",
            file=str(run_dir.path / "tasks.jsonl"),
            expected="every conversation of the run; the file was cut or changed",
        )
    return summarise(
        tasks,
        episodes,
        trivial=config.get("agent") in TRIVIAL_NAMES,
        trials=trials if isinstance(trials, int) else None,
    )


def _whole(outcomes: dict[str, list[bool]], clusters: dict[str, str]) -> metrics.Summary:
    if not outcomes:
        return metrics.Summary(0, 0, Interval(0.0, 0.0, 1.0), "none", {}, {})
    return metrics.summarise(outcomes, clusters)


def _slices(
    tasks: Sequence[Task], outcomes: dict[str, list[bool]], clusters: dict[str, str]
) -> dict[str, dict[str, metrics.Summary]]:
    found = {}
    for name, values_of in SLICES.items():
        slices = {task.task_id: tuple(values_of(task)) for task in tasks}
        by_value = metrics.summarise_by(outcomes, slices, clusters)
        if by_value:
            found[name] = by_value
    return found


def _by_turn(
    tasks: Sequence[Task], episodes: Sequence[EpisodeRecord]
) -> dict[int, tuple[int, int]]:
    """A turn that was never reached counts as failed: else giving up early would look good."""
    lengths = {task.task_id: len(task.turns) for task in tasks}
    right: Counter[int] = Counter()
    played: Counter[int] = Counter()
    for episode in episodes:
        played.update(range(1, lengths[episode.verdict.task_id] + 1))
        for turn in episode.verdict.turns:
            right[turn.turn_id] += turn.success
    return {number: (right[number], played[number]) for number in sorted(played)}


def _arc(tasks: Sequence[Task], episodes: Sequence[EpisodeRecord]) -> ArcMetrics:
    lengths = {task.task_id: len(task.turns) for task in tasks}
    golds = {task.task_id: task.gold.turns for task in tasks}
    tools, replies, exact, some_tool, some_reply = [], [], [], [], []
    for episode in episodes:
        own_tools, own_replies = [], []
        pairs = zip(episode.trace.turns, episode.verdict.turns, strict=True)
        for gold, (turn, verdict) in zip(golds[episode.task_id], pairs, strict=False):
            own_tools.append(tool_success(verdict))
            exact.append(verdict.tool.matches)
            reply = response_success(gold, turn, verdict)
            if reply is not None:
                own_replies.append(reply)
        never_reached = [False] * (lengths[episode.verdict.task_id] - len(own_tools))
        exact += never_reached
        tools += own_tools + never_reached
        replies += own_replies
        some_tool.append(any(own_tools))
        if own_replies:
            some_reply.append(any(own_replies))
    strict = [
        all(t.success for t in e.verdict.turns) and e.verdict.failed_at_turn is None
        for e in episodes
    ]
    chains, segments = _chains(tasks, episodes)
    return ArcMetrics(
        _share(strict),
        _share(some_tool),
        _share(some_reply),
        _share(tools),
        _share(replies),
        _share(exact),
        _share(chains),
        _share(segments),
    )


def _chains(
    tasks: Sequence[Task], episodes: Sequence[EpisodeRecord]
) -> tuple[list[bool], list[bool]]:
    """Which chained conversations succeeded in all segments, and which segments did."""
    chained = {task.task_id: task for task in tasks if task.segments}
    chains, segments = [], []
    for episode in episodes:
        task = chained.get(episode.trace.task_id)
        if task is not None:
            own = [bool(each["success"]) for each in segment_results(task, episode.verdict)]
            chains.append(all(own))
            segments += own
    return chains, segments


def _share(outcomes: Sequence[bool]) -> float | None:
    return round(sum(outcomes) / len(outcomes), 6) if outcomes else None


def _tool_errors(episodes: Sequence[EpisodeRecord]) -> tuple[ToolErrors, ...]:
    calls: Counter[str] = Counter()
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for episode in episodes:
        for turn in episode.trace.turns:
            for call in turn.calls:
                calls[call.tool] += 1
                if not call.ok:
                    kinds[call.tool][call.error_kind or "other"] += 1
    found = [
        ToolErrors(tool, calls[tool], sum(counts.values()), dict(sorted(counts.items())))
        for tool, counts in kinds.items()
    ]
    return tuple(sorted(found, key=lambda e: (-e.errors, e.tool)))


def _reasons(episodes: Sequence[EpisodeRecord]) -> dict[str, int]:
    failed = (e for e in episodes if not (e.verdict.success or e.verdict.undecided))
    counts = Counter(map(reason_kind, failed))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def reason_kind(episode: EpisodeRecord) -> str:
    """The kind of fault that a failed conversation failed by first."""
    return fault_kind(episode.trace.outcome, episode.verdict)


def _passed(tasks: Sequence[Task], episodes: Sequence[EpisodeRecord]) -> tuple[Passed, ...]:
    by_id = {task.task_id: task for task in tasks}
    found = {}
    for episode in episodes:
        task = by_id[episode.verdict.task_id]
        reason = why_easy(task)
        if episode.verdict.success and reason:
            found[task.task_id] = Passed(task.task_id, reason)
    return tuple(found[key] for key in sorted(found))


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
