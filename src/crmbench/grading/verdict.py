"""The verdict on an episode: from its trace and its task's gold, without a model or a database.

The same trace and the same gold give the same verdict at any later time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.journal import Change, Effect, fold
from crmbench.core.schema import Schema
from crmbench.core.task import GoldTurn, Task
from crmbench.core.trace import CallRecord, EpisodeTrace, TurnTrace
from crmbench.grading.answer import judge as judge_answer
from crmbench.grading.expected_state import has_expected_state, state_problems
from crmbench.grading.facts import conveys, mentions
from crmbench.grading.facts.context import Context
from crmbench.grading.gold import GoldRun, ReferenceFault, resolve_references
from crmbench.grading.notes import note_problems
from crmbench.grading.reports.problems import MISREPORT
from crmbench.grading.state import Mismatch, compare_effects, to_be_left_alone
from crmbench.grading.tool_match import Expected, ToolMatch, match
from crmbench.grading.turn_words import TurnWords, kept_word_problems, settle
from crmbench.grading.words import Outcome, Problem, describe, word_problems
from crmbench.language.refusals import claims_success

__all__ = ["describe"]

GRADING_VERSION = 11
"""Raised whenever the same trace could get another verdict; noted in the changelog."""


@dataclass(frozen=True, slots=True)
class TurnVerdict:
    """What became of one turn."""

    turn_id: int
    success: bool
    state: bool | None
    """Whether the org was as it should be after it; None where the task is graded by tools."""
    facts: bool | None
    """Whether the reply told what it had to, and nothing it must not."""
    tool: ToolMatch
    expected_tool: str | None
    expected_arguments: dict[str, Any]
    mismatches: tuple[str, ...]
    """What is wrong with the org, in words."""
    unsaid: tuple[str, ...]
    """What is wrong with the reply, in words."""
    answer: float | None = None
    """How near the answer is to the right one, 0 to 1; None where the turn asks for none."""
    undecided: tuple[str, ...] = ()
    """What may be wrong with the reply, in words: what no reader could be certain of."""
    misreport: str | None = None
    """`SAID_DONE` or `SAID_NOT_DONE`, where the reply tells the opposite of what was written."""
    wrong_records: tuple[str, ...] = ()
    """The records, by table and key, that are written after it and were to be left alone."""

    @property
    def outcome(self) -> Outcome:
        """Whether the turn succeeds, fails, or cannot be decided."""
        if self.success:
            return Outcome.SUCCEEDS
        return Outcome.UNDECIDED if self.is_open else Outcome.FAILS

    @property
    def is_open(self) -> bool:
        """Whether nothing but readings that are not certain keeps the turn from succeeding."""
        return not self.success and bool(self.undecided) and not (self.mismatches or self.unsaid)


@dataclass(frozen=True, slots=True)
class EpisodeVerdict:
    """What became of a conversation."""

    task_id: str
    trial: int
    success: bool
    turns: tuple[TurnVerdict, ...]
    failed_at_turn: int | None
    final_state: bool | None
    counted: bool
    """False: a model or server failed, and this says nothing about the agent."""
    calls: int
    tool_errors: int
    reason: str | None
    """Why it failed, or is undecided, in one line."""
    undecided: bool = False
    """It would succeed if each reading that is not certain were settled in its favour."""

    @property
    def outcome(self) -> Outcome:
        """Whether the episode succeeds, fails, or cannot be decided."""
        if self.success:
            return Outcome.SUCCEEDS
        return Outcome.UNDECIDED if self.undecided else Outcome.FAILS


SAID_DONE = "said done, was not"
SAID_NOT_DONE = "said not done, was"


def judge_episode(
    domain: Domain, task: Task, trace: EpisodeTrace, gold_runs: Sequence[GoldRun]
) -> EpisodeVerdict:
    """Grade a trace.

    Args:
        gold_runs: The gold path first, then every other accepted path; not used for tasks graded
            by tool match.
    """
    return conclude(
        domain, task, trace, gold_runs, tuple(judge_turns(domain, task, trace, gold_runs))
    )


def conclude(
    domain: Domain,
    task: Task,
    trace: EpisodeTrace,
    gold_runs: Sequence[GoldRun],
    turns: tuple[TurnVerdict, ...],
) -> EpisodeVerdict:
    """The verdict on a trace whose turns are judged already.

    Args:
        gold_runs: As for `judge_episode`.
        turns: What `judge_turns` gives of the same trace.
    """
    complete = _complete(task, trace)
    if complete and task.gold.grading == "state":
        final_state: bool | None = not turns[-1].mismatches
    else:
        final_state = _final_state(domain, task, trace, gold_runs)
    enough = [_is_enough(task, turn) for turn in turns]
    apart = _stated_problems(domain, task, trace) if complete else ()
    if complete and has_expected_state(task):
        final_state = not apart
    sound = complete and final_state is not False
    success = sound and all(enough)
    undecided = sound and all(
        is_enough or _may_be_enough(task, turn)
        for is_enough, turn in zip(enough, turns, strict=True)
    )
    failed_at = next((turn.turn_id for turn in turns if not turn.success), None)
    if failed_at is None and not complete:
        failed_at = min(len(turns) + 1, len(task.gold.turns))
    calls = [call for turn in trace.turns for call in turn.calls]
    return EpisodeVerdict(
        task_id=task.task_id,
        trial=trace.trial,
        success=success,
        turns=turns,
        failed_at_turn=None if success else failed_at,
        final_state=final_state,
        counted=trace.outcome != "infrastructure",
        calls=len(calls),
        tool_errors=sum(not call.ok for call in calls),
        reason=None if success else _reason(trace, turns, apart),
        undecided=undecided and not success,
    )


def passes(domain: Domain, task: Task, trace: EpisodeTrace, gold_runs: Sequence[GoldRun]) -> bool:
    """Whether `judge_episode` finds a success, looking no further than the first fault.

    No criteria let an episode succeed that leaves the org in another state than it should.
    """
    if _final_state(domain, task, trace, gold_runs) is False or not _complete(task, trace):
        return False
    if _stated_problems(domain, task, trace):
        return False
    turns = judge_turns(domain, task, trace, gold_runs)
    return all(_is_enough(task, turn) for turn in turns)


def _is_enough(task: Task, turn: TurnVerdict) -> bool:
    """Whether the turn is as the criteria want each turn; the final state is not asked here."""
    by_state = task.gold.grading == "state"
    criteria = task.gold.criteria if by_state or has_expected_state(task) else "all_turns"
    if criteria == "final_state":
        return True
    if criteria == "both" and by_state:
        return turn.facts is not False
    return turn.success


def _may_be_enough(task: Task, turn: TurnVerdict) -> bool:
    """Whether the turn is enough if its open readings are settled in its favour."""
    words = not turn.unsaid and bool(turn.undecided)
    return words if task.gold.criteria == "both" else turn.is_open


def _complete(task: Task, trace: EpisodeTrace) -> bool:
    return len(trace.turns) == len(task.gold.turns) and trace.outcome == "finished"


def judge_turns(
    domain: Domain, task: Task, trace: EpisodeTrace, gold_runs: Sequence[GoldRun]
) -> Iterator[TurnVerdict]:
    """A verdict on each turn that the trace has, one by one; the trace may be unfinished.

    Args:
        gold_runs: As for `judge_episode`.
    """
    return judge_each(domain, task, trace.turns, gold_runs)


def judge_each(
    domain: Domain, task: Task, turns: Iterable[TurnTrace], gold_runs: Sequence[GoldRun]
) -> Iterator[TurnVerdict]:
    """A verdict on each turn from the first one on, as it comes: no turn is looked at twice.

    Args:
        turns: May be played only when the next verdict is asked for.
        gold_runs: As for `judge_episode`.
    """
    changes: list[Change] = []
    earlier: list[Sequence[CallRecord]] = []
    wrong: tuple[Mismatch, ...] = ()
    before: list[Effect] | None = None
    for index, turn in enumerate(turns):
        gold = task.gold.turns[index]
        made = [change for call in turn.calls for change in call.changes]
        changes += made
        expected = _expected(domain, gold, earlier)
        tool = match(expected, turn.calls) if expected else _NOTHING_EXPECTED
        earlier.append(_primary(tool, turn))
        if task.gold.grading == "tool_match":
            yield _by_tool(turn, tool, expected)
            continue
        accepted = [run.effects[index] for run in gold_runs]
        if made or accepted != before:
            # Else the turn should change nothing and changed nothing: all is as it was.
            wrong = _nearest(domain.schema, accepted, fold(changes))
            before = accepted
        written = written_texts(domain.schema, gold, turn.calls, gold_runs[0].calls[index])
        words = TurnWords.of_trace(domain, task, gold_runs[0], index, turn)
        problems = [
            *kept_word_problems(words, turn.reply),
            *note_problems(gold, written, words.directory),
            *smuggled(domain.schema, task, gold_runs[0], index, turn.calls),
        ]
        settled = settle(problems, turn.decisions)
        unsaid = tuple(problem.why for problem in settled if problem.certain)
        open_ = tuple(problem.why for problem in settled if not problem.certain)
        answered = words.answered
        if answered is None and gold.answer is not None:
            answered = judge_answer(gold.answer, turn.reply)
        success = not wrong and not settled and turn.error is None
        yield TurnVerdict(
            turn.turn_id,
            success,
            not wrong,
            not settled,
            tool,
            expected.tool if expected else None,
            dict(expected.arguments) if expected else {},
            tuple(map(str, wrong)),
            unsaid,
            answered.score if answered is not None else None,
            open_,
            _misreport(words, turn, bool(wrong), unsaid),
            to_be_left_alone(wrong),
        )


def _misreport(words: TurnWords, turn: TurnTrace, wrong: bool, unsaid: Sequence[str]) -> str | None:
    """Whether the reply certainly tells the opposite of what was written."""
    if any(why.startswith(MISREPORT) and "the reply says" in why for why in unsaid):
        return SAID_NOT_DONE
    if not words.deeds and (words.context.writes or not words.gold.expect_success):
        claimed = claims_success(turn.reply)
        return SAID_DONE if claimed and (wrong or not words.gold.expect_success) else None
    return None


_NOTHING_EXPECTED = ToolMatch(None, True, True, True, None)


def _primary(tool: ToolMatch, turn: TurnTrace) -> list[CallRecord]:
    """The turn's calls with the one that it is about last, where references look for it."""
    if tool.call is None or not tool.tool:
        return list(turn.calls)
    return [*(call for call in turn.calls if call is not tool.call), tool.call]


