"""A task's own records: every domain refuses the same faults, and names the place."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from crmbench.core.domain import Domain
from crmbench.core.sandbox import Sandbox
from crmbench.core.world import EmptyWorld
from crmbench.domains.sales.domain import SALES
from crmbench.domains.service.domain import SERVICE
from crmbench.errors import InputError

NOW = datetime(2025, 1, 6, 9, 0, tzinfo=UTC)
CLIENT = {"name": "Moorhen Ltd", "email": "a@moorhen.example", "status": "Active"}
CONTACT = {"first_name": "Ann", "last_name": "Lee", "client_id": "c-1"}
USER_ID = "005Wt000001qaRZIAY"


@pytest.mark.parametrize(
    ("domain", "data", "place", "why"),
    [
        (SALES, {"Clients": {}}, "Clients", "no table 'Clients'"),
        (SERVICE, {"Tickets": {}}, "Tickets", "no table 'Tickets'"),
        (SALES, {"Client": {"c-1": {**CLIENT, "hue": 1}}}, "Client.c-1", "no field named 'hue'"),
        (SALES, {"Client": {"c-1": {"name": "A"}}}, "Client.c-1", "Client needs email"),
        (SALES, {"Contact": {"p-1": CONTACT}}, "Contact.p-1", "c-1"),
        (SERVICE, {"User": {USER_ID: {"Hue": 1}}}, f"User.{USER_ID}", "no field 'Hue'"),
        (SERVICE, {"User": {"7": {}}}, "User.7", "'7' is no id of the object User"),
        (
            SALES,
            {"Client": {"c-1": CLIENT, "c-2": {**CLIENT, "name": "B"}}},
            "Client",
            "email",
        ),
    ],
)
def test_a_record_that_breaks_a_rule_is_named(
    domain: Domain, data: dict[str, dict[str, Any]], place: str, why: str
) -> None:
    with pytest.raises(InputError, match=why) as refused:
        Sandbox.open(domain, EmptyWorld(NOW), seed_data=data)
    assert refused.value.field == f"seed_data.{place}"


def test_records_may_refer_to_each_other_in_any_order() -> None:
    data = {"Contact": {"p-1": CONTACT}, "Client": {"c-1": CLIENT}}
    with Sandbox.open(SALES, EmptyWorld(NOW), seed_data=data) as sandbox:
        state = sandbox.snapshot()
    assert state["Contact"]["p-1"]["client_id"] == "c-1"
    assert sandbox.effect() == ()
