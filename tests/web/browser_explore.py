"""``crmbench explore`` in a browser: clicks, the query box with its offers, the growing journal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.web.browser import DESKTOP, PHONE, Browser, barriers, is_too_wide, looks_right, served

from crmbench.seats.listener import LOOPBACK
from crmbench.serve.sessions import Sessions
from crmbench.web.explore import explorer_app

ROOT = "/explore/harbour"
PAGES = {
    "org": ROOT,
    "list": f"{ROOT}/objects/Opportunity",
    "search": f"{ROOT}/search?q=in",
    "query": f"{ROOT}/query?q=SELECT Id, Name, Owner.Name FROM Account ORDER BY Name LIMIT 12",
    "journal": f"{ROOT}/journal",
}


@pytest.fixture(scope="module")
def base(sessions: Sessions) -> Iterator[str]:
    with served(explorer_app(sessions, LOOPBACK)) as address:
        yield address


def test_from_an_object_to_a_record_to_what_belongs_to_it(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        page.goto(ROOT)
        page.locator("main td.id").get_by_role("link", name="Account", exact=True).click()
        page.locator("tr[data-row] td.id a").first.click()
        name = page.locator("h1").text_content()
        page.locator("a[href*='/records/Contact/']").first.click()
        expect(page.get_by_role("link", name=str(name))).to_be_visible()


def test_the_box_offers_what_may_come_next(browser: Browser, base: str) -> None:
    with browser.page(base) as page:
        page.goto(f"{ROOT}/query")
        area = page.get_by_label("SOQL or SOSL")
        area.press_sequentially("SELECT Id, Name FROM Acc")
        expect(page.get_by_role("option", name="Account").first).to_be_visible()
        area.press("Tab")
        expect(area).to_have_value("SELECT Id, Name FROM Account")
        area.press_sequentially(" WHERE Status__c = 'Pro")
        expect(page.get_by_role("option", name="Prospect")).to_be_visible()
        area.press("Escape")
        area.fill("SELECT Id, Name FROM Account LIMIT 4")
        area.press("Control+Enter")
        expect(page.get_by_text("4 records")).to_be_visible()


def test_the_journal_grows_while_it_is_looked_at(
    browser: Browser, base: str, sessions: Sessions
) -> None:
    with browser.page(base) as page:
        page.goto(f"{ROOT}/journal")
        key = sessions.orgs["harbour"].org.rows("SELECT Id FROM Account LIMIT 1")[0]["Id"]
        token = sessions.orgs["harbour"].token
        answer = page.request.patch(
            f"{base}/services/data/v59.0/sobjects/Account/{key}",
            data={"Phone": "+1 555 <img src=x onerror=alert(1)>"},
            headers={"Authorization": f"Bearer {token}"},
        )
        assert answer.status == 204
        expect(page.get_by_text("+1 555 <img").first).to_be_visible()


LOOKS = list(product(PAGES, (DESKTOP, PHONE), ("light", "dark")))


@pytest.mark.parametrize(("name", "size", "scheme"), LOOKS)
def test_looks(
    browser: Browser, base: str, pictures: Path, name: str, size: tuple[int, int], scheme: str
) -> None:
    with browser.page(base, size=size, scheme=scheme) as page:
        page.goto(PAGES[name])
        looks_right(page, pictures / f"{name}-{size[0]}-{scheme}.png")


def test_a_record_looks_right(browser: Browser, base: str) -> None:
    with browser.page(base, size=PHONE) as page:
        page.goto(f"{ROOT}/objects/Account")
        page.locator("tr[data-row] td.id a").first.click()
        assert barriers(page) == []
        assert not is_too_wide(page)
