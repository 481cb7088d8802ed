"""A task in the making, turn by turn: what is said, what is right, and what must be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from crmbench.authoring.calls import derivations
from crmbench.authoring.expected import expected_response
from crmbench.authoring.recorder import GoldRecorder
from crmbench.core.fact import Fact
from crmbench.core.sandbox import Sandbox
from crmbench.core.task import Clarification, GoldCall, GoldTurn, Turn
from crmbench.core.trace import CallRecord

Say = str | Callable[[GoldTurn, Sequence[CallRecord]], str]
"""What the user says, or what makes it of the gold and of what its calls gave."""


class TaskBuilder:
    """Writes the turns of a task while its gold calls are made in a sandbox.

    Args:
        sandbox: Of the task's world; it must have the task's id as its seed.
        names: The names of the world's records, by id: what expected replies call them.
        reasons: For rules of the policy why they forbid something, as expected replies say it.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        names: Mapping[str, str] | None = None,
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        self._names = names or {}
        self._reasons = reasons or {}
        self.recorder = GoldRecorder(sandbox)
        self.turns: list[Turn] = []
        self.gold: list[GoldTurn] = []
        self.tags: set[str] = set()
        self.rules: set[str] = set()
        """Ids of the policy's rules that some turn is about."""

    @property
    def made(self) -> list[tuple[CallRecord, ...]]:
        """The gold calls of each turn, with what they gave."""
        return self.recorder.records

    def turn(
        self,
        said: Say,
        *,
        calls: Sequence[GoldCall] = (),
        facts: Sequence[Fact] = (),
        note_facts: Sequence[Fact] = (),
        forbidden: Sequence[Fact] = (),
        rules: Sequence[str] = (),
        tags: Sequence[str] = (),
        answer: Clarification | None = None,
    ) -> dict[str, Any]:
        """The user asks for something that is done or answered.

        Args:
            said: The user's words.
            calls: The gold path; the last one is what the turn is about.
            facts: What the reply must tell.
            note_facts: What a note that is written must hold.
            forbidden: What the reply must not tell.
            rules: Ids of the policy's rules that it is about.
            tags: What makes it hard.
            answer: What the user says when the agent asks; `said` then lacks that detail.

        Returns:
            What the last call gave: a record, or the first of a search; empty without calls.

        Raises:
            HarnessError: The CRM refuses a call.
        """
        gold = GoldTurn(
            calls=tuple(calls),
            facts=tuple(facts),
            note_facts=tuple(note_facts),
            forbidden=tuple(forbidden),
            rules=tuple(rules),
            derivations=derivations(calls),
        )
        made = self._write(said, gold, tags, answer)
        return _first(made[-1].result) if made else {}

    def rejected(
        self,
        said: Say,
        *,
        calls: Sequence[GoldCall],
        error: str,
        category: str,
        reasons: Sequence[str] = (),
        tags: Sequence[str] = (),
        facts: Sequence[Fact] = (),
    ) -> None:
        """The user asks for something that the CRM refuses; the last call is the one that fails.

        Args:
            said: The user's words.
            calls: The gold path.
            error: Part of the CRM's error.
            category: Arc's failure_category, such as "validation" or "business_rule".
            reasons: Words of which the reply must give one.
            tags: What makes it hard.
            facts: What the reply must tell.

        Raises:
            HarnessError: The CRM does not refuse it, or refuses another call.
        """
        gold = GoldTurn(
            calls=tuple(calls),
            expect_success=False,
            error_substring=error,
            failure_category=category,
            facts=tuple(facts),
            refusal_reasons=tuple(reasons),
            derivations=derivations(calls),
        )
        self._write(said, gold, (*tags, "api_refusal"), None, error)

    def refused(
        self,
        said: Say,
        *,
        calls: Sequence[GoldCall] = (),
        rules: Sequence[str],
        reasons: Sequence[str] = (),
        tags: Sequence[str] = (),
        facts: Sequence[Fact] = (),
        forbidden: Sequence[Fact] = (),
    ) -> None:
        """The user asks for something that a rule of the policy forbids; the gold only reads.

        Args:
            said: The user's words.
            calls: Look-ups that show that the rule applies.
            rules: Ids of the policy's rules.
            reasons: Words of which the reply must give one.
            tags: What makes it hard.
            facts: What the reply must tell.
            forbidden: What the reply must not tell.

        Raises:
            HarnessError: The CRM refuses a look-up.
        """
        gold = GoldTurn(
            calls=tuple(calls),
            expect_success=False,
            failure_category="policy",
            facts=tuple(facts),
            forbidden=tuple(forbidden),
            refusal_reasons=tuple(reasons),
            rules=tuple(rules),
        )
        self._write(said, gold, (*tags, "policy_refusal"), None)

    def _write(
        self,
        said: Say,
        gold: GoldTurn,
        tags: Sequence[str],
        answer: Clarification | None,
        error: str | None = None,
    ) -> tuple[CallRecord, ...]:
        made = self.recorder.play(gold.calls, error)
        gold = replace(gold, calls=self.recorder.turns[-1])
        response = expected_response(gold, made, self._names, self._reasons)
        gold = replace(gold, response=response)
        utterance = said if isinstance(said, str) else said(gold, made)
        self.turns.append(Turn(len(self.turns) + 1, utterance, answer))
        self.gold.append(gold)
        self.tags |= set(tags)
        if gold.derivations:
            self.tags.add("computed_value")
        if answer:
            self.tags.add("missing_detail")
        self.rules |= set(gold.rules)
        return made


def _first(result: Any) -> dict[str, Any]:
    if isinstance(result, Mapping) and isinstance(result.get("records"), list):
        return dict(result["records"][0]) if result["records"] else {}
    return dict(result) if isinstance(result, Mapping) else {}
