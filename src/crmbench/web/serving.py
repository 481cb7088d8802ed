"""Pages at an address of this machine, until they are stopped."""

from __future__ import annotations

import socket
import sys

from starlette.applications import Starlette

from crmbench.errors import InputError
from crmbench.seats.listener import LONGEST_HEAD, LOOPBACK, address_of, listen


def serve_pages(
    app: Starlette, host: str, port: int, *, path: str = "/", open_browser: bool = False
) -> None:
    """Serve an application until stopped; the first line printed is its address.

    Raises:
        InputError: The address or port cannot be used.
    """
    listener = listen(host, port)
    address = address_of(host, listener.getsockname()[1]) + path
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    if open_browser:
        import webbrowser

        webbrowser.open(address)
    serve_on(listener, app)


def serve_on(listener: socket.socket, app: Starlette) -> None:
    """Serve an application on a socket that listens, until stopped; then the socket is closed."""
    import uvicorn

    config = uvicorn.Config(
        app, log_level="warning", access_log=False, h11_max_incomplete_event_size=LONGEST_HEAD
    )
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()


def check_local(host: str) -> None:
    """See that nobody else can reach pages that show everything.

    Raises:
        InputError: Others can reach the address.
    """
    if host not in LOOPBACK:
        raise InputError(
            f"{host} can be reached by others, and the pages show everything",
            field="--host",
            expected="127.0.0.1, localhost or ::1",
        )
