"""All that one server has open, and who gets to what."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from starlette.requests import Request

from crmbench.core.episode import MAX_CALLS, Episode
from crmbench.core.sandbox import Sandbox
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.grading.verdict import EpisodeVerdict
from crmbench.runner.evaluate import grader_on
from crmbench.runner.play import pick
from crmbench.runner.task_sets import load_named
from crmbench.seats.errors import (
    Forbidden,
    LimitReached,
    NotAuthorized,
    NotFound,
)
from crmbench.serve.graded import GradedSession
from crmbench.serve.kept import KeptOrg, OrgOrigin
from crmbench.serve.limits import ServeLimits
from crmbench.serve.session import Access, SandboxOrg, ServedSession
from crmbench.serve.tokens import ORG_ID, Grant, TokenStore, new_token
from crmbench.serve.verdicts import RunKey, Verdicts

LOOK_SECONDS = 30.0
"""Between two looks for sessions that are too old."""
USER_ID = "005Hs0000000001IAA"
"""Who a client is logged in as, where the org names nobody."""


class Login(NamedTuple):
    """What logging in gives."""

    access_token: str
    instance_url: str
    """Scheme, host and port; no slash at its end."""
    org_id: str
    user_id: str


class Sessions:
    """The sandbox orgs and graded sessions of a server.

    Args:
        token: Of whoever runs the server. None: one is made, and sandbox orgs are open to
            everybody who reaches the server, as it should be on loopback alone.
        limits: What it gives at most.
        address: Under which clients reach it.
        out: Where the runs go that graded sessions become; None: they are graded and not kept.
        shared: Whether other processes write into the same runs.
    """

    def __init__(
        self,
        token: str | None = None,
        limits: ServeLimits | None = None,
        address: str = "http://127.0.0.1:8800",
        out: Path | None = None,
        *,
        shared: bool = False,
    ) -> None:
        self.admin_token = token or new_token()
        self.is_open = token is None
        """Whether sandbox orgs take requests without a token, and logins with any password."""
        self.limits = limits or ServeLimits()
        self.address = address
        self.tokens = TokenStore(self.admin_token)
        grader = grader_on("sqlite")
        self.backends = grader.backends
        self.verdicts = Verdicts(grader, out, shared=shared)
        self.orgs: dict[str, SandboxOrg] = {}
        self.graded: dict[str, GradedSession] = {}
        """By id, those that are over included until they are dropped."""
        self._numbers = count(1)
        self._sets: dict[str, Sequence[Task]] = {}
        self._next_look = 0.0

    # --- sandbox orgs -------------------------------------------------------------------------

    def open_org(
        self,
        name: str,
        domain: str,
        world: str | None = None,
        seed: str = "sandbox",
        keep: Path | None = None,
    ) -> SandboxOrg:
        """A new sandbox org.

        Args:
            name: By which it is reached; the first one opened is the one used where none is named.
            domain: Whose tools and rules hold.
            world: One of the domain's; its usual one if None.
            seed: Of the ids of created records.
            keep: A file that its changes are kept in; what the file holds already is there again.

        Raises:
            InputError: There is one of that name, no such domain or world, or the file cannot be
                used.
            LimitReached: As many sessions are open as are allowed.
        """
        if name in self.orgs:
            raise InputError(f"there is an org '{name}' already", expected="another name")
        self._check_room()
        whole = load_domain(domain)
        source = whole.world(whole.default_world if world is None else world)
        make = partial(Sandbox.open, whole, source, self.backends.backend(domain), seed=seed)
        # By the world's own name: a file that is opened again next year must find the same world,
        # whatever the domain's usual one is then.
        kept = KeptOrg(keep, OrgOrigin(domain, source.name, seed)) if keep is not None else None
        grant = Grant("org", name)
        token = self.tokens.mint(grant)
        self.orgs[name] = SandboxOrg(name, grant, token, make, self.limits.requests, kept)
        return self.orgs[name]

    async def reset_org(self, name: str) -> None:
        """Put an org back as it was when it was opened.

        Raises:
            NotFound: There is none of that name.
        """
        org = self._org(name)
        async with org.hold():
            org.reset()

    async def close_org(self, name: str) -> None:
        """Close an org; its token opens nothing any more.

        Raises:
            NotFound: There is none of that name.
        """
        org = self._org(name)
        async with org.hold():
            del self.orgs[name]
            self.tokens.revoke([org.grant])
            org.close()

    # --- graded sessions ----------------------------------------------------------------------

    def tasks_of(self, set_name: str) -> Sequence[Task]:
        """The tasks of a set, by its name on the command line; a file is read once.

        Raises:
            InputError: There is no such set.
        """
        if set_name not in self._sets:
            self._sets[set_name] = load_named(set_name).lazy_tasks
        return self._sets[set_name]

    def open_session(
        self,
        set_name: str,
        which: int | str,
        agent: str = "client",
        max_calls: int = MAX_CALLS,
        *,
        salesforce_tools: bool = False,
    ) -> GradedSession:
        """Begin a task.

        Args:
            set_name: A file of conversations, or the name of a set.
            which: The task's number in it, counted from 1, or its id or number as text.
            agent: Who plays, for reports; a run for each agent and set.
            max_calls: Tool calls a turn.
            salesforce_tools: Whether it has Salesforce's tools beside the task's own.

        Raises:
            InputError: There is no such task, or the run cannot be written.
            TaskError: The task is broken, and could not be graded.
            LimitReached: As many sessions are open as are allowed.
        """
        self._check_room()
        tasks = self.tasks_of(set_name)
        # A text of digits may be an id, so only a number goes by place without a look.
        numbered = isinstance(which, int) and 1 <= which <= len(tasks)
        # By its number no other task is read, which in a large set takes seconds.
        task = tasks[int(which) - 1] if numbered else pick(tasks, str(which), set_name)
        key = RunKey(agent, set_name, max_calls, salesforce_tools)
        # First, for a task whose gold fails is not worth what playing it costs.
        self.verdicts.gold_runs(task)
        self.verdicts.open(key)

        def judge(trace: EpisodeTrace, seconds: float) -> EpisodeVerdict:
            return self.verdicts.judge(key, task, trace, seconds).verdict

        domain, backend = self.backends.place(task.domain)
        name = f"s{next(self._numbers)}"
        grant = Grant("session", name)
        episode = Episode(domain, task, backend, max_calls=max_calls)
        session = GradedSession(
            name,
            grant,
            self.tokens.mint(grant),
            task,
            episode,
            judge,
            self.limits.requests,
            agent,
            salesforce_tools=salesforce_tools,
        )
        self.graded[name] = session
        return session

    async def end_session(self, name: str) -> None:
        """Grade a session as it is, and forget it; its token opens nothing any more.

        Raises:
            NotFound: There is none of that id.
        """
        session = self.session(name)
        # Not `hold`, which refuses a session that is over.
        async with session.turnstile:
            session.abandon()
            self._drop(session)

    def session(self, name: str) -> GradedSession:
        """The graded session of an id.

        Raises:
            NotFound: There is none.
        """
        if monotonic() > self._next_look:
            self.drop_old()
        if name not in self.graded:
            raise NotFound(f"There is no session '{name[:80]}'.")
        return self.graded[name]

    def _drop(self, session: GradedSession) -> None:
        session.close()
        del self.graded[session.name]
        self.tokens.revoke([session.grant])

    def drop_old(self) -> None:
        """End the sessions that are older than is allowed: a timeout for those not played out.

        Of those that are over, as many are remembered as may be open.
        """
        self._next_look = monotonic() + LOOK_SECONDS
        until = monotonic() - self.limits.age_seconds
        # In the order in which they were opened, so what is dropped is the oldest.
        over = [each for each in self.graded.values() if each.over]
        forgotten = set(map(id, over[: -self.limits.sessions]))
        for session in list(self.graded.values()):
            # One in the middle of a request is left to end it; the next look comes soon.
            old = session.opened < until and not session.turnstile.locked()
            if old or id(session) in forgotten:
                session.abandon("timeout", f"was open for {self.limits.age_seconds:,.0f} s")
                self._drop(session)

    def close(self) -> None:
        """Close everything. A session that has not ended leaves no verdict."""
        for session in (*self.orgs.values(), *self.graded.values()):
            session.close()
        self.orgs.clear()
        self.graded.clear()
        self.verdicts.close()
        self.backends.close()

    # --- who gets to what ---------------------------------------------------------------------

    async def resolve(self, request: Request) -> Access:
        """The session that a request is for: named in its path (``org``) or by its token.

        Raises:
            NotAuthorized: It shows no token and needs one, or one that opens nothing.
            Forbidden: Its token is for something else.
            NotFound: There is no such org.
        """
        token = token_of(request)
        session = self.session_for(token, request.path_params.get("org"))
        query = f"?{request.url.query}" if request.url.query else ""
        return Access(session, token, f"{request.method} {request.url.path}{query}")

    def session_for(self, token: str, org: str | None = None) -> ServedSession:
        """The session that a token opens.

        Raises:
            NotAuthorized: There is no token and one is needed, or it opens nothing.
            Forbidden: It is for something else.
            NotFound: There is no such org.
        """
        grant = self.tokens.grant(token) if token else None
        if grant is None:
            # A token that opens nothing is refused also where none is needed: whoever sends one
            # expects to be somebody.
            if token or not self.is_open:
                raise NotAuthorized
            return self._org(org)
        if grant.scope == "admin":
            return self._org(org)
        if grant.scope == "session":
            if org is not None:
                raise Forbidden("The token is for a graded session.")
            return self.session(grant.target)
        if org is not None and org != grant.target:
            raise Forbidden("The token is for another org.")
        return self._org(grant.target)

    def graded_for(self, token: str, name: str) -> GradedSession:
        """The graded session of an id, for a token that opens it: its own, or the server's.

        Raises:
            NotAuthorized: The token opens nothing.
            Forbidden: It is for something else. So it is where there is no such session, which a
                token of another one is not to know.
            NotFound: There is no such session.
        """
        grant = self.tokens.grant(token) if token else None
        if grant is None:
            raise NotAuthorized
        if grant.scope == "admin":
            return self.session(name)
        if grant != Grant("session", name) and not (grant.scope == "session" and name == "self"):
            raise Forbidden("The token is for something else.")
        return self.session(grant.target)

    def require_admin(self, token: str) -> None:
        """See that a token is the server's.

        Raises:
            NotAuthorized: It opens nothing.
            Forbidden: It opens something else.
        """
        grant = self.tokens.grant(token) if token else None
        if grant is None:
            raise NotAuthorized
        if grant.scope != "admin":
            raise Forbidden("This takes the token of whoever runs the server.")

    async def login(self, username: str, password: str) -> Login:
        """Log in with a user's name and password, as clients of the Salesforce API do.

        On an open server any password will do; else it is, or ends with, the server's token. A
        token of a session as the name opens that session.

        Raises:
            NotAuthorized: Name and password open nothing.
        """
        if self.tokens.grant(username) is not None:
            self.session_for(username)
            return Login(username, self.address, ORG_ID, USER_ID)
        if not self.is_open and not self._knows(password):
            raise NotAuthorized("Invalid username, password, security token; or user locked out.")
        session = self._org(None)
        return Login(session.token, self.address, ORG_ID, USER_ID)

    def _knows(self, password: str) -> bool:
        tail = password[-len(self.admin_token) :]
        return self.tokens.is_admin(tail) or self.tokens.grant(password) is not None

    def _org(self, name: str | None) -> SandboxOrg:
        if name is None:
            if not self.orgs:
                raise NotFound("The server has no sandbox org; it was started without --org.")
            return next(iter(self.orgs.values()))
        org = self.orgs.get(name)
        if org is None:
            raise NotFound(f"There is no org '{name[:80]}'.")
        return org

    def _check_room(self) -> None:
        self.drop_old()
        going = sum(not session.over for session in self.graded.values())
        if len(self.orgs) + going >= self.limits.sessions:
            raise LimitReached(f"No more than {self.limits.sessions:,} sessions may be open.")


def token_of(request: Request) -> str:
    """The token that a request shows, in any of the ways of the clients; "" if none."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and value:
        return value.strip()
    return request.headers.get("x-sfdc-session", "")
