"""What a conversation has said so far: nobody asks for what they know already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crmbench.core.fact import Fact
from crmbench.domains.sales.phrases import Slot

_COUNTED = ("count", "number")


class Told:
    """The values that the user has given or been told.

    Args:
        speaker: Full name of the user, who knows it.
    """

    def __init__(self, speaker: str) -> None:
        self._speaker = speaker
        self._known: set[tuple[str, Any]] = set()

    def hear(self, slots: Mapping[str, Slot]) -> None:
        """Note what the user says, records that are described included."""
        for slot in slots.values():
            if slot.kind == "noun":
                self.hear(slot.slots)
            elif slot.kind in ("money", "date"):
                self._known.add((slot.kind, slot.value))
            elif slot.kind == "plain":
                self._known.add(("text", str(slot.value).casefold()))

    def tell(self, facts: Iterable[Fact]) -> None:
        """Note what the user is told."""
        for fact in facts:
            self._known.update(map(_key, fact.items() if fact.kind == "list" else (fact,)))

    def knows(self, fact: Fact) -> bool:
        """Whether the user could say it without asking: of a list, every item."""
        if fact.kind == "list":
            return all(_key(item) in self._known for item in fact.items())
        return fact.value == self._speaker or _key(fact) in self._known


def _key(fact: Fact) -> tuple[str, Any]:
    if fact.kind in _COUNTED:
        # "2" is many things: two open deals are no answer to how many quotes there are.
        return (fact.label, fact.value)
    if fact.kind in ("money", "date", "percent"):
        return (fact.kind, fact.value)
    return ("text", str(fact.value).casefold())
