"""A tiny policy learns to answer colleagues' first questions, in Gymnasium, with numpy alone.

    pip install 'crmbench[gym]'
    python examples/train_gymnasium.py

A turn is one choice among a few moves: look a name up in one of the tables and tell what the
record holds, refuse for one of some reasons, or say "Done.". The policy is linear over the words of
what was asked and learns by REINFORCE from the reward of the turn. It is trained on made tasks and
tested on others with other worlds, names and phrasings; it never writes, so most of the way is
left to better ones. A minute on one core is enough to see the reward be learnt.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from zlib import crc32

import gymnasium
import numpy as np
from numpy.typing import NDArray

import crmbench.integrations.gym  # noqa: F401 - registers the environments
from crmbench.training.rewards import Rewards
from crmbench.training.tasks import TaskPool

LOOK_UPS = (
    ("client_search", "name"),
    ("opportunity_search", "name"),
    ("contact_search", "last_name"),
    ("contact_search", "client_id"),
    ("opportunity_search", "client_id"),
)
REASONS = (
    "a rule of the policy forbids it",
    "health, family and religion are private and are not kept",
    "a file of that type, by its extension, is not supported",
    "it is more than 30 percent, which is the limit",
    "the deal is closed, and a closed deal is locked",
    "personal data is confidential and not shared",
    "the value is out of range",
    "the manager has to approve it first",
    "it exists already",
    "the stage does not allow it",
)
DONE = len(LOOK_UPS) + len(REASONS)
MOVES = DONE + 1
FEATURES = 2048
NAME = re.compile(r"(?:[A-Z][\w&.'-]+(?: - | )?){1,6}")
Floats = NDArray[np.float64]
Choose = Callable[[Floats, np.random.Generator], int]


def features(text: str, turn: int) -> Floats:
    """Which words and pairs of words a text has; the last feature is always on."""
    found = np.zeros(FEATURES)
    words = re.findall(r"[a-z']+", text.lower())
    for gram in (*words, *map(" ".join, pairwise(words)), f"turn {turn}"):
        found[crc32(gram.encode()) % (FEATURES - 1)] = 1.0
    found[-1] = 1.0
    return found / np.sqrt(found.sum())


def call(env: Any, tool: str, arguments: dict[str, str]) -> tuple[list[dict[str, Any]], tuple]:
    """A tool's records, and what the step gave."""
    step = env.step(json.dumps({"name": tool, "arguments": arguments}))
    try:
        return json.loads(json.loads(step[0])[0]["content"])["records"], step
    except (ValueError, KeyError, IndexError):
        return [], step


def play_move(env: Any, move: int, asked: str) -> tuple:
    """One turn: what `step` gave for the reply."""
    if move == DONE:
        return env.step("Done.")
    if move >= len(LOOK_UPS):
        return env.step(f"I could not do that: {REASONS[move - len(LOOK_UPS)]}.")
    tool, argument = LOOK_UPS[move]
    names = sorted((match.strip(" .-'") for match in NAME.findall(asked)), key=len, reverse=True)
    value = names[0] if names else asked[:40]
    if argument == "client_id":
        clients, _ = call(env, "client_search", {"name": value})
        value = clients[0]["client_id"] if clients else value
    records, _ = call(env, tool, {argument: value})
    told = [
        f"The {key.replace('_', ' ')} is {field}."
        for record in records[:1]
        for key, field in record.items()
        if field is not None and not key.endswith("_id")
    ]
    return env.step("\n".join(told) or "I found nothing by that name.")


def episode(
    env: Any, seed: int, choose: Choose, rng: np.random.Generator
) -> list[tuple[Floats, int, float]]:
    """What was seen, chosen and paid, turn by turn."""
    observation, info = env.reset(seed=seed)
    seen, over = [], False
    while not over:
        asked = json.loads(observation)[-1]["content"]
        view = features(asked, info["turn"])
        move = choose(view, rng)
        observation, reward, ended, cut, info = play_move(env, move, asked)
        over = ended or cut
        seen.append((view, move, float(reward)))
    return seen


class Policy:
    """Softmax over the moves, linear in the features."""

    def __init__(self) -> None:
        self.weights = np.zeros((MOVES, FEATURES))
        self.baseline = 0.0

    def chances(self, view: Floats) -> Floats:
        scores = self.weights @ view
        likely: Floats = np.exp(scores - scores.max())
        return likely / likely.sum()

    def __call__(self, view: Floats, rng: np.random.Generator) -> int:
        return int(rng.choice(MOVES, p=self.chances(view)))

    def greedy(self, view: Floats, rng: np.random.Generator) -> int:
        del rng
        return int(np.argmax(self.weights @ view))

    def learn(self, turns: list[tuple[Floats, int, float]], rate: float) -> None:
        """REINFORCE: each turn is paid for itself, less the mean so far."""
        for view, move, reward in turns:
            gain = reward - self.baseline
            self.baseline += 0.001 * gain
            push = -self.chances(view)
            push[move] += 1.0
            self.weights += rate * gain * np.outer(push, view)


def at_random(view: Floats, rng: np.random.Generator) -> int:
    """Any move."""
    del view
    return int(rng.integers(MOVES))


def mean_return(env: Any, choose: Choose, episodes: int) -> float:
    """What an episode pays, over the seeds from 0 on."""
    rng = np.random.default_rng(1)
    paid = [sum(r for _, _, r in episode(env, seed, choose, rng)) for seed in range(episodes)]
    return float(np.mean(paid))


def train(episodes: int = 4_000, tested: int = 300, tasks: int = 400) -> dict[str, float]:
    """Train, and test on held-out worlds: mean returns of the policy and of chance."""
    rewards = Rewards(success=0.0, turns=1.0)
    train_env, test_env = (
        gymnasium.make(
            "crmbench/sales-v0", tasks=TaskPool.made("sales", split, 1, tasks), rewards=rewards
        )
        for split in ("train", "held_out")
    )
    policy, rng = Policy(), np.random.default_rng(0)
    for number in range(episodes):
        policy.learn(episode(train_env, number, policy, rng), rate=4.0)
    found = {
        "random": mean_return(test_env, at_random, tested),
        "trained": mean_return(test_env, policy.greedy, tested),
    }
    train_env.close()
    test_env.close()
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=4_000)
    for name, value in train(parser.parse_args().episodes).items():
        print(f"{name:<8} {value:.3f} of 1 on held-out tasks")
