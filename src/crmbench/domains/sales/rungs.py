"""The tasks of the sales ladder that come along: every level but the published one."""

from __future__ import annotations

from functools import partial

from crmbench.authoring.rungs import on_rungs
from crmbench.domains.sales.hard.generate import IN_THE_SET
from crmbench.domains.sales.hard.generate import generate as of_level

generate = partial(on_rungs, of_level, IN_THE_SET)
