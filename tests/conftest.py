"""What tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every machine, and none refused because the machine is slow today.
settings.register_profile(
    "suite", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")

ARC = Path(__file__).parents[2] / "shared" / "data" / "arc"


@pytest.fixture(scope="session")
def arc_data() -> Path:
    """The published Arc files, where somebody has put them beside the repository."""
    if not (ARC / "evaluation_400.jsonl").exists():
        pytest.skip("the published Arc files are not beside the repository")
    return ARC
