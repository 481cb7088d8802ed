"""JSON from models, right and wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbench.models import ToolCall
from crmbench.models.encoding import dumps, loads, read_call, sent_name, unique_ids

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON)
def test_round_trip(value: object) -> None:
    assert loads(dumps(value)) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    try:
        loads(raw)
    except ValueError:
        return


def test_a_cut_surrogate_pair_is_read() -> None:
    assert loads(b'{"a": "x\\ud83d"}') == {"a": "x?"}


def test_stray_bytes_are_read() -> None:
    assert loads(b'{"a": "\xff"}') == {"a": "�"}


@pytest.mark.parametrize("arguments", [None, "", "  \n"])
def test_no_arguments_are_an_empty_object(arguments: str | None) -> None:
    call = read_call("a", "tool", arguments, fallback_id="f")
    assert (call.arguments, call.error) == ({}, None)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("[1]", "must be a JSON object, not list"),
        ("null", "must be a JSON object, not null"),
        ('"x"', "must be a JSON object, not str"),
        ("{'a': 1}", "not valid JSON"),
        ('{"a": 1', "not valid JSON"),
        ("[" * 5000, "not valid JSON"),
    ],
)
def test_bad_arguments(arguments: str, error: str) -> None:
    call = read_call("a", "tool", arguments, fallback_id="f")
    assert call.arguments is None
    assert call.raw_arguments == arguments
    assert error in str(call.error)


@given(_JSON, _JSON, _JSON)
def test_any_call_is_read(identity: object, name: object, arguments: object) -> None:
    call = read_call(identity, name, arguments, fallback_id="f")
    assert call.id
    assert (call.arguments is None) <= (call.error is not None)


@given(st.text())
def test_sent_names_are_names(name: str) -> None:
    sent = sent_name(name)
    assert 0 < len(sent) <= 64
    assert all(c.isascii() and (c.isalnum() or c in "_-") for c in sent)


@given(st.lists(st.sampled_from(["a", "b", "p_0", "p_1"]), max_size=6))
def test_ids_become_unique(ids: list[str]) -> None:
    calls = unique_ids([ToolCall(identity, "t", {}) for identity in ids], "p")
    assert len({call.id for call in calls}) == len(ids)
    first = [call.id for n, call in enumerate(calls) if ids[n] not in ids[:n]]
    assert len(first) == len(set(ids))


def test_an_id_that_is_unique_stays() -> None:
    calls = unique_ids([ToolCall(identity, "t", {}) for identity in ("a", "b", "a")], "p")
    assert [call.id for call in calls] == ["a", "b", "p_0"]
