"""Waiting for asynchronous work from code that is not: in a script, or in a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, whether or not an event loop runs in this thread already.

    Where one does, as in a notebook, the work has a loop in a thread of its own; Ctrl-C cancels it.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(work)
    return _in_thread(work)


def _run(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`, with a main task that gives nothing. Where its end is seen to, the standard
    library writes out the task's result as text, which takes long for a thousand episodes.
    """
    found: list[T] = []

    async def main() -> None:
        found.append(await work)

    asyncio.run(main())
    return found[0]


def _in_thread(work: Coroutine[Any, Any, T]) -> T:
    result: Future[T] = Future()
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()

    async def main() -> T:
        begun.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    def run() -> None:
        try:
            result.set_result(_run(main()))
        except BaseException as error:
            result.set_exception(error)

    Thread(target=run, name="crmbench-run", daemon=True).start()
    try:
        return result.result()
    except KeyboardInterrupt:
        if not result.done():
            loop, task = begun.result()
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
            return result.result()
        raise
