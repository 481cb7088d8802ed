"""Sheets: what decides stands in them, and no ground truth."""

from __future__ import annotations

import pytest

from crmbench.authoring.sheet import sheet_of
from crmbench.domains.sales.hard.domain import SALES_HARD
from crmbench.domains.sales.hard.generate import MECHANISMS


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_a_sheet_has_a_method_in_five_lines_and_a_row_for_every_record(mechanism: str) -> None:
    task = MECHANISMS[mechanism]("7-04", 1, f"{mechanism}-L1-7-04", "canary")[0]
    sheet = sheet_of(SALES_HARD, task)
    assert len(sheet.method) == 5
    keys = {str(row[0]) for row in sheet.rows}
    records = {key for item in task.gold.items for _, key in item.records}
    assert records <= keys
    text = sheet.csv()
    assert "notes on it" in text
    # Which articles decide is not in it.
    assert "HB-" not in text
