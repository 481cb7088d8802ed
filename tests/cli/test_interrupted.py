"""Ctrl-C says what is kept."""

from __future__ import annotations

import pytest

from crmbench.cli.console import if_interrupted


@pytest.mark.parametrize(
    ("said", "heard"),
    [("", "nothing was written"), ("3 of 5 episodes are kept", "3 of 5 episodes are kept")],
)
def test_what_is_kept_is_said_once_and_by_who_knows_most(said: str, heard: str) -> None:
    with pytest.raises(KeyboardInterrupt) as stop, if_interrupted("nothing was written"):
        raise KeyboardInterrupt(*filter(None, [said]))
    assert str(stop.value) == heard


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(ValueError, match="bad"), if_interrupted("nothing was written"):
        raise ValueError("bad")
