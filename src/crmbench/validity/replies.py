"""Replies: right ones in other words must pass, wrong ones must fail.

The variants are written by a generator that shares no code with the matchers.
"""

from __future__ import annotations
