"""Every write can be read back, also those that a domain brings itself."""

from __future__ import annotations

import pytest

from crmbench.agents.read_back import reads_of
from crmbench.domains.registry import load_domain


@pytest.mark.parametrize("domain", ["sales", "service", "sales_hard", "service_hard"])
def test_every_write_names_reading_tools_that_take_its_arguments(domain: str) -> None:
    tools = load_domain(domain).toolbox.by_name
    given = {
        param.name: ["500Hs0000t0002jIAA"] if param.name.endswith("_ids") else "500Hs0000t0002jIAA"
        for tool in tools.values()
        for param in tool.params
    }
    writing = [tool.name for tool in tools.values() if tool.writes]
    assert writing
    for name in writing:
        calls = reads_of(domain)[name](given)
        assert calls, name
        for reading, arguments in calls:
            assert not tools[reading].writes
            assert tools[reading].check(arguments) == arguments


def test_a_tool_that_declares_how_it_shows_needs_no_entry_elsewhere() -> None:
    assert "merge_cases" in reads_of("service_hard")
    assert "merge_cases" not in reads_of("service")
