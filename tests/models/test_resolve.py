"""Names of models, keys and addresses."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence

import pytest

from crmbench.errors import InputError, MissingExtraError
from crmbench.models import (
    Message,
    Model,
    Reply,
    ScriptedModel,
    Settings,
    ToolSpec,
    open_model,
    user,
)
from crmbench.models.anthropic_messages import AnthropicMessages
from crmbench.models.http_model import HttpModel
from crmbench.models.openai_chat import OpenAIChat
from crmbench.models.testing.server import FakeServer

KEYS = {
    "OPENAI_API_KEY": "k-openai",
    "ANTHROPIC_API_KEY": "k-anthropic",
    "AZURE_OPENAI_API_KEY": "k-azure",
    "AZURE_OPENAI_ENDPOINT": "https://acme.openai.azure.com/",
    "OPENROUTER_API_KEY": "k-router",
    "CRMBENCH_API_KEY": "k-own",
}


def _replies() -> list[Reply | str]:
    return ["one", Reply("two")]


def _echo() -> object:
    def script(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> str:
        return f"{messages[-1].text} {len(tools)}"

    return script


def _ready() -> Model:
    return ScriptedModel(["ready"], "mine")


@pytest.mark.parametrize(
    ("name", "full", "kind", "url", "key"),
    [
        (
            "openai/gpt-4.1",
            "openai/gpt-4.1",
            OpenAIChat,
            "https://api.openai.com/v1/chat/completions",
            "k-openai",
        ),
        (
            "gpt4.1-mini",
            "openai/gpt-4.1-mini",
            OpenAIChat,
            "https://api.openai.com/v1/chat/completions",
            "k-openai",
        ),
        (
            "claude",
            "anthropic/claude-sonnet-4-5",
            AnthropicMessages,
            "https://api.anthropic.com/v1/messages",
            "k-anthropic",
        ),
        (
            "azure/my-gpt",
            "azure/my-gpt",
            OpenAIChat,
            (
                "https://acme.openai.azure.com/openai/deployments/my-gpt/chat/completions"
                "?api-version=2024-10-21"
            ),
            "k-azure",
        ),
        (
            "openrouter/meta/llama",
            "openrouter/meta/llama",
            OpenAIChat,
            "https://openrouter.ai/api/v1/chat/completions",
            "k-router",
        ),
        (
            "ollama/qwen3:8b",
            "ollama/qwen3:8b",
            OpenAIChat,
            "http://127.0.0.1:11434/v1/chat/completions",
            "",
        ),
        (
            "http://gpu:8000/v1#org/name",
            "http://gpu:8000/v1#org/name",
            OpenAIChat,
            "http://gpu:8000/v1/chat/completions",
            "k-own",
        ),
        (
            "anthropic+https://proxy#c",
            "anthropic+https://proxy#c",
            AnthropicMessages,
            "https://proxy/v1/messages",
            "k-own",
        ),
    ],
)
def test_where_names_lead(name: str, full: str, kind: type[HttpModel], url: str, key: str) -> None:
    model = open_model(name, environment=KEYS)
    assert isinstance(model, kind)
    assert isinstance(model, Model)
    assert model.name == full
    assert model.endpoint.url == url
    assert model.endpoint.secret == key
    assert "k-" not in repr(model.endpoint)


def test_a_base_url_from_the_environment() -> None:
    model = open_model("openai/m", environment=KEYS | {"OPENAI_BASE_URL": "http://x/v1/"})
    assert isinstance(model, OpenAIChat)
    assert model.endpoint.url == "http://x/v1/chat/completions"
    host = open_model("ollama/m", environment={"OLLAMA_HOST": "http://gpu:1"})
    assert isinstance(host, OpenAIChat)
    assert host.endpoint.url == "http://gpu:1/v1/chat/completions"


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai/m", "OPENAI_API_KEY"),
        ("claude", "ANTHROPIC_API_KEY"),
        ("azure/m", "AZURE_OPENAI_ENDPOINT"),
        ("openrouter/m", "OPENROUTER_API_KEY"),
    ],
)
def test_a_missing_key_is_named(name: str, variable: str) -> None:
    with pytest.raises(InputError, match=variable):
        open_model(name, environment={})


@pytest.mark.parametrize("name", ["", "opus-9", "openai/", "google/x", "scripted:", "/x"])
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="openai/NAME"):
        open_model(name, environment=KEYS)


@pytest.mark.parametrize(
    "name", ["http://host/v1", "http://host/v1#", "http://#m", "http://host:port/v1#m"]
)
def test_addresses_need_a_host_and_a_model(name: str) -> None:
    with pytest.raises(InputError):
        open_model(name, environment={})


@pytest.mark.parametrize("name", ["http://me:secret@host/v1#m", "http://host/v1?key=secret#m"])
def test_addresses_may_not_hold_keys(name: str) -> None:
    with pytest.raises(InputError) as caught:
        open_model(name, environment={})
    assert "secret" not in str(caught.value)


def test_litellm_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'crmbench\[litellm\]'"):
        open_model("litellm/vertex_ai/x", settings=Settings(), environment={})


@pytest.mark.parametrize(
    ("factory", "name"), [("_replies", None), ("_echo", None), ("_ready", "mine")]
)
def test_scripted_factories(factory: str, name: str | None) -> None:
    full = f"scripted:{__name__}:{factory}"
    model = open_model(full, environment={})
    assert isinstance(model, ScriptedModel)
    assert model.name == (name or full)


@pytest.mark.parametrize("name", ["scripted:no.such.module:f", "scripted:json:nothing"])
def test_missing_factories(name: str) -> None:
    with pytest.raises(InputError, match="cannot load"):
        open_model(name, environment={})


def test_importing_models_loads_no_client() -> None:
    code = "import crmbench.models, sys; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_azure_over_the_wire() -> None:
    async def talk() -> tuple[Reply, bytes]:
        async with FakeServer() as server:
            server.bodies = []
            environment = {"AZURE_OPENAI_ENDPOINT": server.url, "AZURE_OPENAI_API_KEY": "k"}
            model = open_model("azure/my-gpt", environment=environment)
            reply = await model.complete([user("Hi")], max_tokens=9)
            await model.close()
            return reply, server.bodies[0]

    reply, body = asyncio.run(talk())
    assert reply.text == "This is reply 1."
    assert json.loads(body)["max_completion_tokens"] == 9
