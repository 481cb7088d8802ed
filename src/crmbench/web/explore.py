"""``crmbench explore``: pages over orgs, beside all that a server answers to programs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from crmbench.seats.listener import LOOPBACK, address_of
from crmbench.serve.app import make_app
from crmbench.serve.run import org_of
from crmbench.serve.sessions import Sessions
from crmbench.web.app import pages_app
from crmbench.web.explorer import explorer_routes
from crmbench.web.pages import static
from crmbench.web.serving import check_local, serve_pages


def explore_until_stopped(orgs: Sequence[str], host: str, port: int, *, open_browser: bool) -> None:
    """Show orgs on local pages, and serve them to programs, until stopped.

    Raises:
        InputError: There is no such org, or the address or port cannot be used.
    """
    check_local(host)
    sessions = Sessions(address=address_of(host, port))
    try:
        for text in orgs:
            sessions.open_org(*org_of(text))
        app = explorer_app(sessions, (*LOOPBACK, ".salesforce.com"))
        serve_pages(app, host, port, path="/explore", open_browser=open_browser)
    finally:
        sessions.close()


def explorer_app(sessions: Sessions, hosts: Sequence[str] = ()) -> Starlette:
    """The pages of ``crmbench explore``, beside all that a server answers to programs.

    Args:
        sessions: The orgs; not closed with it.
        hosts: Names that requests may be addressed to; none: any.
    """
    interfaces = make_app(sessions, tuple(hosts))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with interfaces.router.lifespan_context(interfaces):
            yield

    pages: list[BaseRoute] = [
        Route("/", _to_orgs),
        *explorer_routes(),
        Route("/static/{name}", static),
    ]
    app = pages_app(pages, hosts, lifespan)
    app.router.routes.append(Mount("/", interfaces))
    app.state.sessions = sessions
    app.state.seat_in = lambda name: None
    return app


async def _to_orgs(request: Request) -> Response:
    del request
    return RedirectResponse("/explore")
