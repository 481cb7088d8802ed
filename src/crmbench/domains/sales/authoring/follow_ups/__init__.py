"""Follow-up turns: what people ask next about the deal, client or quote that is being discussed."""

from crmbench.domains.sales.authoring.follow_ups import asking, changing, people, refusing
from crmbench.domains.sales.authoring.follow_ups.registry import FOLLOW_UPS, add_follow_ups

__all__ = ["FOLLOW_UPS", "add_follow_ups", "asking", "changing", "people", "refusing"]
