"""What a run is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from crmbench.roles.role_model import MAX_MESSAGES


def usual_agent(model: str | None) -> str:
    """Who plays where nobody is named: the heuristic, or the model by function calling."""
    return "heuristic" if model is None else "function_calling"


@dataclass(frozen=True)
class RunOptions:
    """What to run."""

    file: str
    agent: str = ""
    """Who plays; empty: the oracle, or with a model the framework ``function_calling``."""
    backend: str = "sqlite"
    trials: int = 1
    sample: int | None = None
    seed: int = 0
    filters: tuple[str, ...] = ()
    concurrency: int = 8
    time_limit: float | None = None
    max_calls: int = 100
    model: str | None = None
    """A model's name; `agent` is then the framework that runs it."""
    max_steps: int = 20
    temperature: float | None = None
    max_tokens: int | None = 2048
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    keep_raw: bool = False
    max_cost: float | None = None
    """US dollars after which no further episode of this sitting begins; those under way end."""
    user: str | None = None
    """A model that plays the users; else they say the tasks' own words."""
    user_messages: int = MAX_MESSAGES
    """Messages that it may send for one turn of the task."""
    judge: str | None = None
    """A model that is asked where the checks cannot decide."""
    judge_all: bool = False
    """Ask it about every turn, to see how far it agrees with the checks."""
    judge_weight: float = 0.7
    """Share of a judge's first score: the goal, or the calls. The rest is the second's."""
    judge_pass: float = 0.8
    """The least score, 0 to 1, that passes."""
    prompts: str = ""
    """A folder of prompts that go before ours, or the name of a variant of ours."""
    tools: str | None = None
    """A named part of the domain's tools, where it has parts; else agents have all."""
    condition: str = ""
    """Conditions that are laid over every task, such as ``timeouts,pages:5``."""
    condition_seed: int = 0
    budget: float | None = None
    """Tool calls a conversation, as a multiple of the gold's; agents are told the number."""
    skip_invalid: bool = False
    resume: bool = False
    workers: int | None = None
    """Processes that play, or actors on Ray; None: as many as serve. All give the same bytes."""
    executor: str = ""
    """``inline``, ``processes``, ``ray`` or ``ray://HOST:PORT``; empty: as `workers` says."""

    def __post_init__(self) -> None:
        if not self.agent:
            usual = "oracle" if self.model is None else "function_calling"
            object.__setattr__(self, "agent", usual)
        if self.backend == "mock":
            # Arc's name of the backend that needs no server.
            object.__setattr__(self, "backend", "sqlite")


class RunSettings(TypedDict, total=False):
    """The fields of `RunOptions` that may be given as arguments from Python."""

    backend: str
    trials: int
    sample: int | None
    seed: int
    filters: tuple[str, ...]
    concurrency: int
    time_limit: float | None
    max_calls: int
    model: str | None
    max_steps: int
    temperature: float | None
    max_tokens: int | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    keep_raw: bool
    max_cost: float | None
    user: str | None
    user_messages: int
    judge: str | None
    judge_all: bool
    judge_weight: float
    judge_pass: float
    prompts: str
    tools: str | None
    condition: str
    condition_seed: int
    budget: float | None
    skip_invalid: bool
    resume: bool
    workers: int | None
    executor: str
