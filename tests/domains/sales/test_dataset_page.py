"""docs/dataset.md shows the data set as it is."""

from __future__ import annotations

import pytest
from tests.domains.sales.dataset_page import PAGE, parts, place


@pytest.mark.parametrize("name", ["figures", "conversations"])
def test_the_page_shows_what_is_generated(name: str) -> None:
    found = place(name).search(PAGE.read_text(encoding="utf-8"))
    assert found
    again = "run `python -m tests.domains.sales.dataset_page`"
    assert found[0] == parts()[name], f"docs/dataset.md is of another data set; {again}"
