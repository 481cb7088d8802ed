"""A conversation that a server holds, for the commands of ``crmbench play``.

``--dir`` (or CRMBENCH_PLAY) is then the address of the session, as a server or a run gave it, and
CRMBENCH_PLAY_TOKEN its token where the address holds none.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import orjson

from crmbench.core.episode import ToolResult
from crmbench.errors import InfrastructureError, InputError

TOKEN = "CRMBENCH_PLAY_TOKEN"
TIMEOUT_S = 120.0


class RemotePlay:
    """What `crmbench.runner.play.Play` is for a directory.

    Args:
        address: Of the session.

    Raises:
        InputError: There is no such session, or the token does not open it.
        InfrastructureError: The server cannot be reached.
    """

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        self.over = False
        self.calls = self.forgotten = 0
        self.heard: list[str] = []
        self.said: list[str] = []
        self._look()

    def __enter__(self) -> RemotePlay:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """Name, description and argument schema of each tool."""
        return tuple(self._ask("tools")["tools"])

    calls_left = budget_left = None
    """The server does not tell."""

    ending = ""
    """The server grades."""

    def call(self, tool: str, arguments: Any) -> ToolResult:
        """Run a tool."""
        answer = self._ask("call", {"tool": tool, "arguments": arguments})
        self.calls += 1
        return ToolResult(answer["ok"], answer["value"])

    def reply(self, text: str) -> str | None:
        """Hand the turn back; gives the user's next words, None at the end.

        Raises:
            InputError: The reply is empty, or the conversation is over.
        """
        heard = self._ask("reply", {"text": text})
        # A user whose words a model writes may take longer than one request waits.
        while heard["message"] is None and not heard["over"]:
            heard = self._ask("message")
        self._look()
        return None if heard["over"] else str(heard["message"])

    def _look(self) -> None:
        status = self._ask("status")
        self.over, self.calls = status["over"], status["calls"]
        self.heard, self.said = status["user"], status["agent"]
        self.forgotten = status["forgotten"]

    def _ask(self, what: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else orjson.dumps(body)
        headers = {"Content-Type": "application/json"}
        token = os.environ.get(TOKEN)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = Request(f"{self._address}/{what}", data, headers)
        try:
            with urlopen(request, timeout=TIMEOUT_S) as answer:
                return orjson.loads(answer.read())
        except HTTPError as error:
            raise InputError(_complaint(error.read()), file=self._address) from error
        except (URLError, TimeoutError, orjson.JSONDecodeError) as error:
            raise InfrastructureError(f"{self._address} cannot be reached: {error}") from error


def _complaint(body: bytes) -> str:
    try:
        return str(orjson.loads(body)["error"]["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return "the server did not take the request"
