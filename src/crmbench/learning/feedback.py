"""What a learner is told of an episode, by level of feedback.

``none``: what the agent saw itself. ``binary``: whether it was right. ``message``: also what kind
of fault the verifier found, in a fixed vocabulary of turns, tables and columns; never a value, an
id or a name that would have been right. ``gold``: also the right path, as an upper bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson

from crmbench.core.schema import Schema
from crmbench.core.task import GoldTurn, Task
from crmbench.core.trace import TurnTrace
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict
from crmbench.learning.protocol import Experience, Feedback, RecallView, SeenCall, SeenTurn

_MISMATCH = re.compile(r"(?P<table>\w+) (?P<key>\S+?)(?:\.(?P<field>\w+))?(?P<rest>:| was| should)")
"""``Quote 81f2.amount: expected 5, got 6``; a sentence such as ``the call failed`` is none."""
_KINDS = (
    ("was not written", "a change to {what} is missing"),
    ("should not have been written", "{what} was changed, which nobody had asked for"),
    ("was written instead of", "{what} was changed, and another record was meant"),
    (": expected ", "{what} has a wrong value"),
)


def experience_of(
    view: RecallView,
    recalled: str,
    record: EpisodeRecord,
    level: Feedback,
    task: Task,
    schema: Schema,
) -> Experience:
    """The episode as its learner is told of it; nothing of the task passes but at ``gold``.

    Args:
        schema: Of the domain: its tables and columns are the words of messages.
    """
    verdict = record.verdict
    return Experience(
        view,
        recalled,
        seen_turns(record),
        None if level == "none" else verdict.success,
        _message(verdict, schema) if level in ("message", "gold") else None,
        gold_text(task) if level == "gold" else None,
    )


def seen_turns(record: EpisodeRecord) -> tuple[SeenTurn, ...]:
    """An episode as its agent saw it."""
    return tuple(_seen(turn) for turn in record.trace.turns)


def _seen(turn: TurnTrace) -> SeenTurn:
    calls = (SeenCall(c.tool, c.arguments, c.ok, c.result if c.ok else c.error) for c in turn.calls)
    return SeenTurn(turn.messages, tuple(calls))


def _message(verdict: EpisodeVerdict, schema: Schema) -> str:
    if verdict.success:
        return ""
    found = []
    for turn in verdict.turns:
        if not turn.success:
            said = dict.fromkeys(_faults(turn, schema))
            found.append(f"turn {turn.turn_id}: " + "; ".join(said or ("it is not right",)))
    return ". ".join(found) + "." if found else "The conversation did not come to its end."


def _faults(turn: TurnVerdict, schema: Schema) -> Iterator[str]:
    for text in turn.mismatches:
        yield _mismatch(text, schema)
    for text in turn.unsaid:
        if "the refusal" in text:
            yield "the request had to be refused, and the reply does not say so"
        elif text.startswith("does not convey"):
            yield "the reply leaves out something that was asked for, or tells it wrongly"
        else:
            yield "the reply says something that is not so, or that it must not say"
    if turn.undecided and not (turn.mismatches or turn.unsaid):
        yield "the reply can be read in two ways"


def _mismatch(text: str, schema: Schema) -> str:
    """A mismatch without its values; only names of the schema pass."""
    found = _MISMATCH.match(text)
    if found is None or found["table"] not in schema.tables:
        return "the CRM is not as it should be"
    field = found["field"]
    columns = schema[found["table"]].columns
    what = f"the {field} of a {found['table']}" if field in columns else f"a {found['table']}"
    for words, told in _KINDS:
        if words in text:
            return told.format(what=what)
    return f"{what} is not as it should be"


def gold_text(task: Task) -> str:
    """The right path, and what had to be said."""
    return "\n".join(
        line for number, turn in enumerate(task.gold.turns, 1) for line in _gold_lines(number, turn)
    )


def _gold_lines(number: int, turn: GoldTurn) -> Iterator[str]:
    for call in turn.calls:
        yield f"turn {number}: call {call.tool} {orjson.dumps(dict(call.arguments)).decode()}"
    if not turn.expect_success:
        yield f"turn {number}: refuse, for the rules forbid it"
    for fact in turn.facts:
        yield f"turn {number}: say {fact.label or fact.kind}: {fact.value}"
    if turn.answer is not None:
        yield f"turn {number}: answer {turn.answer.said}"
