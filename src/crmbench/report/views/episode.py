"""One episode as pages show it: what was said and done beside what was expected, and each fault
where it stands. The same for the static report and for the page that `crmbench view` serves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from crmbench.core.fact import Fact
from crmbench.core.journal import Change
from crmbench.core.record import TurnJudgement
from crmbench.core.task import GoldTurn, Task
from crmbench.core.trace import CallRecord, Message, TurnTrace
from crmbench.formats.readable import fact_text
from crmbench.grading.read_words import ReadWords, read_words, segments
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import TurnVerdict, describe
from crmbench.report.played import names_in, problems_of, resolved
from crmbench.report.views.standing import Standing, standing_of
from crmbench.report.views.values import shown

MAX_RESULT = 1_500
"""Characters of a result that a page holds; the rest is asked for."""
MAX_REPLY = 20_000
"""Characters of a reply that a page shows, with what was read in them; nobody reads more."""
MAX_CHANGES = 40
MAX_COLUMNS = 7
MAX_ROWS = 12
ORDER_COLUMN = "seq"
"""No field of the org: no agent sees it."""

FactStanding = Literal["told", "missed", "unsure", "not read"]


@dataclass(frozen=True, slots=True)
class RowDiff:
    """A record before and after one call."""

    table: str
    key: str
    what: str
    """``created``, ``changed`` or ``deleted``."""
    fields: tuple[tuple[str, Any, Any], ...]


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A result that is a list of records, as a table."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int


@dataclass(frozen=True, slots=True)
class CallView:
    """One call."""

    number: int
    """Counted from 1 over the whole episode."""
    tool: str
    arguments: tuple[tuple[str, str], ...]
    brief: str
    ok: bool
    outcome: str
    """What came of it, in a few words."""
    result: str
    table: ResultTable | None
    cut: int
    """Characters of the result that were left out."""
    changes: tuple[RowDiff, ...]
    more_changes: int
    fault: bool = False
    """Whether it is where something went wrong."""


@dataclass(frozen=True, slots=True)
class SaidView:
    """A message; of the agent's replies with the words that were read."""

    role: str
    pieces: tuple[tuple[str, ReadWords | None], ...]
    fault: bool = False
    cut: int = 0
    """Characters that are not shown."""


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call of the right path."""

    tool: str
    arguments: tuple[tuple[str, str], ...]
    made: bool
    """Whether the turn called the tool at all; other ways may be as right."""


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn."""

    number: int
    standing: Standing
    before: tuple[SaidView, ...]
    """What was said before the calls."""
    calls: tuple[CallView, ...]
    after: tuple[SaidView, ...]
    state: bool | None
    """Whether the records are right after it; None where they are not compared."""
    expected: tuple[ExpectedCall, ...]
    refuses: str | None
    """Why the request is to be refused, if it is."""
    answer: str | None
    facts: tuple[tuple[str, FactStanding], ...]
    notes: tuple[str, ...]
    forbidden: tuple[str, ...]
    rules: tuple[str, ...]
    wrong_state: tuple[str, ...]
    wrong_words: tuple[str, ...]
    open_readings: tuple[str, ...]
    misreport: str | None
    judge: str | None
    error: str | None
    tokens: int | None
    missing: bool
    """Whether something that should have been written was not, so that no call is at fault."""

    @property
    def at_fault(self) -> bool:
        """Whether something is certainly wrong in it."""
        return self.standing == "failed"


@dataclass(frozen=True, slots=True)
class EpisodeView:
    """One episode."""

    task: Task
    record: EpisodeRecord
    standing: Standing
    turns: tuple[TurnView, ...]
    unplayed: tuple[str, ...]
    """What the user would have said in turns that were never reached."""

    @property
    def first_fault(self) -> int | None:
        """The turn with the first certain fault, else the first that is open; None: none is."""
        for wanted in ("failed", "undecided"):
            for turn in self.turns:
                if turn.standing == wanted:
                    return turn.number
        return None

    @property
    def first_reason(self) -> str:
        """What is wrong there, records named by what they are called; empty if nothing is."""
        for turn in self.turns:
            if turn.number == self.first_fault:
                told = (*turn.wrong_state, *turn.wrong_words, *turn.open_readings)
                return next(iter(told), turn.error or "")
        return ""


