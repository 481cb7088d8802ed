"""The two ways to decide by a handbook, and the budget of a conversation."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from crmbench.authoring.handbook import Amendment, Change, Condition, Provision, Rulebook
from crmbench.core.conditions.lay import lay
from crmbench.core.sandbox import Sandbox
from crmbench.domains.sales.hard.domain import SALES_HARD
from crmbench.domains.sales.hard.handbook.consolidated import Consolidated
from crmbench.domains.sales.hard.worklist import tasks
from crmbench.errors import HarnessError
from crmbench.formats.arc_tasks import task_to_data

DAY = date(2026, 6, 1)
PUBLIC, SLOW = Condition("public"), Condition("slow")
GENERAL = Provision("A", "fee", "3 %", date(2020, 1, 1))
SPECIAL = Provision("B", "fee", "5 %", date(2021, 1, 1), (PUBLIC,))


def change(
    article: str, target: str, kind: Change, value: str = "", **what: Condition
) -> Amendment:
    return Amendment(article, target, date(2026, 1, 1), kind, value or None, **what)


@pytest.mark.parametrize(
    ("changes", "fee"),
    [
        ([], "5 %"),
        ([change("C", "B", "value", "6 %"), change("D", "C", "value", "7 %")], "7 %"),
        ([change("C", "B", "repeal")], "3 %"),
        ([change("C", "B", "repeal"), change("D", "C", "repeal")], "5 %"),
        ([change("C", "B", "repeal"), change("D", "C", "except", unless=SLOW)], "5 %"),
        ([change("C", "B", "except", unless=SLOW)], "3 %"),
        ([change("C", "B", "except", unless=Condition("large"))], "5 %"),
        (
            [
                change("C", "B", "except", unless=Condition("large")),
                change("D", "C", "extend", also=SLOW),
            ],
            "3 %",
        ),
    ],
)
def test_a_change_of_a_change_counts_alike_from_the_top_and_from_the_bottom(
    changes: list[Amendment], fee: str
) -> None:
    facts = {"public": True, "slow": True, "large": False}
    assert Rulebook([GENERAL, SPECIAL], changes).decide("fee", facts, DAY).value == fee
    bottom = Consolidated([GENERAL, SPECIAL], changes)
    assert bottom.answer("fee", facts, DAY) == fee
    # What the answer rests on names every change that has come into force.
    if fee != "3 %":
        assert {c.article for c in changes} <= bottom.needed("fee", facts, DAY)


def test_nothing_and_two_of_one_rank_answer_nothing() -> None:
    with pytest.raises(HarnessError, match="nothing answers"):
        Consolidated([SPECIAL], []).answer("fee", {"public": False}, DAY)
    twin = Provision("Z", "fee", "9 %", SPECIAL.since, (PUBLIC,))
    with pytest.raises(HarnessError, match="one rank"):
        Consolidated([SPECIAL, twin], []).answer("fee", {"public": True}, DAY)


def test_a_budget_is_stored_told_and_kept() -> None:
    (drawn,) = tasks("7-04", 1, "worklist-L1-7-04", "canary")
    task = replace(drawn, budget=2)
    assert task_to_data(task)["crmbench"]["budget"] == 2
    laid = lay(SALES_HARD, task)
    assert "2 tool calls for the whole conversation" in laid.domain.policy
    with Sandbox.open(laid.domain, task.world, conditions=laid.conditions) as box:
        done = [box.call("handbook_search", {"words": "renewal"}) for _ in range(3)]
    assert [each.ok for each in done] == [True, True, False]
    assert "are used up" in str(done[-1].error)
