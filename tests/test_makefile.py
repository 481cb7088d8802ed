"""The targets of the Makefile run the tests that they name."""

from __future__ import annotations

from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parent.parent / "Makefile"
LINES = [line for line in MAKEFILE.read_text(encoding="utf-8").splitlines() if "pytest " in line]


@pytest.mark.parametrize("line", [line for line in LINES if "tests/" in line])
def test_no_target_names_a_folder_and_a_file_in_it(line: str) -> None:
    """pytest 9 leaves such a file out, without a word, if the folder alone would not have it."""
    paths = [word for word in line.split() if word.startswith("tests/")]
    assert [(one, two) for one in paths for two in paths if two.startswith(f"{one}/")] == []
