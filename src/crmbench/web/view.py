"""``crmbench view``: pages over runs, of which the first is there before the grading is loaded."""

from __future__ import annotations

import getpass
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread

from starlette.applications import Starlette

from crmbench.seats.listener import LOOPBACK
from crmbench.web.app import pages_app
from crmbench.web.runs import RunStore
from crmbench.web.serving import check_local, serve_pages
from crmbench.web.viewer import Viewer, load_episode_pages, viewer_routes


def view_until_stopped(runs: Sequence[Path], host: str, port: int, *, open_browser: bool) -> None:
    """Show runs on local pages until stopped; the address is printed first.

    Raises:
        InputError: A directory holds no run, or the address or port cannot be used.
    """
    check_local(host)
    store = RunStore.open(runs)
    app = viewer_app(Viewer(store, by=_user()), LOOPBACK)
    Thread(target=_read_behind, args=(store,), name="runs", daemon=True).start()
    serve_pages(app, host, port, open_browser=open_browser)


def _read_behind(store: RunStore) -> None:
    """Read the lists, then load what an episode's page needs, while the first page is looked at."""
    store.read()
    load_episode_pages()


def viewer_app(viewer: Viewer, hosts: Sequence[str] = ()) -> Starlette:
    """The pages of ``crmbench view``.

    Args:
        viewer: What they look at; closed with the application.
        hosts: Names that requests may be addressed to; none: any.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        viewer.close()

    app = pages_app(viewer_routes(), hosts, lifespan)
    app.state.viewer = viewer
    return app


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "person"
