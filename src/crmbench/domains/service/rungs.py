"""The tasks of the service ladder that come along: every level but the published one."""

from __future__ import annotations

from functools import partial

from crmbench.authoring.rungs import on_rungs
from crmbench.domains.service.hard.generate import MECHANISMS
from crmbench.domains.service.hard.generate import generate as of_level

generate = partial(on_rungs, of_level, tuple(MECHANISMS))
