"""``crmbench play --web`` in a browser: whole conversations, one to a pass and one to a fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.web.browser import DESKTOP, PHONE, Browser, barriers, is_too_wide, served, settled

from crmbench.core.task import GoldCall
from crmbench.grading.gold import resolve_references
from crmbench.runner.run_dir import RunDir
from crmbench.seats.listener import LOOPBACK
from crmbench.serve.sessions import Sessions
from crmbench.web.play import PlayRoom, play_app

Place = tuple[str, PlayRoom, Path]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    room = PlayRoom(Sessions(out=tmp_path), tmp_path)
    with served(play_app(room, "demo", "demo", LOOPBACK)) as base:
        yield base, room, tmp_path


def call(page: Page, made: GoldCall, arguments: dict[str, object]) -> None:
    """Find a tool, fill in its form, and send it."""
    page.get_by_label("Find a tool").fill(made.tool)
    page.locator("#tool-list a:visible", has=page.get_by_text(made.tool, exact=True)).click()
    form = page.locator("#tool-form")
    expect(form.get_by_role("heading", name=made.tool)).to_be_visible()
    for name, value in arguments.items():
        field = form.locator(f"[name='{name}']")
        if field.evaluate("f => f.tagName") == "SELECT":
            field.select_option(str(value))
        else:
            field.fill(str(value))
    form.get_by_role("button", name=f"Call {made.tool}").click()
    page.wait_for_url("**#last")


def test_a_whole_conversation_to_a_pass(browser: Browser, place: Place, pictures: Path) -> None:
    base, room, out = place
    seat = room.begin("demo", 1, "ann")
    task = seat.session.task
    with browser.page(base) as page:
        settled(page, f"/play/{seat.token}")
        for number, turn in enumerate(task.gold.turns):
            expect(page.get_by_text(task.turns[number].utterance)).to_be_visible()
            for made in turn.calls:
                call(page, made, resolve_references(dict(made.arguments), []))
            page.screenshot(path=pictures / f"play-{number}.png")
            page.keyboard.press("r")
            page.keyboard.type(str((turn.response or {})["text"]))
            page.get_by_role("button", name="Send the reply").click()
            page.wait_for_load_state("networkidle")
        expect(page.locator(".title-row .chip.passed")).to_be_visible()
        assert barriers(page) == []
    (record,) = RunDir(next(out.iterdir())).episodes()
    assert record.verdict.success
    assert record.seconds > 0


def test_a_whole_conversation_to_a_fail(browser: Browser, place: Place) -> None:
    base, room, out = place
    seat = room.begin("demo", 1, "bob")
    with browser.page(base, size=PHONE, scheme="dark") as page:
        settled(page, f"/play/{seat.token}")
        while page.get_by_label("Your reply to the user").count():
            page.get_by_label("Your reply to the user").fill("I have done it.")
            page.get_by_role("button", name="Send the reply").click()
            page.wait_for_load_state("networkidle")
        expect(page.locator(".title-row .chip.failed")).to_be_visible()
        page.keyboard.press("n")
        expect(page.locator(".fault").first).to_be_focused()
    (record,) = RunDir(next(out.iterdir())).episodes()
    assert not record.verdict.success


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_a_click_on_a_record_becomes_a_call(
    browser: Browser, place: Place, pictures: Path, size: tuple[int, int], scheme: str
) -> None:
    base, room, _ = place
    seat = room.begin("demo", 1, "ann")
    with browser.page(base, size=size, scheme=scheme) as page:
        settled(page, f"/play/{seat.token}")
        page.get_by_role("link", name="Look into the org").click()
        page.get_by_role("navigation", name="Objects").get_by_role(
            "link", name="Opportunities"
        ).click()
        page.locator("tr[data-row] td.id a").first.click()
        name = str(page.locator("h1").text_content())
        assert barriers(page) == []
        assert not is_too_wide(page)
        page.screenshot(path=pictures / f"play-record-{size[0]}.png")
        page.get_by_role("link", name="opportunity_details", exact=True).click()
        expect(page.locator("[name=opportunity_id]")).not_to_have_value("")
        assert barriers(page) == []
        page.get_by_role("button", name="Call opportunity_details").click()
        page.wait_for_url("**#last")
        expect(page.locator("#last code", has_text="opportunity_details")).to_be_visible()
        page.locator("#last summary").click()
        expect(page.locator("#last pre, #last table").first).to_contain_text(name)
    assert seat.session.calls == 1


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_looks(browser: Browser, place: Place, size: tuple[int, int], scheme: str) -> None:
    base, room, _ = place
    seat = room.begin("demo", 2, "ann")
    with browser.page(base, size=size, scheme=scheme) as page:
        settled(page, f"/play/{seat.token}")
        page.locator("#tool-list a").first.click()
        expect(page.locator("#tool-form")).to_be_visible()
        assert barriers(page) == []
        assert not is_too_wide(page)
