"""The thread that agents' coroutines run in."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future
from threading import Event

import pytest

from crmbench.agents.thread import AgentThread


def test_an_answer_that_comes_when_nobody_waits_any_more_is_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    thread, release, after = AgentThread(), Event(), Future[None]()
    thread.loop.call_soon_threadsafe(release.wait)
    assert not asyncio.run(thread.answers())
    # The loop that asked is closed; now the question is come to, and then this.
    thread.loop.call_soon_threadsafe(after.set_result, None)
    with caplog.at_level(logging.WARNING):
        release.set()
        after.result()
    thread.stop()
    assert caplog.records == []
