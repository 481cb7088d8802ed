"""The server's seam: health, sandbox orgs, logins, and who gets to what."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from starlette.requests import Request

from crmbench.errors import InputError
from crmbench.serve.errors import Forbidden, NotAuthorized, NotFound
from crmbench.serve.run import org_of
from crmbench.serve.sessions import Sessions


@pytest.fixture
def sessions() -> Iterator[Sessions]:
    made = Sessions()
    made.open_org("first", "sales", "empty")
    made.open_org("second", "sales", "empty")
    yield made
    made.close()


def asking(headers: dict[str, str], org: str | None = None) -> Request:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    params = {} if org is None else {"org": org}
    return Request(
        {
            "type": "http",
            "method": "GET",
            "path": "/x",
            "query_string": b"",
            "headers": raw,
            "path_params": params,
            "server": ("127.0.0.1", 80),
            "scheme": "http",
        }
    )


def reached(sessions: Sessions, headers: dict[str, str], org: str | None = None) -> str:
    return asyncio.run(sessions.resolve(asking(headers, org))).session.name


def test_a_token_opens_its_org_and_no_other(sessions: Sessions) -> None:
    token = sessions.orgs["second"].token
    assert reached(sessions, {"Authorization": f"Bearer {token}"}) == "second"
    assert reached(sessions, {"X-SFDC-Session": token}) == "second"
    with pytest.raises(Forbidden):
        reached(sessions, {"Authorization": f"Bearer {token}"}, "first")
    with pytest.raises(NotAuthorized):
        reached(sessions, {"Authorization": f"Bearer {token}x"})


def test_an_open_server_needs_no_token_and_a_closed_one_does(sessions: Sessions) -> None:
    assert reached(sessions, {}) == "first"
    assert reached(sessions, {}, "second") == "second"
    with pytest.raises(NotFound):
        reached(sessions, {}, "third")
    closed = Sessions("secret")
    closed.open_org("only", "sales", "empty")
    try:
        with pytest.raises(NotAuthorized):
            reached(closed, {})
        assert reached(closed, {"Authorization": "Bearer secret"}) == "only"
    finally:
        closed.close()


def test_logins(sessions: Sessions) -> None:
    login = asyncio.run(sessions.login("anybody@example.com", "whatever"))
    assert sessions.session_for(login.access_token).name == "first"
    second = sessions.orgs["second"].token
    assert asyncio.run(sessions.login(second, "")).access_token == second
    closed = Sessions("secret")
    closed.open_org("only", "sales", "empty")
    try:
        with pytest.raises(NotAuthorized):
            asyncio.run(closed.login("anybody@example.com", "wrong"))
        assert asyncio.run(closed.login("anybody@example.com", "passwordsecret")).org_id
    finally:
        closed.close()


def test_orgs_stay_apart(sessions: Sessions) -> None:
    access = asyncio.run(sessions.resolve(asking({}, "first")))
    before = sessions.orgs["second"].sandbox.digest()

    async def work() -> bool:
        client = {"name": "Acme", "email": "a@acme.example", "status": "Active"}
        async with access.lock:
            return access.sandbox.call("create_new_client", client).ok

    assert asyncio.run(work())
    assert access.session.requests == 1
    assert sessions.orgs["second"].sandbox.digest() == before
    assert access.sandbox.digest() != before


def test_two_orgs_of_one_name_are_refused(sessions: Sessions) -> None:
    with pytest.raises(InputError, match="already"):
        sessions.open_org("first", "sales")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("service", ("service", "service", None)),
        ("sales/empty", ("sales", "sales", "empty")),
        ("mine=sales/empty", ("mine", "sales", "empty")),
    ],
)
def test_orgs_on_the_command_line(text: str, expected: tuple[str, str, str | None]) -> None:
    assert org_of(text) == expected
