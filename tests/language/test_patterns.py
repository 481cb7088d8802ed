"""Every long pattern of the readers, by a text that it matches and one like it that it does not."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import crmbench.grading
import crmbench.language

LONG = 140
"""Characters from which on a pattern needs its examples."""
NO_EXAMPLE = {"crmbench.language.numbers._AFTER", "crmbench.grading.standing.holders._LINK"}
"""All of them may be absent, so that they match everywhere."""
EXAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parent / "patterns.jsonl").read_text("utf-8").splitlines()
]


def long_patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    seen: set[str] = set()
    for package in (crmbench.language, crmbench.grading):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                long = isinstance(value, re.Pattern) and len(value.pattern) >= LONG
                if long and value.pattern not in seen:
                    seen.add(value.pattern)
                    yield f"{module.name}.{name}", value


PATTERNS = dict(long_patterns())


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: f"{case['module']}.{case['pattern']}")
def test_a_pattern_matches_its_example_and_not_the_other(case: dict[str, str]) -> None:
    pattern = getattr(importlib.import_module(case["module"]), case["pattern"])
    assert any(pattern.search(text) for text in (case["match"], case["match"].lower()))
    wanted = case["no_match"] if "[A-Z]" in pattern.pattern else case["no_match"].lower()
    assert pattern.search(wanted) is None


def test_every_long_pattern_has_examples() -> None:
    named = {f"{case['module']}.{case['pattern']}" for case in EXAMPLES}
    assert set(PATTERNS) <= named | NO_EXAMPLE
    assert named <= set(PATTERNS), "an example of a pattern that is no longer there"
