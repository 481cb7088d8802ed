"""Facts: what a reply must tell the user, or must not.

A reply is read once into plain text and typed mentions (`reading`); a matcher a kind (`matchers`,
`choices`, `booleans`) looks for the value among them and asks whether it is asserted there
(`stance`). Refusals, claims and questions are in `refusals`. `variants` writes right and wrong
replies and shares no code with the rest.
"""

from crmbench.core.score.facts.matchers import conveys, mentions
from crmbench.core.score.facts.refusals import asks, claims_success, refuses
from crmbench.core.score.facts.types import KINDS, Fact, Kind, Verdict
from crmbench.core.score.facts.variants import near_misses, realise

__all__ = [
    "KINDS",
    "Fact",
    "Kind",
    "Verdict",
    "asks",
    "claims_success",
    "conveys",
    "mentions",
    "near_misses",
    "realise",
    "refuses",
]
