"""The site in a browser: filters, both colours, phones, and nothing asked elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.web.browser import DESKTOP, PHONE, Browser, looks_right, served_folder
from tests.web.hostile import hostile_run
from tests.web.pages import play, play_partly

from crmbench.web.site import write_site

PAGES = ("index", "rules", "data", "runs/partly")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("site")
    oracle = play(root / "oracle")
    runs = [play_partly(root / "partly"), oracle, hostile_run(oracle, root / "hostile")]
    write_site(runs, root / "public")
    with served_folder(root / "public") as address:
        yield address


def test_rows_are_filtered(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        page.goto("/")
        rows = page.locator("[data-entry]:visible")
        expect(rows).to_have_count(3)
        page.get_by_label("Kind").select_option("ceiling")
        expect(rows).to_have_count(1)
        page.get_by_label("Kind").select_option("")
        page.get_by_label("Search").fill("partly")
        expect(rows).to_have_count(1)
        page.get_by_role("link", name="partly").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("partly")
        assert page.evaluate("window.ran") is None


@pytest.mark.parametrize(
    ("name", "size", "scheme"), list(product(PAGES, (DESKTOP, PHONE), ("light", "dark")))
)
def test_looks(
    browser: Browser, base: str, pictures: Path, name: str, size: tuple[int, int], scheme: str
) -> None:
    with browser.page(base, size=size, scheme=scheme) as page:
        page.goto(f"/{name}.html")
        looks_right(page, pictures / f"site-{Path(name).name}-{size[0]}-{scheme}.png")
