"""Every family by itself: it builds in several worlds, and what it writes is right and its own."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from crmbench.authoring.derive import evaluate
from crmbench.authoring.phrasing import PhrasingHistory
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Task
from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    NoCandidate,
    SalesOrg,
    load_families,
)
from crmbench.domains.sales.authoring.compose import Order, compose
from crmbench.domains.sales.authoring.family import CATEGORIES, TAGS, check_rules, family
from crmbench.domains.sales.domain import SALES, standard_world
from crmbench.domains.sales.phrases import VOICES
from crmbench.domains.sales.policy import rules as house_rules
from crmbench.domains.sales.schema import SCHEMA
from crmbench.domains.sales.world import STANDARD_WORLDS
from crmbench.errors import HarnessError
from crmbench.grading.gold import execute_gold

FAMILIES = load_families()
LEVELS = ("simple", "medium", "complex")
WANTED = 6
"""Worlds in which a family must find something to write about."""


@cache
def org(name: str) -> SalesOrg:
    world = standard_world(name)
    return SalesOrg(name, world.today, world.owners, world.stream())


@pytest.fixture(scope="module")
def backend() -> SqliteBackend:
    return SqliteBackend(SCHEMA)


def written(name: str, world: str, backend: SqliteBackend) -> Task | None:
    """A conversation of the family in that world, the first level of complexity that fits."""
    for attempt in range(12):
        level = LEVELS[attempt % 3]
        seed = f"{name}/{world}/{attempt}"
        order = Order("t", FAMILIES[name], None, level, seed, "canary")
        try:
            return compose(order, org(world), backend, PhrasingHistory())
        except NoCandidate:
            continue
    return None


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_writes_valid_conversations_in_several_worlds(
    name: str, backend: SqliteBackend
) -> None:
    made: list[Task] = []
    for world in STANDARD_WORLDS:
        task = written(name, world, backend)
        if task is not None:
            made.append(task)
        if len(made) == WANTED:
            break
    assert len(made) == WANTED, f"{name} builds in {[task.world for task in made]} only"
    for task in made:
        assert execute_gold(SALES, task, backend).faults == ()
        for path in task.gold.paths:
            assert execute_gold(SALES, task, backend, path).faults == (), path.note
        assert task.family == name
        assert task.category == FAMILIES[name].category
        check_content(task)


def check_content(task: Task) -> None:
    """Rules that exist, tags that are known, formulas that give the values of the gold."""
    cited = {rule for gold in task.gold.turns for rule in gold.rules}
    assert cited <= house_rules().keys()
    assert set(task.tags) <= TAGS | {f"voice_{voice}" for voice in VOICES}
    assert len(task.turns) == len(task.gold.turns)
    assert task.gold.canary == "canary"
    for turn, gold in zip(task.turns, task.gold.turns, strict=True):
        assert turn.utterance == turn.utterance.strip() != ""
        assert not any(mark in turn.utterance for mark in "{}\x02\x03")
        if turn.clarification:
            assert turn.clarification.about
        for place, formula in gold.derivations.items():
            number, _, argument = place.partition(".")
            value = gold.calls[int(number) - 1].arguments[argument]
            assert value == evaluate(formula), (turn.turn_id, place)


def test_there_are_families_of_all_nine_categories() -> None:
    counts = Counter(one.category for one in FAMILIES.values())
    assert len(FAMILIES) >= 60
    assert set(counts) == set(CATEGORIES)
    assert len(CATEGORIES) == 9
    assert min(counts.values()) >= 4


def test_every_family_says_what_it_tests_in_its_own_words() -> None:
    abouts = [one.about for one in FAMILIES.values()]
    assert all(len(about) >= 30 and about.endswith(".") for about in abouts)
    assert len(set(abouts)) == len(abouts)
    assert all(one.weight > 0 for one in FAMILIES.values())


def test_only_the_manager_speaks_where_the_manager_must(backend: SqliteBackend) -> None:
    manager = org("harbour-01").manager
    bound = [one for one in FAMILIES.values() if one.by_manager is not None]
    assert {one.by_manager for one in bound} == {True, False}
    for one in bound:
        task = written(one.name, "harbour-01", backend)
        if task is not None:
            assert task.persona.startswith(manager) == one.by_manager, one.name


def test_families_of_unknown_categories_and_twice_of_one_name_are_refused() -> None:
    with pytest.raises(HarnessError, match="no category 'Sailing'"):
        family("Sailing", 1)

    def advance_stage(builder: ConversationBuilder) -> None:
        """Of the same name as one that exists."""
        del builder

    with pytest.raises(HarnessError, match="two families 'advance_stage'"):
        family("Quote Management", 1)(advance_stage)

    def silent(builder: ConversationBuilder) -> None:
        del builder

    with pytest.raises(HarnessError, match="does not say what it tests"):
        family("Quote Management", 1)(silent)
    assert "silent" not in load_families()


def test_a_rule_that_does_not_exist_is_noticed() -> None:
    check_rules({"DEAL-2"})
    with pytest.raises(HarnessError, match="DEAL-99"):
        check_rules({"DEAL-2", "DEAL-99"})
