"""A played conversation in the terminal: what was expected beside what was done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crmbench.core.task import GoldTurn, Task
from crmbench.core.trace import CallRecord, TurnTrace
from crmbench.formats.readable import call_text, fact_text
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import TurnVerdict, describe
from crmbench.report.problems import problems_of


def render_played(task: Task, record: EpisodeRecord) -> str:
    """One episode as Markdown: the words, the calls with the expected ones, and what is wrong.

    It shows the ground truth.
    """
    verdict = record.verdict
    result = "passed" if verdict.success else "failed" if verdict.counted else "does not count"
    lines = [f"### {task.task_id}, trial {record.trace.trial + 1}: {result}"]
    if verdict.reason:
        lines += ["", verdict.reason]
    judged = {turn.turn_id: turn for turn in verdict.turns}
    turns = [turn.turn_id for turn in verdict.turns]
    problems = dict(zip(turns, problems_of(record), strict=True))
    for turn in record.trace.turns:
        gold = task.gold.turns[turn.turn_id - 1]
        found = problems.get(turn.turn_id, [])
        lines += ["", *_turn(turn, gold, judged.get(turn.turn_id), found)]
    left = len(task.turns) - len(record.trace.turns)
    if left:
        lines += ["", f"{left} of {len(task.turns)} turns were not played."]
    return "\n".join(lines) + "\n"


def _turn(
    turn: TurnTrace, gold: GoldTurn, verdict: TurnVerdict | None, problems: Sequence[str]
) -> Iterator[str]:
    mark = "" if verdict is None else " (right)" if verdict.success else " (wrong)"
    yield f"**Turn {turn.turn_id}{mark}**"
    yield ""
    for message in turn.messages:
        who = "User" if message.role == "user" else "Agent"
        yield f"> {who}: " + message.text.replace("\n", "\n> ")
    if turn.error:
        yield f"- agent's error: {turn.error}"
    yield ""
    yield from (f"- expected `{call_text(call.tool, call.arguments)}`" for call in gold.calls)
    for done in turn.calls:
        yield f"- called   `{call_text(done.tool, done.arguments)}`{_end(done)}"
    if verdict is None:
        return
    for fact in gold.facts:
        missed = f"does not convey {describe(fact)}"
        lacking = any(said.startswith(missed) for said in verdict.unsaid)
        yield f"- {'[ ]' if lacking else '[x]'} tells {fact_text(fact)}"
    yield from (f"- wrong: {problem}" for problem in problems)


def _end(call: CallRecord) -> str:
    return "" if call.ok else f": refused, {call.error}"
