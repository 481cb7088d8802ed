"""A local address that speaks chat completions and asks one of our models.

The library reaches its teacher through litellm and counts its tokens for nobody. Through this relay
any model that crmbench opens can teach, and what it takes is counted by role.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from aiohttp import web

from crmbench.errors import InfrastructureError
from crmbench.learning.asker import Asker
from crmbench.models.base import Message, Reply, system, user

MODEL = "relayed"
"""What the library is told that the model is called."""


class Relay:
    """Answers ``/ROLE/v1/chat/completions``; one for each learner.

    Args:
        ask: Asks the model and counts.
    """

    def __init__(self, ask: Asker) -> None:
        self._ask = ask
        self._runner: web.AppRunner | None = None
        self._base = ""
        self.error: Exception | None = None
        """Why the last request was not answered, which the library would tell as a text."""

    async def url(self, role: str) -> str:
        """The address for a role; listens from the first time on."""
        if self._runner is None:
            app = web.Application(client_max_size=2**28)
            app.router.add_post("/{role}/v1/chat/completions", self._answer)
            self._runner = web.AppRunner(app, access_log=None)
            await self._runner.setup()
            await web.TCPSite(self._runner, "127.0.0.1", 0).start()
            host, port = self._runner.addresses[0][:2]
            self._base = f"http://{host}:{port}"
        return f"{self._base}/{role}/v1"

    async def close(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()
        self._runner = None

    async def _answer(self, request: web.Request) -> web.Response:
        asked = orjson.loads(await request.read())
        try:
            messages = messages_of(asked["messages"])
            reply = await self._ask.complete(request.match_info["role"], messages)
        except InfrastructureError as error:
            self.error = error
            # No status that litellm would try again after: our own retries are used up.
            failure = {"error": {"message": str(error), "type": "invalid_request_error"}}
            return web.Response(body=orjson.dumps(failure), status=400)
        body = orjson.dumps(completion(reply, wants_json="response_format" in asked))
        return web.Response(body=body, content_type="application/json")


def messages_of(given: Sequence[Mapping[str, Any]]) -> list[Message]:
    """Messages of the wire as ours: instructions joined first, the rest as it comes."""
    texts = [(str(each.get("role")), _text(each.get("content"))) for each in given]
    instructions = "\n\n".join(text for role, text in texts if role == "system")
    said = [
        Message("assistant", text) if role == "assistant" else user(text)
        for role, text in texts
        if role != "system"
    ]
    return [system(instructions), *said] if instructions else said


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def completion(reply: Reply, *, wants_json: bool) -> dict[str, Any]:
    """A reply in the wire format."""
    text = json_object_in(reply.text) if wants_json else reply.text
    prompt, written = reply.usage.prompt or 0, reply.usage.completion or 0
    return {
        "id": "relayed",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": written,
            "total_tokens": prompt + written,
        },
    }


def json_object_in(text: str) -> str:
    """The JSON object in a text that wraps it in a fence or in words; else the text as it is."""
    start, end = text.find("{"), text.rfind("}")
    part = text[start : end + 1]
    try:
        found = orjson.loads(part)
    except orjson.JSONDecodeError:
        return text
    return part if isinstance(found, dict) else text
