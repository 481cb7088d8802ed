"""Rates that the processes of one machine share, by a file each."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from crmbench.models.limits import Bucket, Clock, SystemClock

_MOMENT = struct.Struct("<d")


class FileRates:
    """Rates kept in a folder. Implements `crmbench.models.limits.RateSource`.

    The system's lock on a file ends with the process that holds it, so a worker that is killed
    holds up no other.

    Args:
        folder: Of this machine, whose monotonic clock all its processes have in common.
        clock: Where time comes from; the same for all who share the folder.
    """

    def __init__(self, folder: Path, clock: Clock | None = None) -> None:
        self._folder = folder
        self._clock = clock or SystemClock()

    def rate(self, name: str, per_minute: float) -> FileRate:
        """The rate of that name."""
        digest = blake2b(name.encode(), digest_size=8).hexdigest()
        return FileRate(self._folder / digest, per_minute, self._clock)


class FileRate:
    """A rate that is kept in a file. Implements `crmbench.models.limits.RateLimit`."""

    def __init__(self, path: Path, per_minute: float, clock: Clock) -> None:
        self._path = path
        self._per_minute = per_minute
        self._clock = clock

    async def take(self, amount: float) -> float:
        # Not in a thread: nobody holds the lock for longer than it takes to write eight bytes.
        with self._bucket() as bucket:
            return bucket.reserve(amount)

    async def correct(self, amount: float) -> None:
        with self._bucket() as bucket:
            bucket.correct(amount)

    @contextmanager
    def _bucket(self) -> Iterator[Bucket]:
        import fcntl

        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            kept = os.pread(file, _MOMENT.size, 0)
            until = _MOMENT.unpack(kept)[0] if len(kept) == _MOMENT.size else None
            bucket = Bucket(self._per_minute, self._clock, until)
            yield bucket
            os.pwrite(file, _MOMENT.pack(bucket.paid_until), 0)
        finally:
            os.close(file)
