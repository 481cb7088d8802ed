"""Errors come back from other processes as they were, and name what is missing."""

from __future__ import annotations

import importlib
import pickle

import pytest

from crmbench.errors import InputError, MissingExtraError, needs_extra


def test_errors_survive_the_way_between_processes() -> None:
    missing = pickle.loads(pickle.dumps(MissingExtraError("postgres", "the PostgreSQL backend")))
    assert str(missing) == str(MissingExtraError("postgres", "the PostgreSQL backend"))
    assert missing.extra == "postgres"
    wrong = InputError("is bad", file="a", line=3, expected="b")
    assert str(pickle.loads(pickle.dumps(wrong))) == str(wrong)


def test_a_missing_library_is_named_by_its_extra() -> None:
    named = pytest.raises(MissingExtraError, match=r"crmbench view needs .*crmbench\[serve\]")
    with named, needs_extra("serve", "crmbench view"):
        importlib.import_module("no_such_library")


def test_a_missing_module_of_ours_is_no_missing_extra() -> None:
    raised = pytest.raises(ModuleNotFoundError, match="no_such_module")
    with raised, needs_extra("serve", "crmbench view"):
        importlib.import_module("crmbench.no_such_module")
