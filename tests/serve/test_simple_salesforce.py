"""simple-salesforce, the real one, against a real server: every row of the table in the docs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.serve.running import Running
from tests.serve.simple_salesforce_rows import ROWS

from crmbench.serve.salesforce.hooks.sitecustomize import patch
from crmbench.serve.sessions import Sessions

simple_salesforce = pytest.importorskip("simple_salesforce")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    sessions = Sessions()
    sessions.open_org("service", "service")
    with Running(sessions) as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def led(running: Running) -> Iterator[None]:
    """What is sent to Salesforce comes here, as under `crmbench launch`."""
    import requests.adapters

    original = requests.adapters.HTTPAdapter.send
    patch(requests.adapters, running.address)
    yield
    requests.adapters.HTTPAdapter.send = original


@pytest.fixture
def sf(running: Running) -> Any:
    running.sessions.orgs["service"].reset()
    return simple_salesforce.Salesforce(username="u@x.example", password="p", security_token="t")


@pytest.mark.parametrize("name", ROWS)
def test_a_method_does_what_it_says(sf: Any, name: str) -> None:
    ROWS[name](sf)


def test_logging_in_by_soap(running: Running) -> None:
    made = simple_salesforce.Salesforce(
        username="u@x.example", password="p", organizationId="00DHs0000000001"
    )
    assert made.query("SELECT IsSandbox FROM Organization")["records"][0]["IsSandbox"] is True
    shut = Sessions("secret")
    shut.open_org("service", "sales", "empty")
    with Running(shut) as closed:
        import requests.adapters

        original = requests.adapters.HTTPAdapter.send
        patch(requests.adapters, closed.address)
        with pytest.raises(simple_salesforce.SalesforceAuthenticationFailed) as caught:
            simple_salesforce.Salesforce(username="u", password="wrong", security_token="t")
        assert caught.value.code == "INVALID_LOGIN"
        assert simple_salesforce.Salesforce(username="u", password="p", security_token="secret")
        requests.adapters.HTTPAdapter.send = original


def test_logging_in_by_oauth_password_and_client_credentials(running: Running) -> None:
    login = simple_salesforce.SalesforceLogin
    token, host = login(
        username="u", password="p", consumer_key="k", consumer_secret="s", domain="login"
    )
    assert (token, f"http://{host}") == (
        running.sessions.orgs["service"].token, running.address,
    )  # fmt: skip
    token, host = login(consumer_key="k", consumer_secret="s", domain="acme.my")
    assert f"http://{host}" == running.address


def test_a_session_that_is_passed_in(running: Running) -> None:
    token = running.sessions.orgs["service"].token
    made = simple_salesforce.Salesforce(session_id=token, instance_url=running.address)
    assert made.query("SELECT COUNT() FROM Case")["totalSize"] > 0
