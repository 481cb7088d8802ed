"""JSON objects in what a model answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Every JSON object in a text, whatever stands around them."""
    decoder = json.JSONDecoder(strict=False)
    position = text.find("{")
    while position != -1:
        try:
            value, end = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            end = position + 1
        else:
            yield value
        position = text.find("{", end)
