"""A handbook: rules as objects, the articles that say them, and the way back from the articles.

A domain writes its rules as `Provision` and `Amendment`, decides with a `Rulebook`, says them with
a `Phrasebook`, stores the articles in the table that `article_table` makes and gives its agents
`HANDBOOK_TOOLS`. The same `Phrasebook` reads the stored articles back, so that a second rulebook,
made from what an agent can read, has to decide every item as the first one did.
"""

from __future__ import annotations

from crmbench.authoring.handbook.phrasebook import Phrasebook, Said
from crmbench.authoring.handbook.rulebook import (
    Amendment,
    Change,
    Condition,
    Decision,
    Facts,
    Provision,
    Rulebook,
)
from crmbench.authoring.handbook.shelf import HANDBOOK_TOOLS, article_table

__all__ = [
    "HANDBOOK_TOOLS",
    "Amendment",
    "Change",
    "Condition",
    "Decision",
    "Facts",
    "Phrasebook",
    "Provision",
    "Rulebook",
    "Said",
    "article_table",
]