def episode_view(task: Task, record: EpisodeRecord, *, cut: int = MAX_RESULT) -> EpisodeView:
    """An episode for a page.

    Args:
        cut: Characters of a result that are kept.
    """
    return EpisodeView(
        task,
        record,
        standing_of(record.verdict),
        tuple(_turns(task, record, cut)),
        tuple(turn.utterance for turn in task.turns[len(record.trace.turns) :]),
    )


def _turns(task: Task, record: EpisodeRecord, cut: int) -> Iterator[TurnView]:
    judged = {each.turn_id: each for each in record.verdict.turns}
    names = names_in(record)
    told_of = zip(record.verdict.turns, problems_of(record, names), strict=True)
    problems = {verdict.turn_id: found for verdict, found in told_of}
    judging = record.participants.judge if record.participants else None
    judges = {turn.turn_id: _judged(turn) for turn in judging.turns} if judging else {}
    told: set[str] = set()
    number = 0
    for turn in record.trace.turns:
        verdict, gold = judged.get(turn.turn_id), task.gold.turns[turn.turn_id - 1]
        new = tuple(m for m in verdict.mismatches if m not in told) if verdict else ()
        told.update(new)
        places = _places(new)
        calls = tuple(_call(each, number + i, cut, places) for i, each in enumerate(turn.calls, 1))
        number += len(turn.calls)
        made = _turn(turn, verdict, gold, calls, problems.get(turn.turn_id, []), new, names)
        yield replace(made, judge=judges.get(turn.turn_id, made.judge))


WHY = {
    "call": "its verdict decides the turn",
    "text": "nothing else checks the text",
    "response": "calls and reply against what the file expects",
    "agreement": "asked to compare it with the checks; decides nothing",
}
"""Why a judge was asked, in words."""


def _judged(said: TurnJudgement) -> str:
    """A judge's verdict in one line."""
    if said.passed is None:
        return f"no usable answer ({said.rationale})"
    verdict = "passed" if said.passed else "failed"
    return f"{verdict}, {said.score or 0.0:.2f} ({WHY[said.why]}): {said.rationale}"


def _places(mismatches: Sequence[str]) -> set[tuple[str, str]]:
    """Table and key of the records that mismatches are about."""
    found = set()
    for each in mismatches:
        table, _, rest = each.partition(" ")
        found.add((table, rest.split(" ")[0].split(".")[0].rstrip(":")))
    return found


def _turn(
    turn: TurnTrace,
    verdict: TurnVerdict | None,
    gold: GoldTurn,
    calls: tuple[CallView, ...],
    problems: Sequence[str],
    new: Sequence[str],
    names: Mapping[str, str],
) -> TurnView:
    words = len(verdict.unsaid) if verdict else 0
    split = len(problems) - words
    wrong_words = tuple(problems[split:])
    replied = bool(turn.messages) and turn.messages[-1].role == "assistant"
    before = turn.messages[:-1] if replied else turn.messages
    after = turn.messages[-1:] if replied else ()
    wrong_reply = bool(verdict and (verdict.unsaid or verdict.undecided))
    tool_wrong = bool(verdict and verdict.state is None and verdict.mismatches)
    return TurnView(
        number=turn.turn_id,
        standing=_turn_standing(verdict),
        before=tuple(_said(each, gold, False) for each in before),
        calls=calls,
        after=tuple(_said(each, gold, wrong_reply) for each in after),
        state=None if verdict is None else verdict.state,
        expected=tuple(
            ExpectedCall(
                call.tool,
                tuple((n, resolved(value, names)) for n, value in _arguments(call.arguments)),
                _was_made(call.tool, turn.calls),
            )
            for call in gold.calls
        ),
        refuses=None if gold.expect_success else gold.error_substring or "a house rule",
        answer=str(gold.answer.said) if gold.answer is not None else None,
        facts=tuple((fact_text(fact), _told(fact, verdict)) for fact in gold.facts),
        notes=tuple(map(fact_text, gold.note_facts)),
        forbidden=tuple(map(fact_text, gold.forbidden)),
        rules=gold.rules,
        wrong_state=tuple(problems[:split]),
        wrong_words=wrong_words,
        open_readings=verdict.undecided if verdict else (),
        misreport=verdict.misreport if verdict else None,
        judge=turn.judgement.rationale if turn.judgement else None,
        error=turn.error,
        tokens=turn.usage.total_tokens if turn.usage else None,
        missing=tool_wrong or (bool(new) and not any(call.fault for call in calls)),
    )


