"""litellm itself, against the local server: ``make test-litellm``."""

from __future__ import annotations

import asyncio

import pytest

from crmbench.core.trace import TokenUsage
from crmbench.models import Limits, ModelError, ToolSpec, open_model, user
from crmbench.models.testing.server import spawned
from crmbench.runner.run import RunOptions, execute

pytest.importorskip("litellm", reason="litellm is not installed; see make test-litellm")
# litellm's own warnings, and those of what it imports, are not ours to fix.
pytestmark = pytest.mark.filterwarnings("default")


def use(url: str, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("OPENAI_API_BASE", f"{url}/v1")
    patch.setenv("OPENAI_API_KEY", "none")


def test_a_run_through_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    with spawned("--tool-calls", "1") as url:
        use(url, monkeypatch)
        outcome = execute(
            RunOptions("demo", agent="function_calling", model="litellm/openai/fake", sample=3)
        )
    assert [episode.trace.outcome for episode in outcome.episodes] == ["finished"] * 3
    turns = [turn for episode in outcome.episodes for turn in episode.trace.turns]
    assert all(len(turn.calls) == 1 and turn.reply.startswith("This is reply") for turn in turns)
    usage = sum((episode.trace.usage for episode in outcome.episodes), TokenUsage())
    # In each turn an answer that calls a tool, and one that replies.
    assert usage.model_calls == 2 * len(turns)
    assert usage.prompt_tokens > 1_000 * usage.model_calls > 0


@pytest.mark.parametrize(
    ("fault", "kind", "attempts"),
    [
        ("rate_limit:0.01", "rate_limit", 3),
        ("server_error", "server", 3),
        ("unauthorized", "auth", 1),
        ("not_found", "not_found", 1),
        ("context_length", "context_length", 1),
    ],
)
def test_failures_keep_their_kind(
    fault: str, kind: str, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with spawned() as url:
        use(url, monkeypatch)
        limits = Limits(retries=2, first_delay=0.01, max_delay=0.02)
        model = open_model(f"litellm/openai/fake+{fault}", limits=limits)
        with pytest.raises(ModelError) as caught:
            asyncio.run(model.complete([user("Hi")]))
    assert (caught.value.kind, caught.value.attempts) == (kind, attempts)


def test_a_failure_that_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = ToolSpec("look", "Look.", {"type": "object", "properties": {}})
    with spawned("--tool-calls", "1") as url:
        use(url, monkeypatch)
        name = "litellm/openai/fake+server_error*1"
        model = open_model(name, limits=Limits(first_delay=0.01))
        reply = asyncio.run(model.complete([user("Hi")], [tool]))
    assert model.name == name
    assert (reply.attempts, [call.name for call in reply.tool_calls]) == (2, ["look"])
