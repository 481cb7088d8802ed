"""Counts as people say them, and that nothing that is said says "1 episodes"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import crmbench
from crmbench.language.counts import counted

NOUNS = "episode|conversation|turn|task|call|record|message|file|object|trial|reading"
FIXED_PLURAL = re.compile(rf"\{{(?!MAX_)[a-z_][\w.()\[\]]*(?::,)?\}} (?:model )?(?:{NOUNS})s\b")
"""A plural in an f-string behind a number that may be one."""
PLACES = ("report", "runner", "cli", "validity", "studies", "bench")


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 tasks"), (1, "1 task"), (2, "2 tasks"), (1200, "1,200 tasks")]
)
def test_one_has_no_plural(count: int, said: str) -> None:
    assert counted(count, "task") == said


def test_the_pattern_finds_what_it_is_for() -> None:
    assert FIXED_PLURAL.search('f"{summary.missing:,} episodes were not played"')
    assert not FIXED_PLURAL.search('f"at most {MAX_RECORDS} records"')
    assert not FIXED_PLURAL.search("f\"{counted(n, 'episode')} not played\"")


@pytest.mark.parametrize("room", PLACES)
def test_nobody_reads_1_episodes(room: str) -> None:
    files = (Path(crmbench.__file__).parent / room).rglob("*.py")
    found = [
        f"{file.name}: {match[0]}"
        for file in files
        for match in FIXED_PLURAL.finditer(file.read_text("utf-8"))
    ]
    assert found == []
