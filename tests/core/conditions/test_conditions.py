"""What each condition does to a call, and that two ways to a call meet the same world."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import NORTHGATE

from crmbench.agents.careful import _WAIT, WAIT_EXAMPLES
from crmbench.core.backends import backend_maker
from crmbench.core.conditions import Laid, lay, parse_conditions
from crmbench.core.conditions.failures import NO_ANSWER
from crmbench.core.conditions.handbook import _RULE, RULE_EXAMPLES, articles_of, rank
from crmbench.core.conditions.kinds import (
    INDEXED_EXAMPLES,
    LISTS_EXAMPLES,
    OUTSIDE_EXAMPLES,
    gives_lists_by_name,
    is_outside,
    reads_index_by_name,
)
from crmbench.core.conditions.searching import TOTAL_EXAMPLES, without_total
from crmbench.core.episode import Episode
from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError, ToolError
from crmbench.formats.arc import load

SALES = load_domain("sales")


def a_task(world: str = "harbour-01") -> Task:
    task = load(Path(NORTHGATE)).tasks()[0]
    return replace(task, world=world, seed_data={}, breaks=())


@contextmanager
def playing(
    conditions: str, *, seed: int = 0, budget: int | None = None, task: Task | None = None
) -> Iterator[Episode]:
    backend = backend_maker("sqlite")(SALES)
    laid = lay(SALES, task or a_task(), parse_conditions(conditions), seed=seed, budget=budget)
    conditions_of = laid.conditions
    with Episode(laid.domain, laid.task, backend, conditions=conditions_of) as episode:
        episode.say()
        yield episode
    backend.close()


def ids(episode: Episode, n: int) -> list[str]:
    found = SALES.toolbox.get("contact_search").function(episode.database, limit=n)
    return [record["contact_id"] for record in found["records"]]


@pytest.mark.parametrize(("name", "expected"), LISTS_EXAMPLES)
def test_tools_that_give_lists(name: str, expected: bool) -> None:
    assert gives_lists_by_name(name) is expected


@pytest.mark.parametrize(("name", "expected"), INDEXED_EXAMPLES)
def test_tools_that_read_the_index(name: str, expected: bool) -> None:
    assert reads_index_by_name(name) is expected


@pytest.mark.parametrize(("name", "expected"), OUTSIDE_EXAMPLES)
def test_tools_that_are_no_part_of_the_crm(name: str, expected: bool) -> None:
    assert is_outside(name) is expected


@pytest.mark.parametrize(("text", "expected"), RULE_EXAMPLES)
def test_rules_are_told_from_other_bullets(text: str, expected: bool) -> None:
    assert bool(_RULE.search(text)) is expected


@pytest.mark.parametrize(("text", "seconds"), WAIT_EXAMPLES)
def test_seconds_to_wait_are_read(text: str, seconds: str | None) -> None:
    found = _WAIT.search(text)
    assert (found[1] if found else None) == seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("timeout", "no condition 'timeout'"),
        ("pages:0", "from 1 to 1000"),
        ("pages:few", "from 1 to 1000"),
        ("timeouts:3", "takes no number"),
        ("pages:3,pages", "named twice"),
    ],
)
def test_conditions_that_are_none_are_said(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_conditions(text)


def test_conditions_have_one_order_and_their_usual_numbers() -> None:
    specs = parse_conditions(" timeouts, pages ,break,handbook")
    assert [str(spec) for spec in specs] == ["handbook", "pages:5", "timeouts", "break"]


def test_nothing_asked_for_changes_nothing() -> None:
    task = a_task()
    assert lay(SALES, task, max_calls=7) == Laid(SALES, task, None, 7)


def test_timeouts_leave_a_write_done_or_not_and_a_read_shows_which() -> None:
    done = lost = 0
    with playing("timeouts") as episode:
        for contact in ids(episode, 40):
            result = episode.call("modify_contact", {"contact_id": contact, "title": "Buyer"})
            row = episode.database.get("Contact", contact)
            assert row is not None
            if result.ok:
                assert row["title"] == "Buyer"
            else:
                assert result.value == NO_ANSWER
                done += row["title"] == "Buyer"
                lost += row["title"] != "Buyer"
    assert done >= 3
    assert lost >= 3


def test_what_is_told_of_a_write_without_an_answer() -> None:
    with playing("timeouts,stale") as episode:
        told = " ".join(episode.view.policy.split())
    assert "Read first; write again only what was not made." in told
    assert "is found by a search" in told
    assert "A write that was made counts, whether it was answered or not." in told


def test_lists_within_a_record_are_whole_and_fresh() -> None:
    with playing("pages:1,stale:3") as episode:
        note = {"entity_type": "Opportunity", "content": "Rang.", "created_by": "Bo Li"}
        listed = episode.execute("list_opportunities", {}).result["records"]
        key = {"opportunity_id": listed[0]["opportunity_id"]}
        made = [
            episode.execute("add_note", {**note, "entity_id": key["opportunity_id"]}).result
            for _ in range(2)
        ]
        shown = episode.execute("view_opportunity_details", key).result
        assert {each["note_id"] for each in made} <= {
            each["note_id"] for each in shown["note_records"]
        }


def test_a_write_is_left_without_an_answer_twice_at_most() -> None:
    tries: list[int] = []
    with playing("timeouts") as episode:
        for contact in ids(episode, 30):
            arguments = {"contact_id": contact, "title": "Buyer"}
            answers = [episode.execute("modify_contact", arguments).ok for _ in range(3)]
            assert answers[2]
            tries.append(answers.index(True))
    assert max(tries) == 2


def test_reads_and_refusals_are_answered_at_once() -> None:
    with playing("timeouts") as episode:
        assert all(episode.execute("list_clients", {"limit": n}).ok for n in range(1, 40))
        refused = [
            episode.execute("modify_contact", {"contact_id": f"none-{n}", "title": "x"}).error
            for n in range(40)
        ]
    # What is refused may get no answer, but never one that says that it may be tried again.
    assert sum("none-" in str(error) for error in refused) >= 20


def test_two_ways_to_a_call_meet_the_same_world() -> None:
    def answers(detour: bool) -> list[Any]:
        with playing("timeouts,rate:3") as episode:
            found = []
            contacts = ids(episode, 20)
            for contact in reversed(contacts) if detour else contacts:
                if detour:
                    episode.execute("summarize_counts", {})
                arguments = {"title": "Buyer", "contact_id": contact}
                if detour:
                    arguments = dict(reversed(arguments.items()))
                record = episode.execute("modify_contact", arguments)
                found.append((contact, record.ok, record.error))
            return sorted(found)

    assert answers(detour=False) == answers(detour=True)
    assert any(not ok for _, ok, _ in answers(detour=False))


def test_another_seed_is_another_world() -> None:
    def answers(seed: int) -> list[bool]:
        with playing("timeouts", seed=seed) as episode:
            return [
                episode.execute("modify_contact", {"contact_id": each, "title": "x"}).ok
                for each in ids(episode, 30)
            ]

    assert answers(1) != answers(2)


def test_pages_end_and_hold_every_record_once() -> None:
    with playing("pages:7") as episode:
        seen, cursor = [], None
        while True:
            arguments: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
            value = episode.execute("list_contacts", arguments).result
            assert set(value) == {"records", "next"}
            assert len(value["records"]) <= 7
            seen += [record["contact_id"] for record in value["records"]]
            cursor = value["next"]
            if cursor is None:
                break
        assert seen == ids(episode, 500)
        schema = next(tool for tool in episode.view.tools if tool["name"] == "list_contacts")
        assert set(schema["parameters"]["properties"]) == {"cursor"}
        assert not episode.execute("list_contacts", {"cursor": "7"}).ok
        assert not episode.execute("list_contacts", {"limit": 100}).ok


@pytest.mark.parametrize(("text", "expected"), TOTAL_EXAMPLES)
def test_a_total_is_left_out_of_a_description(text: str, expected: str) -> None:
    assert without_total(text) == expected


@pytest.mark.parametrize("name", ["sales", "service", "sales_hard", "service_hard"])
def test_tools_with_a_cursor_promise_no_total(name: str) -> None:
    task = replace(a_task(), domain=name)
    paged = 0
    for tool in lay(load_domain(name), task, parse_conditions("pages")).domain.toolbox.schemas:
        if "cursor" in tool["parameters"]["properties"]:
            paged += 1
            assert "total_count" not in tool["description"], tool["name"]
    assert paged >= 3


def test_a_rate_limit_passes_after_the_wait_and_not_before() -> None:
    with playing("rate:2") as episode:
        refused = next(
            {"limit": n} for n in range(1, 50) if not episode.execute("list_notes", {"limit": n}).ok
        )
        again = episode.execute("list_notes", refused)
        assert not again.ok
        found = _WAIT.search(str(again.error))
        assert found
        episode.execute("wait", {"seconds": int(found[1]) - 1})
        assert not episode.execute("list_notes", refused).ok
        episode.execute("wait", {"seconds": int(found[1])})
        assert episode.execute("list_notes", refused).ok
        assert not episode.execute("wait", {"seconds": 0}).ok


def test_a_stale_search_lags_and_details_do_not() -> None:
    with playing("stale:2") as episode:
        deal = episode.execute("opportunity_search", {"stage": "Proposal"}).result["records"][0]
        key = {"opportunity_id": deal["opportunity_id"]}
        before = episode.sandbox.digest()
        for amount in (101.0, 102.0, 103.0):
            assert episode.execute("modify_opportunity", {**key, "amount": amount}).ok
        shown = episode.execute("opportunity_search", key).result["records"][0]["amount"]
        assert shown == 101.0
        assert episode.execute("opportunity_details", key).result["amount"] == 103.0
        now = episode.sandbox.digest()
        assert now != before
        assert episode.execute("wait", {"seconds": 1}).ok
        shown = episode.execute("opportunity_search", key).result["records"][0]["amount"]
        assert shown == 103.0
        assert episode.sandbox.digest() == now


def test_a_stale_search_shows_what_was_deleted_and_not_what_was_made() -> None:
    with playing("stale:3") as episode:
        found = episode.execute("quote_search", {"status": "Draft"}).result
        gone = found["records"][0]
        made = episode.execute(
            "create_quote",
            {"opportunity_id": gone["opportunity_id"], "amount": 5, "status": "Draft"},
        )
        assert made.ok
        assert episode.execute("delete_quote", {"quote_id": gone["quote_id"]}).ok
        state = episode.sandbox.digest()
        assert episode.execute("quote_search", {"status": "Draft"}).result == found
        assert episode.sandbox.digest() == state
        new = made.result["quote_id"]
        assert episode.execute("quote_details", {"quote_id": new}).ok
        assert not episode.execute("quote_details", {"quote_id": gone["quote_id"]}).ok


def test_the_handbook_holds_every_rule_and_the_prompt_none() -> None:
    rules = set(re.findall(r"\*\*([A-Z]+-\d+)\*\*", SALES.policy))
    with playing("handbook") as episode:
        assert not rules & set(re.findall(r"[A-Z]+-\d+", episode.view.policy))
        titles = episode.execute("handbook_titles", {}).result["titles"]
        assert {title.partition(":")[0] for title in titles} == rules
        for title in titles:
            article = episode.execute("handbook_open", {"title": title}).result
            assert article["text"] in " ".join(SALES.policy.split())
        found = episode.execute("handbook_search", {"query": "leave for a discount"}).result
        assert any(each["title"].startswith("DISC-1") for each in found["articles"])
        assert episode.execute("handbook_open", {"title": "deal-7"}).ok
        assert not episode.execute("handbook_open", {"title": "DEAL-99"}).ok


@pytest.mark.parametrize("domain", ["sales", "service"])
def test_every_article_is_found_by_its_own_words(domain: str) -> None:
    articles = articles_of(load_domain(domain).policy)
    assert len(articles) >= 20
    for article in articles:
        assert article in rank(articles, article.text)[:3], article.title


def test_a_break_is_told_and_the_notebook_kept() -> None:
    task = next(task for task in load(Path(NORTHGATE)).tasks() if len(task.turns) >= 3)
    with playing("break", task=task) as episode:
        [turn] = episode.task.breaks
        assert 1 <= turn < len(task.turns)
        assert f"after the user's turn {turn}:" in episode.view.policy
        episode.execute("notebook_write", {"text": "the client is Acme"})
        assert episode.execute("notebook_read", {}).result == {"entries": ["the client is Acme"]}
        assert not episode.execute("notebook_write", {"text": ""}).ok


def test_a_notebook_of_so_many_characters_holds_no_more_in_rare_ones() -> None:
    task = replace(a_task(), breaks=(1,), notebook=100)
    laid = lay(SALES, task)
    assert "The notebook holds 100 characters (bytes of UTF-8);" in laid.domain.policy
    write = laid.domain.toolbox.get("notebook_write")
    assert "at most 100 characters (bytes of UTF-8)" in write.params[0].description
    assert write.function(None, text="é" * 50) == {"entries": 1}
    with pytest.raises(ToolError, match="has 104"):
        write.function(None, text="𐀀" * 26)


def test_a_single_turn_cannot_break() -> None:
    task = replace(a_task(), turns=a_task().turns[:1])
    assert lay(SALES, task, parse_conditions("break")).task.breaks == ()


def test_a_budget_is_told_and_kept() -> None:
    with playing("", budget=3) as episode:
        assert "You have 3 tool calls" in episode.view.policy
        answers = [episode.call("summarize_counts", {}).ok for _ in range(5)]
    assert answers == [True, True, True, False, False]


def test_a_task_with_a_limit_of_its_own_tells_it() -> None:
    laid = lay(SALES, replace(a_task(), call_limit=290))
    assert "At most 290 tool calls a turn." in laid.domain.policy
    assert laid.conditions is None
    assert laid.max_calls == 290


def test_what_a_budget_allows_may_be_used_in_one_turn() -> None:
    task = replace(a_task(), budget=4_200)
    assert lay(SALES, task).max_calls == 4_200
    assert lay(SALES, replace(task, call_limit=30)).max_calls == 300
    assert lay(SALES, replace(task, budget=50)).max_calls == 1_000


def test_more_calls_are_allowed_where_a_condition_makes_many_of_one() -> None:
    assert lay(SALES, a_task(), parse_conditions("pages"), max_calls=7).max_calls == 70
