"""Anthropic messages: bodies as they are sent, replies as they are read."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from crmbench.models.anthropic_messages import (
    AnthropicMessages,
    messages_endpoint,
    read_usage,
)
from crmbench.models.http_model import Sampling

NOTHING = Sampling(None, None, None)
MARK = {"type": "ephemeral"}


def _model(settings: Settings | None = None) -> AnthropicMessages:
    return AnthropicMessages("m", "claude", messages_endpoint("http://x/v1"), settings=settings)


def _body(
    said: list[Message],
    tools: list[ToolSpec] | None = None,
    sampling: Sampling = NOTHING,
    settings: Settings | None = None,
) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(_model(settings).encode(said, tools or [], sampling))
    return body


def _reply(blocks: list[Any], stop: str = "end_turn") -> Reply:
    reply = _model().decode({"content": blocks, "stop_reason": stop, "model": "c-1"}, 3)
    assert reply is not None
    return reply


def test_the_address_and_the_key() -> None:
    endpoint = messages_endpoint("https://api.anthropic.com/", "secret")
    assert endpoint.url == "https://api.anthropic.com/v1/messages"
    assert endpoint.headers["x-api-key"] == "secret"
    assert "secret" not in repr(endpoint)


def test_a_whole_conversation(tools: list[ToolSpec]) -> None:
    calls = (ToolCall("t1", "add", {"name": "A"}, ""), ToolCall("t2", "add", {"name": "B"}, ""))
    said = [
        system("Be exact."),
        user("Add two"),
        Message("assistant", "Working", calls),
        tool_result(calls[0], "ok"),
        tool_result(calls[1], "taken", is_error=True),
        user("And?"),
    ]
    body = _body(said, tools, Sampling(50, 0.5, "required"))
    assert (body["max_tokens"], body["temperature"]) == (50, 0.5)
    assert body["tool_choice"] == {"type": "any"}
    assert body["system"] == [{"type": "text", "text": "Be exact.", "cache_control": MARK}]
    assert body["tools"][0] == {
        "name": "client_search",
        "description": "Find clients.",
        "input_schema": tools[0].parameters,
    }
    assert body["tools"][1]["cache_control"] == MARK
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Add two"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Working"},
                {"type": "tool_use", "id": "t1", "name": "add", "input": {"name": "A"}},
                {"type": "tool_use", "id": "t2", "name": "add", "input": {"name": "B"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "ok"},
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "content": "taken",
                    "is_error": True,
                },
                {"type": "text", "text": "And?", "cache_control": MARK},
            ],
        },
    ]


def test_the_mark_moves_with_the_conversation() -> None:
    said = [user("One")]
    first = _body(said)
    said += [Message("assistant", "1"), user("Two")]
    second = _body(said)
    assert first["messages"][0]["content"][0]["cache_control"] == MARK
    assert "cache_control" not in second["messages"][0]["content"][0]
    assert second["messages"][2]["content"][0]["cache_control"] == MARK


def test_a_limit_is_always_sent() -> None:
    assert _body([user("Hi")]) == {
        "model": "claude",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": MARK}]}
        ],
        "max_tokens": 4096,
    }


def test_blank_texts_are_not_sent() -> None:
    call = ToolCall("t1", "add", {}, "")
    said = [user(" "), Message("assistant", " \n", (call,)), Message("assistant", "")]
    body = _body(said)
    assert body["messages"][0]["content"][0]["text"] == "(empty)"
    kinds = [block["type"] for block in body["messages"][1]["content"]]
    assert kinds == ["tool_use", "text"]


def test_a_thinking_budget() -> None:
    body = _body([user("Hi")], None, Sampling(100, 0.3, None), Settings(thinking_budget=2000))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert body["max_tokens"] == 2100
    assert "temperature" not in body


def test_an_effort() -> None:
    body = _body([user("Hi")], None, NOTHING, Settings(reasoning_effort="high"))
    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"] == {"effort": "high"}


def test_thinking_goes_back_unchanged() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s1"},
        {"type": "redacted_thinking", "data": "d1"},
        {"type": "text", "text": ""},
        {"type": "tool_use", "id": "t1", "name": "add", "input": {"b": 1, "a": 2}},
    ]
    reply = _reply(blocks, "tool_use")
    assert (reply.thinking, reply.text, reply.stop_reason) == ("hm", "", "tool_calls")
    said = [user("Hi"), reply.message(), tool_result(reply.tool_calls[0], "ok")]
    sent = _body(said)["messages"][1]["content"]
    assert sent == [blocks[0], blocks[1], blocks[3]]
    assert list(sent[2]["input"]) == ["b", "a"]


def test_repaired_calls_are_not_carried() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "s1"},
        {"type": "tool_use", "id": "", "name": "add", "input": {}},
    ]
    reply = _reply(blocks, "tool_use")
    assert reply.carried is None
    sent = _body([user("Hi"), reply.message()])["messages"][1]["content"]
    assert sent == [{"type": "tool_use", "id": "call_3_0", "name": "add", "input": {}}]


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "other"),
        ("something new", "other"),
    ],
)
def test_stop_reasons(stop: str, expected: str) -> None:
    reply = _reply([{"type": "text", "text": "a"}, "stray", {"type": "new_kind"}], stop)
    assert (reply.stop_reason, reply.refusal) == (expected, expected == "refusal")
    assert (reply.text, reply.model) == ("a", "c-1")


def test_no_content() -> None:
    assert _model().decode({"type": "message"}, 0) is None


def test_usage() -> None:
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 300,
        "cache_creation_input_tokens": 40,
        "output_tokens": 7,
    }
    assert read_usage(usage) == Usage(350, 7, 300, None, 40)
    assert read_usage({"input_tokens": 10, "output_tokens": 7}) == Usage(10, 7)
    assert read_usage({}) == Usage()
    assert read_usage("many") == Usage()


_MESSAGES = st.lists(
    st.one_of(
        st.builds(user, st.text()),
        st.builds(system, st.text()),
        st.builds(lambda text: Message("assistant", text), st.text()),
        st.builds(lambda text: tool_result(ToolCall("t", "n", {}), text), st.text()),
    ),
    max_size=8,
)


@given(_MESSAGES)
def test_any_conversation_is_valid_json_and_alternates(said: list[Message]) -> None:
    body = _body(said)
    roles = [message["role"] for message in body["messages"]]
    assert all(a != b for a, b in pairwise(roles))
    assert sum(len(message["content"]) for message in body["messages"]) == sum(
        message.role != "system" for message in said
    )


_NAMES = ("type", "text", "thinking", "id", "name", "input", "signature", "citations")
_KINDS = st.sampled_from(["text", "thinking", "tool_use", "redacted_thinking", "new"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_BLOCKS = st.lists(
    st.builds(
        lambda kind, rest: {**rest, "type": kind},
        _KINDS | _JSON,
        st.dictionaries(st.sampled_from(_NAMES), _JSON, max_size=5),
    )
    | _JSON,
    max_size=5,
)


@given(_BLOCKS)
def test_whatever_a_server_sends_can_be_read_and_sent_back(blocks: list[Any]) -> None:
    reply = _reply(blocks)
    ids = [call.id for call in reply.tool_calls]
    assert len(set(ids)) == len(ids)
    body = _body([user("Hi"), reply.message()])
    assert body["messages"][1]["role"] == "assistant"
    assert body["messages"][1]["content"]
