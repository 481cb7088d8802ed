"""Whether a wrong item's cause was not found or was in view: what the texts that decide it tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmbench.core.task import GoldItem, Task
from crmbench.grading.evidence import Seen, TextsSeen
from crmbench.grading.items import ItemVerdict
from crmbench.runner.play import Play, start_play
from crmbench.runner.play_cache import PlayCache
from crmbench.runner.play_grade import GradedPlay, grade_plays
from crmbench.runner.task_sets import load_named

SERVICE, SALES = "service/hard", "sales/hard"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> PlayCache:
    return PlayCache(tmp_path_factory.mktemp("cache"))


def first_of(name: str, mechanism: str) -> tuple[int, Task]:
    return next(
        (number, task)
        for number, task in enumerate(load_named(name).tasks(), 1)
        if task.tag("mechanism") == mechanism
    )


def alike(items: tuple[GoldItem, ...]) -> tuple[GoldItem, str, str]:
    """An item that comes out the same without one memo as without another, and the two."""
    for item in items:
        memos = [
            (each.without[0], each.outcome)
            for each in item.alternatives
            if len(each.without) == 1 and each.without[0].startswith("Memo")
        ]
        for name, outcome in memos:
            for other, same in memos:
                if other != name and same == outcome:
                    return item, name, other
    raise AssertionError("no item hangs on two memos alike")


def open_memo(play: Play, name: str) -> None:
    found = play.call("search_knowledge_articles", {"search_term": name}).value
    [row] = [row for row in found["articles"] if row["Title"] == name]
    assert play.call("read_article", {"article_id": row["Id"]}).ok


def review_as(play: Play, item: GoldItem, without: str) -> None:
    [outcome] = [each.outcome for each in item.alternatives if each.without == (without,)]
    [columns] = outcome.values()
    given = {"case_id": item.key, "outcome": columns["ReviewOutcome__c"]}
    if columns["ReviewAmount__c"] is not None:
        given["amount"] = columns["ReviewAmount__c"]
    assert play.call("record_credit_review", given).ok


def verdict_on(graded: GradedPlay, item: GoldItem) -> ItemVerdict:
    return next(each for each in graded.items if each.key == item.key)


def test_of_two_memos_that_explain_a_wrong_item_the_one_that_was_not_opened_is_blamed(
    tmp_path: Path, cache: PlayCache
) -> None:
    number, task = first_of(SERVICE, "census")
    item, *both = alike(task.gold.items)
    for opened, left in (both, both[::-1]):
        with start_play(tmp_path / opened, SERVICE, str(number), cache=cache) as play:
            open_memo(play, opened)
            review_as(play, item, left)
            play.reply("Done.")
        [graded] = grade_plays([tmp_path / opened])
        found = verdict_on(graded, item)
        assert found.blame == (left,)
        assert found.evidence[opened] is Seen.OPENED
        assert found.evidence[left] in (Seen.LISTED, Seen.NEVER)
        said = "listed and not opened" if found.evidence[left] is Seen.LISTED else "never found"
        assert found.explained() == f"as if {left} was not there; {left} was {said}"
        assert graded.texts.opened == 1


def test_who_opened_all_that_decides_an_item_has_misread_it(
    tmp_path: Path, cache: PlayCache
) -> None:
    number, task = first_of(SERVICE, "census")
    item, *both = alike(task.gold.items)
    with start_play(tmp_path / "play", SERVICE, str(number), cache=cache) as play:
        for name in both:
            open_memo(play, name)
        review_as(play, item, both[0])
        play.reply("Done.")
    [graded] = grade_plays([tmp_path / "play"])
    found = verdict_on(graded, item)
    assert found.blame is not None
    assert found.explained().endswith(f"; {found.blame[0]} was opened")
    assert graded.texts.opened == 2


def test_the_texts_that_decide_are_counted_by_how_far_the_agent_came(
    tmp_path: Path, cache: PlayCache
) -> None:
    number, task = first_of(SALES, "worklist")
    alone = {each.without for item in task.gold.items for each in item.alternatives}
    articles = sorted(names[0] for names in alone if len(names) == 1 and names[0][:3] == "HB-")
    with start_play(tmp_path / "play", SALES, str(number), cache=cache) as play:
        assert play.call("handbook_open", {"number": articles[0]}).ok
        # A refused call shows nothing, and naming an article is not opening it.
        assert not play.call("handbook_open", {"number": f"{articles[1]}0"}).ok
        listed = play.call("handbook_search", {"words": articles[2]}).value["articles"]
        play.reply("There are none on hold.")
    [graded] = grade_plays([tmp_path / "play"])
    named = {row["number"] for row in listed} & {*articles} - {articles[0]}
    assert articles[2] in named
    rest = len(articles) - 1 - len(named)
    assert graded.texts == TextsSeen(opened=1, listed=len(named), never=rest)
    assert graded.texts.described() == (
        f"of {len(articles)} texts that decide 1 was opened, "
        f"{len(named)} listed and not opened, {rest} never found"
    )
