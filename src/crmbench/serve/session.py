"""What clients work in: a sandbox with a token, one request at a time.

Every interface of its own does the same with one::

    access = await request.app.state.sessions.resolve(request)
    async with access.lock:
        access.org.query("SELECT Id FROM Case")

Between entering and leaving `lock` nothing waits: the copy of the world that a sandbox has may
be lent to another one at any ``await``.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Any, Self

import orjson

from crmbench.core.episode import ToolResult
from crmbench.core.sandbox import Sandbox
from crmbench.core.task import TaskView
from crmbench.errors import ToolError
from crmbench.salesforce.sobjects import Org, open_org
from crmbench.seats.errors import Conflict, LimitReached, NotFound
from crmbench.seats.seat import Heard, Offered, offered_tools
from crmbench.serve.kept import KeptOrg
from crmbench.serve.salesforce_tools import OFFERED, SALESFORCE, call_salesforce
from crmbench.serve.tokens import Grant


class ServedSession(ABC):
    """A sandbox that is reached by token. Base of what a server offers; a `Seat` too.

    Args:
        name: Of the org, or the id of the session.
        grant: What its token may do.
        token: Opens it.
        sandbox: What is worked in.
        max_requests: After which it takes no further one.
    """

    conversational = False

    def __init__(
        self, name: str, grant: Grant, token: str, sandbox: Sandbox, max_requests: int
    ) -> None:
        self.name = name
        self.grant = grant
        self.token = token
        self.sandbox = sandbox
        self.requests = 0
        """Requests so far."""
        self.opened = monotonic()
        """By the process's clock; for limits of age."""
        self.org_view: Org | None = None
        """The sandbox as Salesforce objects, once somebody has asked for it."""
        self.salesforce_tools = False
        """Whether `call` takes the tools of `crmbench.serve.salesforce_tools` as well."""
        self._max_requests = max_requests
        self.turnstile = asyncio.Lock()
        """Who has it has the session to itself; `hold` asks as well whether it may."""

    def hold(self, what: str | None = None) -> Lock:
        """Holds the session for the time of one request; an async context manager.

        Args:
            what: The request in a few words, where it works in the sandbox by another way than
                `call`; for the record.
        """
        return Lock(self, what)

    def before_request(self, what: str | None) -> None:
        """Called once the session is held, before the request touches it.

        Raises:
            Refused: It may not be carried out.
        """
        del what
        if self.requests >= self._max_requests:
            raise LimitReached(f"The session has had its {self._max_requests:,} requests.")
        self.requests += 1

    @abstractmethod
    def after_request(self, what: str | None, error: BaseException | None = None) -> None:
        """Called before the session is let go, whatever came of the request.

        Args:
            what: As `hold` was given it.
            error: What the request raised, if it did.
        """

    @property
    def org(self) -> Org:
        """The sandbox as Salesforce objects.

        Raises:
            NotFound: Its domain has none.
        """
        if self.org_view is None or self.org_view.store.database is not self.sandbox.database:
            try:
                self.org_view = open_org(self.sandbox)
            except ToolError as error:
                raise NotFound(str(error)) from error
        return self.org_view

    @property
    def offered(self) -> tuple[Offered, ...]:
        """The tools that `call` runs: the domain's and, where they are offered, Salesforce's."""
        own = tools_of(self.sandbox)
        if not self.salesforce_tools:
            return own
        known = self.sandbox.domain.toolbox.by_name
        return own + tuple(each for each in OFFERED if each.name not in known)

    def is_salesforce_tool(self, name: Any) -> bool:
        """Whether a call by this name is one of Salesforce's tools here."""
        return (
            self.salesforce_tools
            and isinstance(name, str)
            and name in SALESFORCE.by_name
            and name not in self.sandbox.domain.toolbox.by_name
        )

    @property
    @abstractmethod
    def view(self) -> TaskView:
        """The date, the rules, the tools and who the user is."""

    @abstractmethod
    async def call(self, name: Any, arguments: Any) -> ToolResult:
        """Run a tool."""

    def status(self) -> dict[str, Any]:
        """How many requests there were; nobody has said a word."""
        return {"over": False, "calls": self.requests, "user": [], "agent": [], "forgotten": 0}

    async def next_message(self) -> Heard:
        """There is no user.

        Raises:
            Conflict: Always.
        """
        raise Conflict("There is no user to talk to in a sandbox org.")

    async def reply(self, text: Any) -> Heard:
        """There is no user.

        Raises:
            Conflict: Always.
        """
        del text
        return await self.next_message()

    def close(self) -> None:
        """Free the database."""
        self.sandbox.close()


