"""The figures of a run from its rows, one by one: what is kept grows with the tasks alone."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from crmbench.core.trace import TokenUsage
from crmbench.formats.episode_rows import EpisodeRow, JudgePart, RowsHead, UserPart
from crmbench.grading import metrics
from crmbench.grading.metrics import Interval
from crmbench.grading.verdict import SAID_DONE, SAID_NOT_DONE
from crmbench.report.answers import figures_of_scores
from crmbench.report.exclusions import not_counted
from crmbench.report.role_figures import judge_total, sum_of_parts, user_total
from crmbench.report.rows.figures import ArcMetrics, Passed, Summary, ToolErrors
from crmbench.report.timings import EffortTotal


class TaskFacts(NamedTuple):
    """What tasks are grouped by; many tasks share one."""

    family: str
    category: str
    complexity: str
    tags: tuple[str, ...]
    domain: str
    persona: str


SLICES: dict[str, Callable[[TaskFacts], Iterable[str]]] = {
    "category": lambda task: (task.category,),
    "complexity": lambda task: (task.complexity,),
    "tag": lambda task: task.tags,
    "domain": lambda task: (task.domain,),
    # By role: of people with names there are hundreds, with a few conversations each.
    "persona": lambda task: (task.persona,) if task.persona else (),
}


class TaskOutcomes:
    """How the trials of a task ended that count."""

    __slots__ = ("at_most", "facts", "right", "trials")

    def __init__(self, facts: TaskFacts) -> None:
        self.facts = facts
        self.trials = self.right = self.at_most = 0


class _Arc:
    """Counts behind Arc's figures."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, row: EpisodeRow) -> None:
        counts = self.counts
        counts["strict"] += row.all_turns_right
        counts["turns"] += row.task_turns
        counts["tool"] += row.tool_right
        counts["exact"] += row.exact_right
        counts["some tool"] += row.tool_right > 0
        if row.replies_checked:
            counts["replies"] += row.replies_checked
            counts["right replies"] += row.replies_right
            counts["replying"] += 1
            counts["some reply"] += row.replies_right > 0
        if row.segments:
            counts["segments"] += len(row.segments)
            counts["right segments"] += sum(row.segments)
            counts["chains"] += 1
            counts["right chains"] += all(row.segments)

    def figures(self, episodes: int) -> ArcMetrics:
        c = self.counts
        return ArcMetrics(
            strict_success=_share(c["strict"], episodes),
            tool_success=_share(c["some tool"], episodes),
            response_success=_share(c["some reply"], c["replying"]),
            turn_tool_accuracy=_share(c["tool"], c["turns"]),
            turn_response_accuracy=_share(c["right replies"], c["replies"]),
            exact_match=_share(c["exact"], c["turns"]),
            chain_success=_share(c["right chains"], c["chains"]),
            segment_success=_share(c["right segments"], c["segments"]),
        )


