"""One turn: what was heard, what the conversation has been about, and how to write."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from crmbench.agents.baselines.heuristic.find import RecordFinder, RecordFocus
from crmbench.agents.baselines.heuristic.org import OrgReader, Record
from crmbench.agents.baselines.heuristic.parse import ParsedUtterance
from crmbench.agents.protocol import Session


class RefusedError(Exception):
    """The CRM or a house rule does not allow it; the text is the reason."""


@dataclass(frozen=True)
class FieldChange:
    """A record that was changed, with the fields as they were."""

    kind: str
    key: str
    before: Record
    turn: int


@dataclass
class Conversation:
    """What is kept from turn to turn."""

    speaker: str = ""
    manager: bool = False
    chances: dict[str, int] = field(default_factory=dict)
    """The probability of each stage, as the policy's text gives it."""
    focus: RecordFocus = field(default_factory=RecordFocus)
    changes: list[FieldChange] = field(default_factory=list)
    asked: str = ""
    """What was said when the agent had to ask back; the answer belongs to it."""
    turns: int = 0


_CHANCE = re.compile(
    r"\b(Prospecting|Qualification|Proposal|Negotiation|Closed-Won|Closed-Lost)\s+(\d{1,2})\b"
)


def begin(session: Session) -> Conversation:
    """What the agent knows before the first word."""
    name, _, role = session.view.persona.partition(",")
    chances = {stage: int(chance) for stage, chance in _CHANCE.findall(session.view.policy)}
    return Conversation(name.strip(), "manager" in role.casefold(), chances)


@dataclass
class TurnContext:
    """All that a rule may use."""

    parsed: ParsedUtterance
    org: OrgReader
    conversation: Conversation
    find: RecordFinder
    today: date
    answered: bool = False
    """What is heard is a request with the answer to what was asked about it."""

    @property
    def focus(self) -> RecordFocus:
        """The records that were spoken of last."""
        return self.conversation.focus

    def says(self, pattern: str) -> bool:
        """Whether a pattern is in what was said."""
        return self.parsed.says(pattern)

    def write(self, tool: str, **arguments: Any) -> Record:
        """Run a tool.

        Raises:
            RefusedError: The CRM did not do it.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        result = self.org.call(tool, given)
        if not result.ok:
            raise RefusedError(str(result.value))
        return result.value if isinstance(result.value, dict) else {}

    def modify(self, kind: str, record: Record, fields: Record) -> Record:
        """FieldChange a record and keep what it was, so that it can be undone."""
        key = str(record.get(f"{kind}_id"))
        before = {name: record.get(name) for name in fields}
        after = self.write(f"modify_{kind}", **{f"{kind}_id": key}, **fields)
        self.conversation.changes.append(FieldChange(kind, key, before, self.conversation.turns))
        self.focus.set(kind, record)
        return {**record, **after}

    def note(self, kind: str, record: Record, content: str) -> None:
        """Write a note in the user's name."""
        self.write(
            "add_note",
            entity_type=kind.capitalize(),
            entity_id=record.get(f"{kind}_id"),
            content=content,
            created_by=self.conversation.speaker or None,
        )
