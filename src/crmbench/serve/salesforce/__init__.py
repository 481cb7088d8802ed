"""The interfaces of Salesforce itself: logins, REST, bulk."""

from __future__ import annotations

from starlette.routing import BaseRoute


def routes() -> list[BaseRoute]:
    """What is mounted at the root of the server."""
    return []
