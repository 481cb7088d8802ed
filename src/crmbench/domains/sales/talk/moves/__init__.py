"""Follow-up turns: what people ask next about the deal, client or quote that is being discussed."""

from crmbench.domains.sales.talk.moves import asking, changing, people, refusing
from crmbench.domains.sales.talk.moves.registry import MOVES, follow

__all__ = ["MOVES", "asking", "changing", "follow", "people", "refusing"]
