"""``crmbench view`` in a browser: clicks, keys, forms, looks, and texts that stay texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import orjson
import pytest
from playwright.sync_api import Page, expect
from tests.web.browser import DESKTOP, PHONE, Browser, looks_right, served, settled
from tests.web.hostile import CORPUS, hostile_run
from tests.web.pages import OPEN, play, play_partly, with_open_reading

from crmbench.seats.listener import LOOPBACK
from crmbench.web.runs import RunStore
from crmbench.web.view import viewer_app
from crmbench.web.viewer import Viewer

EPISODE = "/runs/partly/episodes/northgate-02/0"
PAGES = {
    "runs": "/",
    "run": "/runs/partly",
    "episode": EPISODE,
    "open": "/runs/open/episodes/northgate-01/0",
    "compare": "/compare?a=partly&b=oracle",
    "both": "/compare/episode/northgate-02/0?a=partly&b=oracle",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    play_partly(root / "partly")
    oracle = play(root / "oracle")
    with_open_reading(oracle, root / "open")
    hostile_run(oracle, root / "hostile")
    return root


@pytest.fixture(scope="module")
def base(runs: Path) -> Iterator[str]:
    store = RunStore.open([runs])
    store.read()
    with served(viewer_app(Viewer(store, "tester"), LOOPBACK)) as address:
        yield address


def test_the_first_wrong_step_is_three_clicks_away(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        settled(page, "/")
        page.get_by_role("link", name="partly").click()
        page.locator("#episodes .clamp").nth(1).click()
        page.wait_for_url("**#fault")
        expect(page.locator(".fault").first).to_be_in_viewport()
        expect(page.locator(".fault").first).to_be_focused()


def test_filters_answer_at_once_and_stand_in_the_address(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        settled(page, "/runs/partly")
        rows = page.locator("#episodes tbody tr[data-row]")
        expect(rows).to_have_count(12)
        page.get_by_label("Outcome").select_option("passed")
        expect(rows).to_have_count(2)
        page.get_by_label("Search").fill("northgate-04")
        expect(rows).to_have_count(1)
        page.wait_for_url("**q=northgate-04**")
        address = page.url
        page.goto("/")
        page.goto(address)
        expect(rows).to_have_count(1)
        expect(page.get_by_label("Outcome")).to_have_value("passed")


def test_without_scripts_the_pages_work(browser: Browser, base: str) -> None:
    with browser.page(base, scripts=False) as page:
        settled(page, "/runs/partly")
        page.get_by_label("Outcome").select_option("passed")
        page.get_by_role("button", name="Filter").click()
        expect(page.locator("#episodes tbody tr[data-row]")).to_have_count(2)


def test_keys_lead_through_the_list_and_the_episode(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        settled(page, "/runs/partly?outcome=failed")
        page.keyboard.press("/")
        expect(page.get_by_label("Search")).to_be_focused()
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("o")
        page.wait_for_url("**/episodes/**")
        here = page.url
        page.keyboard.press("]")
        page.wait_for_url(lambda url: url != here)
        page.keyboard.press("[")
        page.wait_for_url(here)
        page.keyboard.press("n")
        expect(page.locator(".fault").first).to_be_focused()
        page.keyboard.press("e")
        expect(page.locator("details.step:not([open])")).to_have_count(0)
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.keyboard.press("u")
        page.wait_for_url("**/runs/partly?outcome=failed")


def test_the_theme_is_chosen_and_kept(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        settled(page, "/")
        colour = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(colour)
        page.keyboard.press("t")
        dark = page.evaluate(colour)
        assert dark != light
        settled(page, "/runs/partly")
        assert page.evaluate(colour) == dark


def test_a_decision_is_made_by_a_click(browser: Browser, base: str, runs: Path) -> None:
    with browser.page(base) as page:
        settled(page, PAGES["open"])
        page.get_by_role("button", name="The reply is right here").click()
        expect(page.locator("form.why .chip.right")).to_be_visible()
    lines = (runs / "open" / "decisions.jsonl").read_bytes().splitlines()
    kept = orjson.loads(lines[-1])
    assert (kept["reading"], kept["right"], kept["by"]) == (OPEN, True, "tester")


def test_records_show_what_should_be_there(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        settled(page, "/runs/oracle/episodes/northgate-02/0")
        expect(page.locator("#record-diff").get_by_text("Expected")).to_be_visible()
        expect(page.locator("#record-diff .chip.right").first).to_be_visible()


LOOKS = list(product(PAGES, (DESKTOP, PHONE), ("light", "dark")))


@pytest.mark.parametrize(("name", "size", "scheme"), LOOKS)
def test_looks(
    browser: Browser, base: str, pictures: Path, name: str, size: tuple[int, int], scheme: str
) -> None:
    with browser.page(base, size=size, scheme=scheme) as page:
        settled(page, PAGES[name])
        looks_right(page, pictures / f"{name}-{size[0]}-{scheme}.png")


def hostile_pages(page: Page) -> list[str]:
    settled(page, "/runs/hostile")
    links = page.locator("#episodes td.id a").evaluate_all("all => all.map(a => a.pathname)")
    return [str(link) for link in links]


def test_texts_stay_texts(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        found = hostile_pages(page)
        assert len(found) == 12
        both = "/compare/episode/northgate-02/0?a=hostile&b=oracle"
        for path in ("/", "/runs/hostile", *found, both, "/compare?a=hostile&b=oracle"):
            settled(page, path)
            page.keyboard.press("e")
            assert page.evaluate("window.ran") is None
            assert (
                page.locator("main iframe, main img, main base, main meta, main script").count()
                == 0
            )
            assert page.locator("main [hx-on\\:load], main [onerror], main [onload]").count() == 0
        settled(page, found[0])
        for text in CORPUS[:5]:
            assert text in (page.locator("main").text_content() or "")
