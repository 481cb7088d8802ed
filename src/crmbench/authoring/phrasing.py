"""What was said before in a data set, so that people do not echo each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from crmbench.authoring.masking import mask

_WHOLE = 1000
"""What it costs to say the same text again: more than any phrasing is heard."""


@dataclass
class PhrasingHistory:
    """The utterances so far, as they were said and without their values."""

    texts: set[str] = field(default_factory=set)
    phrasings: Counter[str] = field(default_factory=Counter)
    cores: Counter[str] = field(default_factory=Counter)
    """How often each sentence of a phrase bank was chosen, for domains that have one."""

    def note(self, text: str) -> None:
        """Remember that a text was said."""
        self.texts.add(text)
        self.phrasings[mask(text)] += 1

    def least_heard(self, draw: Callable[[], str], tries: int) -> str:
        """Of some texts the one that was heard least, which is noted; the first that is new.

        Args:
            draw: Makes a text, another one each time.
            tries: How many are made at the most.
        """
        best, fewest = "", -1
        for _ in range(tries):
            text = draw()
            heard = self.phrasings[mask(text)] + _WHOLE * (text in self.texts)
            if fewest < 0 or heard < fewest:
                best, fewest = text, heard
            if heard == 0:
                break
        self.note(best)
        return best
