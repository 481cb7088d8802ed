"""``crmbench study experts`` in a browser: simulated people, from their link to the report."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect
from tests.conftest import NORTHGATE
from tests.web.browser import DESKTOP, PHONE, Browser, barriers, is_too_wide, served, settled

from crmbench.report.views.experts import expert_figures, write_expert_page
from crmbench.seats.listener import LOOPBACK
from crmbench.studies.experts import ExpertStudy
from crmbench.web.invite import open_study_room, study_app


def attend(page: Page, place: int) -> None:
    """What a person who refuses everything clicks, until they are thanked."""
    page.get_by_label("use one daily").check()
    page.get_by_label("customer service").check()
    page.get_by_role("button", name="I agree, begin").click()
    while True:
        heading = page.locator("h1").text_content() or ""
        assert barriers(page) == [], heading
        assert not is_too_wide(page), heading
        if "next task" in heading or "first task" in heading:
            page.get_by_role("button", name="Open the task").click()
        elif heading.startswith("Task "):
            page.get_by_label("Your reply to the user").fill("I cannot do that.")
            page.get_by_role("button", name="Send the reply").click()
        elif heading == "About this task":
            page.locator(f"[name=realism][value='{place}']").check()
            page.locator("[name=clear][value='4']").check()
            page.get_by_role("button", name="Go on").click()
        elif heading == "About the records":
            page.locator(f"[name^=object-][value='{place}']").first.check()
            page.get_by_role("button", name="Finish").click()
        else:
            expect(page.get_by_text("Your answers are kept.")).to_be_visible()
            return
        page.wait_for_load_state("networkidle")


def test_simulated_people_from_link_to_report(
    browser: Browser, tmp_path: Path, pictures: Path
) -> None:
    room = open_study_room(NORTHGATE, tmp_path / "study", 2, 2, 0, simulated=True)
    people = room.study.plan.people
    with served(study_app(room, LOOPBACK)) as base:
        for person, size, scheme in ((people[0], DESKTOP, "light"), (people[1], PHONE, "dark")):
            with browser.page(base, size=size, scheme=scheme) as page:
                settled(page, f"/join/{person.token}")
                page.screenshot(path=pictures / f"join-{size[0]}.png")
                attend(page, 4)
    found = expert_figures(ExpertStudy(tmp_path / "study"))
    assert (found.people, found.finished) == (2, 2)
    assert found.human is not None
    assert found.human.episodes == 4
    assert found.human.seconds is not None
    write_expert_page(found, tmp_path / "experts.html")
    text = (tmp_path / "experts.html").read_text(encoding="utf-8")
    assert "The people were simulated" in text
