"""The agent that a name on the command line stands for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crmbench.agents.oracle import OracleFactory
from crmbench.agents.protocol import AgentFactory, GoldAgentFactory
from crmbench.agents.python import class_in, load
from crmbench.agents.recorded import RecordedFactory
from crmbench.agents.trivial import TRIVIAL
from crmbench.errors import InputError

if TYPE_CHECKING:
    from crmbench.agents.chat import Framework, ModelSettings
    from crmbench.models import Model, RawLog

EXPECTED = (
    "oracle, oracle:defensive, oracle:naive, slip:RATE, heuristic, "
    + ", ".join(agent.name for agent in TRIVIAL)
    + ", recorded:FILE, http://HOST/PATH, mcp:COMMAND, cli:COMMAND or module:factory; "
    "or a framework with --model"
)
FRAMEWORKS = ("function_calling", "react", "act", "json")
MODEL_NAMES = ("claude", "gpt4.1", "gpt4.1-mini")
"""Models that may be named as agents, as the Arc benchmark does; run with function calling."""


def open_agent(spec: str) -> AgentFactory | GoldAgentFactory:
    """The factory of the agent that `spec` names.

    Raises:
        InputError: It names none.
    """
    for agent in TRIVIAL:
        if spec == agent.name:
            return agent
    if spec == "heuristic":
        from crmbench.agents.baselines.heuristic import HEURISTIC

        return HEURISTIC
    if spec.startswith(("http://", "https://")):
        from crmbench.agents.http import HttpAgentFactory

        return HttpAgentFactory(spec)
    if spec in ("oracle", "mock"):
        return OracleFactory()
    if spec in ("oracle:defensive", "oracle:naive"):
        from crmbench.agents.careful import CarefulFactory, CarelessFactory

        return CarefulFactory() if spec == "oracle:defensive" else CarelessFactory()
    kind, colon, rest = spec.partition(":")
    if kind == "slip" and colon:
        from crmbench.agents.slip import SlipFactory

        return SlipFactory(rest)
    if kind in ("mcp", "cli") and colon:
        from crmbench.agents.command import CommandAgents

        return CommandAgents("mcp" if kind == "mcp" else "cli", rest)
    if kind == "recorded" and colon:
        return RecordedFactory(Path(rest))
    if spec in FRAMEWORKS:
        raise InputError(f"the framework '{spec}' needs a model", expected="--model NAME")
    if colon:
        return load(spec)
    if spec.endswith(".py"):
        raise InputError(
            f"'{spec}' names a file, and no agent in it",
            expected=f"the file and a class in it, such as {spec}:{class_in(Path(spec))}",
        )
    raise InputError(f"there is no agent '{spec}'", expected=EXPECTED)


def model_agent(
    model: Model, framework: str, settings: ModelSettings, raw: RawLog | None = None
) -> AgentFactory:
    """Agents that run a model in a framework.

    Args:
        raw: Where the model keeps requests; closed with the agents.

    Raises:
        InputError: There is no such framework.
    """
    from crmbench.agents.chat import ModelAgentFactory
    from crmbench.agents.function_calling import FunctionCalling
    from crmbench.agents.text_protocols import act, json_protocol, react

    frameworks: dict[str, Framework] = {
        "function_calling": FunctionCalling,
        "react": react,
        "act": act,
        "json": json_protocol,
    }
    if framework not in frameworks:
        raise InputError(f"there is no framework '{framework}'", expected=", ".join(FRAMEWORKS))
    name = f"{framework}:{model.name}"
    return ModelAgentFactory(name, model, frameworks[framework], settings, raw)
