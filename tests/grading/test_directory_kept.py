"""Directories of worlds are kept for those that are asked for again, and not for ever."""

from __future__ import annotations

import pytest

from crmbench.domains.registry import load_domain
from crmbench.grading import directory


def test_the_directories_of_ten_thousand_worlds_are_not_all_kept() -> None:
    sales = load_domain("sales")
    first = directory.directory_of(sales, "empty")
    assert directory.directory_of(sales, "empty") is first
    others = [f"harbour-01.{seed}" for seed in range(3)]
    for name in others:
        directory.directory_of(sales, name)
    kept = {world: found for (_, world), found in directory._KEPT.items()}
    assert len(directory._KEPT) <= directory._WORLDS
    assert list(kept)[-3:] == others
    assert directory.directory_of(sales, others[0]) is kept[others[0]]
    assert list(directory._KEPT)[-1] == ("sales", others[0])


def test_what_was_asked_for_longest_ago_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "_WORLDS", 2)
    monkeypatch.setattr(directory, "_KEPT", {})
    sales = load_domain("sales")
    one = directory.directory_of(sales, "empty")
    directory.directory_of(sales, "harbour-01")
    directory.directory_of(sales, "empty")
    directory.directory_of(sales, "harbour-01.7")
    assert list(directory._KEPT) == [("sales", "empty"), ("sales", "harbour-01.7")]
    assert directory.directory_of(sales, "empty") is one


def test_records_are_known_by_their_number() -> None:
    rows = {"500A": {"Id": "500A", "CaseNumber": "01215662"}, "006B": {"Id": "006B"}}
    assert directory.Directory(rows=rows).by_number == {"01215662": "500A"}
