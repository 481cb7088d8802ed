"""The interfaces of Salesforce itself: logins, REST, bulk."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from crmbench.seats.errors import Refused
from crmbench.serve.salesforce import http, login
from crmbench.serve.salesforce.calls import failure

METHODS = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]


def routes() -> list[BaseRoute]:
    """What is mounted at the root of the server; each also below ``/orgs/<name>``."""
    rest, nowhere = http.endpoint(http.rest), http.endpoint(http.nowhere)
    paths = {
        "/services/data": rest,
        "/services/data/{rest:path}": rest,
        "/services/async/{rest:path}": http.bulk,
        "/services/Soap/u/{version}": login.soap,
        "/services/Soap/u/{version}/{organization}": login.soap,
        "/services/oauth2/token": login.token,
        "/services/oauth2/revoke": login.revoke,
        "/services/oauth2/userinfo": http.endpoint(login.userinfo),
        "/id/{organization}/{user}": http.endpoint(login.identity),
        "/services/{rest:path}": nowhere,
    }
    return [
        Route(f"{prefix}{path}", handler, methods=METHODS)
        for prefix in ("", "/orgs/{org}")
        for path, handler in paths.items()
    ]


def is_salesforce(path: str) -> bool:
    """Whether a path belongs to these interfaces."""
    return "/services/" in path or path.startswith("/id/")


def refused(path: str, error: Refused) -> Response | None:
    """A refusal in the form of these interfaces; None if the path is of another one."""
    return http.response(failure(error)) if is_salesforce(path) else None


__all__ = ["is_salesforce", "refused", "routes"]
