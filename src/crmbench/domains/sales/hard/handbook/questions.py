"""The questions that a handbook answers by yes or no."""

from __future__ import annotations

from collections.abc import Mapping

YES_NO: Mapping[str, tuple[str, str]] = {
    "hold": ("hold", "release"),
    "frozen": ("frozen", "open"),
    "apart": ("apart", "together"),
    **{mark: (mark, f"{mark} not") for mark in ("tax", "register", "renamed", "phone")},
}
"""Subject that is answered by yes or no, to the kinds of provision that say so."""
