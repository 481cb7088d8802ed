"""An event loop in a thread of its own, for code that may block, loop or exit."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from threading import Thread, current_thread
from typing import Any, NoReturn, TypeVar

from crmbench.errors import AgentError, HarnessError, InputError

T = TypeVar("T")
ANSWER_S = 0.25
"""Seconds in which a loop that nobody blocks has long answered."""


class _Thread(Thread):
    """Of a class of its own, by which `_exit_unless_agent` knows agents' threads."""


class _HardExit(SystemExit):
    """What `os._exit` raises in an agent's thread."""


_os_exit, _process = os._exit, os.getpid()


def _exit_unless_agent(code: int) -> NoReturn:
    # It would end the run, and every other conversation with it, without a word. A process that
    # an agent has forked ends as ever.
    if isinstance(current_thread(), _Thread) and os.getpid() == _process:
        raise _HardExit(code)
    _os_exit(code)


class AgentThread:
    """A thread that runs agents' coroutines. A daemon: one that never ends keeps nothing alive."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = _Thread(target=self._run, name="crmbench-agents", daemon=True)
        vars(os)["_exit"] = _exit_unless_agent
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.loop.close()

    async def do(self, body: Callable[[], Awaitable[T]], owner: object) -> T:
        """Run a coroutine in the thread and wait for it; cancelled, it is cancelled there too.

        Args:
            owner: Whose it is, for `blocker`.

        Raises:
            AgentError: It raised what would end the process, or an error of ours, or cancelled
                itself.
            Exception: Whatever else it raised.
        """
        future = asyncio.run_coroutine_threadsafe(self._as(owner, body), self.loop)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            raise AgentError("CancelledError: it cancelled itself") from None

    async def _as(self, owner: object, body: Callable[[], Awaitable[T]]) -> T:
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        _owners[task] = owner
        try:
            return await body()
        except _HardExit as error:
            raise AgentError(f"it called os._exit({error.code!r})") from None
        except SystemExit as error:
            raise AgentError(f"it called sys.exit({error.code!r})") from None
        except (KeyboardInterrupt, GeneratorExit) as error:
            raise AgentError(f"it raised {type(error).__name__}") from None
        except (HarnessError, InputError) as error:
            # Ours by their class, but raised by the agent's code.
            raise AgentError(f"{type(error).__name__}: {error}") from error
        finally:
            del _owners[task]

    async def answers(self) -> bool:
        """Whether the thread's loop goes round, or somebody blocks it."""
        heard, ours = asyncio.Event(), asyncio.get_running_loop()

        def answer() -> None:
            # Whoever asked may have given up long ago, and the loop that heard of it be closed.
            with suppress(RuntimeError):
                ours.call_soon_threadsafe(heard.set)

        self.loop.call_soon_threadsafe(answer)
        try:
            async with asyncio.timeout(ANSWER_S):
                await heard.wait()
        except TimeoutError:
            return False
        return True

    def blocker(self) -> object | None:
        """Whose code the loop is running at this moment, as far as that is known."""
        task = asyncio.current_task(self.loop)
        return _owners.get(task) if task is not None else None

    def stop(self) -> None:
        """Let the thread end, once what it runs lets it."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.loop.stop)


_owners: dict[asyncio.Task[Any], object] = {}
"""Whose each task is; written by agents' threads, read by the one that plays."""


def in_loop(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
    """Run a coroutine in another thread's loop, to be awaited in this one."""
    return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))
