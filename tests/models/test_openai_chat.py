"""Chat completions: bodies as they are sent, replies as they are read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbench.errors import InputError
from crmbench.models import (
    Message,
    Reply,
    Settings,
    ToolCall,
    ToolSpec,
    Usage,
    system,
    tool_result,
    user,
)
from crmbench.models.http_model import Sampling
from crmbench.models.openai_chat import OpenAIChat, base_endpoint, read_completion, read_usage

NOTHING = Sampling(None, None, None)
_NAMES = (
    "message",
    "content",
    "refusal",
    "tool_calls",
    "id",
    "function",
    "name",
    "arguments",
    "extra_content",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "prompt_tokens",
    "prompt_tokens_details",
)


def _model(settings: Settings | None = None, limit: str = "max_tokens") -> OpenAIChat:
    endpoint = base_endpoint("http://localhost/v1")
    return OpenAIChat("m", "some-model", endpoint, settings=settings, completion_limit=limit)


def _completion(message: dict[str, Any], finish: str = "stop") -> dict[str, Any]:
    return {"model": "m-2026", "choices": [{"message": message, "finish_reason": finish}]}


def _read(message: dict[str, Any], finish: str = "stop") -> Reply:
    reply = read_completion(_completion(message, finish), 3)
    assert reply is not None
    return reply


def test_a_whole_conversation(tools: list[ToolSpec]) -> None:
    call = ToolCall("c1", "client_search", {"name": "Acmé"}, '{"name": "Acmé"}')
    said = [
        system("Be exact."),
        user("Find Acmé"),
        Message("assistant", "", (call,)),
        tool_result(call, "[]"),
        Message("assistant", "None."),
    ]
    body = json.loads(_model().encode(said, tools, Sampling(50, 0.0, "auto")))
    assert body["model"] == "some-model"
    assert (body["max_tokens"], body["temperature"], body["tool_choice"]) == (50, 0.0, "auto")
    assert [tool["function"]["name"] for tool in body["tools"]] == ["client_search", "add"]
    assert body["tools"][0]["function"]["parameters"] == tools[0].parameters
    function = {"name": "client_search", "arguments": '{"name":"Acmé"}'}
    assert body["messages"] == [
        {"role": "system", "content": "Be exact."},
        {"role": "user", "content": "Find Acmé"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "[]"},
        {"role": "assistant", "content": "None."},
    ]


def test_nothing_is_sent_that_was_not_asked_for() -> None:
    body = json.loads(_model().encode([user("Hi")], [], NOTHING._replace(tool_choice="none")))
    assert set(body) == {"model", "messages"}


def test_settings_and_extra_fields() -> None:
    settings = Settings(seed=7, reasoning_effort="low", extra={"top_p": 0.5, "seed": 8})
    model = _model(settings, limit="max_completion_tokens")
    body = json.loads(model.encode([user("Hi")], [], Sampling(9, None, None)))
    assert body["max_completion_tokens"] == 9
    assert (body["seed"], body["reasoning_effort"], body["top_p"]) == (8, "low", 0.5)


def test_a_thinking_budget_is_refused() -> None:
    with pytest.raises(InputError, match="reasoning effort"):
        _model(Settings(thinking_budget=1000))


def test_messages_and_tools_are_encoded_once(tools: list[ToolSpec]) -> None:
    model, said = _model(), [user("Hi")]
    first = model.encode(said, tools, NOTHING)
    kept = (said[0].encoded["openai"], tools[0].encoded["openai"])
    assert model.encode(said, tools, NOTHING) == first
    assert said[0].encoded["openai"] is kept[0]
    assert tools[0].encoded["openai"] is kept[1]
    assert said[0] == user("Hi")


def test_a_bad_call_goes_back_as_an_object_with_a_valid_name() -> None:
    call = ToolCall("c1", "crm.add note()", None, "{oops", "not JSON")
    body = json.loads(_model().encode([Message("assistant", "", (call,))], [], NOTHING))
    function = body["messages"][0]["tool_calls"][0]["function"]
    assert function["name"] == "crm_add_note__"
    assert json.loads(function["arguments"]) == {"invalid_arguments": "{oops"}


def test_half_a_surrogate_pair_is_sent_as_a_question_mark() -> None:
    body = json.loads(_model().encode([user("a\ud83d")], [], NOTHING))
    assert body["messages"][0]["content"] == "a?"


def test_parallel_calls() -> None:
    calls = [
        {"id": "a", "function": {"name": "one", "arguments": '{"x": 1}'}},
        {"id": "a", "function": {"name": "two", "arguments": ""}},
        {"function": {"name": "three", "arguments": {"y": 2}}},
        "nonsense",
    ]
    reply = _read({"content": "Working", "tool_calls": calls}, "tool_calls")
    assert reply.stop_reason == "tool_calls"
    assert [call.id for call in reply.tool_calls] == ["a", "call_3_0", "call_3_2", "call_3_3"]
    assert [call.arguments for call in reply.tool_calls[:3]] == [{"x": 1}, {}, {"y": 2}]
    assert reply.tool_calls[0].raw_arguments == '{"x": 1}'
    assert [bool(call.error) for call in reply.tool_calls] == [False, False, False, True]


def test_content_in_parts_and_reasoning() -> None:
    message = {
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 3],
        "reasoning_content": "hm",
    }
    reply = _read(message, "length")
    assert (reply.text, reply.thinking, reply.stop_reason) == ("ab", "hm", "length")
    assert reply.model == "m-2026"


@pytest.mark.parametrize(
    ("message", "finish", "text"),
    [
        ({"content": None, "refusal": "No."}, "stop", "No."),
        ({"content": "Part"}, "content_filter", "Part"),
    ],
)
def test_refusals(message: dict[str, Any], finish: str, text: str) -> None:
    reply = _read(message, finish)
    assert (reply.refusal, reply.stop_reason, reply.text) == (True, "refusal", text)


@pytest.mark.parametrize(
    "payload",
    [{}, {"choices": []}, {"choices": None}, {"choices": ["x"]}, {"choices": [{"message": 1}]}],
)
def test_no_message(payload: dict[str, Any]) -> None:
    assert read_completion(payload, 0) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(_NAMES) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=6))
def test_whatever_a_server_sends_can_be_read_and_sent_back(message: dict[str, Any]) -> None:
    reply = _read(message, "stop")
    ids = [call.id for call in reply.tool_calls]
    assert len(set(ids)) == len(ids)
    body = json.loads(_model().encode([reply.message()], [], NOTHING))
    assert body["messages"][0]["role"] == "assistant"


@given(_JSON, _JSON)
def test_whatever_stands_around_the_message_is_read(choices: Any, usage: Any) -> None:
    assert read_completion({"choices": choices, "usage": usage}, 0) is None or choices


def test_signed_reasoning_goes_back_unchanged() -> None:
    details = [{"type": "reasoning.encrypted", "data": "abc"}]
    signature = {"google": {"thought_signature": "xyz"}}
    sent = {"id": "a", "function": {"name": "one", "arguments": "{}"}, "extra_content": signature}
    reply = _read({"content": None, "tool_calls": [sent], "reasoning_details": details})
    body = json.loads(_model().encode([reply.message()], [], NOTHING))
    assert body["messages"][0]["reasoning_details"] == details
    assert body["messages"][0]["tool_calls"][0]["extra_content"] == signature


def test_usage() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    assert read_usage(usage) == Usage(100, 20, 60, 5, None)
    # Reasoning beside the completion, as only the total shows.
    assert read_usage(usage | {"total_tokens": 125}) == Usage(100, 25, 60, 5, None)
    assert read_usage({"prompt_tokens": 1, "completion_tokens": None}) == Usage(1)
    assert read_usage(None) == Usage()
    assert read_usage({"prompt_tokens": True, "prompt_tokens_details": None}) == Usage()


def test_sums_of_usage() -> None:
    assert Usage(1, 2, 3, 4, 5) + Usage(1, 1, 1, 1, 1) == Usage(2, 3, 4, 5, 6)
    assert Usage(1, 2) + Usage(1, None, 3) == Usage(2)
