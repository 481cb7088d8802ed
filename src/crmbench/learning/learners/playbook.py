"""A playbook: short rules with counters, kept up to date by reflecting on each episode.

After "Agentic Context Engineering" (Zhang et al., 2025): the model proposes changes to single
rules, which code applies; it is never written anew as a whole, which would wear it down.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from crmbench.errors import InputError
from crmbench.learning.protocol import Experience, LearnerContext, RecallView
from crmbench.learning.tokens import fill

SAME = 0.9
"""Share of common words from which on two rules say the same."""
_WORD = re.compile(r"\w+")
"""``client_search`` is one word: rules on two tools are two rules."""
MOST_RULES = 200
LONGEST = 600
"""Characters of a rule."""
MISLED = 2
"""A rule goes once it misled so many times more often than it helped."""


@dataclass
class Rule:
    """A rule of the playbook."""

    id: str
    text: str
    helpful: int = 0
    harmful: int = 0

    @property
    def worth(self) -> int:
        """How much more often it helped than misled."""
        return self.helpful - self.harmful

    def line(self) -> str:
        """As the agent and the model that reflects read it."""
        return f"[{self.id}] {self.text}"


class _Edit(msgspec.Struct):
    id: str
    text: str


class PlaybookDelta(msgspec.Struct):
    """What the model proposes; what it leaves out is empty."""

    helpful: list[str] = msgspec.field(default_factory=list)
    harmful: list[str] = msgspec.field(default_factory=list)
    edit: list[_Edit] = msgspec.field(default_factory=list)
    remove: list[str] = msgspec.field(default_factory=list)
    add: list[str] = msgspec.field(default_factory=list)


class Playbook:
    """Recalls its rules, the most useful first; reflects on each episode with one model call.

    Raises:
        InputError: No model is named to reflect with.
    """

    def __init__(self, context: LearnerContext) -> None:
        if context.ask is None:
            raise InputError(
                "the learner 'playbook' reflects with a model",
                field="--learner-model",
                expected="a model, or --model",
            )
        self._ask = context.ask
        self._instructions = context.prompts.text("playbook")
        self.reset(0)

    def reset(self, seed: int) -> None:
        del seed
        self.rules: list[Rule] = []
        self._next = 1
        self.unread = 0
        """Answers of the model that were no JSON of the form asked for."""
        self._frozen = False

    async def recall(self, view: RecallView, budget: int) -> str:
        del view
        ordered = sorted(self.rules, key=lambda rule: -rule.worth)
        return fill([rule.line() for rule in ordered], budget)

    async def observe(self, experience: Experience) -> None:
        if self._frozen:
            return
        held = "\n".join(
            f"{rule.line()} (helped {rule.helpful}, misled {rule.harmful})" for rule in self.rules
        )
        shown = experience.recalled or "(nothing)"
        text = (
            f"The playbook:\n{held or '(empty)'}\n\nThe assistant was shown:\n{shown}\n\n"
            f"The conversation:\n{experience.transcript()}"
        )
        delta = read_delta(await self._ask.ask("reflection", self._instructions, text))
        if delta is None:
            self.unread += 1
        else:
            self.apply(delta)

    def apply(self, delta: PlaybookDelta) -> None:
        """Change single rules; what names no rule changes nothing."""
        for name in delta.helpful:
            self._count(name, helpful=1)
        for name in delta.harmful:
            self._count(name, harmful=1)
        for edit in delta.edit:
            rule = self._rule(edit.id)
            if rule is not None and (text := _tidy(edit.text)):
                rule.text = text
        self.rules = [r for r in self.rules if r.id not in delta.remove and r.worth > -MISLED]
        for added in delta.add:
            self._add(_tidy(added))
        if len(self.rules) > MOST_RULES:
            keep = sorted(self.rules, key=lambda rule: -rule.worth)[:MOST_RULES]
            self.rules = [rule for rule in self.rules if rule in keep]

    def _add(self, text: str) -> None:
        if not text:
            return
        twin = next((rule for rule in self.rules if similarity(rule.text, text) >= SAME), None)
        if twin is not None:
            # Learnt a second time: that speaks for the rule.
            twin.helpful += 1
            return
        self.rules.append(Rule(f"r{self._next}", text))
        self._next += 1

    def _count(self, name: str, helpful: int = 0, harmful: int = 0) -> None:
        rule = self._rule(name)
        if rule is not None:
            rule.helpful += helpful
            rule.harmful += harmful

    def _rule(self, name: str) -> Rule | None:
        return next((rule for rule in self.rules if rule.id == name.strip("[] ")), None)

    def snapshot(self) -> dict[str, Any]:
        rules = [asdict(rule) for rule in self.rules]
        return {"rules": rules, "next": self._next, "unread": self.unread}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.rules = [Rule(**rule) for rule in state["rules"]]
        self._next, self.unread = int(state["next"]), int(state["unread"])
        self._frozen = False

    def freeze(self) -> None:
        self._frozen = True


def read_delta(answer: str) -> PlaybookDelta | None:
    """The changes in a model's answer, text around the JSON left out; None if there are none."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        return msgspec.json.decode(answer[start : end + 1], type=PlaybookDelta)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def similarity(one: str, other: str) -> float:
    """Share of the words of two texts that both have (Jaccard), 0 to 1."""
    first, second = (set(_WORD.findall(text.lower())) for text in (one, other))
    return len(first & second) / len(first | second) if first | second else 0.0


def _tidy(text: str) -> str:
    return " ".join(text.split())[:LONGEST]
