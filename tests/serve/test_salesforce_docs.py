"""The tables of docs/salesforce_api.md list the rows that are run against the clients."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.serve import simple_salesforce_rows, test_jsforce, test_sf_cli

PAGE = Path(__file__).parents[2] / "docs" / "salesforce_api.md"
RUN = {
    "simple-salesforce": list(simple_salesforce_rows.ROWS),
    "jsforce": test_jsforce.ROWS,
    "sf": list(test_sf_cli.ROWS),
}


@pytest.mark.parametrize("client", RUN)
def test_the_table_lists_what_is_run(client: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = text.split(f"<!-- rows: {client} -->\n")[1].split("\n\n")[0]
    listed = re.findall(r"^\| (.+?) \| .+ \|$", table.replace("\\", ""), re.MULTILINE)
    assert listed[0] in ("method", "command")
    assert [name for name in listed[1:] if not name.startswith("-")] == RUN[client]
    assert len(RUN[client]) >= (12 if client == "sf" else 20)
