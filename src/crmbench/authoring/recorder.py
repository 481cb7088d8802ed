"""Gold calls, made for real while a task is written.

Every call runs in a copy of the task's world, so later turns can build on what earlier ones left,
and a ground truth that the CRM refuses is never written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crmbench.authoring.calls import JUST_MADE, plain
from crmbench.core.answer import Answer
from crmbench.core.journal import Effect, fold
from crmbench.core.sandbox import Sandbox
from crmbench.core.task import GoldCall
from crmbench.core.trace import CallRecord
from crmbench.errors import HarnessError
from crmbench.grading.answer import ANSWER_ARGUMENT, ANSWER_TOOL
from crmbench.grading.answer import judge as judge_answer
from crmbench.grading.gold import error_matches, resolve_references


class GoldRecorder:
    """Makes calls in a sandbox and keeps them as a task stores them.

    The id of a record that was created is kept as a reference to the call that created it, for in
    another run it may be another id.

    Args:
        sandbox: Of the task's world; it must have the task's id as its seed.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.turns: list[tuple[GoldCall, ...]] = []
        """The gold of each turn that was ended."""
        self.records: list[tuple[CallRecord, ...]] = []
        """What its calls gave."""
        self.expected: Answer | None = None
        """What `respond` must say in the turn under way; None where no answer is asked for."""
        self._gold: list[GoldCall] = []
        self._made: list[CallRecord] = []
        self._places: dict[str, str] = {}

    def call(self, tool: str, **arguments: Any) -> Any:
        """Run a tool; returns its result.

        Args:
            tool: Its name.
            arguments: They may be `Derived` or `JUST_MADE`, or hold what `reference` gave.

        Raises:
            HarnessError: The call is refused.
        """
        return self._run(GoldCall(tool, arguments), None).result

    def refused(self, tool: str, error: str, **arguments: Any) -> str:
        """Run a tool that must be refused; returns the whole error.

        Args:
            error: Part of what the CRM says, in any case.

        Raises:
            HarnessError: The call is made, or refused with another error.
        """
        return self._run(GoldCall(tool, arguments), error).error or ""

    def play(self, calls: Sequence[GoldCall], error: str | None = None) -> tuple[CallRecord, ...]:
        """Run the calls of a whole turn and end it.

        Args:
            error: Part of the error with which the last call must be refused; None: it must not.

        Raises:
            HarnessError: A call is refused that should not be, or the other way round.
        """
        for place, wanted in enumerate(calls, start=1):
            self._run(wanted, error if place == len(calls) else None)
        self.end_turn()
        return self.records[-1]

    def reference(self, field: str) -> str:
        """A reference to a field of what the last call gave, for records with new ids."""
        return "{{" + f"turn_{len(self.turns) + 1}.call_{len(self._made)}.{field}" + "}}"

    def respond(self, found: str | None) -> None:
        """Submit an answer, None for "None".

        Raises:
            HarnessError: It is not the one that is expected, or none is.
        """
        content = "None" if found is None else found
        if self.expected is None:
            raise HarnessError(f"an answer, {content!r}, where none is asked for")
        verdict = judge_answer(self.expected, content)
        # A listed wording is right by definition; how surely the grader reads it is for the audit.
        if content not in self.expected.values and not verdict.ok:
            raise HarnessError(f"the gold path comes to another answer: {verdict.why}")
        self.call(ANSWER_TOOL, **{ANSWER_ARGUMENT: content})

    def end_turn(self) -> tuple[GoldCall, ...]:
        """The calls of the turn under way, which is over with this.

        Raises:
            HarnessError: An answer is expected and none was given.
        """
        if self.expected and not any(made.tool == ANSWER_TOOL for made in self._gold):
            raise HarnessError("the gold path gives no answer")
        self.turns.append(tuple(self._gold))
        self.records.append(tuple(self._made))
        self._gold, self._made, self.expected = [], [], None
        return self.turns[-1]

    def effect(self) -> Effect:
        """What the turns that were ended have changed, at most one change a row."""
        return fold(change for turn in self.records for made in turn for change in made.changes)

    def _run(self, wanted: GoldCall, error: str | None) -> CallRecord:
        made_last = self._made[-1].changes if self._made else ()
        given = {
            name: (made_last[-1].key if made_last else "") if value == JUST_MADE else plain(value)
            for name, value in wanted.arguments.items()
        }
        arguments = resolve_references(given, [*self.records, self._made])
        record = self.sandbox.call(wanted.tool, arguments)
        must_fail = error is not None
        if record.ok == must_fail or not error_matches(error, record.error):
            raise HarnessError(
                f"turn {len(self.turns) + 1}: {wanted.tool}({arguments}) "
                f"{'is not refused as it should be' if must_fail else 'is refused'}: {record.error}"
            )
        self._gold.append(GoldCall(wanted.tool, {n: self._stored(v) for n, v in given.items()}))
        self._made.append(record)
        self._remember(record)
        return record

    def _remember(self, record: CallRecord) -> None:
        """Note where the id of a created record can be read."""
        for change in record.changes:
            if change.before is None and isinstance(record.result, Mapping):
                for name, value in record.result.items():
                    if value == change.key and name.endswith("_id"):
                        self._places.setdefault(change.key, self.reference(name))

    def _stored(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._places.get(value, value)
        if isinstance(value, list | tuple):
            return [self._stored(item) for item in value]
        if isinstance(value, Mapping):
            return {name: self._stored(item) for name, item in value.items()}
        return value
