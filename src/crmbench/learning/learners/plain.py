"""Learners that need no model: nothing, everything, and a placebo."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from crmbench.errors import InputError
from crmbench.learning.protocol import Experience, LearnerContext, RecallView
from crmbench.learning.tokens import CHARACTERS, tokens_in


class NoMemory:
    """Recalls nothing: the arm that every other is held to."""

    def reset(self, seed: int) -> None:
        del seed

    async def recall(self, view: RecallView, budget: int) -> str:
        del view, budget
        return ""

    async def observe(self, experience: Experience) -> None:
        del experience

    def snapshot(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        del state

    def freeze(self) -> None:
        return None


class FullHistory:
    """The full history in context: earlier conversations word for word, the latest first in mind.

    Where they are more than the budget holds, the oldest are left out.
    """

    def __init__(self) -> None:
        self._episodes: list[str] = []
        self._frozen = False

    def reset(self, seed: int) -> None:
        del seed
        self._episodes, self._frozen = [], False

    async def recall(self, view: RecallView, budget: int) -> str:
        del view
        kept: list[str] = []
        for text in reversed(self._episodes):
            longer = [text, *kept]
            if tokens_in("\n\n".join(longer)) > budget:
                break
            kept = longer
        return "\n\n".join(kept)

    async def observe(self, experience: Experience) -> None:
        if not self._frozen:
            # A blank line parts episodes, and nothing else.
            self._episodes.append(experience.transcript().replace("\n\n", "\n"))

    def snapshot(self) -> dict[str, Any]:
        return {"episodes": list(self._episodes)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._episodes, self._frozen = list(state["episodes"]), False

    def freeze(self) -> None:
        self._frozen = True


_SUBJECTS = (
    "The river",
    "A heron",
    "The old mill",
    "A bee",
    "The orchard",
    "The north wind",
    "Moss",
)
_DEEDS = ("rests by", "passes over", "leans on", "outlasts", "turns towards", "is older than")
_PLACES = ("the lower meadow", "a stone wall", "the chestnut tree", "a quiet pond", "the far hills")


class Placebo:
    """A memory of equal length whose content is of no use: sentences about the countryside.

    More words in a prompt change what a model does, whatever they say; what a learner gains over
    this arm it has not gained by length.

    Args:
        context: ``placebo:400`` always has 400 tokens; else each recall is as long as the paired
            learner's in the same step.

    Raises:
        InputError: The argument is no number.
    """

    def __init__(self, context: LearnerContext) -> None:
        self._lengths = context.lengths
        self._size = None
        if context.argument.isdigit():
            self._size = int(context.argument)
        elif self._lengths is None:
            raise InputError(
                "a placebo needs a length",
                field="--learner",
                expected="placebo:TOKENS, or a learner before it that it is paired with",
            )
        self._seed = self._step = 0

    def reset(self, seed: int) -> None:
        self._seed, self._step = seed, 0

    async def recall(self, view: RecallView, budget: int) -> str:
        del view
        size = self._size
        if size is None:
            size = self._lengths(self._step) if self._lengths else 0
        self._step += 1
        return _sentences(random.Random(f"{self._seed}/{self._step}"), min(size, budget))

    async def observe(self, experience: Experience) -> None:
        del experience

    def snapshot(self) -> dict[str, Any]:
        return {"step": self._step}

    def restore(self, state: Mapping[str, Any]) -> None:
        # A probe's recalls count too, though what it learnt is taken back.
        self._step = max(self._step, int(state["step"]))

    def freeze(self) -> None:
        return None


def _sentences(rng: random.Random, size: int) -> str:
    """So many tokens of sentences; the last one ends in a full stop."""
    wanted = size * CHARACTERS
    text = ""
    while len(text) < wanted:
        text += f"{rng.choice(_SUBJECTS)} {rng.choice(_DEEDS)} {rng.choice(_PLACES)}. "
    return text[: max(wanted - 1, 0)].rstrip().ljust(max(wanted - 1, 0), ".") + "." if size else ""
