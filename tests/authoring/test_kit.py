"""What tasks are written with, on the toy domain: recording, building, generating, checking."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from tests.domains.toy import TOY as FOLDER

from crmbench.authoring.builder import TaskBuilder
from crmbench.authoring.calls import JUST_MADE, Derived, call
from crmbench.authoring.check import check_domain
from crmbench.authoring.domain import TableDomain, TaskSet
from crmbench.authoring.family import Family, NoCandidate
from crmbench.authoring.follow_ups import FollowUps
from crmbench.authoring.generate import generate_dataset
from crmbench.authoring.phrasing import PhrasingHistory
from crmbench.authoring.recorder import GoldRecorder
from crmbench.authoring.sampling import apportion, spread, stratified
from crmbench.core.answer import Answer
from crmbench.core.fact import Fact
from crmbench.core.sandbox import Sandbox
from crmbench.domains.sales.domain import SALES
from crmbench.errors import HarnessError, InputError

NEW_CLIENT = {"name": "Acme", "email": "info@acme.example", "status": "Active"}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.open(SALES, "harbour-01", seed="t") as sandbox:
        yield sandbox


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[TableDomain]:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield import_module("toy_domain").TOY
    del sys.modules["toy_domain"]


# --- recording ------------------------------------------------------------------------------------


def test_the_id_of_a_new_record_is_kept_as_a_reference(sandbox: Sandbox) -> None:
    recorder = GoldRecorder(sandbox)
    made = recorder.call("create_new_client", **NEW_CLIENT)
    recorder.end_turn()
    recorder.call("modify_client", client_id=made["client_id"], phone="+1 555 0101")
    (changed,) = recorder.end_turn()
    assert changed.arguments["client_id"] == "{{turn_1.call_1.client_id}}"
    (change,) = recorder.effect()
    assert change.after is not None
    assert change.after["phone"] == "+1 555 0101"


def test_what_was_just_made_and_what_follows_are_filled_in(sandbox: Sandbox) -> None:
    recorder = GoldRecorder(sandbox)
    client = call("create_new_client", **NEW_CLIENT)
    change = call("modify_client", client_id=JUST_MADE, name=Derived("join('Acme', ' ', 2)"))
    _, second = recorder.play([client, change])
    assert second.arguments["name"] == "Acme 2"
    assert recorder.turns[0][1].arguments["client_id"] == "{{turn_1.call_1.client_id}}"


def test_a_gold_call_that_is_refused_is_an_error_at_once(sandbox: Sandbox) -> None:
    recorder = GoldRecorder(sandbox)
    with pytest.raises(HarnessError, match=r"turn 1: modify_client.* is refused"):
        recorder.call("modify_client", client_id="nobody", phone="1")
    with pytest.raises(HarnessError, match="is not refused as it should be"):
        recorder.refused("create_new_client", "exists", **NEW_CLIENT)
    assert "ID" in recorder.refused("modify_client", "not found", client_id="x", phone="1")


def test_an_answer_must_be_the_expected_one(sandbox: Sandbox) -> None:
    recorder = GoldRecorder(sandbox)
    with pytest.raises(HarnessError, match="where none is asked for"):
        recorder.respond("CA")
    recorder.expected = Answer("state", ("CA",))
    with pytest.raises(HarnessError, match="comes to another answer"):
        recorder.respond("OR")
    with pytest.raises(HarnessError, match="gives no answer"):
        recorder.end_turn()


# --- building -------------------------------------------------------------------------------------


def test_a_builder_keeps_turns_gold_tags_and_rules(sandbox: Sandbox) -> None:
    builder = TaskBuilder(sandbox)
    builder.turn(
        "Enter Acme.", calls=[call("create_new_client", **NEW_CLIENT)], rules=("CLIENT-1",)
    )
    fact = Fact("text", "info@acme.example", "address")
    builder.turn(lambda gold, made: f"{len(gold.facts)} {len(made)}", facts=[fact])
    builder.refused("Tell me Bolt's prices.", rules=("SAY-1",), reasons=("confidential",))
    assert [turn.utterance for turn in builder.turns][1] == "1 0"
    assert builder.rules == {"CLIENT-1", "SAY-1"}
    assert builder.tags == {"policy_refusal"}
    assert builder.gold[1].response == {
        "text": "The address is info@acme.example.",
        "evaluation": "The reply tells: address info@acme.example.",
    }


# --- follow-ups, phrasing, sampling ---------------------------------------------------------------


def test_a_follow_up_that_does_not_fit_gives_way_to_another() -> None:
    written: list[str] = []
    follow_ups: FollowUps[list[str]] = FollowUps()

    @follow_ups.register(1000)
    def never(_builder: list[str]) -> None:
        raise NoCandidate

    @follow_ups.register(1)
    def always(builder: list[str]) -> None:
        builder.append("always")

    used: set[str] = set()
    follow_ups.add(written, used, random.Random(1))
    assert (written, used) == (["always"], {"always"})
    with pytest.raises(NoCandidate):
        follow_ups.add(written, used, random.Random(1))


def test_what_was_heard_least_is_said() -> None:
    history = PhrasingHistory()
    history.note("Set Acme to Lost.")
    drawn = iter(["Set Acme to Lost.", "Set Bolt to Won.", "Please set it."])
    assert history.least_heard(lambda: next(drawn), 3) == "Please set it."
    assert history.least_heard(lambda: "Please set it.", 2) == "Please set it."
    assert history.phrasings["please set it."] == 2


def test_shares_add_up() -> None:
    assert apportion({"a": 1, "b": 1, "c": 1}, 10) == {"a": 4, "b": 3, "c": 3}
    assert spread("abcdef", 3) == ["b", "d", "f"]
    words = ["ax", "bx", "ay", "by", "az", "bz", "aa", "bb"]
    chosen = stratified(words, 4, lambda word: word[0], random.Random(1))
    assert Counter(word[0] for word in chosen) == {"a": 2, "b": 2}
    assert chosen == sorted(chosen, key=words.index)


# --- generating and checking ----------------------------------------------------------------------


def no_task(_builder: TaskBuilder, _rng: random.Random) -> None:
    raise NoCandidate


def test_a_family_that_finds_nothing_is_named(toy: TableDomain) -> None:
    family = Family(name="nothing", category="Leads", about="Nothing.", write=no_task)
    given: dict[str, Any] = {"seed": 1, "worlds": toy.worlds, "splits": {"test": 1.0}}
    with pytest.raises(HarnessError, match="the family nothing finds no further task"):
        generate_dataset(toy, [family], size=1, **given)
    with pytest.raises(InputError, match="at least 2"):
        generate_dataset(toy, [family, family], size=1, **given)


def test_the_toy_domain_keeps_the_contract(toy: TableDomain) -> None:
    check_domain(toy, size=10)


def test_a_generator_that_differs_is_found(toy: TableDomain) -> None:
    make, seeds = toy.task_sets[0].load(), iter(range(9))
    toy.task_sets = (TaskSet(lambda _seed, size: make(next(seeds), size), ("train", "dev")),)
    with pytest.raises(HarnessError) as found:
        check_domain(toy, size=10)
    assert "made twice from seed 42, it has other tasks" in str(found.value)
    assert "its splits are train, test, which is not what the domain says" in str(found.value)


def test_a_world_that_differs_is_found(toy: TableDomain, monkeypatch: pytest.MonkeyPatch) -> None:
    made, number = toy.world("leads-1"), iter(range(99))

    def other(_name: str) -> object:
        rows = [dict(row) for row in made.rows["Lead"]]  # type: ignore[attr-defined]
        rows[0]["company"] = f"Firm {next(number)}"
        return replace(made, rows={"Lead": rows})  # type: ignore[type-var]

    monkeypatch.setattr(toy, "_make_world", other)
    toy.worlds, toy.task_sets = ("leads-1",), ()
    with pytest.raises(HarnessError, match="world leads-1: made twice, it has other rows"):
        check_domain(toy)


def test_seed_data_is_checked_by_table_and_field(toy: TableDomain) -> None:
    with pytest.raises(InputError, match="no table 'Deal'"):
        Sandbox.open(toy, seed_data={"Deal": {}})
    with pytest.raises(InputError, match="Lead has no field 'phone'"):
        Sandbox.open(toy, seed_data={"Lead": {"lead-900": {"phone": "1"}}})
    with pytest.raises(InputError, match="no world named 'x'"):
        toy.world("x")
