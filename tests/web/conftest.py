"""A browser for the tests that need one; ``make test-web`` installs what these import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.web.browser import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, by the path of the system's own."""
    from tests.web.browser import open_browser

    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go."""
    return tmp_path_factory.mktemp("pictures")
