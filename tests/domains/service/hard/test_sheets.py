"""Sheets of the service desk: what decides stands in them, and no ground truth."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from crmbench.authoring.sheet import sheet_of
from crmbench.domains.service.hard.domain import SERVICE_HARD
from crmbench.domains.service.hard.generate import MECHANISMS
from crmbench.domains.service.hard.world import hard_world


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_a_sheet_has_a_method_in_five_lines_and_a_row_for_every_case(mechanism: str) -> None:
    (task,) = islice(MECHANISMS[mechanism](hard_world(42), "L1", 42, "canary"), 1)
    sheet = sheet_of(SERVICE_HARD, task)
    assert len(sheet.method) == 5
    keys = {str(row[1]): row for row in sheet.rows}
    cases = [key for item in task.gold.items for _, key in item.records]
    assert {*cases} <= {*keys}
    assert all(keys[case][-1] for case in cases)
    # Which memos decide is not in it, nor what comes of a case.
    assert re.search(r"[Mm]emo \d", sheet.csv()) is None
    assert not any(name in sheet.csv() for name in ("ReviewOutcome", "MasterRecordId"))
