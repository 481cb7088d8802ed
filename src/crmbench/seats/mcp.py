"""A seat over MCP: its tools, and the user's turns as two tools more.

``next_message`` gives what the user says, with the house rules before the first message;
``reply`` answers and gives what they say next. So an MCP client plays whole conversations. One
server speaks both eras of the protocol, over stdio and over streamable HTTP.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import orjson
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from crmbench.seats.errors import Refused, Unsupported
from crmbench.seats.http import FindSeat, refused_response
from crmbench.seats.seat import Heard, Offered, Seat

NEXT_MESSAGE, REPLY = "next_message", "reply"
TALKING = (
    Offered(
        NEXT_MESSAGE,
        "What the user says now. The first message comes with the house rules and today's date. "
        "Call this to begin.",
        {"type": "object", "properties": {}, "additionalProperties": False},
        writes=False,
    ),
    Offered(
        REPLY,
        "Answer the user once you have done what they asked, and get what they say next. The "
        "conversation has ended when `over` is true.",
        {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "What you say to the user."}},
            "required": ["text"],
            "additionalProperties": False,
        },
        writes=True,
        adds_only=True,
    ),
)
INSTRUCTIONS = (
    "A CRM with its tools. Where the tools next_message and reply are offered, a user is waiting: "
    "call next_message, do what they ask with the other tools, answer with reply, and go on until "
    "`over` is true. What you write elsewhere does not reach the user."
)
BROKEN_OFF = (
    "The session broke here. Go on as somebody who remembers nothing of what was said and done "
    "before: what you have is the CRM and notebook_read."
)

Context = ServerRequestContext[Any, Request]
SeatOf = Callable[[Request | None], Awaitable[Seat]]


class McpInterface:
    """MCP before seats.

    Args:
        find: The seat that a request is for; the request is None under stdio.
        max_body: Bytes of a request's body at most.
    """

    def __init__(self, find: SeatOf, max_body: int = 4 * 2**20) -> None:
        self._find = find
        self._max_body = max_body
        self.server: Server[Any] = Server(
            "crmbench",
            version=version("crmbench"),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            # No argument of ours is mirrored into a header, so there is nothing to validate.
            get_tool_input_schema=lambda _name: None,
        )

    async def _list_tools(
        self, context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        seat = await self._find(context.request)
        return types.ListToolsResult(tools=self._tools(seat))

    def _tools(self, seat: Seat) -> list[types.Tool]:
        return [as_mcp(each) for each in (*(TALKING if seat.conversational else ()), *seat.offered)]

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            seat = await self._find(context.request)
            return await call_tool(seat, params.name, params.arguments or {})
        except Refused as refused:
            return _result(f"{refused.code}: {refused.message}", ok=False)

    @asynccontextmanager
    async def over_http(self) -> AsyncIterator[StreamableHTTPSessionManager]:
        """What serves requests over HTTP while the context is open; once for each context."""
        # Stateless: what a client is in the middle of is the seat's matter, and found by token.
        manager = StreamableHTTPSessionManager(
            self.server,
            json_response=True,
            stateless=True,
            max_request_body_size=self._max_body,
        )
        async with manager.run():
            yield manager


class McpEndpoint:
    """An ASGI application for a route of MCP; says who may not come in before MCP is spoken.

    Args:
        find: The seat that a request is for.
        manager: Gives what serves, once it is there.
    """

    def __init__(
        self, find: FindSeat, manager: Callable[[], StreamableHTTPSessionManager | None]
    ) -> None:
        self._find = find
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = self._manager()
        try:
            if scope["method"] != "POST":
                # A GET would open a stream for messages of the server's own, of which it has none.
                raise Unsupported(f"{scope['method']} is not taken here; MCP is spoken by POST.")
            await self._find(Request(scope))
        except Refused as refused:
            await refused_response(refused)(scope, receive, send)
            return
        if manager is None:
            raise RuntimeError("the application's lifespan has not begun")
        await manager.handle_request(scope, receive, send)


async def call_tool(seat: Seat, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Run a tool of a seat, or one of the two that talk to the user.

    Raises:
        Refused: The seat does not take it now.
    """
    if seat.conversational and name == NEXT_MESSAGE:
        return _heard(await seat.next_message(), seat)
    if seat.conversational and name == REPLY:
        return _heard(await seat.reply(arguments.get("text")), seat)
    result = await seat.call(name, arguments)
    text = orjson.dumps(result.value).decode() if result.ok else str(result.value)
    return _result(text, ok=result.ok)


def as_mcp(offered: Offered) -> types.Tool:
    """A tool as MCP describes it. Our orgs are closed worlds, so no tool reaches out of them."""
    return types.Tool(
        name=offered.name,
        description=offered.description,
        input_schema=offered.parameters,
        annotations=types.ToolAnnotations(
            read_only_hint=not offered.writes,
            destructive_hint=offered.writes and not offered.adds_only,
            idempotent_hint=not offered.writes,
            open_world_hint=False,
        ),
    )


def _heard(heard: Heard, seat: Seat) -> types.CallToolResult:
    data: dict[str, Any] = {"message": heard.message, "over": heard.over}
    if heard.turn == 1 and not heard.over:
        view = seat.view
        data = {"today": view.today, "house_rules": view.policy, "user": view.persona, **data}
    if heard.forgotten:
        data = {"notice": BROKEN_OFF, **data}
    return _result(orjson.dumps(data).decode(), ok=True)


def _result(text: str, *, ok: bool) -> types.CallToolResult:
    # Text alone: with structured content beside it, agents would read everything twice.
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=not ok)
