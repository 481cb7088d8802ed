"""The bridge to litellm, at its seam: what it is called with, and what its errors become."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crmbench.models import Limits, ModelError, Settings, ToolSpec, Usage, user
from crmbench.models.litellm_model import LitellmModel

QUICK = Limits(retries=1, first_delay=0.001)


class _Answer:
    def __init__(self, body: dict[str, Any]) -> None:
        self._body = body

    def model_dump(self) -> dict[str, Any]:
        return self._body


class _Failure(Exception):
    def __init__(self, status_code: int | None, code: str | None = None) -> None:
        super().__init__("failed")
        self.status_code = status_code
        self.body = {"code": code}
        self.litellm_response_headers = {"retry-after": "0.01"}


class _Completion:
    """Stands where litellm's function would be called."""

    def __init__(self, *outcomes: dict[str, Any] | Exception) -> None:
        self._outcomes = list(outcomes)
        self.calls: list[dict[str, Any]] = []

    async def __call__(self, **arguments: Any) -> _Answer:
        self.calls.append(arguments)
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return _Answer(outcome)


BODY = {
    "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2},
}


def test_a_call(tools: list[ToolSpec]) -> None:
    completion = _Completion(BODY)
    settings = Settings(temperature=0.0, thinking_budget=99, extra={"top_p": 0.1})
    model = LitellmModel("litellm/x", "x", settings=settings, completion=completion)
    reply = asyncio.run(model.complete([user("Hi")], tools, max_tokens=7))
    assert (reply.text, reply.usage) == ("Hello", Usage(5, 2))
    (call,) = completion.calls
    assert call["model"] == "x"
    assert (call["max_tokens"], call["temperature"], call["top_p"]) == (7, 0.0, 0.1)
    assert call["thinking"] == {"type": "enabled", "budget_tokens": 99}
    assert call["num_retries"] == 0
    assert call["messages"] == [{"role": "user", "content": "Hi"}]
    assert call["tools"][1]["function"]["name"] == "add"
    assert "seed" not in call


def test_a_passing_failure_is_retried() -> None:
    completion = _Completion(_Failure(429), BODY)
    model = LitellmModel("litellm/x", "x", limits=QUICK, completion=completion)
    assert asyncio.run(model.complete([user("Hi")])).attempts == 2


@pytest.mark.parametrize(
    ("outcome", "kind", "calls"),
    [
        (_Failure(401), "auth", 1),
        (_Failure(404), "not_found", 1),
        (_Failure(429, "insufficient_quota"), "quota", 1),
        (_Failure(400, "context_length_exceeded"), "context_length", 1),
        (_Failure(400), "bad_request", 1),
        (_Failure(503), "server", 2),
        (_Failure(None), "connection", 2),
        ({"choices": []}, "bad_reply", 2),
    ],
)
def test_failures(outcome: dict[str, Any] | Exception, kind: str, calls: int) -> None:
    completion = _Completion(outcome, outcome)
    model = LitellmModel("litellm/x", "x", limits=QUICK, completion=completion)
    with pytest.raises(ModelError) as caught:
        asyncio.run(model.complete([user("Hi")]))
    assert (caught.value.kind, len(completion.calls)) == (kind, calls)


def test_a_refusal_that_litellm_moved_aside() -> None:
    message = {"content": None, "provider_specific_fields": {"refusal": "No."}}
    completion = _Completion({"choices": [{"message": message, "finish_reason": "stop"}]})
    model = LitellmModel("litellm/x", "x", completion=completion)
    reply = asyncio.run(model.complete([user("Hi")]))
    assert (reply.refusal, reply.text) == (True, "No.")


def test_zeros_that_litellm_filled_in_are_unknown() -> None:
    completion = _Completion(BODY | {"usage": {"prompt_tokens": 0, "completion_tokens": 0}})
    model = LitellmModel("litellm/x", "x", completion=completion)
    assert asyncio.run(model.complete([user("Hi")])).usage == Usage()
