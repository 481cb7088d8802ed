"""What a run will cost, before any model is asked.

Each task is played once by the oracle, which asks no model, for the true sizes of arguments and
results. Around these the prompts are laid out as the agent would send them: house rules, tool
schemas, the user's words, and at every call the whole conversation so far. Tokens are characters
divided by four. What cannot be known beforehand (look-ups beside the gold path, how much a model
thinks, how often a judge is asked) is guessed three times: see `GUESSES`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from crmbench.agents.oracle import OracleFactory
from crmbench.core.task import Task
from crmbench.core.trace import EpisodeTrace
from crmbench.grading.record import EpisodeRecord
from crmbench.language.counts import counted
from crmbench.models.prices import Prices
from crmbench.models.resolve import full_model_name
from crmbench.runner.estimate_layout import (
    CHARACTERS_A_TOKEN,
    GUESSES,
    Guess,
    Layout,
    Tokens,
)
from crmbench.runner.evaluate import Evaluator, grader_on, jobs_for
from crmbench.runner.options import RunOptions
from crmbench.runner.participants import framework_of, models_of
from crmbench.runner.task_sets import choose, load_named


@dataclass(frozen=True)
class Part:
    """One model's part in the run."""

    part: str
    model: str
    priced: bool
    """Whether the price table knows it; the costs are zero if not."""
    guesses: dict[str, Tokens]
    """By the name of the guess."""


@dataclass(frozen=True)
class Estimate:
    """What a run will take."""

    conversations: int
    trials: int
    turns: int
    """Of one trial."""
    parts: tuple[Part, ...]
    prices_as_of: str
    judge_all: bool = False

    def total(self, guess: str) -> Tokens:
        """All models together."""
        total = Tokens()
        for part in self.parts:
            total = total + part.guesses[guess]
        return total

    def to_data(self) -> dict[str, Any]:
        """A JSON object; costs are null where a price is not known."""
        episodes = self.conversations * self.trials
        return {
            "conversations": self.conversations,
            "trials": self.trials,
            "turns": self.turns,
            "parts": [
                {
                    "part": part.part,
                    "model": part.model,
                    **{name: _data(found, part.priced) for name, found in part.guesses.items()},
                    "typical_a_conversation": _data(
                        part.guesses["typical"].times(1 / episodes), part.priced
                    ),
                }
                for part in self.parts
            ],
            "total": {
                guess.name: _data(self.total(guess.name), all(p.priced for p in self.parts))
                for guess in GUESSES
            },
            "prices_as_of": self.prices_as_of,
            "assumed": list(self.assumed()),
        }

    def assumed(self) -> Iterator[str]:
        """What the figures rest on, in words."""
        yield f"a token is {CHARACTERS_A_TOKEN} characters; nothing was sent to any model"
        yield "sizes of arguments and results are those of the ground truth's calls"
        yield "one tool call a model call, and one call more for the reply"
        for guess in GUESSES:
            yield (
                f"{guess.name}: {guess.more_calls} tool calls a turn beside the right ones, "
                f"{guess.thought} tokens written with each, {guess.reply} in a reply"
                + self._assumed_of_others(guess)
            )
        yield "with caching, whatever an earlier call sent already is read from the cache"
        yield "tokens of reasoning models can be several times the high guess"

    def _assumed_of_others(self, guess: Guess) -> str:
        parts = {part.part for part in self.parts}
        user = f"; user messages a request: {guess.user_messages}"
        judge = f"; judge asked about {guess.judged:.0%} of the turns graded by tool match"
        asked = "judge" in parts and not self.judge_all
        return (user if "user" in parts else "") + (judge if asked else "")

    def render(self) -> str:
        """The estimate as text."""
        title = (
            f"Estimate for {counted(self.conversations, 'conversation')} with "
            f"{counted(self.turns, 'turn')}, {counted(self.trials, 'trial')} each; "
            "no model was asked"
        )
        if not self.parts:
            return f"{title}.\nNone of our models takes part, so there is nothing to estimate."
        lines = [title]
        head = "".join(f"{guess.name:>15}" for guess in GUESSES) + f"{'typical, each':>17}"
        for part in self.parts:
            lines += ["", f"{part.part + ' ' + part.model:<28}{head}", *self._rows(part)]
        if len(self.parts) > 1 and all(part.priced for part in self.parts):
            totals = [self.total(guess.name) for guess in GUESSES]
            row = "".join(f"{_money(total.cost_cached):>15}" for total in totals)
            lines += ["", f"{'all, cost with caching':<28}{row}"]
        lines += ["", f"Prices as of {self.prices_as_of}. Assumed:"]
        return "\n".join([*lines, *(f"  {text}" for text in self.assumed())])

    def _rows(self, part: Part) -> Iterator[str]:
        each = [part.guesses[guess.name] for guess in GUESSES]
        mean = part.guesses["typical"].times(1 / (self.conversations * self.trials))
        for label, name in (
            ("calls", "calls"),
            ("prompt tokens", "prompt"),
            ("  sent before", "cached"),
            ("completion tokens", "completion"),
        ):
            cells = "".join(f"{getattr(found, name):>15,.0f}" for found in each)
            yield f"  {label:<26}{cells}{getattr(mean, name):>17,.1f}"
        if not part.priced:
            yield "  its price is not known"
            return
        for label, name in (("cost with caching", "cost_cached"), ("cost without", "cost")):
            cells = "".join(f"{_money(getattr(found, name)):>15}" for found in each)
            yield f"  {label:<26}{cells}{_money(getattr(mean, name), 4):>17}"


def _money(dollars: float, places: int = 2) -> str:
    return f"${dollars:,.{places}f}"


def _data(found: Tokens, priced: bool) -> dict[str, float | None]:
    return {
        "calls": round(found.calls, 1),
        "prompt_tokens": round(found.prompt, 1),
        "prompt_tokens_sent_before": round(found.cached, 1),
        "completion_tokens": round(found.completion, 1),
        "cost_with_caching": round(found.cost_cached, 4) if priced else None,
        "cost_without_caching": round(found.cost, 4) if priced else None,
    }


def estimate(options: RunOptions) -> Estimate:
    """Estimate a run.

    Raises:
        InputError: The file or a filter cannot be used.
        HarnessError: A task's ground truth fails.
    """
    if options.model is not None:
        framework_of(options)
    loaded = load_named(options.file, skip_invalid=options.skip_invalid)
    tasks = choose(
        loaded.lazy_tasks, filters=options.filters, sample=options.sample, seed=options.seed
    )
    models, prices = models_of(options), Prices.builtin()
    names = {part: full_model_name(name) for part, name in models.items()}
    played = _oracle(tasks) if models else []
    parts = []
    for part, name in models.items():
        price = prices.price(names[part])
        guesses = {}
        for guess in GUESSES:
            found = Tokens()
            for task, trace in played:
                found = found + Layout(options, guess, task, trace, price).of(part)
            guesses[guess.name] = found.times(options.trials)
        parts.append(Part(part, name, price is not None, guesses))
    turns = sum(len(task.turns) for task in tasks)
    return Estimate(
        len(tasks), options.trials, turns, tuple(parts), prices.as_of, options.judge_all
    )


def _oracle(tasks: Sequence[Task]) -> list[tuple[Task, EpisodeTrace]]:
    evaluator = Evaluator(OracleFactory(), grader_on("sqlite"))
    found: list[EpisodeRecord] = []
    try:
        asyncio.run(evaluator.run(jobs_for(tasks, 1), found.append))
    finally:
        evaluator.grader.close()
    traces = {record.task_id: record.trace for record in found}
    return [(task, traces[task.task_id]) for task in tasks]
