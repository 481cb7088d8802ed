"""The pictures of the docs, from the pages as they are: ``make pictures``.

python -m tests.web.make_pictures DEMO-RUN DIRECTORY
"""

from __future__ import annotations

import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page
from tests.web.browser import Browser, open_browser, served

from crmbench.seats.listener import LOOPBACK
from crmbench.serve.sessions import Sessions
from crmbench.web.explore import explorer_app
from crmbench.web.invite import open_study_room, study_app
from crmbench.web.play import PlayRoom, play_app
from crmbench.web.runs import RunStore
from crmbench.web.view import viewer_app
from crmbench.web.viewer import Viewer

SIZE = (1200, 760)
COLOURS = 96
"""Enough for pages of text, and a third of the bytes."""


def keep(page: Page, out: Path, name: str) -> None:
    """Keep what is to be seen, in few colours."""
    page.wait_for_load_state("networkidle")
    image = Image.open(BytesIO(page.screenshot()))
    few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(out / f"{name}.png", optimize=True)


def pictures_of_runs(browser: Browser, demo: Path, out: Path) -> None:
    """The first page, and an episode at its first fault."""
    store = RunStore.open([demo])
    store.read()
    with served(viewer_app(Viewer(store), LOOPBACK)) as base, browser.page(base, size=SIZE) as page:
        page.goto("/")
        keep(page, out, "runs")
        page.goto("/runs/heuristic/episodes/demo-01/0#fault")
        keep(page, out, "episode")


def pictures_of_the_rest(browser: Browser, out: Path) -> None:
    """A task being played, an org, and the first page of a study."""
    with tempfile.TemporaryDirectory() as folder:
        room = PlayRoom(Sessions(out=Path(folder)), Path(folder))
        seat = room.begin("demo", 1, "person")
        app = play_app(room, "demo", "demo, task 1", LOOPBACK)
        with served(app) as base, browser.page(base, size=SIZE) as page:
            page.goto(f"/play/{seat.token}")
            page.locator("#tool-list a").first.click()
            page.locator("#tool-form").wait_for()
            page.locator("[name=name]").fill("Moorhen")
            keep(page, out, "play")
    sessions = Sessions()
    sessions.open_org("harbour", "sales", "harbour-01")
    app = explorer_app(sessions, LOOPBACK)
    with served(app) as base, browser.page(base, size=SIZE) as page:
        page.goto("/explore/harbour/objects/Opportunity?sort=-Amount")
        keep(page, out, "explore")
    sessions.close()
    with tempfile.TemporaryDirectory() as folder:
        study = open_study_room("demo", Path(folder) / "study", 20, 1, 0)
        token = study.study.plan.people[0].token
        with served(study_app(study, LOOPBACK)) as base, browser.page(base, size=SIZE) as page:
            page.goto(f"/join/{token}")
            keep(page, out, "study")


def main() -> None:
    """Make them all."""
    demo, out = Path(sys.argv[1]), Path(sys.argv[2])
    with open_browser() as browser:
        pictures_of_runs(browser, demo, out)
        pictures_of_the_rest(browser, out)


if __name__ == "__main__":
    main()
