"""Keeping what was sent and received, one JSON line a request.

A line holds ``tag``, ``model``, ``attempt``, ``seconds``, ``request`` (the body as sent),
``status``, ``reply`` (the body as received, a text if it was not JSON) and ``error``. Headers are
not kept, and a key that a server repeats is struck out.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Self

import orjson

from crmbench.models.encoding import dumps


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it."""

    tag: str
    model: str
    attempt: int
    seconds: float
    request: bytes
    status: int | None
    reply: bytes | None
    """None if nothing complete arrived."""
    error: str | None


class RawLog:
    """A file of exchanges. Every line is handed to the system as it is written, so a killed
    process loses none that were finished.

    Args:
        path: Appended to; its folder is made if need be. None: lines are held until they are taken.
    """

    def __init__(self, path: Path | None) -> None:
        self._held = BytesIO()
        self._file: IO[bytes] = self._held
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)

    def taken(self) -> bytes:
        """The lines that were held since it was asked last."""
        lines = self._held.getvalue()
        self._held.seek(0)
        self._held.truncate()
        return lines

    def write(self, exchange: Exchange) -> None:
        """Add a line."""
        record = {
            "tag": exchange.tag,
            "model": exchange.model,
            "attempt": exchange.attempt,
            "seconds": round(exchange.seconds, 6),
            "request": orjson.Fragment(exchange.request),
            "status": exchange.status,
            "reply": None if exchange.reply is None else _one_line(exchange.reply),
            "error": exchange.error,
        }
        self._file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _one_line(body: bytes) -> orjson.Fragment:
    """The body as JSON without line breaks; a text if it is not JSON."""
    try:
        return orjson.Fragment(orjson.dumps(orjson.loads(body)))
    except orjson.JSONDecodeError:
        return orjson.Fragment(dumps(body.decode("utf-8", "replace")))
