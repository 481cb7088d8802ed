"""Errors come back from other processes as they were."""

from __future__ import annotations

import pickle

from crmbench.errors import InputError, MissingExtraError


def test_errors_survive_the_way_between_processes() -> None:
    missing = pickle.loads(pickle.dumps(MissingExtraError("postgres", "the PostgreSQL backend")))
    assert str(missing) == str(MissingExtraError("postgres", "the PostgreSQL backend"))
    assert missing.extra == "postgres"
    wrong = InputError("is bad", file="a", line=3, expected="b")
    assert str(pickle.loads(pickle.dumps(wrong))) == str(wrong)
