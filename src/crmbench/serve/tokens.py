"""Tokens: who may do what. A token opens one thing, and says nothing of what it opens."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from crmbench.salesforce.ids import checksum

Scope = Literal["admin", "org", "session"]


@dataclass(frozen=True)
class Grant:
    """What a token may do."""

    scope: Scope
    """``admin``: open and reset sandbox orgs, open sessions, read verdicts; ``org``: work in one
    sandbox org; ``session``: play one graded session."""
    target: str = ""
    """The name of the org, or the id of the session."""


ADMIN = Grant("admin")


class TokenStore:
    """The tokens of a server. They are kept as digests, so that a dump of it holds none.

    Args:
        admin: The token of whoever runs the server.
    """

    def __init__(self, admin: str) -> None:
        self._grants: dict[bytes, Grant] = {_digest(admin): ADMIN}
        self._admin = _digest(admin)

    def mint(self, grant: Grant) -> str:
        """A new token for a grant."""
        token = new_token()
        self._grants[_digest(token)] = grant
        return token

    def grant(self, token: str) -> Grant | None:
        """What a token may do; None if it opens nothing."""
        return self._grants.get(_digest(token))

    def is_admin(self, token: str) -> bool:
        """Whether it is the token of whoever runs the server."""
        return hmac.compare_digest(_digest(token), self._admin)

    def revoke(self, grants: Iterable[Grant]) -> None:
        """Let every token of these grants open nothing any more."""
        gone = set(grants)
        self._grants = {key: grant for key, grant in self._grants.items() if grant not in gone}


def new_token() -> str:
    """A token that clients of the Salesforce API take for an access token of theirs."""
    return f"{ORG_ID}!{secrets.token_hex(24)}"


def _org_id() -> str:
    id15 = "00DHs0000000001"
    return id15 + checksum(id15)


ORG_ID = _org_id()
"""The id of every org here, as Salesforce would write it."""


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "replace")).digest()
