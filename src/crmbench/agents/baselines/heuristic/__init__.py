"""Rules and regular expressions: what can be had without a model.

The agent reads what a model would read (the policy, the tools, the user's words, the results of
calls) and knows nothing of how tasks are made. It is the floor beside the trivial agents: a model
that does no better has understood nothing.
"""

from crmbench.agents.baselines.heuristic.agent import HEURISTIC, Heuristic

__all__ = ["HEURISTIC", "Heuristic"]
