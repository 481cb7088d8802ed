"""HTTP below the wire formats."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from crmbench.errors import HarnessError
from crmbench.models import Limits, ModelError, Reply, open_model, user
from crmbench.models.testing.server import FakeServer
from crmbench.models.transport import Endpoint, Transport, proxy_for, retry_after

DATE = "Sat, 21 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "3", "retry-after-ms": "250"}, 0.25),
        ({"Retry-After": "Sat, 21 Nov 2026 10:00:30 GMT", "Date": DATE}, 30.0),
        ({"Retry-After": "Sat, 21 Nov 2026 09:00:00 GMT", "Date": DATE}, 0.0),
        ({"Retry-After": "Sat, 21 Nov 2026 10:00:30 -0000", "Date": DATE}, 30.0),
        ({"Retry-After": "Sat, 01 Jan 2000 00:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
    ],
)
def test_retry_after(headers: Mapping[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("address", "proxy"),
    [
        ("https://api.openai.com/v1", "http://proxy:3128"),
        ("http://api.openai.com/v1", None),
        ("https://inside.example/v1", None),
        ("https://localhost:8000/v1", None),
        ("https://127.0.0.1:8000/v1", None),
    ],
)
def test_proxies(address: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert proxy_for(URL(address)) == proxy


def test_a_failure_does_not_lead_to_the_headers() -> None:
    async def go() -> ModelError:
        endpoint = Endpoint("http://127.0.0.1:9", {"Authorization": "Bearer secret"}, "secret")
        transport = Transport(endpoint, timeout=1.0, max_bytes=100)
        with pytest.raises(ModelError) as caught:
            await transport.post(b"{}")
        await transport.close()
        return caught.value

    error = asyncio.run(go())
    assert error.__cause__ is None
    assert "secret" not in "".join(traceback.format_exception(error))


def test_a_model_belongs_to_one_event_loop() -> None:
    transport = Transport(Endpoint("http://127.0.0.1:9"), timeout=1.0, max_bytes=100)
    loop = asyncio.new_event_loop()
    with pytest.raises(ModelError):
        loop.run_until_complete(transport.post(b"{}"))
    with pytest.raises(HarnessError, match="two event loops"):
        asyncio.run(transport.post(b"{}"))
    loop.run_until_complete(transport.close())
    loop.close()


def test_closed_models_may_be_closed_again() -> None:
    async def go() -> None:
        async with FakeServer() as server:
            model = open_model(f"{server.url}/v1#fake", environment={})
            await model.complete([user("Hi")])
            await model.close()
            await model.close()

    asyncio.run(go())


def _answer(status: int, body: Any, **headers: str) -> Reply | ModelError:
    """What a model makes of one answer of a server."""

    async def serve(request: web.Request) -> web.Response:
        return web.json_response(body, status=status, headers=headers)

    async def go() -> Reply | ModelError:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", serve)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        limits = Limits(retries=0)
        model = open_model(f"http://127.0.0.1:{port}/v1#m", limits=limits, environment={})
        try:
            return await model.complete([user("Hello")])
        except ModelError as error:
            return error
        finally:
            await model.close()
            await runner.cleanup()

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, {"error": {"message": "upstream", "code": 502}}, "server"),
        (200, {"error": {"message": "upstream", "code": 429}}, "rate_limit"),
        (200, {"error": "no idea"}, "server"),
        (200, [1, 2], "bad_reply"),
        (200, None, "bad_reply"),
        (408, {}, "server"),
        (409, {}, "server"),
        (402, {"error": {"message": "Pay first"}}, "quota"),
        (400, {"error": "input length 9000 exceeds 8192"}, "context_length"),
        (422, {"detail": "what?"}, "bad_request"),
        (302, {}, "bad_request"),
    ],
)
def test_answers_that_are_errors(status: int, body: Any, kind: str) -> None:
    error = _answer(status, body)
    assert isinstance(error, ModelError)
    assert error.kind == kind


@pytest.mark.parametrize(
    "error",
    [
        {"code": "content_filter", "message": "Filtered."},
        {"code": None, "message": "Filtered.", "innererror": {"content_filter_result": {}}},
    ],
)
def test_a_provider_s_filter_is_a_refusal(error: dict[str, Any]) -> None:
    reply = _answer(400, {"error": error})
    assert isinstance(reply, Reply)
    assert (reply.refusal, reply.stop_reason, reply.text) == (True, "refusal", "Filtered.")
