"""Files that appear whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crmbench.errors import InputError
from crmbench.formats.whole_file import read_record, replace_file, write_record


def failing(error: BaseException) -> Iterator[bytes]:
    yield b"half"
    raise error


@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt(), InputError("a bad row")])
def test_what_stood_there_stays_if_writing_fails(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "figures.json"
    path.write_bytes(b"earlier")
    with pytest.raises(type(error)):
        replace_file(path, failing(error))
    assert path.read_bytes() == b"earlier"
    assert [each.name for each in tmp_path.iterdir()] == ["figures.json"]
    replace_file(path, [b"one, ", b"two"])
    assert path.read_bytes() == b"one, two"


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_record(path, {"arms": ["a"], "by_k": {1: 0.5}})
    assert read_record(path, dict[str, Any], "study", "crmbench study") == {
        "arms": ["a"],
        "by_k": {"1": 0.5},
    }


@pytest.mark.parametrize("text", [None, "", "[1]", '{"arms": '])
def test_what_is_no_record_is_named(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "plan.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match="holds no study") as caught:
        read_record(path, dict[str, Any], "study", "crmbench study")
    assert caught.value.file == str(path)
    assert "crmbench study" in (caught.value.expected or "")


def test_a_record_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_record(tmp_path / "missing" / "plan.json", {})