def _turn_standing(verdict: TurnVerdict | None) -> Standing:
    if verdict is None:
        return "not counted"
    if verdict.success:
        return "passed"
    return "undecided" if verdict.is_open else "failed"


def _was_made(tool: str, calls: Sequence[CallRecord]) -> bool:
    return any(call.tool == tool for call in calls)


def _told(fact: Fact, verdict: TurnVerdict | None) -> FactStanding:
    if verdict is None or verdict.facts is None:
        return "not read"
    missed = f"does not convey {describe(fact)}"
    if any(said.startswith(missed) for said in verdict.unsaid):
        return "missed"
    return "unsure" if any(said.startswith(missed) for said in verdict.undecided) else "told"


def _said(message: Message, gold: GoldTurn, fault: bool) -> SaidView:
    if message.role == "user":
        return SaidView("user", ((message.text, None),))
    text = message.text[:MAX_REPLY]
    pieces = tuple(segments(text, read_words(text, gold)))
    return SaidView("agent", pieces, fault, cut=len(message.text) - len(text))


# --- calls ------------------------------------------------------------------------------------


def _call(call: CallRecord, number: int, cut: int, wrong: set[tuple[str, str]]) -> CallView:
    table = _table(call.result) if call.ok else None
    # A page shows the one or the other, and most of its time goes into writing results.
    result = "" if table else result_text(call)
    return CallView(
        number=number,
        tool=call.tool,
        arguments=_arguments(call.arguments),
        brief=_brief(call.arguments),
        ok=call.ok,
        outcome=_outcome(call),
        result=result[:cut],
        table=table,
        cut=max(0, len(result) - cut),
        changes=tuple(row_diff(each) for each in call.changes[:MAX_CHANGES]),
        more_changes=max(0, len(call.changes) - MAX_CHANGES),
        fault=any((each.table, each.key) in wrong for each in call.changes),
    )


def call_view(call: CallRecord, number: int, cut: int = MAX_RESULT) -> CallView:
    """One call for a page, whatever came of the episode.

    Args:
        number: Its place in the episode, from 1.
        cut: Characters of the result that are kept.
    """
    return _call(call, number, cut, set())


def result_text(call: CallRecord) -> str:
    """What a call gave back, the whole of it."""
    return _pretty(call.result) if call.ok else str(call.error or "")


def _pretty(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()


def _arguments(arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, shown(value)[:MAX_RESULT]) for name, value in arguments.items())


def _brief(arguments: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name}: {shown(value)}" for name, value in arguments.items())
    return text if len(text) <= 110 else text[:109] + "…"


def _outcome(call: CallRecord) -> str:
    if not call.ok:
        return call.error_kind or "refused"
    if call.changes:
        return f"wrote {_counted(len(call.changes), 'record')}"
    records = _records(call.result)
    return _counted(len(records), "record") if records is not None else "read"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _records(result: Any) -> Sequence[Mapping[str, Any]] | None:
    found = result.get("records") if isinstance(result, Mapping) else result
    if isinstance(found, list) and all(isinstance(each, Mapping) for each in found):
        return found
    return None


def _table(result: Any) -> ResultTable | None:
    records = _records(result)
    if not records:
        return None
    names = [n for n in records[0] if n not in (ORDER_COLUMN, "attributes")]
    chosen = names[:MAX_COLUMNS]
    rows = tuple(tuple(shown(each.get(n))[:80] for n in chosen) for each in records[:MAX_ROWS])
    return ResultTable(tuple(chosen), rows, len(records))


def row_diff(change: Change) -> RowDiff:
    """The fields that differ, before and after; not the column that only keeps the order."""
    old, new = change.before or {}, change.after or {}
    names = [name for name in {**old, **new} if name != ORDER_COLUMN]
    what = "created" if change.before is None else "deleted" if change.after is None else "changed"
    fields = tuple((n, old.get(n), new.get(n)) for n in names if old.get(n) != new.get(n))
    return RowDiff(change.table, change.key, what, fields)
