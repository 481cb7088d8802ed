"""How much of what decides a task its agent had before it.

A wrong item has one of two causes: something was not found, or was in view and misread. Which one
is told by the rules that stand in texts, an article of a handbook or a memo: whether a call opened
it, or at least listed it.

A domain whose rules stand in texts has an attribute ``rule_texts``, a `RuleTexts`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from crmbench.core.domain import Domain
from crmbench.core.task import GoldItem
from crmbench.core.trace import CallRecord, EpisodeTrace
from crmbench.language.counts import counted


class Seen(StrEnum):
    """How far an agent came to a text."""

    OPENED = "opened"
    LISTED = "listed"
    """Some call named it in what it gave back; none opened it."""
    NEVER = "never"
    """No call listed it."""


class TextsSeen(NamedTuple):
    """Texts that decide something, counted by how far an agent came to them."""

    opened: int
    listed: int
    never: int

    def described(self) -> str:
        """As "of 8 texts that decide 5 were opened, 2 listed and not opened, 1 never found"."""
        were = "was" if self.opened == 1 else "were"
        return (
            f"of {counted(sum(self), 'text')} that decide {self.opened} {were} opened, "
            f"{self.listed} listed and not opened, {self.never} never found"
        )


@dataclass(frozen=True)
class RuleTexts:
    """Where the rules of a domain stand that have to be found."""

    opens: str
    """The tool that gives a whole text."""
    field: str
    """Of its result, and of what lists texts: the field that begins with the rule's name."""
    name: re.Pattern[str]
    """A rule's name, as items have it."""


def _seen(texts: RuleTexts, trace: EpisodeTrace) -> dict[str, Seen]:
    """Each text that the agent came to, and how far."""
    found: dict[str, Seen] = {}
    for turn in trace.turns:
        for call in turn.calls:
            state = Seen.OPENED if call.tool == texts.opens else Seen.LISTED
            for name in _named(texts, call):
                if found.get(name) is not Seen.OPENED:
                    found[name] = state
    return found


def deciding(texts: RuleTexts, item: GoldItem) -> tuple[str, ...]:
    """The rules in texts without one of which alone the item would be another, in order."""
    alone = {each.without[0] for each in item.alternatives if len(each.without) == 1}
    return tuple(sorted(name for name in alone if texts.name.fullmatch(name)))


def evidence(
    domain: Domain, items: Sequence[GoldItem], trace: EpisodeTrace
) -> list[dict[str, Seen]]:
    """For each item the texts that decide it, and how far the agent came to them.

    All empty where the domain's rules stand in no texts.
    """
    texts: RuleTexts | None = getattr(domain, "rule_texts", None)
    if texts is None:
        return [{} for _ in items]
    seen = _seen(texts, trace)
    return [{name: seen.get(name, Seen.NEVER) for name in deciding(texts, item)} for item in items]


def texts_seen(items: Iterable[Mapping[str, Seen]]) -> TextsSeen:
    """The texts that decide any of the items, each counted once.

    Args:
        items: What `evidence` gives for each.
    """
    known = {name: seen for item in items for name, seen in item.items()}
    counts = Counter(known.values())
    return TextsSeen(*(counts[seen] for seen in Seen))


def _named(texts: RuleTexts, call: CallRecord) -> Iterator[str]:
    """The names of the texts that a call gave back."""
    for row in _rows(call.result) if call.ok else ():
        name = texts.name.match(str(row.get(texts.field) or ""))
        if name:
            yield name[0]


def _rows(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every record in a result, at whatever depth."""
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from _rows(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _rows(inner)
