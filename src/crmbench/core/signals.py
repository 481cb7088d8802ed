"""Signals that end a process, where they must not come in between."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def signals_held() -> Iterator[None]:
    """Let signals that end a process wait; one that comes between a server's start and the note
    of it would leave it behind.

    Threads and processes begun meanwhile hold them as well, and the threads for good: a signal to
    a process is taken by any thread that does not hold it, whatever the main one does.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
