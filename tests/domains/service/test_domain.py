"""The service org as a domain: episodes in it, seeds, tool sets, and the rules agents are told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from crmbench.core.answer import Answer
from crmbench.core.episode import Episode
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.core.trace import EpisodeTrace
from crmbench.domains.registry import load_domain
from crmbench.domains.service.domain import SERVICE
from crmbench.domains.service.schema import SCHEMA
from crmbench.errors import InputError
from crmbench.grading.gold import execute_gold
from crmbench.grading.verdict import EpisodeVerdict, judge_episode
from crmbench.salesforce.ids import record_id

WORLD = "org-42-x0.1"
FIRST_CASE = "SELECT Id, OwnerId FROM Case WHERE Status != 'Closed' ORDER BY Id LIMIT 1"


@pytest.fixture(scope="module")
def backend() -> Iterator[SqliteBackend]:
    made = SqliteBackend(SCHEMA)
    yield made
    made.close()


def task(gold: GoldTurn, **fields: Any) -> Task:
    turns = (Turn(1, "Who?"),)
    return Task("t", "service", WORLD, turns, Gold((gold,)), **fields)


def play(
    backend: SqliteBackend, asked: Task, calls: list[tuple[str, dict[str, Any]]], reply: str
) -> tuple[EpisodeTrace, EpisodeVerdict]:
    with Episode(SERVICE, asked, backend) as episode:
        episode.say()
        for name, arguments in calls:
            episode.call(name, arguments)
        episode.reply(reply)
        trace = episode.finish()
    return trace, judge_episode(SERVICE, asked, trace, [execute_gold(SERVICE, asked, backend)])


def test_it_is_found_by_its_name() -> None:
    assert load_domain("service") is SERVICE
    assert SERVICE.world("org-42").name == "org-42"
    with pytest.raises(InputError, match="atlantis"):
        SERVICE.world("atlantis")


def test_tool_sets_restrict_what_an_agent_is_told_and_may_call(backend: SqliteBackend) -> None:
    soql_only = SERVICE.with_tools("soql")
    assert soql_only.name == "service"
    with Episode(soql_only, task(GoldTurn()), backend) as episode:
        names = {tool["name"] for tool in episode.view.tools}
        assert {"issue_soql_query", "respond", "assign_case"} <= names
        assert "get_cases" not in names
        episode.say()
        assert not episode.call("get_cases", {}).ok
        assert episode.call("issue_soql_query", {"query": FIRST_CASE}).ok
    assert "get_cases" in SERVICE.with_tools("tasks").toolbox.by_name
    assert SERVICE.with_tools("both").toolbox is SERVICE.toolbox
    with pytest.raises(InputError, match="tasks or soql or both"):
        SERVICE.with_tools("all")


def test_an_answer_is_judged_from_the_answering_tool(backend: SqliteBackend) -> None:
    right, wrong = record_id("User", 1), record_id("User", 2)
    asked = task(
        GoldTurn((GoldCall("respond", {"content": right}),), answer=Answer("id", (right,)))
    )
    _, verdict = play(backend, asked, [("respond", {"content": right})], "It is Ana.")
    # The answer is right; that the user heard it is not certain, for who Ana is stands nowhere.
    assert verdict.undecided
    assert verdict.turns[0].answer == 1.0
    _, verdict = play(backend, asked, [("respond", {"content": right})], f"It is {right}.")
    assert verdict.success
    _, verdict = play(backend, asked, [("respond", {"content": wrong})], right)
    assert not verdict.success
    assert verdict.reason is not None
    assert "wrong answer" in verdict.reason
    _, verdict = play(backend, asked, [], f"The agent is {right}.")
    assert verdict.success


def test_writes_are_compared_with_the_gold(backend: SqliteBackend) -> None:
    with Episode(SERVICE, task(GoldTurn()), backend) as episode:
        episode.say()
        (case,) = episode.call("issue_soql_query", {"query": FIRST_CASE}).value["records"]
        users = episode.call(
            "issue_soql_query",
            {"query": f"SELECT Id FROM User WHERE IsActive = true AND Id != '{case['OwnerId']}'"},
        ).value["records"]
    give = ("assign_case", {"case_id": case["Id"], "agent_id": users[0]["Id"]})
    other = ("assign_case", {"case_id": case["Id"], "agent_id": users[1]["Id"]})
    asked = task(GoldTurn((GoldCall(*give),)))
    trace, verdict = play(backend, asked, [give], "Done.")
    assert verdict.success
    assert [change.table for change in trace.turns[0].calls[0].changes] == [
        "Case",
        "CaseHistory__c",
    ]
    assert not play(backend, asked, [other], "Done.")[1].success
    assert not play(backend, asked, [], "Done.")[1].success
    comment = ("comment_on_case", {"case_id": case["Id"], "comment": "Passed on."})
    assert not play(backend, asked, [give, comment], "Done.")[1].success


ACCOUNT, USER, CONTACT = (record_id(name, 5) for name in ("Account", "User", "Contact"))
SEED: dict[str, dict[str, dict[str, Any]]] = {
    "Contact": {CONTACT: {"LastName": "Low", "AccountId": ACCOUNT, "OwnerId": USER}},
    "Account": {ACCOUNT: {"FirstName": "Lea", "LastName": "Low", "ShippingState": "CA"}},
    "User": {USER: {"LastName": "Kay", "Username": "kay@desk.example"}},
}


def test_seeded_records_are_completed_and_found(backend: SqliteBackend) -> None:
    with Episode(SERVICE, task(GoldTurn(), seed_data=SEED), backend) as episode:
        episode.say()
        query = f"SELECT Account.Name, Owner.IsActive FROM Contact WHERE Id = '{CONTACT}'"
        assert episode.call("issue_soql_query", {"query": query}).value["records"] == [
            {"Account": {"Name": "Lea Low"}, "Owner": {"IsActive": True}}
        ]


@pytest.mark.parametrize(
    ("table", "key", "fields", "says"),
    [
        ("Lead", "00Q", {}, "there is no table 'Lead'"),
        ("User", "005", {"LastName": "x"}, "no id of the object User"),
        ("User", CONTACT, {"LastName": "x"}, "no id of the object User"),
        ("User", record_id("User", 6), {"LastName": "x"}, "needs Username"),
        ("User", USER, {"LastName": 5, "Username": "x"}, "LastName cannot be 5"),
        ("User", USER, {"LastName": "x", "Username": "x", "Age": 5}, "no field 'Age'"),
        ("Contact", CONTACT, {**SEED["Contact"][CONTACT]}, "There is no account"),
        (
            "Knowledge__kav",
            record_id("Knowledge__kav", 6),
            {"Title": "x", "UrlName": "x", "PublishStatus": "Live"},
            "PublishStatus must be one of: Draft, Online",
        ),
    ],
)
def test_seeds_that_break_the_schema_are_refused(
    backend: SqliteBackend, table: str, key: str, fields: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        Episode(SERVICE, task(GoldTurn(), seed_data={table: {key: fields}}), backend)
    assert caught.value.field is not None
    assert caught.value.field.startswith(f"seed_data.{table}")


def test_the_house_rules_have_ids_and_name_the_tools_there_are() -> None:
    ids = re.findall(r"^- \*\*([A-Z]+-\d)\*\* ", SERVICE.policy, re.MULTILINE)
    assert 15 <= len(ids) <= 30
    assert len(set(ids)) == len(ids)
    for name in re.findall(r"`([a-z_]+)`", SERVICE.policy):
        assert name in SERVICE.toolbox.by_name
