"""The published sets that come along: what the generators make, and read no further than asked."""

from __future__ import annotations

import logging
import lzma
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import pytest

from crmbench.core.task import Task
from crmbench.domains.registry import load_generator
from crmbench.errors import InputError
from crmbench.formats.arc_tasks import task_to_data
from crmbench.formats.published import (
    SHIPPED,
    Lazy,
    content,
    digest_of_tasks,
    file_of,
    main,
    read_published,
)
from crmbench.runner.task_sets import digest_of_named, load_named

AGAIN = "run `python -m crmbench.formats.published` after a change of a generator"


@pytest.mark.parametrize("domain", ["sales", "service"])
def test_what_comes_along_is_what_the_generator_makes(domain: str) -> None:
    shipped = read_published(domain)
    assert shipped is not None
    head, *lines = content(load_generator(domain)()).splitlines()
    assert [i for i, (a, b) in enumerate(zip(lines, shipped.lines, strict=True)) if a != b] == []
    assert orjson.loads(head)["digest"] == shipped.whole.digest, AGAIN
    places = {name: tuple(s["places"]) for name, s in orjson.loads(head)["splits"].items()}
    assert places == {name: split.places for name, split in shipped.splits.items()}, AGAIN


@pytest.mark.parametrize("domain", ["sales", "service"])
def test_the_rungs_that_come_along_are_those_of_the_generator(domain: str) -> None:
    """Whole, they take a quarter of an hour; the lowest level is made by all of the same code."""
    lowest = load_named(f"{domain}/L1").tasks()
    assert len(lowest) == 36
    known = [_without_id(_data(task)) for task in lowest]
    made = load_generator(domain, "hard")(size=6, level=1).tasks
    assert [task.task_id for task in made if _without_id(_data(task)) not in known] == []
    for level in (2, 4, 5):
        tasks = load_named(f"{domain}/L{level}").tasks()
        counts = Counter((task.tag("level"), task.tag("mechanism")) for task in tasks)
        assert sorted(counts.values()) == [12, 12, 12]
        assert {named for named, _ in counts} == {f"L{level}"}


@pytest.mark.parametrize(("name", "size"), [("sales/hard", 24), ("service/hard", 3)])
def test_the_hard_sets_that_come_along_are_what_their_generators_make(name: str, size: int) -> None:
    """A small set has the first tasks of a large one, under other ids; all take minutes."""
    shipped = read_published(name)
    assert shipped is not None
    assert len(shipped.lines) == 120
    assert tuple(shipped.splits) == ("hard",)
    known = [_without_id(orjson.loads(line)) for line in shipped.lines]
    domain, _, split = name.partition("/")
    made = load_generator(domain, split)(size=size).tasks
    stale = [task.task_id for task in made if _without_id(_data(task)) not in known]
    assert (len(made), stale) == (size, []), f"{AGAIN}: {name}"


def _data(task: Task) -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(orjson.dumps(task_to_data(task)))
    return data


def _without_id(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != "conversation_id"}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_set_that_should_come_along_does_and_is_read_without_making_it(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    loaded = load_named(name)
    shipped = read_published(name)
    assert shipped is not None
    assert digest_of_named(name) == shipped.whole.digest == digest_of_tasks(loaded.tasks())
    assert caplog.messages == []


def test_a_set_that_other_code_made_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    head, *lines = lzma.decompress(file_of("sales/hard").read_bytes()).splitlines()
    other = orjson.dumps({**orjson.loads(head), "made_from": "0123456789abcdef"})
    (tmp_path / "sales_hard.jsonl.xz").write_bytes(lzma.compress(b"\n".join([other, *lines])))
    monkeypatch.setattr("crmbench.formats.published.folder", lambda: tmp_path)
    read_published.cache_clear()
    # A command that was run quietly in this process has raised the level of all our loggers.
    caplog.set_level(logging.WARNING, logger="crmbench.data")
    monkeypatch.setattr(logging.getLogger("crmbench"), "propagate", True)
    try:
        assert read_published("sales/hard") is None
    finally:
        read_published.cache_clear()
    assert "published sales/hard` makes the file anew" in caplog.text


def test_only_shipped_sets_can_be_made_anew() -> None:
    with pytest.raises(InputError, match="'sales/easy' is no shipped set"):
        main(["sales/easy"])


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
    assert digest_of_named("sales/standard") == "70565b144e95fa2b12fcbe2b507e21a5"
    assert digest_of_named("service") == "ea37f27a89b756cce27f7aa5ddd6484e"


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
