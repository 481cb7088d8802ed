"""What tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

ARC = Path(__file__).parents[2] / "shared" / "data" / "arc"


@pytest.fixture(scope="session")
def arc_data() -> Path:
    """The published Arc files, where somebody has put them beside the repository."""
    if not (ARC / "evaluation_400.jsonl").exists():
        pytest.skip("the published Arc files are not beside the repository")
    return ARC