def _expected(
    domain: Domain, gold: GoldTurn, earlier: Sequence[Sequence[CallRecord]]
) -> Expected | None:
    if not gold.calls:
        return None
    call = gold.calls[-1]
    try:
        arguments = resolve_references(call.arguments, earlier)
    except ReferenceFault:
        # An earlier turn went wrong, so no value can be right here.
        arguments = dict(call.arguments)
    tool = domain.toolbox.by_name.get(call.tool)
    writes = tool.writes if tool else False
    return Expected(call.tool, arguments, writes, gold.expect_success, gold.error_substring)


def _by_tool(turn: TurnTrace, tool: ToolMatch, expected: Expected | None) -> TurnVerdict:
    judged = turn.judgement
    if judged is not None and judged.response is not None:
        # Calls and reply together: what the checks say of the calls is a part of the score.
        success = judged.passed and turn.error is None
        why = tool.reason or f"the judge scores calls and reply {judged.score:.2f}, too little"
    else:
        approved = judged is not None and judged.passed and tool.call is not None and tool.call.ok
        success = (tool.matches or approved) and turn.error is None
        why = tool.reason or ""
    return TurnVerdict(
        turn.turn_id,
        success,
        None,
        None,
        tool,
        expected.tool if expected else None,
        dict(expected.arguments) if expected else {},
        () if success or not why else (why,),
        (),
    )


