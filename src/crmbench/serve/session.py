"""What clients work in: a sandbox with a token, one request at a time.

Every interface does the same with one::

    access = await request.app.state.sessions.resolve(request)
    async with access.lock:
        access.sandbox.call("client_search", {})

Between entering and leaving `lock` nothing waits: the copy of the world that a sandbox has may
be lent to another one at any ``await``.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, Self

from crmbench.core.sandbox import Sandbox
from crmbench.serve.tokens import Grant


class ServedSession:
    """A sandbox that is reached by token. Base of what a server offers.

    Args:
        name: Of the org, or the id of the session.
        grant: What its token may do.
        token: Opens it.
        sandbox: What is worked in.
    """

    def __init__(self, name: str, grant: Grant, token: str, sandbox: Sandbox) -> None:
        self.name = name
        self.grant = grant
        self.token = token
        self.sandbox = sandbox
        self.requests = 0
        """Requests so far."""
        self.turnstile = asyncio.Lock()

    def before_request(self, what: str) -> None:
        """Called once the session is held, before the request touches it.

        Args:
            what: The request in a few words, for records; no values.

        Raises:
            Refused: It may not be carried out.
        """
        del what
        self.requests += 1

    def after_request(self, what: str) -> None:
        """Called before the session is let go, whatever came of the request."""

    def close(self) -> None:
        """Free the database."""
        self.sandbox.close()


class SandboxOrg(ServedSession):
    """An org to develop against: no task, no verdict, kept until it is reset."""


class Lock:
    """Holds a session for the time of one request; an async context manager."""

    def __init__(self, session: ServedSession, what: str) -> None:
        self._session = session
        self._what = what

    async def __aenter__(self) -> Self:
        await self._session.turnstile.acquire()
        try:
            self._session.before_request(self._what)
        except BaseException:
            self._session.turnstile.release()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._session.after_request(self._what)
        finally:
            self._session.turnstile.release()


class Access:
    """One request's way into a session.

    Args:
        session: Which one.
        token: What the request showed; empty where it needed none.
        what: The request in a few words, for records.
    """

    def __init__(self, session: ServedSession, token: str, what: str) -> None:
        self.session = session
        self.token = token or session.token
        self.lock = Lock(session, what)

    @property
    def sandbox(self) -> Sandbox:
        """The world and its tools."""
        return self.session.sandbox

    @property
    def org(self) -> Any:
        """The sandbox as Salesforce objects."""
        raise NotImplementedError
