"""The reward can be learnt: a tiny policy beats chance on worlds, names and words it never met."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

pytest.importorskip("gymnasium")

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_gymnasium.py"


def test_a_little_training_beats_chance_on_held_out_tasks() -> None:
    train = runpy.run_path(str(EXAMPLE))["train"]
    found = train(episodes=300, tested=200, tasks=180)
    assert found["trained"] > 2 * found["random"] > 0
    assert found["trained"] > found["random"] + 0.01
