"""A server from its first line printed to its last request."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from crmbench.errors import InputError, needs_extra
from crmbench.serve.limits import ServeLimits

if TYPE_CHECKING:
    from crmbench.serve.sessions import Sessions


@dataclass(frozen=True)
class ServeOptions:
    """What to serve, and where."""

    orgs: Sequence[str] = ()
    """Sandbox orgs, each ``DOMAIN``, ``DOMAIN/WORLD`` or ``NAME=DOMAIN/WORLD``."""
    host: str = "127.0.0.1"
    port: int = 8800
    """0: a free one."""
    token: str | None = None
    """Of whoever runs the server; None: one is made and printed."""
    out: Path | None = None
    """Where the runs go that graded sessions become."""
    keep: Path | None = None
    """Where the first org's changes are kept."""
    reset: bool = False
    """Forget what is kept there first."""
    tls: Path | None = None
    """A folder that holds, or gets, a certificate to speak HTTPS with."""
    log: bool = False
    """Write a line of JSON for each request to standard error."""
    limits: ServeLimits = field(default_factory=ServeLimits)


def serve_until_stopped(options: ServeOptions) -> None:
    """Open what is named, print the address and the token, and serve until stopped.

    Raises:
        InputError: An org, the address, the port or a file cannot be used.
        MissingExtraError: Starlette or uvicorn is not installed.
    """
    with needs_extra("serve", "crmbench serve"):
        import uvicorn

        from crmbench.seats.certificate import certificate_in
        from crmbench.seats.listener import LONGEST_HEAD, LOOPBACK, address_of, listen
        from crmbench.serve.app import make_app
        from crmbench.serve.sessions import Sessions
    local = options.host in LOOPBACK
    if options.token is None and not local:
        raise InputError(
            f"{options.host} can be reached by others", field="--host", expected="a --token with it"
        )
    listener = listen(options.host, options.port)
    address = address_of(options.host, listener.getsockname()[1], secure=options.tls is not None)
    sessions = Sessions(options.token, options.limits, address, options.out)
    try:
        files = certificate_in(options.tls, options.host) if options.tls is not None else None
        _open_orgs(sessions, options)
        if options.log:
            _log_requests()
        sys.stdout.write(f"{address}\n")
        if options.token is None:
            sys.stdout.write(f"token: {sessions.admin_token}\n")
        sys.stdout.flush()
        # Clients of the Salesforce API are led here under its own names.
        hosts = (*LOOPBACK, ".salesforce.com") if local else ()
        config = uvicorn.Config(
            make_app(sessions, hosts),
            log_level="warning",
            access_log=False,
            h11_max_incomplete_event_size=LONGEST_HEAD,
            ssl_certfile=files.certificate if files else None,
            ssl_keyfile=files.key if files else None,
        )
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        sessions.close()
        listener.close()


def _open_orgs(sessions: Sessions, options: ServeOptions) -> None:
    if options.reset and options.keep is not None:
        options.keep.unlink(missing_ok=True)
    if options.keep is not None and not options.orgs:
        raise InputError("there is no org to keep", field="--keep", expected="--org with it")
    for number, text in enumerate(options.orgs):
        name, domain, world = org_of(text)
        sessions.open_org(name, domain, world, keep=None if number else options.keep)


def _log_requests() -> None:
    log = logging.getLogger("crmbench.serve")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def org_of(text: str) -> tuple[str, str, str | None]:
    """Name, domain and world of an org as the command line names it."""
    name, equals, place = text.partition("=")
    domain, _, world = (place if equals else text).partition("/")
    return (name if equals else domain), domain, world or None
