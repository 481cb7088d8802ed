"""``crmbench view`` from its first line printed to its last page."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Sequence
from pathlib import Path

from starlette.applications import Starlette

from crmbench.errors import InputError
from crmbench.seats.listener import LONGEST_HEAD, LOOPBACK, address_of, listen
from crmbench.web.app import viewer_app
from crmbench.web.runs import RunStore
from crmbench.web.viewer import Viewer


def view_until_stopped(runs: Sequence[Path], host: str, port: int, *, open_browser: bool) -> None:
    """Show runs on local pages until stopped; the address is printed first.

    Raises:
        InputError: A directory holds no run, or the address or port cannot be used.
    """
    if host not in LOOPBACK:
        raise InputError(
            f"{host} can be reached by others, and the pages show everything in a run",
            field="--host",
            expected="127.0.0.1, localhost or ::1",
        )
    store = RunStore.open(runs)
    app = viewer_app(Viewer(store, by=_user()), LOOPBACK)
    store.start()
    serve_pages(app, host, port, open_browser=open_browser)


def serve_pages(
    app: Starlette, host: str, port: int, *, path: str = "/", open_browser: bool = False
) -> None:
    """Serve an application until stopped; the first line printed is its address.

    Raises:
        InputError: The address or port cannot be used.
    """
    import uvicorn

    listener = listen(host, port)
    address = address_of(host, listener.getsockname()[1]) + path
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    if open_browser:
        import webbrowser

        webbrowser.open(address)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, h11_max_incomplete_event_size=LONGEST_HEAD
    )
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "person"
