"""Agents that do no work. What one of them passes is worth nothing; they are always reported."""

from __future__ import annotations

import random
from typing import Any

import orjson

from crmbench.agents.protocol import Agent, Session, SimpleFactory

RANDOM_CALLS = 3
"""Calls a turn of the random agent."""
DUMP_LIMIT = 200
"""Records of each kind that the dump agent recites at most."""


class Noop:
    """Says that it is done and does nothing."""

    async def turn(self, session: Session, utterance: str) -> str:
        del session, utterance
        return "Done."


class RefuseAll:
    """Refuses whatever it is asked."""

    async def turn(self, session: Session, utterance: str) -> str:
        del session, utterance
        return "I'm sorry, but I can't do that: it is against policy and not possible here."


class RandomCalls:
    """Makes valid calls at random: arguments by the tools' schemas, ids from what it has seen."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._seen: dict[str, list[Any]] = {}

    async def turn(self, session: Session, utterance: str) -> str:
        words = utterance.split()
        answers = []
        for _ in range(RANDOM_CALLS):
            tool = self._random.choice(session.tools)
            result = await session.call(tool["name"], self._arguments(tool["parameters"], words))
            self._remember(result.value)
            answers.append(f"{tool['name']}: {'done' if result.ok else result.value}")
        return "\n".join(answers)

    def _arguments(self, schema: dict[str, Any], words: list[str]) -> dict[str, Any]:
        chosen = {}
        for name, about in schema["properties"].items():
            wanted = name in schema["required"] or self._random.random() < 0.1
            if wanted and about.get("type") != "object":
                chosen[name] = self._value(name, about, words)
        return chosen

    def _value(self, name: str, about: dict[str, Any], words: list[str]) -> Any:
        if "enum" in about:
            return self._random.choice(about["enum"])
        if name in self._seen and self._random.random() < 0.8:
            return self._random.choice(self._seen[name])
        kind = about.get("type")
        if kind == "number":
            return float(self._random.randrange(1, 100_000))
        if kind == "integer":
            return self._random.randrange(1, 100)
        if kind == "boolean":
            return self._random.random() < 0.5
        if kind == "array":
            return [self._value(name.removesuffix("s"), about.get("items", {}), words)]
        return self._random.choice(words or ["x"])

    def _remember(self, value: Any) -> None:
        if isinstance(value, dict):
            for name, item in value.items():
                if name.endswith("_id") and isinstance(item, str):
                    self._seen.setdefault(name, []).append(item)
                else:
                    self._remember(item)
        elif isinstance(value, list):
            for item in value:
                self._remember(item)


class Dump:
    """Recites every record that it can list, once, in the hope that the answer is among them."""

    def __init__(self) -> None:
        self._recital: str | None = None
        self._told: set[bytes] = set()

    async def turn(self, session: Session, utterance: str) -> str:
        del utterance
        if self._recital is None:
            parts = []
            for tool in session.tools:
                if tool["parameters"]["required"]:
                    continue
                takes_limit = "limit" in tool["parameters"]["properties"]
                result = await session.call(
                    tool["name"], {"limit": DUMP_LIMIT} if takes_limit else {}
                )
                if result.ok:
                    parts.append(orjson.dumps(self._news(result.value)).decode())
            self._recital = "Here is everything:\n" + "\n".join(parts)
        return self._recital

    def _news(self, value: Any) -> Any:
        """What is not yet told of a result; not every tool that lists records takes a limit."""
        if isinstance(value, dict):
            return {name: self._news(part) for name, part in value.items()}
        if not isinstance(value, list):
            return value
        fresh = {orjson.dumps(item): item for item in value[:DUMP_LIMIT]}
        news = [item for text, item in fresh.items() if text not in self._told]
        self._told.update(fresh)
        return news


def _agent(kind: type[Noop] | type[RefuseAll] | type[Dump]) -> Agent:
    return kind()


NOOP = SimpleFactory("noop", lambda _view, _seed: _agent(Noop))
REFUSE_ALL = SimpleFactory("refuse_all", lambda _view, _seed: _agent(RefuseAll))
RANDOM = SimpleFactory("random", lambda _view, seed: RandomCalls(seed))
DUMP = SimpleFactory("dump", lambda _view, _seed: _agent(Dump))
TRIVIAL = (NOOP, REFUSE_ALL, RANDOM, DUMP)
TRIVIAL_NAMES = frozenset(agent.name for agent in TRIVIAL)
