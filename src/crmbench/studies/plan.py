"""Studies: the same tasks under conditions that differ in one thing, one run for each condition.

    frameworks   how the model is led to act: function calling, ReAct, Act, JSON
    tools        which part of the domain's tools it has
    prompts      what it is told: examples, instructions, how its form is described
    latents      what shapes the org: each latent variable switched off, against all of them

A condition is called an arm. What arms there are comes from the tasks' domain, which declares its
sets of tools and its latents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from crmbench.agents.resolve import FRAMEWORKS
from crmbench.core.domain import Domain
from crmbench.core.task import Task
from crmbench.domains.registry import domain_names, load_domain
from crmbench.errors import InputError
from crmbench.models.prompt_files import PromptFiles, variants
from crmbench.runner.options import RunOptions
from crmbench.runner.participants import model_of
from crmbench.runner.task_sets import choose, digest_of_named, load_named
from crmbench.studies.data import latent_sets, stratified

Kind = Literal["frameworks", "tools", "prompts", "latents"]
KINDS: tuple[Kind, ...] = get_args(Kind)

USUAL_FRAMEWORKS = ("function_calling", "react", "act")
DEFAULT = "default"
"""The arm of the org with all its latents, and of the usual prompts."""
OPERATIONAL = ("resume", "concurrency", "requests_per_minute", "tokens_per_minute", "max_cost")
"""Options that may change between the sittings of a study."""


@dataclass(frozen=True)
class Arm:
    """One condition."""

    name: str
    """Also the name of its run's directory."""
    agent: str
    tools: str | None = None
    """The set of tools; None for all."""
    latent: str | None = None
    """The latent that is switched off."""
    prompts: str = ""
    """The folder or variant of prompts; empty: the usual ones."""

    @property
    def data(self) -> str:
        """The file of its tasks, within the study's directory."""
        return f"data/{f'without-{self.latent}' if self.latent else 'tasks'}.jsonl"


@dataclass(frozen=True)
class StudyOptions:
    """What to study."""

    kind: Kind
    run: RunOptions
    """What all arms have in common; its file is where the tasks come from, its sample how many
    of them each arm plays (of each task or category in proportion)."""
    arms: tuple[str, ...] = ()
    """The frameworks, sets of tools, prompts or latents to study; all usual ones if empty."""
    org_seed: int | None = None
    """Latents: the seed of the org and its questions; that of the published set if None."""


@dataclass(frozen=True)
class Study:
    """A study as it was planned: its arms, and the tasks of each."""

    options: StudyOptions
    domain: str
    arms: tuple[Arm, ...]
    """The first is what the others are held to."""
    tasks: dict[str, tuple[Task, ...]]
    """By `Arm.data`."""

    def run_options(self, arm: Arm, folder: Path) -> RunOptions:
        """The options of an arm's run."""
        run = self.options.run
        return replace(
            run,
            file=str(folder / arm.data),
            agent=arm.agent,
            tools=arm.tools,
            prompts=arm.prompts or run.prompts,
            sample=None,
            filters=(),
        )

    def to_data(self) -> dict[str, Any]:
        """The plan as a JSON object; that of a study that goes on must be the same."""
        run = asdict(self.options.run)
        source = run.pop("file")
        for name in (*OPERATIONAL, "agent", "tools"):
            del run[name]
        return {
            "study": self.options.kind,
            "domain": self.domain,
            "source": Path(source).name,
            "source_digest": _digest(self.options, source),
            "org_seed": self.options.org_seed,
            "settings": {**run, "filters": list(run["filters"])},
            "arms": [
                {**asdict(arm), "data": arm.data, "conversations": len(self.tasks[arm.data])}
                for arm in self.arms
            ],
        }


def _digest(options: StudyOptions, source: str) -> str | None:
    """Of the source; none for a study of latents, which makes its own tasks."""
    return None if options.kind == "latents" else digest_of_named(source)


def plan(options: StudyOptions) -> Study:
    """Work out the arms and choose the tasks.

    Raises:
        InputError: An arm is unknown, the domain has none of that kind, or the tasks cannot be
            had.
    """
    if options.kind == "latents":
        return _latents(options)
    run = options.run
    chosen = choose(
        load_named(run.file, skip_invalid=run.skip_invalid).tasks(), filters=run.filters
    )
    tasks = stratified(chosen, run.sample, run.seed)
    domain = _one_domain(tasks)
    kinds = {"frameworks": _frameworks, "prompts": _prompts}
    arms = kinds[options.kind](options) if options.kind in kinds else _tools(options, domain)
    return Study(options, domain.name, arms, {arms[0].data: tuple(tasks)})


def _one_domain(tasks: Sequence[Task]) -> Domain:
    names = sorted({task.domain for task in tasks})
    if len(names) > 1:
        raise InputError(
            f"the conversations are of several domains: {', '.join(names)}",
            expected="conversations of one domain",
        )
    return load_domain(names[0])


def _frameworks(options: StudyOptions) -> tuple[Arm, ...]:
    run = options.run
    if model_of(run) is None:
        raise InputError(
            "a framework leads a model, and none is named", field="--model", expected="a model"
        )
    names = options.arms or USUAL_FRAMEWORKS
    _check(names, FRAMEWORKS, "--framework")
    return tuple(Arm(name, name, run.tools) for name in names)


def _prompts(options: StudyOptions) -> tuple[Arm, ...]:
    """The usual prompts first, then each variant or folder; a folder's arm has its last name."""
    run = options.run
    if model_of(run) is None:
        raise InputError(
            "prompts are for a model, and none is named", field="--model", expected="a model"
        )
    chosen = options.arms or variants()
    names = [Path(name).name for name in chosen]
    _check(names, [*names, DEFAULT], "--prompts")
    if DEFAULT in names:
        raise InputError(f"'{DEFAULT}' is the arm of our prompts", field="--prompts")
    for name in chosen:
        PromptFiles(name).text("function_calling")
    arms = (Arm(DEFAULT, run.agent, run.tools),)
    return arms + tuple(
        Arm(arm, run.agent, run.tools, prompts=name)
        for arm, name in zip(names, chosen, strict=True)
    )


def _tools(options: StudyOptions, domain: Domain) -> tuple[Arm, ...]:
    known = domain.tool_sets
    if not known:
        raise InputError(f"the {domain.name} domain has one set of tools, so none can be compared")
    names = options.arms or known
    _check(names, known, "--tools")
    return tuple(Arm(name, options.run.agent, name) for name in names)


def _latents(options: StudyOptions) -> Study:
    run = options.run
    if run.file not in domain_names():
        raise InputError(
            f"'{run.file}' is no domain, and a study of latents makes orgs and questions anew",
            expected=" or ".join(name for name in domain_names() if load_domain(name).latents),
        )
    domain = load_domain(run.file)
    if not domain.latents:
        raise InputError(f"the {domain.name} domain has no latents that can be switched off")
    names = options.arms or domain.latents
    if len(set(names)) != len(names) or set(names) - set(domain.latents):
        _check(names, domain.latents, "--latent")
    arms = (
        Arm(DEFAULT, run.agent, run.tools),
        *(Arm(f"without-{name}", run.agent, run.tools, name) for name in names),
    )
    sets = latent_sets(run, names, options.org_seed)
    return Study(options, domain.name, arms, {arm.data: sets[arm.latent] for arm in arms})


def _check(names: Sequence[str], known: Sequence[str], flag: str) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(f"there is no '{unknown[0]}'", field=flag, expected=", ".join(known))
    if len(set(names)) != len(names):
        raise InputError("a name is given twice", field=flag)