def _nearest(schema: Schema, accepted: Sequence[Effect], got: Effect) -> tuple[Mismatch, ...]:
    """The mismatches to the accepted effect that is nearest."""
    compared = [compare_effects(schema, effect, got) for effect in accepted]
    return min(compared, key=len)


def reply_problems(gold: GoldTurn, reply: str, written: Sequence[str]) -> tuple[str, ...]:
    """What is wrong with a reply, and with the free text written beside it, in words; read with
    nothing known beside it, so that what is not certainly right is wrong.

    Args:
        written: Texts each of which must convey the facts of the notes.
    """
    context = Context(facts=gold.facts)
    problems = [*word_problems(gold, reply, context), *note_problems(gold, written)]
    return tuple(problem.why for problem in problems)


def written_texts(
    schema: Schema, gold: GoldTurn, calls: Sequence[CallRecord], right: Sequence[CallRecord]
) -> list[str]:
    """The free text of a turn's calls, each of which must convey the facts of the notes.

    Args:
        right: The gold's calls. Where every note of theirs says everything (the same note on
            several deals), every note must; else what was written counts as one text.
    """
    texts = _texts(schema, calls)
    if not gold.note_facts or len(texts) < 2:
        return ["\n".join(texts)]
    wanted = _texts(schema, right)
    every = all(conveys(text, fact).ok for text in wanted for fact in gold.note_facts)
    return texts if len(wanted) > 1 and every else ["\n".join(texts)]


