"""What models wrote, kept as data: one line a reply, found again by what was asked.

    {"key": …, "model": …, "message": …, "reply": …, "stop": …}

The key is a digest of the model's name and of all that it was sent: another prompt, another model
or another conversation is another key. Lines are handed to the system as they are written, so a
process that is ended loses none that were finished; half a line at the end is cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec
import orjson

from crmbench.errors import InputError
from crmbench.models import Message

FILE_NAME = "replies.jsonl"


@dataclass(frozen=True, slots=True)
class KeptReply:
    """A reply of a model."""

    key: str
    model: str
    message: str
    """What was to be rewritten; for readers of the file."""
    reply: str
    stop: str
    """Why the model stopped, as in `Reply.stop_reason`."""


def key_of(model: str, messages: Sequence[Message]) -> str:
    """The digest of a request, in hexadecimal."""
    asked = [model, [[message.role, message.text] for message in messages]]
    return sha256(orjson.dumps(asked)).hexdigest()


class Kept:
    """The replies of a folder.

    Args:
        folder: Made if need be.

    Raises:
        InputError: It cannot be used, or a line of its file is not a reply.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._replies: dict[str, KeptReply] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._load()
            self._file: IO[bytes] = self.path.open("ab", buffering=0)
        except OSError as error:
            raise InputError(f"cannot be used: {error.strerror}", file=str(self.path)) from error

    def get(self, key: str) -> KeptReply | None:
        """The reply to a request, if there has been one."""
        return self._replies.get(key)

    def add(self, reply: KeptReply) -> None:
        """Keep a reply; it survives the process from here on."""
        self._replies[reply.key] = reply
        self._file.write(orjson.dumps(asdict(reply), option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _load(self) -> None:
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            with self.path.open("r+b") as file:
                file.truncate(whole)
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                reply = msgspec.json.decode(line, type=KeptReply)
            except msgspec.DecodeError as error:
                raise InputError(
                    f"not a kept reply: {error}",
                    file=str(self.path),
                    line=number,
                    expected="a line that `crmbench paraphrase` wrote; delete any other",
                ) from error
            self._replies[reply.key] = reply
