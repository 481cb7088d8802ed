"""A shift at the desk: its words read back, its state machine, the gold on the real engine."""

from __future__ import annotations

from datetime import datetime, timedelta
from statistics import mean

import pytest

from crmbench.authoring.handbook import Rulebook
from crmbench.core.sqlite import SqliteBackend
from crmbench.domains.registry import load_domain
from crmbench.domains.sales.hard.desk import Desk, Message, Renewal
from crmbench.domains.sales.hard.domain import SALES_HARD
from crmbench.domains.sales.hard.handbook.shift_rules import HandbookLimits
from crmbench.domains.sales.hard.shift import (
    decisive,
    shift,
    shift_world,
    tasks,
)
from crmbench.domains.sales.hard.shift_writer import renewals_of, replay
from crmbench.domains.sales.hard.speech import hear
from crmbench.grading.gold import execute_gold
from crmbench.runner.task_sets import load_named

NINE = datetime.fromisoformat("2026-03-02T09:00")
DAY = "2026-09-01"


def desk(**traits: bool) -> Desk:
    deals = {
        name: Renewal(name[0], name, country, "Dairy", "Yard Cameras", "Rep", 5000.0, DAY, 25)
        for name, country in (("Ash", "Norway"), ("Birch", "Spain"))
    }
    for name, value in traits.items():
        setattr(deals["Ash"], name, value)
    return Desk("Boss", deals)


def at(hours: float, sender: str, kind: str, **gaps: object) -> Message:
    return Message(NINE + timedelta(hours=hours), sender, kind, gaps)


SEEDS = ["7-01", "7-02", "42-01", "42-02", "42-03"]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_words_say_all_that_decides(seed: str) -> None:
    world, made = shift_world(seed, 3), shift(seed, 3)
    heard = [hear(words) for words in made.words]
    assert heard == list(made.messages)
    assert tuple(replay(world.org, heard, world.limits())[0]) == made.changes


@pytest.mark.parametrize("seed", ["42-01", "42-02", "42-03"])
def test_changes_of_the_handbook_decide_and_short_cuts_fail(seed: str) -> None:
    world, made = shift_world(seed, 3), shift(seed, 3)
    book = world.rules.book
    changes = {a.article: a for a in book.amendments}
    deciding = decisive(world, made)
    assert len(deciding) >= 6
    assert any(changes[article].target in changes for article in deciding)
    shallow = [a for a in changes.values() if a.target not in changes]
    for other in (
        Rulebook([p for p in book.provisions if not p.when], []),
        Rulebook(book.provisions, []),
        Rulebook(book.provisions, shallow),
    ):
        found = replay(world.org, made.messages, HandbookLimits(world.org, other))[0]
        assert found != list(made.changes)


def test_the_careful_agent_gets_through_the_shift_within_its_budget() -> None:
    (task,) = tasks("7-11", 3, "shift-L3-7-11", "canary")
    assert all(not found for found in SALES_HARD.problems(task).values())
    assert task.budget is not None
    assert task.budget < len(shift_world("7-11", 3).articles)


def test_the_handbook_limits_what_is_asked() -> None:
    told = {"delay": "10 days", "reduction": "5 %", "chance": "60 %", "keeper": "Dee"}
    deal = Renewal("A", "Ash", "Norway", "Dairy", "Yard Cameras", "Rep", 5000.0, DAY, 25)
    deal.value, deal.end = 4000.0, "2026-10-01"
    table = Desk("Boss", {"Ash": deal}, lambda client, question, day: told.get(question, False))
    assert table.hear(at(0, "Rep", "off", client="Ash", day="2026-12-24")) == {
        "A": {"close_date": "2026-10-11"}
    }
    assert table.hear(at(1, "Rep", "price", client="Ash", amount=10.0)) == {"A": {"amount": 3800.0}}
    assert table.hear(at(2, "Boss", "chance", client="Ash", percent=90)) == {
        "A": {"probability": 60}
    }
    assert table.hear(at(3, "Rep", "hand", client="Ash", person="Bo")) == {"A": {"owner": "Dee"}}
    told["frozen"] = "yes"
    assert table.hear(at(4, "Boss", "price", client="Ash", amount=4100.0)) == {}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_done_changes_something(seed: str) -> None:
    made, world = shift(seed, 3), shift_world(seed, 3)
    org = world.org
    table = Desk(org.team.manager, renewals_of(org), world.limits())
    for message, changes in zip(made.messages, made.changes, strict=True):
        meant = message.kind in ("off", "price", "chance", "undo") and table.does(message)
        table.hear(message)
        if meant:
            assert table.renewals[message.gaps["client"]].key in changes