class Tally:
    """Takes the rows of a run in their order, and gives its figures."""

    def __init__(self) -> None:
        self.tasks: dict[str, TaskOutcomes] = {}
        """By id, in the order in which one of their episodes first counted."""
        self.episodes = 0
        """All of them."""
        self._counted = self._turns = self._succeeded = self._undecided = self._calls = 0
        self._usage = TokenUsage()
        self._excluded: Counter[str | None] = Counter()
        self._facts: dict[TaskFacts, TaskFacts] = {}
        self._arc = _Arc()
        self._turns_right: Counter[int] = Counter()
        self._turns_of_all: Counter[int] = Counter()
        self._tools: Counter[str] = Counter()
        self._tool_errors: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._faults: Counter[str] = Counter()
        self._open: Counter[str] = Counter()
        self._misreports: Counter[str] = Counter()
        self._easy: dict[str, str] = {}
        self._scores, self._texts = array("d"), array("d")
        self._user: UserPart | None = None
        self._judge: JudgePart | None = None
        self._effort: defaultdict[str, EffortTotal] = defaultdict(EffortTotal)

    def add(self, row: EpisodeRow) -> None:
        """Take the next episode."""
        self.episodes += 1
        self._usage = self._usage + row.usage
        self._user = sum_of_parts(self._user, row.user)
        self._judge = sum_of_parts(self._judge, row.judge)
        if not row.counted:
            self._excluded[row.excluded] += 1
            return
        self._task(row)
        self._counted += 1
        self._turns += row.turns
        self._succeeded += row.success
        self._undecided += row.undecided
        self._calls += row.calls
        self._arc.add(row)
        self._turns_of_all[row.task_turns] += 1
        self._turns_right.update(row.turns_right)
        for use in row.tools:
            self._tools[use.tool] += use.calls
            if use.error is not None:
                self._tool_errors[use.tool][use.error] += use.calls
        if row.fault is not None:
            self._faults[row.fault] += 1
        self._open.update(row.undecided_kinds)
        self._misreports.update(row.misreports)
        if row.success and row.easy:
            self._easy[row.task_id] = row.easy
        self._scores.extend(row.answer_scores)
        self._texts.extend(row.text_scores)
        self._effort[row.category].add(row.turns, row.calls, row.usage)

    def _task(self, row: EpisodeRow) -> None:
        task = self.tasks.get(row.task_id)
        if task is None:
            facts = TaskFacts(
                row.family, row.category, row.complexity, row.tags, row.domain, row.persona
            )
            task = TaskOutcomes(self._facts.setdefault(facts, facts))
            self.tasks[row.task_id] = task
        task.trials += 1
        task.right += row.success
        task.at_most += row.success or row.undecided

    def outcomes(
        self, *, at_most: bool = False, only: Callable[[str], bool] | None = None
    ) -> dict[str, tuple[bool, ...]]:
        """Task to an outcome a trial that counts, those that succeeded first.

        Args:
            at_most: What is undecided succeeds; else it fails.
            only: Says by its id which task is wanted; None: all are.
        """
        # Tasks that went alike share one.
        made: dict[tuple[int, int], tuple[bool, ...]] = {}
        found = {}
        for key, task in self.tasks.items():
            if only is None or only(key):
                right = task.at_most if at_most else task.right
                alike = right, task.trials
                if alike not in made:
                    made[alike] = (True,) * right + (False,) * (task.trials - right)
                found[key] = made[alike]
        return found

    def summary(
        self, head: RowsHead, *, trivial: bool = False, trials: int | None = None
    ) -> Summary:
        """The figures of what was taken.

        Args:
            head: What is known of the run's tasks.
            trivial: The agent does no work, so whatever it passed is listed with the reason.
            trials: Of each task, as they were asked for.
        """
        whole, most = self._success(), self._success(at_most=True)
        played = self._counted
        return Summary(
            conversations=len(self.tasks),
            trials=played,
            turns=self._turns,
            succeeded=self._succeeded,
            success=whole.success,
            method=whole.method,
            pass_hat=whole.pass_hat,
            pass_at=whole.pass_at,
            not_counted=not_counted(self._excluded),
            slices=self._slices(),
            by_turn=self._by_turn(),
            arc=self._arc.figures(played),
            tool_errors=self._errors(),
            reasons=_most_first(self._faults),
            calls=round(self._calls / played, 2) if played else 0.0,
            usage=self._usage,
            missing=max(0, head.tasks * trials - self.episodes) if trials else 0,
            passed=tuple(Passed(key, self._easy[key]) for key in sorted(self._easy))
            if trivial
            else (),
            undecided=self._undecided,
            at_most=most.success,
            pass_hat_at_most=most.pass_hat,
            pass_at_at_most=most.pass_at,
            undecided_why=_most_first(self._open),
            # Both kinds, also where there are none: a figure of its own in every report.
            misreports={kind: self._misreports[kind] for kind in (SAID_DONE, SAID_NOT_DONE)},
            answers=figures_of_scores(self._scores, self._texts) if head.asks else None,
            user=user_total(self._user),
            judge=judge_total(self._judge),
            effort={name: self._effort[name].figures() for name in sorted(self._effort)},
        )

    def _success(self, *, at_most: bool = False) -> metrics.Summary:
        if not self.tasks:
            return metrics.Summary(0, 0, Interval(0.0, 0.0, 1.0), "none", {}, {})
        return _success_of(self.tasks, at_most=at_most)

    def _slices(self) -> dict[str, dict[str, metrics.Summary]]:
        found = {}
        for name, values_of in SLICES.items():
            values = {facts: frozenset(values_of(facts)) for facts in self._facts}
            by_value = {}
            for value in sorted(set[str]().union(*values.values())):
                own = {key: t for key, t in self.tasks.items() if value in values[t.facts]}
                by_value[value] = _success_of(own)
            if by_value:
                found[name] = by_value
        return found

    def _by_turn(self) -> dict[int, tuple[int, int]]:
        """A turn that was never reached counts as failed: else giving up early would look good."""
        longest = max(self._turns_of_all, default=0)
        return {
            number: (
                self._turns_right[number],
                sum(count for turns, count in self._turns_of_all.items() if turns >= number),
            )
            for number in range(1, longest + 1)
        }

    def _errors(self) -> tuple[ToolErrors, ...]:
        found = [
            ToolErrors(tool, self._tools[tool], sum(kinds.values()), dict(sorted(kinds.items())))
            for tool, kinds in self._tool_errors.items()
        ]
        return tuple(sorted(found, key=lambda e: (-e.errors, e.tool)))


def _success_of(tasks: Mapping[str, TaskOutcomes], *, at_most: bool = False) -> metrics.Summary:
    return metrics.summarise_counts(
        [task.at_most if at_most else task.right for task in tasks.values()],
        [task.trials for task in tasks.values()],
        # A task without a family is its own cluster.
        [task.facts.family or f"\0{key}" for key, task in tasks.items()],
    )


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _share(right: int, of: int) -> float | None:
    return round(right / of, 6) if of else None