class SandboxOrg(ServedSession):
    """An org to develop against: no task, no verdict, kept until it is reset. A `Seat`.

    Args:
        make: Makes the sandbox, and another one at each reset.
        kept: Where its changes are kept on disk, if they are.
    """

    def __init__(
        self,
        name: str,
        grant: Grant,
        token: str,
        make: Callable[[], Sandbox],
        max_requests: int,
        kept: KeptOrg | None = None,
    ) -> None:
        super().__init__(name, grant, token, make(), max_requests)
        self._make = make
        self._kept = kept
        self.salesforce_tools = speaks_salesforce(self.sandbox)
        if kept is not None:
            try:
                kept.restore(self.sandbox.database)
            except BaseException:
                self.close()
                raise

    @property
    def view(self) -> TaskView:
        """The date and the tools; nobody has given an order."""
        sandbox = self.sandbox
        return TaskView(sandbox.domain.name, sandbox.today, sandbox.world.about, sandbox.tools)

    async def call(self, name: Any, arguments: Any) -> ToolResult:
        """Run a tool."""
        async with self.hold():
            if self.is_salesforce_tool(name):
                record = call_salesforce(self.org, name, arguments)
            else:
                record = self.sandbox.call(name, arguments)
        return ToolResult(record.ok, record.result if record.ok else record.error)

    def after_request(self, what: str | None, error: BaseException | None = None) -> None:
        """Keep what it changed, before anybody is told of it."""
        del what, error
        if self._kept is not None:
            self._kept.keep(self.sandbox.database)

    def reset(self) -> None:
        """Put it back as it was when it was first opened."""
        self.sandbox.close()
        self.sandbox = self._make()
        self.org_view = None
        if self._kept is not None:
            self._kept.clear()

    def close(self) -> None:
        """Free the database; what is kept on disk stays there."""
        super().close()
        if self._kept is not None:
            self._kept.close()


class Lock:
    """Holds a session for the time of one request; an async context manager."""

    def __init__(self, session: ServedSession, what: str | None) -> None:
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
            self._session.after_request(self._what, error)
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
        self.lock = session.hold(what)

    @property
    def sandbox(self) -> Sandbox:
        """The world and its tools."""
        return self.session.sandbox

    @property
    def org(self) -> Org:
        """The sandbox as Salesforce objects; one for all requests of a session.

        Raises:
            NotFound: Its domain has none.
        """
        return self.session.org


_offered: dict[bytes, tuple[Offered, ...]] = {}


def tools_of(sandbox: Sandbox) -> tuple[Offered, ...]:
    """The tools of a sandbox with their hints; one object for all sandboxes of the same tools."""
    # A thousand sessions with a list each would be most of their memory.
    key = orjson.dumps([sandbox.domain.name, *sorted(sandbox.domain.toolbox.by_name)])
    if key not in _offered:
        _offered[key] = offered_tools(sandbox.tools, sandbox.domain)
    return _offered[key]


def speaks_salesforce(sandbox: Sandbox) -> bool:
    """Whether a sandbox's domain has Salesforce objects."""
    try:
        open_org(sandbox)
    except ToolError:
        return False
    return True
