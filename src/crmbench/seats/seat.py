"""A seat: all that an agent may do, whoever it is and however it is reached.

What sits behind one is a graded session of a server, a sandbox org of it, or a conversation of a
run whose agent is a program of its own. What stands before one is an interface: plain HTTP
(`crmbench.seats.http`) or MCP (`crmbench.seats.mcp`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from crmbench.core.domain import Domain
from crmbench.core.episode import ToolResult
from crmbench.core.task import TaskView


@dataclass(frozen=True)
class Heard:
    """What the user says now."""

    message: str | None
    """None: nothing yet, or nothing more."""
    turn: int
    """How many messages of the user there are so far."""
    over: bool = False
    """Whether the conversation has ended."""
    forgotten: bool = False
    """Whether the session broke before this message: whoever goes on is to remember nothing of
    what was said and done before."""

    def to_data(self) -> dict[str, Any]:
        """As JSON carries it."""
        return asdict(self)


@dataclass(frozen=True)
class Offered:
    """A tool as an interface describes it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """The JSON schema of its arguments."""
    writes: bool = True
    """Whether it may change the org."""
    adds_only: bool = False
    """For a tool that writes: whether it creates records and leaves those that are there alone."""


ADDING = ("add_", "create_", "upload_", "write_")
"""How the names of tools begin that create and change nothing else: ``create_new_client``, not
``update_quote``. It decides a hint to clients, nothing else."""


def offered_tools(schemas: Iterable[dict[str, Any]], domain: Domain) -> tuple[Offered, ...]:
    """Tools with what their domain says of them.

    Args:
        schemas: Name, description and argument schema of each. One that the domain does not know,
            as where a condition renames tools, is taken to write.
    """
    known = domain.toolbox.by_name
    return tuple(
        Offered(
            each["name"],
            each["description"],
            each["parameters"],
            writes=known[each["name"]].writes if each["name"] in known else True,
            adds_only=each["name"].startswith(ADDING),
        )
        for each in schemas
    )


class Seat(Protocol):
    """What an interface offers to an agent. It leads to no ground truth and to no other seat."""

    @property
    def conversational(self) -> bool:
        """Whether there is a user to talk to; else there are only the tools."""

    @property
    def view(self) -> TaskView:
        """The date, the house rules, the tools and who the user is."""

    @property
    def offered(self) -> tuple[Offered, ...]:
        """The tools that `call` runs; those of `view` and, in some seats, further ones."""

    async def call(self, name: Any, arguments: Any) -> ToolResult:
        """Run a tool. A refused call comes back with ``ok=False`` and the error as its value.

        Raises:
            Refused: There is no turn in which it could be called, or a limit was reached.
        """

    def status(self) -> dict[str, Any]:
        """Where the conversation is: ``over``, ``calls``, what ``user`` and ``agent`` said, and how
        many of the user's messages are to be ``forgotten``, for the session broke after them."""

    async def next_message(self) -> Heard:
        """What the user says; the same until it was answered."""

    async def reply(self, text: Any) -> Heard:
        """Answer the user, and hear what they say next.

        Raises:
            Refused: It is no text, or the conversation is over.
        """
