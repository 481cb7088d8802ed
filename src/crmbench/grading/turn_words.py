"""All that a reader of a turn's words needs, and the judgement on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crmbench.core.domain import Domain
from crmbench.core.schema import Row
from crmbench.core.task import GoldTurn, Task
from crmbench.core.trace import Decision, TurnTrace
from crmbench.grading.answer import AnswerVerdict, read_reply, submitted
from crmbench.grading.answer import judge as judge_answer
from crmbench.grading.directory import NO_DIRECTORY, Directory, directory_of
from crmbench.grading.facts.context import Context
from crmbench.grading.gold import GoldRun
from crmbench.grading.reports.deeds import NO_DEEDS, Deeds
from crmbench.grading.reports.problems import BARE, report_problems
from crmbench.grading.reports.sources import Sources
from crmbench.grading.standing.bindings import misbound
from crmbench.grading.standing.denied_records import (
    denied_names,
    denied_of_written,
    denied_values,
    untrue_twins,
)
from crmbench.grading.standing.holders import Holder, holders_of, may_be_misheld, misheld
from crmbench.grading.standing.nothing_done import beside_the_answer, deeds_on_others, told_deeds
from crmbench.grading.standing.wavering import wavering
from crmbench.grading.standing.written_texts import other_texts
from crmbench.grading.words import Problem, word_problems
from crmbench.language.finding import Finding, Said
from crmbench.language.reading import Reading, read


@dataclass(frozen=True)
class TurnWords:
    """One turn, as the reader of its words sees it."""

    gold: GoldTurn
    context: Context
    submitted: str | None = None
    """What the agent gave with the answering tool; None where it did not use it."""
    deeds: Deeds = NO_DEEDS
    """What the turn wrote."""
    directory: Directory = NO_DIRECTORY
    """The names of the world's records."""
    sources: Sources | None = None
    """What a report of the deeds may draw on, where it is known from another reply."""

    @cached_property
    def answered(self) -> AnswerVerdict | None:
        """What is right with what was submitted; None where nothing was, or nothing is asked."""
        if self.gold.answer is None or self.submitted is None:
            return None
        return judge_answer(self.gold.answer, self.submitted, self.directory)

    @classmethod
    def of_gold(
        cls, domain: Domain, task: Task, run: GoldRun, index: int, submitted: str | None
    ) -> TurnWords:
        """The turn as it is when the gold was played up to its end."""
        calls, directory = run.calls[index], directory_of(domain, task.world)
        made = all(call.ok for call in calls) or not task.gold.turns[index].expect_success
        deeds = (
            Deeds.of(calls, directory) if made else Deeds.asked_of(calls, domain.toolbox, directory)
        )
        context = _kept_context(domain, task, run, index)
        sources = _kept_sources(run, index, deeds, context)
        return cls(task.gold.turns[index], context, submitted, sources.deeds, directory, sources)

    @classmethod
    def of_trace(
        cls, domain: Domain, task: Task, run: GoldRun, index: int, turn: TurnTrace
    ) -> TurnWords:
        """The turn as an agent played it; how the records stand is taken from the gold."""
        directory = directory_of(domain, task.world)
        context = _kept_context(domain, task, run, index)
        deeds = Deeds.of(turn.calls, directory)
        sources = _kept_sources(run, index, deeds, context)
        return cls(
            task.gold.turns[index], context, submitted(turn), sources.deeds, directory, sources
        )


def settle(problems: Sequence[Problem], decisions: Sequence[Decision]) -> list[Problem]:
    """The problems that are left when a judge or a person has decided the open ones.

    A decision holds for the problem in whose words it was asked, and for no other.
    """
    decided = {decision.reading: decision.right for decision in decisions}
    left = []
    for problem in problems:
        right = None if problem.certain else decided.get(problem.why)
        if right is None:
            left.append(problem)
        elif not right:
            left.append(Problem(problem.why, True))
    return left


def _kept_context(domain: Domain, task: Task, run: GoldRun, index: int) -> Context:
    """The context by the gold's records, which is the same for every trace of the task."""
    kept = run.kept.get(index)
    if kept is None or kept[0] is not task:
        context = context_of(domain, task, run, index)
        run.kept[index] = kept = (task, context)
    return kept[1]


def _kept_sources(run: GoldRun, index: int, deeds: Deeds, context: Context) -> Sources:
    """What reports of these deeds may draw on, which is the same for every trace with them."""
    kept = run.kept_sources.get(index)
    if kept is None or kept.context is not context or kept.deeds.effect != deeds.effect:
        run.kept_sources[index] = kept = Sources(deeds, context)
    return kept


