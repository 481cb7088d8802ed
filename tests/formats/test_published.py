"""The published sets that come along: what the generators make, and read no further than asked."""

from __future__ import annotations

from itertools import islice

import orjson
import pytest

from crmbench.domains.registry import load_generator
from crmbench.formats.arc_tasks import task_to_data
from crmbench.formats.published import SHIPPED, Lazy, content, digest_of_tasks, read_published
from crmbench.runner.task_sets import digest_of_named, load_named


@pytest.mark.parametrize("domain", SHIPPED)
def test_what_comes_along_is_what_the_generator_makes(domain: str) -> None:
    shipped = read_published(domain)
    assert shipped is not None
    head, *lines = content(load_generator(domain)()).splitlines()
    again = "run `python -m crmbench.formats.published` after a change of a generator"
    assert [i for i, (a, b) in enumerate(zip(lines, shipped.lines, strict=True)) if a != b] == []
    assert orjson.loads(head)["digest"] == shipped.whole.digest, again
    places = {name: tuple(s["places"]) for name, s in orjson.loads(head)["splits"].items()}
    assert places == {name: split.places for name, split in shipped.splits.items()}, again


def test_a_split_is_read_as_the_tasks_it_has() -> None:
    loaded = load_named("sales/standard")
    assert len(loaded.lazy_tasks) == 400
    tasks = loaded.tasks()
    assert digest_of_named("sales/standard") == digest_of_tasks(tasks)
    shipped = read_published("sales")
    assert shipped is not None
    assert orjson.dumps(task_to_data(tasks[7])) in shipped.lines
    assert [c.conversation_id for c in loaded.conversations] == [t.task_id for t in tasks]


def test_the_digests_are_those_that_stored_runs_have() -> None:
    assert digest_of_named("sales/standard") == "45c6ea926373c9629c50a0989829103e"
    assert digest_of_named("service") == "16d231fca0980b894d41f4d4d5d6d6fd"


def test_items_are_made_when_asked_for_and_once() -> None:
    made: list[int] = []

    def make(place: int) -> int:
        made.append(place)
        return place * place

    squares = Lazy(1000, make)
    assert (len(squares), squares[-1], squares[3], squares[3]) == (1000, 998001, 9, 9)
    assert made == [999, 3]
    assert squares[4:6] == [16, 25]
    assert list(islice(squares, 3)) == [0, 1, 4]
    with pytest.raises(IndexError):
        squares[1000]
