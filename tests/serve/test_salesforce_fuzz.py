"""Requests that are nearly right: no failure of the server, and no change by what is refused."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from tests.serve.salesforce_fuzz import Fuzzer

from crmbench.salesforce.sobjects import open_org
from crmbench.serve.app import make_app
from crmbench.serve.sessions import Sessions

COUNT = int(os.environ.get("CRMBENCH_FUZZ_REQUESTS", "800"))
WORLDS = [
    ("service", "org-42-x0.05"), ("sales", "harbour-01"), ("service_hard", None),
    ("sales_hard", "worklist-L1-42-01"),
]  # fmt: skip


@pytest.fixture(params=WORLDS, ids=lambda world: world[0])
def sessions(request: pytest.FixtureRequest) -> Iterator[Sessions]:
    made = Sessions()
    made.open_org("fuzzed", *request.param)
    yield made
    made.close()


def test_requests_that_are_nearly_right(sessions: Sessions) -> None:
    session = sessions.orgs["fuzzed"]
    statuses: Counter[int] = Counter()
    with TestClient(make_app(sessions)) as client:
        client.headers["Authorization"] = f"Bearer {session.token}"
        for number in range(COUNT):
            if number % 400 == 0:
                session.reset()
                fuzzer = Fuzzer(open_org(session.sandbox), number)
            sent = fuzzer.request()
            before = list(session.sandbox.database.journal)
            answer = client.request(sent.method, sent.path, content=sent.body, headers=sent.headers)
            statuses[answer.status_code] += 1
            soap = sent.path.startswith("/services/Soap")
            assert answer.status_code < 500 or soap, (sent, answer.text)
            assert not session.sandbox.database.in_call
            if answer.status_code >= 400:
                assert session.sandbox.database.journal == before, sent
                if sent.path.startswith("/services/data") and sent.method != "HEAD":
                    told = answer.json()
                    assert told if isinstance(told, list) else told["hasErrors"], sent
    assert {200, 201, 400, 404} <= set(statuses), statuses
