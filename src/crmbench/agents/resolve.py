"""The agent that a name on the command line stands for."""

from __future__ import annotations

from pathlib import Path

from crmbench.agents.oracle import OracleFactory
from crmbench.agents.protocol import AgentFactory, GoldAgentFactory
from crmbench.agents.python import load
from crmbench.agents.recorded import RecordedFactory
from crmbench.agents.trivial import TRIVIAL
from crmbench.errors import InputError

EXPECTED = (
    "oracle, " + ", ".join(agent.name for agent in TRIVIAL) + ", recorded:FILE or module:factory"
)


def open_agent(spec: str) -> AgentFactory | GoldAgentFactory:
    """The factory of the agent that `spec` names.

    Raises:
        InputError: It names none.
    """
    for agent in TRIVIAL:
        if spec == agent.name:
            return agent
    if spec == "oracle":
        return OracleFactory()
    kind, colon, rest = spec.partition(":")
    if kind == "recorded" and colon:
        return RecordedFactory(Path(rest))
    if colon:
        return load(spec)
    raise InputError(f"there is no agent '{spec}'", expected=EXPECTED)
