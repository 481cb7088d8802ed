"""The careful reader: what it can tell from an excerpt, what it follows up, and what it pays."""

from __future__ import annotations

from contextlib import closing
from datetime import date

import pytest

from crmbench.authoring.handbook import Amendment, Condition, Provision, Rulebook
from crmbench.authoring.handbook.days import read_date
from crmbench.core.clock import WorldClock
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.service.hard import checks, merging, worklist
from crmbench.domains.service.hard.desk.ahead import open_to_change
from crmbench.domains.service.hard.desk.glance import (
    CHATTER,
    gives,
    is_foreign,
    is_trait,
    is_turn,
    matters,
    matters_beside,
    speaks_of,
)
from crmbench.domains.service.hard.desk.shelf import Shelf
from crmbench.domains.service.hard.desk.words import data, new_words
from crmbench.domains.service.hard.domain import SERVICE_HARD
from crmbench.domains.service.hard.second_truth.desk import read_page
from crmbench.domains.service.hard.world import hard_world

WORLD = hard_world(42)
LARKS = Condition("carrier", "Skylark")
LATE = Condition("shift", "Late")
DAY = date(2026, 3, 2)
TEXAS = Condition("state", "Texas")


# --- what an excerpt tells ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "trait", "spoken", "own"),
    [
        ("… our say on whose date we measure with parcels of the larks …", LARKS, True, False),
        ("… As soon as the larks carried the line, the cap …", LARKS, False, True),
        ("About the larks and New York: what began on 8 …", LARKS, False, False),
        ("… how a draw is broken over in Texas retires on …", TEXAS, True, False),
        ("Where it comes from Texas, the grade …", TEXAS, False, True),
        # It may stand elsewhere, too: this excerpt is about something else.
        ("Thanks to all who stayed late over lunch. As of …", LATE, True, False),
    ],
)  # fmt: skip
def test_a_trait_is_spoken_of_or_asked_for(
    shown: str, trait: Condition, spoken: bool, own: bool
) -> None:
    assert speaks_of(shown, trait) is spoken
    assert gives(shown, trait) is own


def test_an_excerpt_tells_its_matter() -> None:
    helper = "… the fresh look at how far people may choose their helper over Account Access …"
    assert matters(helper) == {"wish"}
    assert not is_foreign(helper, "routing")
    assert is_foreign(helper, "duplicates")
    assert CHATTER in matters("Mind the lid of the sample chest, it cost $20 to mend.")
    assert matters("… over in Texas retires on 4 May 2024.") == set()


def test_the_words_of_a_trait_tell_no_matter() -> None:
    shown = "… of before one is let near with dear things of $85 or more stops where …"
    assert matters(shown) == {"relief"}
    assert matters_beside(shown, Condition("price", 85, "at least")) == set()


def test_a_turn_of_speech_is_no_answer() -> None:
    assert is_turn("Memo 1439 is to be heeded, as from 24 June 2024, wherever …", "heeded")
    assert not is_turn("… what the customer wants is heeded. First day: 4 May 2024.", "heeded")


def test_a_word_may_stand_for_a_trait() -> None:
    assert is_trait("Where the line was sold as Clearance and at the same time …", "clearance")
    assert not is_trait("From 4 May 2024 on Clearance earns no slow money …", "clearance")


@pytest.mark.parametrize("wording", data()["changes"]["word"])
def test_a_new_word_is_read_from_the_excerpt_alone(wording: str) -> None:
    said = wording.format(word="rung", known="grade")
    assert [word for word, _ in new_words(f"… {said.split(maxsplit=1)[1]} …")] == (
        ["rung"] if not wording.startswith("By") else []
    )
    assert [word for word, _ in new_words(said)] == ["rung"]
    assert new_words("… the grade that the case needs is level 2 …") == []


# --- what is followed up --------------------------------------------------------------------------

BASE = Provision("Caps", "cap", "one", date(2022, 1, 1))
ASKED = {"cap": [({"state": "Texas"}, DAY), ({"state": "Ohio"}, DAY)]}


def _rule(number: str, value: str, since: date, state: str = "Texas") -> Provision:
    return Provision(number, "cap", value, since, (Condition("state", state),))


