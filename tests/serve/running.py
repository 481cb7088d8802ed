"""A real server in a thread of this process, on a port of its own."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

import uvicorn

from crmbench.seats.listener import LONGEST_HEAD, listen
from crmbench.serve.app import make_app
from crmbench.serve.sessions import Sessions


class Running:
    """Serves some sessions while it is entered, and closes them after."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions
        self._listener = listen("127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        sessions.address = self.address
        config = uvicorn.Config(
            make_app(sessions),
            log_level="warning",
            h11_max_incomplete_event_size=LONGEST_HEAD,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}
        )

    def __enter__(self) -> Self:
        # Connections wait in the listener's queue until the server takes them.
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()
        self.sessions.close()
