"""Few-shot retrieval: the most similar earlier conversations that went well, as examples."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from crmbench.errors import InputError
from crmbench.learning.protocol import Experience, LearnerContext, RecallView
from crmbench.learning.tokens import fill

_WORD = re.compile(r"[a-z0-9]+")
K1, B = 1.2, 0.75
"""Of BM25, as its authors give them."""


def words(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return _WORD.findall(text.lower())


def bm25(query: Sequence[str], documents: Sequence[Sequence[str]]) -> list[float]:
    """How well each document fits a query, shape (documents,).

    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
    equation 3.15, with the idf that is never below zero.
    """
    count = len(documents)
    mean = sum(map(len, documents)) / count if count else 0.0
    counts = [Counter(document) for document in documents]
    scores = [0.0] * count
    for word in dict.fromkeys(query):
        holding = sum(word in each for each in counts)
        if not holding:
            continue
        idf = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
        for place, each in enumerate(counts):
            often = each[word]
            if often:
                norm = K1 * (1 - B + B * len(documents[place]) / mean)
                scores[place] += idf * often * (K1 + 1) / (often + norm)
    return scores


class Retrieval:
    """Recalls the earlier episodes that are most like the new conversation by its first words.

    Those that succeeded are kept; at the level ``none``, where nobody knows, all are.

    Args:
        context: ``retrieval:5`` recalls five at most, else three.

    Raises:
        InputError: The argument is no number.
    """

    def __init__(self, context: LearnerContext) -> None:
        if context.argument and not context.argument.isdigit():
            raise InputError("needs a number", field="--learner", expected="such as retrieval:3")
        self._most = int(context.argument or 3)
        self._kept: list[dict[str, str]] = []
        self._frozen = False

    def reset(self, seed: int) -> None:
        del seed
        self._kept, self._frozen = [], False

    async def recall(self, view: RecallView, budget: int) -> str:
        documents = [words(each["first"]) for each in self._kept]
        scores = bm25(words(view.first_words), documents)
        best = sorted((-score, place) for place, score in enumerate(scores) if score > 0)
        chosen = [self._kept[place]["text"] for _, place in best[: self._most]]
        return fill(chosen, budget, "\n\n")

    async def observe(self, experience: Experience) -> None:
        if self._frozen or experience.success is False:
            return
        text = experience.transcript()
        self._kept.append({"first": experience.view.first_words, "text": text})

    def snapshot(self) -> dict[str, Any]:
        return {"kept": list(self._kept)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._kept, self._frozen = [dict(each) for each in state["kept"]], False

    def freeze(self) -> None:
        self._frozen = True
