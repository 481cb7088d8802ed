"""Memos: patterns that find what they should; long texts that are opened one at a time."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest

from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import GoldCall, GoldTurn
from crmbench.domains.service.hard import census
from crmbench.domains.service.hard.domain import SERVICE_HARD
from crmbench.domains.service.hard.memos import memos
from crmbench.domains.service.hard.reading import refuse_long_texts
from crmbench.domains.service.hard.second_truth.memos import KINDS, find_kind, read_memos
from crmbench.domains.service.hard.world import HardWorld
from crmbench.errors import ToolError
from crmbench.grading.gold import execute_gold

WORLD = HardWorld(42)


@pytest.mark.parametrize("name", KINDS)
def test_a_pattern_finds_what_it_should(name: str) -> None:
    _, yes, no = KINDS[name]
    assert find_kind(name, yes)
    assert not find_kind(name, no)


@pytest.mark.parametrize("seed", range(1, 7))
def test_memos_say_what_the_rulebook_holds(seed: int) -> None:
    book = WORLD.made.book
    articles = list(memos(book, seed))
    rows = [{"Title": a.title, "FAQ_Answer__c": a.text} for a in articles]
    read = read_memos(rows)
    assert sorted(read.base) == sorted(book.base)
    assert read.saturdays == book.saturdays_from
    assert read.clearance == book.clearance_from
    assert read.plus == (book.plus_from, book.plus_points)
    assert read.freight == (book.freight_from, book.freight_cap)
    assert read.loyal == (book.loyal_from, book.loyal_more)
    assert read.second == (book.second_from, book.second_points)
    assert read.grace == (*book.grace, book.grace_region, book.grace_days)
    assert set(read.stints) == {stint.name for stint in book.stints}
    assert len(articles) > 120


@pytest.mark.parametrize(
    "query",
    [
        "SELECT Id, TextBody FROM EmailMessage WHERE ParentId = '1'",
        "SELECT Id FROM Case WHERE description LIKE '%late%'",
        "SELECT FIELDS(ALL) FROM Case LIMIT 1",
        "FIND {late} RETURNING Knowledge__kav(Id, FAQ_Answer__c)",
    ],
)
def test_queries_give_no_long_texts(query: str) -> None:
    with pytest.raises(ToolError, match="read_case"):
        refuse_long_texts(query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT Id FROM Case WHERE Subject LIKE '%Description%'",
        "FIND {description} IN ALL FIELDS RETURNING Case(Id, Subject)",
    ],
)
def test_words_in_quotes_are_no_fields(query: str) -> None:
    refuse_long_texts(query)


def test_no_tool_lists_texts_of_many_records() -> None:
    tools = SERVICE_HARD.toolbox.by_name
    assert {"read_case", "read_article"} <= set(tools)
    assert "the whole text" not in tools["search_knowledge_articles"].description


def test_records_are_opened_one_at_a_time() -> None:
    rows = WORLD.made.rows
    case, article = rows["Case"][0]["Id"], rows["Knowledge__kav"][0]["Id"]
    task = next(census.tasks(WORLD, "L1", 42, "canary"))
    calls = (
        GoldCall("read_case", {"case_id": case}),
        GoldCall("read_article", {"article_id": article}),
        GoldCall("search_knowledge_articles", {"search_term": "slow money"}),
        GoldCall("issue_sosl_query", {"query": "FIND {slow} RETURNING Case(Id, Subject)"}),
    )
    opened = replace(task, gold=replace(task.gold, turns=(GoldTurn(calls),), items=()))
    with closing(SqliteBackend(SERVICE_HARD.schema)) as backend:
        run = execute_gold(SERVICE_HARD, opened, backend)
    assert not run.faults
    assert not run.effects[-1]
