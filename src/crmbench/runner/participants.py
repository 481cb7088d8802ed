"""Who takes part in a run: the agents, and the models that play the users or judge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crmbench.agents.command import CommandAgents
from crmbench.agents.protocol import AnyFactory
from crmbench.agents.resolve import FRAMEWORKS, MODEL_NAMES, model_agent, open_agent
from crmbench.errors import HarnessError, InputError
from crmbench.runner.options import RunOptions

if TYPE_CHECKING:
    from crmbench.models import Model, RawLog
    from crmbench.models.limits import RateSource
    from crmbench.roles.judge import Judge
    from crmbench.roles.role_model import RoleModel
    from crmbench.roles.user import ModelUser


@dataclass(frozen=True)
class Participants:
    """All who take part. Close it when the run is over."""

    agents: AnyFactory
    user: ModelUser | None = None
    judge: Judge | None = None
    raw: RawLog | None = None

    async def close(self) -> None:
        """Close what was opened."""
        await self.agents.close()
        for part in (self.user, self.judge):
            if part is not None:
                await part.close()
        if self.raw is not None:
            self.raw.close()


def model_of(options: RunOptions) -> str | None:
    """The model that the agents run on; None for an agent without one of ours."""
    return options.model or (options.agent if options.agent in MODEL_NAMES else None)


def framework_of(options: RunOptions) -> str:
    """How the options' model is led to act.

    Raises:
        InputError: A model and an agent that runs none are both named.
    """
    if options.agent in FRAMEWORKS:
        return options.agent
    if options.agent in MODEL_NAMES:
        return "function_calling"
    raise InputError(
        f"the agent '{options.agent}' runs no model, and the model '{options.model}' is named",
        field="--agent",
        expected=f"one of {', '.join(FRAMEWORKS)}, or no --model",
    )


def models_of(options: RunOptions) -> dict[str, str]:
    """The models of a run by their parts: ``agent``, ``user``, ``judge``."""
    parts = {"agent": model_of(options), "user": options.user, "judge": options.judge}
    return {part: name for part, name in parts.items() if name is not None}


def open_participants(
    options: RunOptions,
    out: Path | None,
    factory: AnyFactory | None = None,
    rates: RateSource | None = None,
    raw: RawLog | None = None,
) -> Participants:
    """Everybody whom the options name.

    Args:
        out: The run's directory, for ``raw.jsonl`` and what commands print.
        factory: The agents, where they come from code.
        rates: Where other processes take from the same limits of rates.
        raw: Where requests are kept, if not in the directory.

    Raises:
        InputError: There is no such agent, framework or model, or a key is missing.
    """
    _check(options, has_place=out is not None or raw is not None)
    if factory is None and options.model is not None:
        framework_of(options)
    agents = factory or (open_agent(options.agent) if model_of(options) is None else None)
    if out is not None and isinstance(agents, CommandAgents):
        agents.keep_output_in(out)
    if options.user is not None and hasattr(agents, "start_with_gold"):
        raise InputError(
            f"the agent '{options.agent}' follows the task's own turns, not a free conversation",
            expected="another agent, or no --user",
        )
    if agents is not None and not models_of(options):
        return Participants(agents)
    from crmbench.models import RawLog

    if raw is None and options.keep_raw and out is not None:
        raw = RawLog(out / "raw.jsonl")
    try:
        return Participants(
            agents or _model_agents(options, raw, rates),
            open_user(options, raw, rates),
            open_judge(options, raw, rates),
            raw,
        )
    except BaseException:
        if raw is not None:
            raw.close()
        raise


def _check(options: RunOptions, *, has_place: bool) -> None:
    if options.judge_all and options.judge is None:
        raise InputError("asking about every turn needs a judge", expected="--judge MODEL")
    models = models_of(options)
    if not models:
        return
    if options.keep_raw and not has_place:
        raise InputError("requests and replies need a place", expected="--out with --keep-raw")
    if options.max_cost is None:
        return
    from crmbench.models.prices import Prices
    from crmbench.models.resolve import full_model_name

    for name in models.values():
        if Prices.builtin().price(full_model_name(name)) is None:
            raise InputError(
                f"the price of '{name}' is not known, so no limit of cost can be kept",
                expected="a model of the price table, or no --max-cost",
            )


def _model_agents(options: RunOptions, raw: RawLog | None, rates: RateSource | None) -> AnyFactory:
    name = model_of(options)
    if name is None:
        raise HarnessError("the options name no model")
    from crmbench.agents.chat import ModelSettings
    from crmbench.models.prices import Prices
    from crmbench.models.prompt_files import PromptFiles

    settings = ModelSettings(
        options.max_steps,
        options.temperature,
        options.max_tokens,
        Prices.builtin(),
        PromptFiles(options.prompts),
    )
    model = _open("agent", name, options, raw, rates)
    return model_agent(model, framework_of(options), settings)


def open_user(
    options: RunOptions, raw: RawLog | None = None, rates: RateSource | None = None
) -> ModelUser | None:
    """The model that plays the users, if the options name one."""
    if options.user is None:
        return None
    from crmbench.roles.user import ModelUser

    model = _role_model("user", options.user, options, raw, rates)
    return ModelUser(model, options.user_messages)


def open_judge(
    options: RunOptions, raw: RawLog | None = None, rates: RateSource | None = None
) -> Judge | None:
    """The model that judges, if the options name one."""
    if options.judge is None:
        return None
    from crmbench.roles.judge import Judge, JudgeRules

    rules = JudgeRules(options.judge_weight, options.judge_pass)
    model = _role_model("judge", options.judge, options, raw, rates)
    return Judge(model, options.judge_all, rules)


def _role_model(
    part: str, name: str, options: RunOptions, raw: RawLog | None, rates: RateSource | None
) -> RoleModel:
    from crmbench.models.prices import Prices
    from crmbench.models.prompt_files import PromptFiles
    from crmbench.roles.role_model import RoleModel

    model = _open(part, name, options, raw, rates)
    return RoleModel(model, Prices.builtin(), prompts=PromptFiles(options.prompts))


def _open(
    part: str, name: str, options: RunOptions, raw: RawLog | None, rates: RateSource | None
) -> Model:
    """The model of a part; every part may use the whole of the rates."""
    from crmbench.models import Limits, open_model

    limits = Limits(
        concurrency=options.concurrency,
        requests_per_minute=options.requests_per_minute,
        tokens_per_minute=options.tokens_per_minute,
        seed=options.seed,
        rates=rates,
        rate_name=part,
    )
    return open_model(name, limits=limits, raw=raw)


def record_of_models(options: RunOptions) -> dict[str, Any]:
    """What a run's record says of its models: digests of prompts, and the day of the prices."""
    models = models_of(options)
    if not models:
        return {}
    from crmbench.models.prices import Prices
    from crmbench.models.prompt_files import PromptFiles, prompts_of
    from crmbench.roles.role_model import PROMPTS

    names = list(prompts_of("crmbench.agents")) if "agent" in models else []
    names += [name for part in PROMPTS if part in models for name in PROMPTS[part]]
    digests = PromptFiles(options.prompts).digests(tuple(names))
    return {"prompts": digests, "prices_as_of": Prices.builtin().as_of}
