"""Ids are well-formed, sort as their numbers, and are the same from both ways of making them."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbench.core.clock import WorldClock
from crmbench.domains.service.hard.schema import SCHEMA as HARD_SCHEMA
from crmbench.domains.service.schema import OBJECTS
from crmbench.salesforce import ids

NUMBERS = st.integers(min_value=0, max_value=ids.BASE**ids.BODY_LENGTH - 1)


def test_every_object_has_a_prefix_of_its_own() -> None:
    assert set(ids.PREFIXES) == {*OBJECTS, *HARD_SCHEMA.tables}
    prefixes = [*ids.PREFIXES.values(), *ids.OTHER_PREFIXES.values()]
    assert len(set(prefixes)) == len(prefixes)
    assert all(len(prefix) == 3 for prefix in prefixes)


@pytest.mark.parametrize(
    ("id15", "suffix"),
    # Worked by hand: bit i of each group of five is set where its character is upper case.
    [
        ("500000000000000", "AAA"),
        ("A00000000000000", "BAA"),
        ("0A0000000000000", "CAA"),
        ("AAAAA0000000000", "5AA"),
        ("00000ABaBA0000Z", "A1Q"),
    ],
)
def test_checksum(id15: str, suffix: str) -> None:
    assert ids.checksum(id15) == suffix


def test_checksum_refuses_other_lengths() -> None:
    with pytest.raises(ValueError, match="15 characters, not 3"):
        ids.checksum("500")


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.sampled_from(sorted(ids.PREFIXES)))
def test_many_at_once_equal_one_by_one(numbers: list[int], name: str) -> None:
    assert ids.record_ids(name, np.array(numbers, dtype=np.int64)) == [
        ids.record_id(name, number) for number in numbers
    ]


@given(NUMBERS, NUMBERS)
def test_ids_sort_as_their_numbers(first: int, second: int) -> None:
    ordered = ids.record_id("Case", first) < ids.record_id("Case", second)
    assert ordered == (first < second)


@given(NUMBERS, st.sampled_from(sorted(ids.PREFIXES)))
def test_a_made_id_is_recognised(number: int, name: str) -> None:
    made = ids.record_id(name, number)
    assert len(made) == 18
    assert ids.object_of(made) == name
    assert ids.is_id(made, name)
    assert ids.is_id(made[:15], name)
    assert ids.full_id(made[:15]) == made == ids.full_id(made)


def test_what_is_no_id() -> None:
    made = ids.record_id("Case", 10**9)
    assert not ids.is_id(made, "User")
    assert not ids.is_id(made[:-1])
    assert not ids.is_id(made[:15] + "ZZZ")
    assert not ids.is_id(made[:14] + "-")
    assert ids.object_of("xyz") is None


def test_created_ids_follow_the_clock_and_those_of_every_world() -> None:
    def made() -> list[str]:
        clock = WorldClock(datetime(2026, 3, 2, tzinfo=UTC), "seed")
        return [ids.next_id("Case", clock) for _ in range(3)]

    assert made() == made() == sorted(set(made()))
    highest = ids.first_number("Case", 42) + 10**8
    assert made()[0] > ids.record_id("Case", highest)


def test_worlds_of_two_seeds_begin_elsewhere() -> None:
    starts = {ids.first_number("Case", seed) for seed in range(20)}
    assert len(starts) > 10