def smuggled(
    schema: Schema, task: Task, gold: GoldRun, index: int, calls: Sequence[CallRecord]
) -> Iterator[Problem]:
    """What no reply of the task may say, and stands in a text that a turn's calls wrote.

    Whatever column it stands in, and whichever turn forbids it; unless the gold's own writes of
    the turn say it too, for then it was asked for.
    """
    forbidden = [fact for turn in task.gold.turns for fact in turn.forbidden]
    written = "\n".join(_texts(schema, calls, _LEFT_TO_WORDS)) if forbidden else ""
    if not written:
        return
    asked = "\n".join(_texts(schema, gold.calls[index], _LEFT_TO_WORDS))
    for fact in forbidden:
        if mentions(written, fact).ok and not mentions(asked, fact).ok:
            yield Problem(f"writes {describe(fact)}, which it must not", True)


def note_texts(schema: Schema, turn: TurnTrace) -> list[str]:
    """The free text that the turn wrote, which its facts may be in."""
    return _texts(schema, turn.calls)


_LEFT_TO_WORDS = ("note", "free")
"""Kinds of columns whose text the state does not compare with the gold's."""


def _texts(
    schema: Schema, calls: Sequence[CallRecord], kinds: Sequence[str] = ("note",)
) -> list[str]:
    texts = []
    for call in calls:
        for change in call.changes:
            after, before = change.after or {}, change.before or {}
            for name, compare in schema[change.table].compare.items():
                if compare in kinds and after.get(name) and after[name] != before.get(name):
                    texts.append(str(after[name]))
    return texts


def _final_state(
    domain: Domain, task: Task, trace: EpisodeTrace, gold_runs: Sequence[GoldRun]
) -> bool | None:
    if task.gold.grading != "state":
        return None
    got = fold(change for turn in trace.turns for call in turn.calls for change in call.changes)
    accepted = [run.effects[-1] for run in gold_runs]
    return not _nearest(domain.schema, accepted, got)


def _stated_problems(domain: Domain, task: Task, trace: EpisodeTrace) -> tuple[str, ...]:
    """What is wrong with the final state that an imported file expects."""
    if not has_expected_state(task):
        return ()
    made = (change for turn in trace.turns for call in turn.calls for change in call.changes)
    return state_problems(domain.schema, task, fold(made))


def _reason(trace: EpisodeTrace, turns: Sequence[TurnVerdict], apart: Sequence[str] = ()) -> str:
    if trace.error is not None:
        return f"{trace.outcome}: {trace.error}"
    for turn in turns:
        problems = [*turn.mismatches, *turn.unsaid]
        if problems:
            return f"turn {turn.turn_id}: {problems[0]}"
    if apart:
        return f"in the end: {apart[0]}"
    for turn in turns:
        if turn.undecided:
            return f"turn {turn.turn_id}, undecided: {turn.undecided[0]}"
    return "the conversation was not finished"