def context_of(domain: Domain, task: Task, run: GoldRun, index: int) -> Context:
    """What the reader knows beside the reply; the gold's calls tell how the records stand."""
    gold = task.gold.turns[index]
    tools = domain.toolbox.by_name
    writes = any(call.tool in tools and tools[call.tool].writes for call in gold.calls)
    return Context(
        question=task.turns[index].utterance,
        earlier="\n".join(turn.utterance for turn in task.turns[:index]),
        asker=task.persona.partition(",")[0].strip(),
        facts=gold.facts,
        records=tuple(call.result for call in run.calls[index] if call.ok),
        history=tuple(call.result for calls in run.calls[:index] for call in calls if call.ok),
        changed=_changed(run, index),
        about=domain.world(task.world).about,
        directory=directory_of(domain, task.world),
        writes=writes,
        today=str(domain.world(task.world).now)[:10],
        earlier_facts=tuple(fact for turn in task.gold.turns[:index] for fact in turn.facts),
    )


KEPT_REPLIES = 8
"""Replies to a turn whose reading is kept: trainers play a task again and again, and its simpler
turns get the same words."""


def kept_word_problems(words: TurnWords, reply: str) -> tuple[Problem, ...]:
    """What `judge_words` finds; looked up where the same was said after the same deeds."""
    if words.sources is None:
        return tuple(judge_words(words, reply))
    kept, key = words.sources.kept_problems, (reply, words.submitted)
    found = kept.get(key)
    if found is None:
        if len(kept) >= KEPT_REPLIES:
            del kept[next(iter(kept))]
        found = kept[key] = tuple(judge_words(words, reply))
    return found


def _changed(run: GoldRun, index: int) -> dict[str, Row]:
    """The records that turns before this one wrote, as the last of them left them."""
    return {
        change.key: change.after
        for calls in run.calls[:index]
        for call in calls
        for change in call.changes
        if change.after is not None
    }


def judge_words(words: TurnWords, reply: str) -> Iterator[Problem]:
    """Everything that is, or may be, wrong with the words of a turn."""
    yield from word_problems(words.gold, reply, words.context)
    if words.gold.expect_success:
        yield from report_problems(reply, words.deeds, words.context, words.sources)
    for why in _doubts(words, read(reply)):
        yield Problem(why, False)
    if words.gold.answer is not None:
        yield from _answer_problems(words, reply)


def _doubts(words: TurnWords, reading: Reading) -> Iterator[str]:
    """What in a reply nothing bears out, beside what was asked and done."""
    if not words.gold.expect_success:
        yield from untrue_twins(reading, words.context)
        if not words.deeds:
            yield from told_deeds(reading, words.context, refused=True)
        return
    if reading.low.strip(" .!\n") in BARE:
        return
    yield from wavering(reading, words.context)
    yield from misbound(reading, words.context)
    yield from denied_names(reading, words.context)
    if may_be_misheld(reading):
        yield from misheld(reading, _holders(words))
    if words.deeds:
        sources = words.sources or Sources(words.deeds, words.context)
        for check in (deeds_on_others, denied_of_written, denied_values, other_texts):
            yield from check(reading, sources)
    elif not words.context.writes:
        answer = words.gold.answer
        ruled = answer is not None and answer.kind == "text"
        sources = words.sources or Sources(NO_DEEDS, words.context)
        yield from beside_the_answer(reading, sources, ruled)


def _holders(words: TurnWords) -> Mapping[str, Holder]:
    """What the records of the turn hold by name; made once for all replies after the same deeds."""
    kept = words.sources.kept_rows if words.sources else []
    if not kept:
        kept.append(holders_of(_rows_of(words)))
    found: Mapping[str, Holder] = kept[0]
    return found


def _rows_of(words: TurnWords) -> Iterator[Mapping[str, Any]]:
    """The records of the turn: as they were looked up, and as they stood and stand."""
    yield from words.context.rows
    yield from words.context.changed.values()
    for change in words.deeds.effect:
        yield from (dict(row) for row in (change.before, change.after) if row)


def _user_words(context: Context) -> str:
    return f"{context.earlier}\n{context.question}"


def _answer_problems(words: TurnWords, reply: str) -> Iterator[Problem]:
    answer, directory = words.gold.answer, words.directory
    assert answer is not None
    verdict = words.answered
    if verdict is not None and not verdict.ok:
        yield Problem(f"wrong answer: {verdict.why}", verdict.said is Said.NOT_SAID)
    if verdict is not None and verdict.ok and reply == words.submitted:
        return
    settled = verdict is not None and verdict.ok
    known = _user_words(words.context)
    finding: Finding = read_reply(answer, reply, directory, known, settled)
    if not finding.ok:
        # Beside a right submission a text may be told in words that nobody foresees.
        reworded = verdict is not None and answer.kind == "text" and "does not hold" in finding.why
        certain = finding.said is Said.NOT_SAID and not reworded
        yield Problem(f"the reply misses the answer: {finding.why}", certain)
