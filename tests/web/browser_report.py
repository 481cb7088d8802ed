"""The report in a browser: a list that is narrowed, conversations that open, and no server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.web.browser import (
    DESKTOP,
    PHONE,
    Browser,
    barriers,
    is_too_wide,
    looks_right,
    served_folder,
)
from tests.web.hostile import hostile_run
from tests.web.pages import play, play_partly

from crmbench.report import html


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("report")
    oracle = play(root / "oracle")
    runs = [play_partly(root / "partly"), hostile_run(oracle, root / "hostile")]
    (root / "public").mkdir()
    with pytest.MonkeyPatch.context() as few:
        few.setattr(html, "LISTED", 5)
        html.write_report(runs, root / "public" / "report.html")
    with served_folder(root / "public") as address:
        yield address


def test_a_conversation_opens_at_its_fault_and_closes(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        page.goto("/report.html")
        rows = page.locator("#list0 tr[data-row]:visible")
        expect(rows).to_have_count(12)
        page.get_by_label("Outcome").first.select_option("passed")
        expect(rows).to_have_count(2)
        page.get_by_label("Outcome").first.select_option("failed")
        expect(rows).to_have_count(10)
        page.get_by_label("Search").first.fill("northgate-07")
        expect(rows).to_have_count(1)
        rows.locator("td.wide a").click()
        expect(page.locator("#episode h2").first).to_contain_text("northgate-07")
        expect(page.locator("#overview")).to_be_hidden()
        expect(page.locator("#episode .fault").first).to_be_focused()
        page.go_back()
        expect(page.locator("#episode")).to_be_hidden()
        expect(rows).to_have_count(1)


def test_keys_lead_through_the_list_and_the_conversation(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        page.goto("/report.html")
        page.get_by_label("Outcome").first.select_option("failed")
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        expect(page.get_by_label("Search").first).to_be_focused()
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("o")
        opened = page.locator("#episode h2").first
        expect(opened).to_be_visible()
        here = str(opened.text_content())
        page.keyboard.press("]")
        expect(opened).not_to_have_text(here)
        page.keyboard.press("[")
        expect(opened).to_have_text(here)
        page.keyboard.press("n")
        expect(page.locator("#episode .fault").first).to_be_focused()
        page.keyboard.press("e")
        expect(page.locator("#episode details.step:not([open])")).to_have_count(0)
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        assert barriers(page) == []
        page.keyboard.press("Escape")
        page.keyboard.press("u")
        expect(page.locator("#overview")).to_be_visible()


def test_records_stand_beside_what_they_should_be(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        page.goto("/report.html")
        page.get_by_label("Outcome").first.select_option("failed")
        page.locator("#list0 tr[data-row]:visible td.id a").first.click()
        page.locator("#episode summary", has_text="Records, before and after").click()
        expect(page.locator("#record-diff").get_by_text("Expected")).to_be_visible()
        expect(page.locator("#record-diff .chip.missing").first).to_be_visible()


def test_without_scripts_a_conversation_opens(browser: Browser, base: str) -> None:
    with browser.page(base, scripts=False) as page:
        page.goto("/report.html")
        link = page.locator("#list0 td.wide a[href$=-fault]").first
        place = str(link.get_attribute("href")).removesuffix("-fault")
        link.click()
        expect(page.locator(f"{place} .bubble").first).to_be_visible()
        assert not is_too_wide(page)
        call = page.locator(f"{place} details.step:not([open]) summary").first
        call.click()
        expect(page.locator(f"{place} details.step[open] .inside").first).to_be_visible()


def test_what_others_wrote_never_runs(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        for number in range(12):
            page.goto(f"/report.html#e1-{number}")
            expect(page.locator("#episode .turn-row").first).to_be_visible()
            page.get_by_role("button", name="Unfold calls").click()
            assert page.evaluate("window.ran") is None


@pytest.mark.parametrize(
    ("place", "size", "scheme"), list(product(("", "#e0-2"), (DESKTOP, PHONE), ("light", "dark")))
)
def test_looks(
    browser: Browser, base: str, pictures: Path, place: str, size: tuple[int, int], scheme: str
) -> None:
    with browser.page(base, size=size, scheme=scheme) as page:
        page.goto(f"/report.html{place}")
        shown = "#episode" if place else "#overview"
        expect(page.locator(shown)).to_be_visible()
        looks_right(page, pictures / f"report-{shown[1:]}-{size[0]}-{scheme}.png")
