"""What a study will cost, before any model is asked: the estimates of its arms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crmbench.language.counts import counted
from crmbench.runner.estimate import Estimate, estimate
from crmbench.runner.estimate_layout import GUESSES
from crmbench.studies.plan import Study
from crmbench.studies.run import write_tasks


@dataclass(frozen=True)
class StudyEstimate:
    """The estimates by arm."""

    arms: dict[str, Estimate]

    @property
    def priced(self) -> bool:
        """Whether the prices of all models are known."""
        return all(part.priced for arm in self.arms.values() for part in arm.parts)

    def cost(self, guess: str) -> tuple[float, float]:
        """US dollars of all arms, prompts read from a cache and not."""
        totals = [arm.total(guess) for arm in self.arms.values()]
        return sum(t.cost_cached for t in totals), sum(t.cost for t in totals)

    def to_data(self) -> dict[str, Any]:
        """A JSON object; costs are null where a price is not known."""
        costs = {guess.name: self.cost(guess.name) for guess in GUESSES}
        return {
            "arms": {name: arm.to_data() for name, arm in self.arms.items()},
            "total": {
                name: {
                    "cost_with_caching": round(cached, 4) if self.priced else None,
                    "cost_without_caching": round(plain, 4) if self.priced else None,
                }
                for name, (cached, plain) in costs.items()
            },
        }

    def render(self) -> str:
        """The estimate as text."""
        first = next(iter(self.arms.values()))
        if not first.parts:
            return "None of our models takes part, so there is nothing to estimate."
        head = "".join(f"{guess.name:>15}" for guess in GUESSES)
        lines = [f"Estimate for {len(self.arms)} arms; no model was asked", f"{'':<34}{head}"]
        for name, arm in self.arms.items():
            episodes = arm.conversations * arm.trials
            totals = [arm.total(guess.name) for guess in GUESSES]
            tokens = "".join(f"{(t.prompt + t.completion):>15,.0f}" for t in totals)
            lines.append(f"{name + ', ' + counted(episodes, 'episode') + ': tokens':<34}{tokens}")
            if self.priced:
                money = "".join(f"{f'${t.cost_cached:,.2f}':>15}" for t in totals)
                lines.append(f"{'  cost with caching':<34}{money}")
        if not self.priced:
            return "\n".join([*lines, "The price of a model is not known."])
        for place, label in enumerate(("all, cost with caching", "all, cost without")):
            money = "".join(f"{f'${self.cost(guess.name)[place]:,.2f}':>15}" for guess in GUESSES)
            lines.append(f"{label:<34}{money}")
        lines += ["", f"Prices as of {first.prices_as_of}. Assumed:"]
        return "\n".join([*lines, *(f"  {text}" for text in first.assumed())])


def estimate_study(study: Study) -> StudyEstimate:
    """Estimate every arm. Nothing is left on disk.

    Raises:
        HarnessError: A task's ground truth fails.
    """
    with TemporaryDirectory() as folder:
        write_tasks(study, Path(folder))
        arms = {arm.name: estimate(study.run_options(arm, Path(folder))) for arm in study.arms}
    return StudyEstimate(arms)
