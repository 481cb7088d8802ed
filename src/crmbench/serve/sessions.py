"""All that one server has open, and who gets to what."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import Request

from crmbench.core.backends import Backends, backend_maker
from crmbench.core.sandbox import Sandbox
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.serve.errors import Forbidden, LimitReached, NotAuthorized, NotFound
from crmbench.serve.limits import Limits
from crmbench.serve.session import Access, SandboxOrg, ServedSession
from crmbench.serve.tokens import ORG_ID, Grant, Tokens, new_token

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
    """

    def __init__(
        self,
        token: str | None = None,
        limits: Limits | None = None,
        address: str = "http://127.0.0.1:8800",
    ) -> None:
        self.admin_token = token or new_token()
        self.is_open = token is None
        """Whether sandbox orgs take requests without a token, and logins with any password."""
        self.limits = limits or Limits()
        self.address = address
        self.tokens = Tokens(self.admin_token)
        self.backends = Backends(load_domain, backend_maker("sqlite"))
        self.orgs: dict[str, SandboxOrg] = {}

    # --- sandbox orgs -------------------------------------------------------------------------

    def open_org(
        self, name: str, domain: str, world: str | None = None, seed: str = "sandbox"
    ) -> SandboxOrg:
        """A new sandbox org.

        Args:
            name: By which it is reached; the first one opened is the one used where none is named.
            domain: Whose tools and rules hold.
            world: One of the domain's; its usual one if None.
            seed: Of the ids of created records.

        Raises:
            InputError: There is one of that name, or no such domain or world.
            LimitReached: As many sessions are open as are allowed.
        """
        if name in self.orgs:
            raise InputError(f"there is an org '{name}' already", expected="another name")
        self._check_room()
        grant = Grant("org", name)
        sandbox = Sandbox.open(load_domain(domain), world, self.backends.backend(domain), seed=seed)
        self.orgs[name] = SandboxOrg(name, grant, self.tokens.mint(grant), sandbox)
        return self.orgs[name]

    def close(self) -> None:
        """Close everything."""
        for org in self.orgs.values():
            org.close()
        self.orgs.clear()
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
        return Access(session, token, f"{request.method} {request.url.path}")

    def session_for(self, token: str, org: str | None = None) -> ServedSession:
        """The session that a token opens; raises as `resolve` does."""
        grant = self.tokens.grant(token) if token else None
        if grant is None:
            if token or not self.is_open:
                raise NotAuthorized
            return self._org(org)
        if grant.scope == "admin":
            return self._org(org)
        if org is not None and grant != Grant("org", org):
            raise Forbidden("The token is for another org.")
        return self._org(grant.target)

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
        if len(self.orgs) >= self.limits.sessions:
            raise LimitReached(f"No more than {self.limits.sessions:,} sessions may be open.")


def token_of(request: Request) -> str:
    """The token that a request shows, in any of the ways of the clients; "" if none."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and value:
        return value.strip()
    return request.headers.get("x-sfdc-session", "")
