"""A browser for the tests that need one; ``make test-web`` installs what these import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.web.browser import Browser

    from crmbench.serve.sessions import Sessions


@pytest.fixture(scope="module")
def sessions() -> Iterator[Sessions]:
    """A server's sessions with one org, a sales CRM called harbour."""
    from crmbench.serve.sessions import Sessions

    made = Sessions()
    made.open_org("harbour", "sales", "harbour-01")
    yield made
    made.close()


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
