"""A server from its first line printed to its last request."""

from __future__ import annotations

import socket
import sys

from crmbench.errors import InputError, MissingExtraError


def serve_until_stopped(orgs: list[str], host: str, port: int, token: str | None) -> None:
    """Open what is named, print the address and the token, and serve until stopped.

    Raises:
        InputError: An org, the address or the port cannot be used.
        MissingExtraError: Starlette or uvicorn is not installed.
    """
    try:
        import uvicorn

        from crmbench.serve.app import make_app
        from crmbench.serve.sessions import Sessions
    except ModuleNotFoundError as error:
        raise MissingExtraError("serve", "crmbench serve") from error
    if token is None and host not in LOOPBACK:
        raise InputError(
            f"{host} can be reached by others", field="--host", expected="a --token with it"
        )
    listener = _listener(host, port)
    address = f"http://{host}:{listener.getsockname()[1]}"
    sessions = Sessions(token, address=address)
    try:
        for text in orgs:
            name, domain, world = org_of(text)
            sessions.open_org(name, domain, world)
        sys.stdout.write(f"{address}\n")
        if token is None:
            sys.stdout.write(f"token: {sessions.admin_token}\n")
        sys.stdout.flush()
        config = uvicorn.Config(make_app(sessions), log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        sessions.close()


LOOPBACK = ("127.0.0.1", "localhost", "::1")


def org_of(text: str) -> tuple[str, str, str | None]:
    """Name, domain and world of an org as the command line names it."""
    name, equals, place = text.partition("=")
    domain, _, world = (place if equals else text).partition("/")
    return (name if equals else domain), domain, world or None


def _listener(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise InputError(
            f"cannot listen on {host}:{port}: {error.strerror}",
            field="--port",
            expected="a port that is free, or 0 for any",
        ) from error
    listener.setblocking(False)
    return listener
