"""A person in the agent's place: one graded session, and what has happened in it so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from crmbench.core.trace import CallRecord
from crmbench.report.views.episode import CallView, call_view
from crmbench.seats.errors import NotFound
from crmbench.serve.graded import GradedSession

MAX_SHOWN = 20_000
"""Characters of a result that the player's page shows: a person must be able to read it."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was said or done: a message, or a call."""

    who: str
    """``user``, ``agent`` or ``call``."""
    text: str = ""
    call: CallView | None = None


@dataclass
class PersonSeat:
    """One task that a person plays.

    Args:
        session: The graded session.
        token: What its address holds.
    """

    session: GradedSession
    token: str
    events: list[Event] = field(default_factory=list)
    draft: str = ""
    """What was begun as a reply and could not be sent."""

    def __post_init__(self) -> None:
        heard = self.session.status()["user"]
        self.events.extend(Event("user", text) for text in heard)
        self.schemas: Mapping[str, Mapping[str, Any]] = {
            tool["name"]: tool for tool in self.session.view.tools
        }

    @property
    def over(self) -> bool:
        """Whether the conversation has ended."""
        return self.session.over

    @property
    def org_url(self) -> str:
        """Where the org of the session is looked into."""
        return f"/explore/{quote(self.session.name)}"

    @property
    def writing(self) -> set[str]:
        """The tools that write; of one that is not known it is taken so."""
        reading = {offered.name for offered in self.session.offered if not offered.writes}
        return set(self.schemas) - reading

    @property
    def turn(self) -> int:
        """Messages of the user so far."""
        return sum(event.who == "user" for event in self.events)

    def tool(self, name: str) -> Mapping[str, Any]:
        """A tool by its name.

        Raises:
            NotFound: There is none.
        """
        if name not in self.schemas:
            raise NotFound(f"There is no tool '{name[:80]}'.")
        return self.schemas[name]

    async def call(self, name: str, arguments: dict[str, Any]) -> None:
        """Run a tool.

        Raises:
            Refused: The conversation is over, or no more calls are allowed.
        """
        result = await self.session.call(name, arguments)
        record = CallRecord(
            name,
            arguments,
            result.ok,
            result.value if result.ok else None,
            None if result.ok else str(result.value),
        )
        number = 1 + sum(event.call is not None for event in self.events)
        self.events.append(Event("call", call=call_view(record, number, MAX_SHOWN)))

    async def reply(self, text: str) -> None:
        """Answer the user, and hear what they say next.

        Raises:
            Refused: The reply is empty, or the conversation is over.
        """
        heard = await self.session.reply(text)
        self.events.append(Event("agent", text))
        if heard.message is not None:
            self.events.append(Event("user", heard.message))
