"""Real pages in a real browser: a server in a thread, Chromium, and what must never happen."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Page, sync_playwright
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from crmbench.seats.listener import listen

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
SERIOUS = ("serious", "critical")
DESKTOP, PHONE = (1280, 900), (390, 844)


class Browser:
    """A browser whose pages are watched."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    @contextmanager
    def page(
        self,
        base: str,
        *,
        size: tuple[int, int] = DESKTOP,
        scheme: str = "light",
        scripts: bool = True,
    ) -> Iterator[Page]:
        """A page of its own; at the end nothing may have gone wrong in it.

        Checked are errors of scripts and of the console (which tells of what the content security
        policy stopped), dialogs, and requests to anywhere but the server.
        """
        context = self._driver.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=scripts,
            base_url=base,
        )
        page: Page = context.new_page()
        page.set_default_timeout(15_000)
        wrong: list[str] = []
        _watch(page, base, wrong)
        yield page
        context.close()
        assert wrong == []


def _watch(page: Page, base: str, wrong: list[str]) -> None:
    def dialog(opened: Any) -> None:
        wrong.append(f"dialog: {opened.message}")
        opened.dismiss()

    def script(error: Any) -> None:
        wrong.append(f"script: {error}")

    def console(message: Any) -> None:
        if message.type == "error":
            wrong.append(message.text)

    def request(made: Any) -> None:
        if not made.url.startswith((base, "data:")):
            wrong.append(f"asks {made.url}")

    page.on("pageerror", script)
    page.on("console", console)
    page.on("dialog", dialog)
    page.on("request", request)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """The system's Chromium, or the one that CRMBENCH_CHROMIUM names."""
    path = os.environ.get("CRMBENCH_CHROMIUM") or shutil.which("chromium")
    assert path, "there is no chromium: `make test-web` installs it"
    with sync_playwright() as playwright:
        driver = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield Browser(driver)
        driver.close()


@contextmanager
def served(app: Starlette) -> Iterator[str]:
    """An application at an address of this machine."""
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


def barriers(page: Page) -> list[str]:
    """What axe finds serious or worse: its rule, and where."""
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


def settled(page: Page, path: str) -> None:
    """Go to a page and wait until it has all that it asks for."""
    page.goto(path)
    page.wait_for_load_state("networkidle")


def looks_right(page: Page, picture: Path) -> None:
    """No barrier that axe calls serious, no page wider than the screen; a picture of it."""
    assert barriers(page) == []
    assert not is_too_wide(page)
    page.screenshot(path=picture)
    assert picture.stat().st_size > 8_000


def served_folder(folder: Path) -> AbstractContextManager[str]:
    """A folder's files at an address of this machine, its ``index.html`` as the first page."""
    return served(Starlette(routes=[Mount("/", StaticFiles(directory=folder, html=True))]))


def is_too_wide(page: Page) -> bool:
    """Whether the page as a whole has to be moved sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))
