"""Functions written out for a kind of record give what `dataclasses` gives."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from crmbench.core.trace import CallRecord, TokenUsage
from crmbench.formats.fields import reader_of, replacer_of

CALL = CallRecord("client_search", {"name": "Acme"}, True, [1, 2])


def test_fields_are_read_by_name() -> None:
    assert reader_of(CallRecord)(CALL) == asdict(CALL)
    read = reader_of(CallRecord, "changes", "result")
    assert read(CALL, None, 3) == asdict(CALL) | {"changes": None, "result": 3}
    assert list(read(CALL, None, 3)) == list(asdict(CALL))


def test_fields_are_replaced_in_the_order_in_which_they_are_named() -> None:
    replaced = replacer_of(TokenUsage, "model_calls", "cost")
    usage = TokenUsage(1, 2, 3, 4, 5)
    assert replaced(usage, 7, 0.5) == replace(usage, model_calls=7, cost=0.5)


@pytest.mark.parametrize("make", [reader_of, replacer_of])
def test_a_field_that_is_not_there_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(TypeError, match="TokenUsage has no field words"):
        make(TokenUsage, "words")
