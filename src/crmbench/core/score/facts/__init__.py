"""Interim: replaced by the full matcher package."""
from crmbench.core.score.facts._interim import Fact, Verdict, asks, conveys, mentions, realise, refuses
__all__ = ["Fact", "Verdict", "asks", "conveys", "mentions", "realise", "refuses"]
