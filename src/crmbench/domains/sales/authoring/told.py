"""What a conversation has said so far: nobody asks for what they know already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crmbench.core.fact import Fact
from crmbench.core.journal import Change
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
        self._reported: set[tuple[str, Any]] = set()

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

    def report(self, changes: Iterable[Change]) -> None:
        """Note what an ordinary reply tells of what was written in the last turn."""
        self._reported = set()
        for change in changes:
            before = change.before or {}
            for name, value in (change.after or {}).items():
                if value is not None and value != before.get(name):
                    self._reported.update((kind, _folded(value)) for kind in _KINDS)

    def was_reported(self, fact: Fact) -> bool:
        """Whether the reply to the last turn has told it already."""
        kind, value = _key(fact)
        return fact.kind not in _COUNTED and (kind, _folded(value)) in self._reported

    def knows(self, fact: Fact) -> bool:
        """Whether the user could say it without asking: of a list, every item."""
        if fact.kind == "list":
            return all(_key(item) in self._known for item in fact.items())
        return fact.value == self._speaker or _key(fact) in self._known


_KINDS = ("money", "date", "percent", "text")


def _folded(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value


def _key(fact: Fact) -> tuple[str, Any]:
    if fact.kind in _COUNTED:
        # "2" is many things: two open deals are no answer to how many quotes there are.
        return (fact.label, fact.value)
    if fact.kind in ("money", "date", "percent"):
        return (fact.kind, fact.value)
    return ("text", str(fact.value).casefold())
