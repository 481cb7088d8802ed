"""Where a server listens."""

from __future__ import annotations

import socket

from crmbench.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LONGEST_HEAD = 64 * 2**10
"""Bytes of a request's line and headers: queries with hundreds of ids come in the address."""


def address_of(host: str, port: int, *, secure: bool = False) -> str:
    """The address of a server, as clients are told it."""
    scheme = "https" if secure else "http"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, for uvicorn.

    Raises:
        InputError: The address or the port cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio turns Nagle's algorithm off; else each answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen on {host}:{port}: {error.strerror}",
            field="--port",
            expected="a port that is free, or 0 for any",
        ) from error
    return listener
