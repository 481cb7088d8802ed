"""verifiers' own classes around our tasks. ``make test-verifiers`` runs it; the model's side of the
conversation is scripted, for the real one wants a service and a package index.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.training.conftest import right_actions

from crmbench.training.actions import CallRequest
from crmbench.training.resources import SessionResources

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

vf = pytest.importorskip("verifiers.v1")


class Scripted:
    """An agent that says what it is given, one text a turn."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.heard: list[str] = []
        self.rewards: dict[str, float] = {}
        self.trace = SimpleNamespace(
            record_reward=self.rewards.__setitem__, record_metric=self.rewards.__setitem__
        )

    async def turn(self, text: str) -> Any:
        self.heard.append(text)
        return SimpleNamespace(last_reply=self.texts.pop(0), terminated=False)

    @asynccontextmanager
    async def interaction(self, task: Any) -> AsyncIterator[Scripted]:
        assert isinstance(task, vf.Task)
        yield self


def test_right_texts_are_paid_in_full() -> None:
    from crmbench.integrations.verifiers import CrmConfig, CrmConversation, CrmTaskset, _pool

    tasks = list(CrmTaskset(CrmConfig()).load())
    pool, shared = _pool("sales", "train", 0), SessionResources()
    assert len(tasks) == len(pool)
    for task in tasks[:5]:
        ours = pool.tasks[task.data.place]
        texts = ["Let me see."]
        for action in right_actions(shared, ours):
            if isinstance(action, CallRequest):
                texts.append(json.dumps({"tool": action.name, "arguments": action.arguments}))
            else:
                texts.append(json.dumps({"reply": action}))
        agent = Scripted(texts)
        asyncio.run(
            CrmConversation.run(
                CrmConversation.__new__(CrmConversation), task, SimpleNamespace(player=agent)
            )
        )
        assert agent.rewards == {"crmbench": pytest.approx(2.0), "success": 1.0}
        assert agent.heard[0].endswith(ours.turns[0].utterance)
        assert "no JSON object" in agent.heard[1]
        assert agent.texts == []
    shared.close()
