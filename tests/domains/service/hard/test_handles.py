"""What a change calls the memo that it changes: said, read back, dated and found by one search."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import product

import pytest

from crmbench.authoring.handbook import Condition
from crmbench.core.schema import Row
from crmbench.domains.service.hard import worklist
from crmbench.domains.service.hard.desk.content import looked_for
from crmbench.domains.service.hard.desk.drawing import BASE_DAY, TODAY, Draft, Taken
from crmbench.domains.service.hard.desk.words import CHANGES, data, phrasebook, say_conditions
from crmbench.domains.service.hard.reading import HITS
from crmbench.domains.service.hard.second_truth import hidden
from crmbench.domains.service.hard.second_truth.desk import (
    HANDLES,
    Page,
    handles_of,
    kind_of,
    read_page,
)
from crmbench.domains.service.hard.world import hard_world
from crmbench.domains.service.tools.search import terms_with_phrases
from crmbench.errors import HarnessError
from crmbench.salesforce.sosl.words import words_of

SEEDS = (7, 42)
PAIR = (Condition("state", "Texas"), Condition("priority", "High"))
SAID: Mapping[str, object] = {
    "number": "1204", "day": "4 May 2024", "first": "4 may 2024", "condition": frozenset(PAIR),
}  # fmt: skip
CONTENT = 0.5
"""The share of content among hidden links, at least."""
GAPS = {
    "date": "7 July 2025", "new_day": "9 October 2025", "new": "level 2",
    "cond": say_conditions(PAIR[:1], random.Random(1)),
}  # fmt: skip


@pytest.mark.parametrize("kind", HANDLES)
def test_a_pattern_matches_its_handle_and_not_the_other(kind: str) -> None:
    pattern, yes, no = HANDLES[kind]
    assert re.match(pattern, yes, re.IGNORECASE)
    assert kind_of(yes)[0] == kind
    assert not re.match(pattern, no, re.IGNORECASE)


def test_what_is_no_handle_is_refused() -> None:
    with pytest.raises(HarnessError, match="no memo is called"):
        kind_of("memo")


@pytest.mark.parametrize("change", CHANGES)
def test_every_wording_of_a_change_is_read_back_with_every_handle(change: str) -> None:
    condition = say_conditions(PAIR, random.Random(2))
    for kind, wordings in data()["handles"].items():
        for wording, sentence in product(wordings, phrasebook().templates[change]):
            target = wording.format(number="1204", day="4 May 2024", cond=condition)
            text = sentence.format(target=target, **GAPS)
            (said,) = phrasebook().read(f"{text[0].upper()}{text[1:]} The plotter works again.")
            assert said.kind == change
            want = SAID[kind]
            assert kind_of(said.gaps["target"]) == (
                kind,
                want.lower() if isinstance(want, str) else want,
            )


@pytest.mark.parametrize("seed", SEEDS)
def test_no_memo_is_written_after_today(seed: int) -> None:
    rows = hard_world(seed).made.rows["Knowledge__kav"]
    memos = [row for row in rows if row["Title"].startswith("Memo ")]
    assert len(memos) > 200
    assert max(date.fromisoformat(row["CreatedDate"][:10]) for row in memos) <= TODAY


@pytest.mark.parametrize("seed", SEEDS)
def test_a_name_is_given_before_it_is_used(seed: int) -> None:
    given = 0
    for memos in hard_world(seed).made.rules.values():
        by_key = {draft.key: draft for draft in memos.drafts}
        for draft in memos.drafts:
            if not draft.names:
                continue
            uses = [
                d.published
                for d in memos.drafts
                if d.amendment and d.amendment.target == draft.names and d.calls == "name"
            ]
            assert by_key[draft.names].published < draft.published < min(uses)
            given += 1
    assert given >= 3


def test_a_day_is_taken_once_and_not_after_the_last() -> None:
    taken = Taken()
    low, last = date(2024, 5, 1), date(2024, 5, 3)
    assert [taken.day(low, last) for _ in range(3)] == [last, date(2024, 5, 2), None]
    assert taken.day(low, date(2027, 1, 1)) == TODAY
    taken.release(Draft("a", last))
    assert taken.day(BASE_DAY, last) == last


@pytest.mark.parametrize("mechanism", hidden.LEAST)
def test_one_search_leads_from_a_memo_to_what_changes_it(mechanism: str) -> None:
    rows = hard_world(42).made.rows["Knowledge__kav"]
    pages = {row["Title"]: read_page(row) for row in rows}
    texts = {row["Title"]: _folded(row) for row in rows}
    found = hidden.links(rows, mechanism)
    assert sum(link.hidden for link in found) >= hidden.LEAST[mechanism]
    for link in found:
        hits = [_hits(words, texts) for words in _leads(link, pages, found)]
        shown = min((some for some in hits if link.title in some), key=len)
        assert link.kind == "content" or len(shown) <= HITS


@pytest.mark.parametrize("mechanism", hidden.LEAST)
def test_most_of_what_changes_a_memo_speaks_of_what_it_lays_down(mechanism: str) -> None:
    rows = hard_world(42).made.rows["Knowledge__kav"]
    kinds = [link.kind for link in hidden.links(rows, mechanism) if link.hidden]
    assert kinds.count("content") >= CONTENT * len(kinds)


def _hits(words: str, texts: Mapping[str, str]) -> list[str]:
    terms = terms_with_phrases(words)
    return [t for t, text in texts.items() if all(_in(term.words, text) for term in terms)]


def _leads(
    link: hidden.Link, pages: Mapping[str, Page], others: Sequence[hidden.Link]
) -> list[str]:
    """What to look for who knows the target; for what it lays down, in all words of its traits, or
    of those of what it ends, corrects or puts off.
    """
    if link.kind != "content":
        return [_lead(link, pages)]
    title, changed = link.target, {each.title: each.target for each in others}
    while not pages[title].traits:
        title = changed[title]
    found = [looked_for(trait) for trait in pages[title].traits]
    return [" ".join(f'"{word}"' for word in words) for words in product(*found)] if found else []


def _lead(link: hidden.Link, pages: Mapping[str, Page]) -> str:
    """What to look for who knows the target, and for an alias the memo that gives it."""
    target = pages[link.target]
    if link.kind == "alias":
        known = handles_of(pages.values())
        ((_, name),) = [key for key, title in known.items() if _is_alias(key, title, target)]
        return str(name)
    return {
        # In quotes, for memo 2024 is not every memo of that year.
        "number": f'"{link.target}"',
        "name": target.called,
        "day": f'"{target.day}"',
        "first": f'"{target.first}"',
        "condition": " ".join(f'"{words}"' for words in target.condition),
    }[link.kind]


def _is_alias(key: tuple[str, object], title: str, target: Page) -> bool:
    return key[0] == "name" and title == target.title


def _folded(row: Row) -> str:
    said = words_of(" ".join(row[name] for name in ("Title", "Summary", "FAQ_Answer__c")))
    return f" {' '.join(said)} "


def _in(words: tuple[str, ...], text: str) -> bool:
    return f" {' '.join(words)} " in text


def test_a_hidden_link_on_which_nothing_hangs_is_found() -> None:
    world = hard_world(42)
    rows = world.made.rows["Knowledge__kav"]
    task = next(worklist.tasks(world, "L3", 42, "canary"))
    assert not hidden.problems(task, rows)
    idle = tuple(replace(item, rules=()) for item in task.gold.items)
    bare = replace(task, gold=replace(task.gold, items=idle))
    found = hidden.problems(bare, rows)
    assert found[-1] == "0 hidden links decide an item, not 5"
    assert len(found) > hidden.LEAST["routing"]
    smaller = replace(bare, tags=("level:L2", "mechanism:routing"))
    assert not hidden.problems(smaller, rows)
