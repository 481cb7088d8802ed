"""What is kept of requests and replies, and that keys are not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from crmbench.models import Limits, ModelError, RawLog, open_model, user
from crmbench.models.request_log import Exchange
from crmbench.models.testing.server import FakeServer

KEY = "sk-very-secret-0001"


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_every_attempt_is_kept(wire: str, tmp_path: Path) -> None:
    path = tmp_path / "raw" / "calls.jsonl"

    async def talk() -> None:
        async with FakeServer() as server:
            base = f"{server.url}/v1" if wire == "openai" else f"anthropic+{server.url}"
            with RawLog(path) as raw:
                model = open_model(
                    f"{base}#fake+server_error*1+html*1",
                    limits=Limits(first_delay=0.001),
                    raw=raw,
                    environment={"CRMBENCH_API_KEY": KEY},
                )
                await model.complete([user("Hello\nthere")], tag="episode-7")
                await model.close()

    asyncio.run(talk())
    lines = _lines(path)
    assert [line["attempt"] for line in lines] == [1, 2, 3]
    assert [line["status"] for line in lines] == [500, 502, 200]
    assert {line["tag"] for line in lines} == {"episode-7"}
    assert lines[0]["request"] == lines[2]["request"]
    assert lines[0]["request"]["model"] == "fake+server_error*1+html*1"
    assert "Something failed inside." in lines[0]["error"]
    assert lines[1]["reply"].startswith("<!DOCTYPE html>")
    assert lines[2]["reply"]["model"].startswith("fake")
    assert lines[2]["error"] is None
    assert KEY not in path.read_text()


def test_nothing_arrived(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"

    async def talk() -> None:
        async with FakeServer() as server:
            with RawLog(path) as raw:
                limits = Limits(retries=0, timeout=0.05)
                name = f"{server.url}/v1#fake+timeout"
                model = open_model(name, limits=limits, raw=raw, environment={})
                with pytest.raises(ModelError):
                    await model.complete([user("Hello")])
                await model.close()

    asyncio.run(talk())
    (line,) = _lines(path)
    assert (line["status"], line["reply"]) == (None, None)
    assert "within 0.05 s" in line["error"]


def test_a_key_that_a_server_repeats_is_struck_out(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"

    async def echo(request: web.Request) -> web.Response:
        text = f"Bad key: {request.headers['Authorization']}"
        return web.json_response({"error": {"message": text}}, status=401)

    async def talk() -> ModelError:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", echo)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        with RawLog(path) as raw:
            model = open_model(
                f"http://127.0.0.1:{port}/v1#m", raw=raw, environment={"CRMBENCH_API_KEY": KEY}
            )
            with pytest.raises(ModelError) as caught:
                await model.complete([user("Hello")])
            await model.close()
        await runner.cleanup()
        return caught.value

    error = asyncio.run(talk())
    assert str(error) == "HTTP 401: Bad key: Bearer [key]"
    assert KEY not in path.read_text()
    assert "[key]" in path.read_text()


def test_a_body_over_several_lines_stays_on_one(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with RawLog(path) as raw:
        raw.write(Exchange("t", "m", 1, 0.1234567, b'{"a":1}', 200, b'{\n"b":\n2}', None))
    assert _lines(path) == [
        {
            "tag": "t",
            "model": "m",
            "attempt": 1,
            "seconds": 0.123457,
            "request": {"a": 1},
            "status": 200,
            "reply": {"b": 2},
            "error": None,
        }
    ]
