"""Agents behind an HTTP endpoint: ``--agent http://host:port/path``.

For each turn we POST to the agent::

    {"session": "…", "call_url": "http://127.0.0.1:PORT/call/SESSION", "turn": 1,
     "view": {"domain", "today", "policy", "tools", "persona"}, "utterance": "…"}

``view`` comes with the first turn only. The agent runs tools by POSTing to ``call_url``::

    {"name": "client_search", "arguments": {"name": "Acme"}}

and gets ``{"ok": true, "value": …}`` or ``{"ok": false, "value": "the error"}``. It answers our
request with ``{"reply": "…"}``, and may add ``"usage": {"prompt_tokens": …, …}``.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import orjson

from crmbench.agents.protocol import Agent, Session
from crmbench.core.task import TaskView
from crmbench.core.trace import TokenUsage
from crmbench.errors import AgentError, InfrastructureError

if TYPE_CHECKING:
    from aiohttp import ClientSession, web

TURN_SECONDS = 600


class HttpAgentFactory:
    """Talks to one endpoint, and serves the tools to it. Implements `AgentFactory`."""

    def __init__(self, url: str) -> None:
        self.name = url
        self._url = url
        self._started = 0
        self._open: dict[str, Session] = {}
        self._client: ClientSession | None = None
        self._runner: web.AppRunner | None = None
        self._base = ""
        self._starting = asyncio.Lock()

    def start(self, task: TaskView, seed: int) -> Agent:
        del seed
        self._started += 1
        return HttpAgent(self, f"s{self._started}", task)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
        if self._runner is not None:
            await self._runner.cleanup()
        self._client = self._runner = None

    async def send(self, session: Session, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """Hand a turn to the endpoint and serve its tool calls until it answers.

        Raises:
            InfrastructureError: The endpoint cannot be reached or fails.
            AgentError: Its answer is not of the agreed form.
        """
        import aiohttp

        client = await self._ready()
        self._open[name] = session
        body["call_url"] = f"{self._base}/call/{name}"
        try:
            async with client.post(self._url, data=orjson.dumps(body)) as response:
                text = await response.read()
                if response.status >= 500:
                    raise InfrastructureError(f"{self._url} answered {response.status}")
                if response.status != 200:
                    raise AgentError(f"{self._url} answered {response.status}: {text[:200]!r}")
        except (aiohttp.ClientError, TimeoutError) as error:
            raise InfrastructureError(f"{self._url} cannot be reached: {error}") from error
        finally:
            del self._open[name]
        return _object(text)

    async def _ready(self) -> ClientSession:
        """The client, and behind it the server that runs tools; both start with the first turn."""
        async with self._starting:
            if self._client is None:
                self._client = await self._start_up()
        return self._client

    async def _start_up(self) -> ClientSession:
        import aiohttp
        from aiohttp import web

        app = web.Application(client_max_size=16 * 2**20)
        app.router.add_post("/call/{session}", self._call)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self._base = f"http://{host}:{port}"
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=TURN_SECONDS),
            headers={"Content-Type": "application/json"},
        )

    async def _call(self, request: web.Request) -> web.Response:
        session = self._open.get(request.match_info["session"])
        if session is None:
            return _answer({"ok": False, "value": "This session is not in a turn."}, 409)
        try:
            asked = orjson.loads(await request.read())
            name, arguments = asked["name"], asked.get("arguments", {})
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            expected = 'Send {"name": "…", "arguments": {…}}.'
            return _answer({"ok": False, "value": expected}, 400)
        result = await session.call(name, arguments)
        return _answer({"ok": result.ok, "value": result.value}, 200)


def _answer(data: dict[str, Any], status: int) -> web.Response:
    from aiohttp import web

    return web.Response(body=orjson.dumps(data), status=status, content_type="application/json")


def _object(text: bytes) -> dict[str, Any]:
    try:
        answer = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise AgentError(f"the agent's answer is not JSON: {text[:200]!r}") from error
    if not isinstance(answer, dict) or not isinstance(answer.get("reply"), str):
        raise AgentError(f"the agent's answer has no text under 'reply': {text[:200]!r}")
    return answer


class HttpAgent:
    """One conversation with the endpoint."""

    def __init__(self, factory: HttpAgentFactory, name: str, view: TaskView) -> None:
        self._factory = factory
        self._name = name
        self._view = view
        self._turns = 0

    async def turn(self, session: Session, utterance: str) -> str:
        self._turns += 1
        body: dict[str, Any] = {
            "session": self._name,
            "turn": self._turns,
            "utterance": utterance,
        }
        if self._turns == 1:
            body["view"] = asdict(self._view)
        answer = await self._factory.send(session, self._name, body)
        session.spend(_usage(answer.get("usage")))
        reply: str = answer["reply"]
        return reply


def _usage(data: Any) -> TokenUsage:
    counts = {}
    for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"):
        value = data.get(name) if isinstance(data, dict) else None
        counts[name] = value if isinstance(value, int) and value >= 0 else 0
    return TokenUsage(**counts)