def test_what_decides_is_followed_up_and_what_could() -> None:
    older, newer = _rule("1", "two", date(2024, 1, 1)), _rule("2", "three", date(2025, 1, 1))
    # The older one would decide for Ohio if it reached further; so would one for a third state.
    third = _rule("3", "four", date(2023, 1, 1), "Iowa")
    found = open_to_change(Rulebook([BASE, older, newer, third], []), ASKED)
    assert found == {"1": "cap", "2": "cap", "3": "cap"}


def test_what_could_decide_nothing_is_not_followed_up() -> None:
    ended = Amendment("9", "1", date(2025, 1, 1), "repeal")
    rules = [BASE, _rule("1", "two", date(2024, 1, 1)), _rule("2", "six", date(2027, 1, 1))]
    # What has ended and what is still to come; but the end may end.
    assert open_to_change(Rulebook(rules, [ended]), ASKED) == {"9": "cap"}
    # Newer rules decide all that an older one could reach.
    over = [_rule(str(n), str(n), date(2025, 1, n), s) for n, s in ((4, "Texas"), (5, "Ohio"))]
    assert "1" not in open_to_change(Rulebook([*rules, *over], []), ASKED)


def test_an_exception_is_followed_up_while_it_matters() -> None:
    rules = [BASE, _rule("1", "two", date(2024, 1, 1))]
    out = Amendment("2", "1", date(2025, 1, 1), "except", unless=TEXAS)
    late = Amendment("3", "1", date(2027, 1, 1), "except", unless=TEXAS)
    assert set(open_to_change(Rulebook(rules, [out, late]), ASKED)) == {"1", "2"}


# --- what it pays ---------------------------------------------------------------------------------


def test_the_shelf_shows_what_the_tool_shows() -> None:
    shelf = Shelf(WORLD.made.rows["Knowledge__kav"])
    tool = SERVICE_HARD.toolbox.get("search_knowledge_articles")
    with closing(SqliteBackend(SERVICE_HARD.schema)) as backend:
        database = backend.acquire(SERVICE_HARD.world(WORLD.name))
        database.start(WorldClock(WORLD.now, "test"))
        org = SERVICE_HARD.handle(database)
        for words in ('"what began on" 2025', '"dear" "45"', "2242", '"the blue vans"', '"Texas"'):
            answer = tool.function(org, search_term=words)
            found = [(row["Title"], row["Excerpt"]) for row in answer["articles"]]
            assert shelf.count(words) == answer["total_count"]
            assert shelf.page(words, 1) == found
        backend.release(SERVICE_HARD.world(WORLD.name), database)
    assert shelf.searches == 5


def test_a_page_is_paid_for_once_and_old_ones_are_left() -> None:
    shelf = Shelf(WORLD.made.rows["Knowledge__kav"])
    found = shelf.shown('"Texas"')
    assert len(found) > 20
    assert shelf.searches == 3
    shelf.shown('"Texas"')
    assert shelf.searches == 3
    last = shelf.written(found[-1][0])
    other = Shelf(WORLD.made.rows["Knowledge__kav"])
    # The first page tells how many there are.
    assert other.shown('"Texas"', last)[-1] == found[-1]
    assert other.searches == 2


@pytest.mark.parametrize(("mechanism", "module"), [("routing", worklist), ("duplicates", merging)])
def test_the_reader_needs_few_calls_and_opens_little_else(mechanism: str, module: object) -> None:
    make = worklist.tasks if module is worklist else merging.tasks
    task = next(make(WORLD, "L3", 42, "canary"))
    scout = checks.SCOUTS[mechanism](WORLD.made, [item.key for item in task.gold.items])
    scout.read()
    deciding = {rule for item in task.gold.items for rule in item.rules if rule.startswith("Memo")}
    assert deciding <= scout.opened.keys()
    assert len(scout.opened) < 4 * len(deciding)
    assert scout.calls < 250


def test_no_memo_rules_on_days_before_its_own() -> None:
    for row in WORLD.made.rows["Knowledge__kav"]:
        if row["Title"].startswith("Memo "):
            page, written = read_page(row), date.fromisoformat(row["CreatedDate"][:10])
            assert all(rule.since > written for rule in page.provisions)
            assert all(read_date(said.gaps["date"]) >= written for said, _ in page.changes)