def test_orders_go_for_what_is_asked_later_until_they_are_taken_back() -> None:
    table = desk()
    assert table.hear(at(0, "Rep", "off", client="Ash", day="2026-10-01")) == {
        "A": {"close_date": "2026-10-01"}
    }
    table.hear(at(1, "Boss", "order odds", country="Norway", percent=10))
    moved = table.hear(at(2, "Rep", "off", client="Ash", day="2026-10-02"))
    assert moved == {"A": {"close_date": "2026-10-02", "probability": 10}}
    table.hear(at(3, "Boss", "spare", topic="renewals put off in Norway", client="Ash"))
    table.hear(at(4, "Boss", "chance", client="Ash", percent=60))
    moved = table.hear(at(5, "Rep", "off", client="Ash", day="2026-10-03"))
    assert moved == {"A": {"close_date": "2026-10-03"}}


def test_only_the_manager_or_who_speaks_for_the_manager_orders() -> None:
    table = desk()
    table.hear(at(0, "Rep", "order round", country="Norway"))
    price = table.hear(at(1, "Rep", "price", client="Ash", amount=1234.0))
    assert price == {"A": {"amount": 1234.0}}
    table.hear(at(2, "Boss", "away", person="Deputy", until=NINE + timedelta(hours=5)))
    assert table.hear(at(3, "Deputy", "price", client="Ash", amount=99.0)) == {}
    assert table.hear(at(4, "Deputy", "chance", client="Ash", percent=50))
    assert table.hear(at(6, "Deputy", "chance", client="Ash", percent=60)) == {}


@pytest.mark.parametrize(("mail", "due"), [(1.0, False), (3.0, True), (None, True)])
def test_a_deadline_comes_due_unless_mail_came_in_time(mail: float | None, due: bool) -> None:
    table = desk()
    until = NINE + timedelta(hours=2)
    table.hear(at(0, "Boss", "deadline", client="Ash", until=until, percent=5))
    changes = table.hear(at(mail, "Ash", "mail")) if mail else {}
    changes = changes or table.hear(at(4, "Rep", "chat", client="Birch"))
    assert changes == ({"A": {"probability": 5}} if due else {})


def test_evidence_limits_and_undo() -> None:
    table = desk(stop=True)
    table.hear(at(0, "Boss", "order stop"))
    assert table.hear(at(1, "Rep", "chance", client="Ash", percent=50)) == {}
    assert table.hear(at(2, "Boss", "chance", client="Ash", percent=50))
    table.hear(at(3, "Boss", "price", client="Ash", amount=70.0))
    undone = table.hear(at(4, "Boss", "undo", client="Ash", since=NINE + timedelta(hours=2)))
    assert undone == {"A": {"amount": 5000.0, "probability": 25}}
    both = desk(bought=True, dispute=True)
    both.hear(at(0, "Boss", "order desk", product="Yard Cameras", person="Dee"))
    both.hear(at(1, "Boss", "order bought", person="Bo"))
    both.hear(at(2, "Boss", "order dispute", percent=75))
    changes = both.hear(at(3, "Rep", "chance", client="Ash", percent=90))
    assert changes == {"A": {"probability": 75, "owner": "Bo"}}


def test_the_gold_leads_where_it_should() -> None:
    domain = load_domain("sales_hard")
    backend = SqliteBackend(domain.schema)
    for task in tasks("7-01", 2, "shift-L2-7-01", "canary"):
        run = execute_gold(domain, task, backend)
        assert run.faults == ()
        world = shift_world("7-01", 2)
        heard = [hear(turn.utterance) for turn in task.turns]
        ends = replay(world.org, heard, world.limits())[1]
        by_key = {renewal.key: renewal for renewal in ends.values()}
        for change in run.effects[-1]:
            assert change.after is not None
            assert change.after["probability"] == by_key[change.key].probability
        assert any(item.alternatives for item in task.gold.items)


def test_four_times_the_messages_hang_on_more_of_the_handbook_too() -> None:
    def deciding(name: str) -> float:
        found = [
            {
                rule
                for item in task.gold.items
                for each in item.alternatives
                for rule in each.without
            }
            for task in load_named(name).tasks()
            if task.family == "desk_shift"
        ]
        return mean(sum(rule.startswith("HB-") for rule in rules) for rules in found)

    assert deciding("sales/L5") > 2.5 * deciding("sales/hard")
