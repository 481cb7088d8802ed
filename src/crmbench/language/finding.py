"""What reading a text for one thing found."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """Whether something holds of a reply, and why not."""

    ok: bool
    why: str = ""
