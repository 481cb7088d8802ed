"""From the name of a model to the model.

==================================  ======================================  =====================
name                                reaches                                 key and address
==================================  ======================================  =====================
``openai/NAME``                     OpenAI, or another server that speaks   OPENAI_API_KEY,
                                    its format                              OPENAI_BASE_URL
``anthropic/NAME``                  Anthropic                               ANTHROPIC_API_KEY,
                                                                            ANTHROPIC_BASE_URL
``azure/DEPLOYMENT``                Azure OpenAI                            AZURE_OPENAI_API_KEY,
                                                                            AZURE_OPENAI_ENDPOINT,
                                                                            AZURE_OPENAI_API_VERSION
``openrouter/NAME``                 OpenRouter                              OPENROUTER_API_KEY
``ollama/NAME``                     Ollama                                  OLLAMA_HOST
``http://HOST/v1#NAME``             any server with chat completions        CRMBENCH_API_KEY
``anthropic+http://HOST#NAME``      any server with Anthropic messages      CRMBENCH_API_KEY
``litellm/NAME``                    whatever litellm reaches (extra)        litellm's own
``scripted:MODULE:FACTORY``         a function of yours that returns a      none
                                    model, a list of replies or a script;
                                    a file of Python will do as MODULE
==================================  ======================================  =====================

Short names: ``claude``, ``gpt4.1``, ``gpt4.1-mini``. A bare name of a known provider is enough:
``claude-sonnet-4-5-20250929`` is Anthropic's, ``gpt-4.1-mini`` and ``o3`` are OpenAI's.

Keys are read from the environment when a model is opened and go into its request headers,
nowhere else. OPENAI_API_KEY is sent to OPENAI_BASE_URL, never to an address given by name.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from zlib import crc32

from crmbench.errors import InputError
from crmbench.models.base import Model, Settings
from crmbench.models.limits import Limits
from crmbench.models.request_log import RawLog
from crmbench.models.scripted import ScriptedModel

if TYPE_CHECKING:
    from crmbench.models.transport import Endpoint

SHORT_NAMES = {
    "claude": "anthropic/claude-sonnet-4-5",
    "gpt4.1": "openai/gpt-4.1",
    "gpt4.1-mini": "openai/gpt-4.1-mini",
}
_FAMILIES = (
    (re.compile(r"claude-[\w.@-]+"), "anthropic"),
    (re.compile(r"(?:gpt-|chatgpt-|o\d)[\w.-]*"), "openai"),
)
"""Bare names and their provider. ``o3-mini`` is OpenAI's by the second; ``opus`` is nobody's."""
AZURE_API_VERSION = "2024-10-21"
"""Used if AZURE_OPENAI_API_VERSION is not set; the latest that is not a preview."""
_OPENAI = "https://api.openai.com/v1"
_EXPECTED = (
    "openai/NAME, anthropic/NAME, azure/DEPLOYMENT, openrouter/NAME, ollama/NAME, "
    "http://HOST/v1#NAME, anthropic+http://HOST#NAME, litellm/NAME, scripted:MODULE:FACTORY, "
    "claude, gpt4.1 or gpt4.1-mini"
)


@dataclass(frozen=True, slots=True)
class _Request:
    """What `open_model` was asked for."""

    name: str
    model_id: str
    settings: Settings
    limits: Limits
    raw: RawLog | None
    environment: Mapping[str, str]

    def key(self, variable: str, *, required: bool = True) -> str:
        value = self.environment.get(variable, "").strip()
        if required and not value:
            raise InputError(
                f"{self.name} needs a key in the environment variable {variable}", field="model"
            )
        return value


def open_model(
    name: str,
    *,
    settings: Settings | None = None,
    limits: Limits | None = None,
    raw: RawLog | None = None,
    environment: Mapping[str, str] | None = None,
) -> Model:
    """Open a model by its name; nothing is connected before the first call.

    Args:
        name: As in the table at the top of this file.
        settings: For every call.
        limits: Concurrency, rates, retries and time-out.
        raw: Where to keep requests and replies.
        environment: Where keys are; the process's environment by default.

    Raises:
        InputError: The name is not understood, or a key is missing.
        MissingExtraError: It needs an extra that is not installed.
    """
    full = full_model_name(name)
    scheme, rest = _split(full)
    return _OPENERS[scheme](
        _Request(
            full,
            rest,
            settings or Settings(),
            limits or Limits(),
            raw,
            os.environ if environment is None else environment,
        )
    )


def full_model_name(name: str) -> str:
    """The name with its provider, in the form of the table above; needs no key.

    Raises:
        InputError: It names no model that could be reached.
    """
    full = SHORT_NAMES.get(name, name)
    for pattern, provider in _FAMILIES:
        if pattern.fullmatch(full):
            full = f"{provider}/{full}"
    scheme, rest = _split(full)
    if scheme not in _OPENERS or not rest:
        raise InputError(f"there is no model '{name}'", field="model", expected=_EXPECTED)
    return full


def _split(name: str) -> tuple[str, str]:
    for scheme in ("http", "https", "anthropic+http", "anthropic+https"):
        if name.startswith(f"{scheme}://"):
            return scheme, name
    if name.startswith("scripted:"):
        return "scripted", name.removeprefix("scripted:")
    scheme, _, rest = name.partition("/")
    return scheme, rest


def _openai(request: _Request) -> Model:
    base = request.environment.get("OPENAI_BASE_URL") or _OPENAI
    return _chat(request, base, "OPENAI_API_KEY", official=base.rstrip("/") == _OPENAI)


def _openrouter(request: _Request) -> Model:
    return _chat(request, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", official=False)


def _chat(request: _Request, base: str, variable: str, *, official: bool) -> Model:
    from crmbench.models.openai_chat import base_endpoint

    return _open_chat(request, base_endpoint(base, request.key(variable)), official=official)


def _open_chat(request: _Request, endpoint: Endpoint, *, official: bool) -> Model:
    from crmbench.models.openai_chat import OpenAIChat

    return OpenAIChat(
        request.name,
        request.model_id,
        endpoint,
        settings=request.settings,
        limits=request.limits,
        raw=request.raw,
        completion_limit="max_completion_tokens" if official else "max_tokens",
    )


def _azure(request: _Request) -> Model:
    from crmbench.models.openai_chat import azure_endpoint

    resource = request.environment.get("AZURE_OPENAI_ENDPOINT", "").strip()
    if not resource:
        raise InputError(
            f"{request.name} needs an address in AZURE_OPENAI_ENDPOINT",
            field="model",
            expected="https://NAME.openai.azure.com",
        )
    version = request.environment.get("AZURE_OPENAI_API_VERSION") or AZURE_API_VERSION
    key = request.key("AZURE_OPENAI_API_KEY")
    endpoint = azure_endpoint(resource, request.model_id, version, key)
    return _open_chat(request, endpoint, official=True)


def _ollama(request: _Request) -> Model:
    from crmbench.models.openai_chat import base_endpoint

    host = request.environment.get("OLLAMA_HOST") or "127.0.0.1:11434"
    base = host if "://" in host else f"http://{host}"
    return _open_chat(request, base_endpoint(f"{base.rstrip('/')}/v1"), official=False)


def _anthropic(request: _Request) -> Model:
    base = request.environment.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
    return _open_anthropic(request, base, request.model_id, request.key("ANTHROPIC_API_KEY"))


def _open_anthropic(request: _Request, base: str, model_id: str, key: str) -> Model:
    from crmbench.models.anthropic_messages import AnthropicMessages, messages_endpoint

    return AnthropicMessages(
        request.name,
        model_id,
        messages_endpoint(base, key),
        settings=request.settings,
        limits=request.limits,
        raw=request.raw,
    )


def _address(request: _Request) -> Model:
    from yarl import URL

    from crmbench.models.openai_chat import OpenAIChat, base_endpoint

    text, _, model_id = request.name.partition("#")
    anthropic = text.startswith("anthropic+")
    base = text.removeprefix("anthropic+")
    try:
        url = URL(base)
    except ValueError as error:
        raise InputError(f"'{base}' is not an address: {error}", field="model") from error
    if not model_id or not url.host:
        expected = "http://HOST:PORT/v1#NAME"
        raise InputError("the address names no model", field="model", expected=expected)
    if url.user or url.password or url.query_string:
        # The name stands in reports, so it must not be able to hold a key.
        raise InputError(
            "the address of a model may hold no user, password or query; "
            "put the key in the environment variable CRMBENCH_API_KEY",
            field="model",
        )
    key = request.key("CRMBENCH_API_KEY", required=False)
    if anthropic:
        return _open_anthropic(request, base, model_id, key)
    return OpenAIChat(
        request.name,
        model_id,
        base_endpoint(base, key),
        settings=request.settings,
        limits=request.limits,
        raw=request.raw,
    )


def _litellm(request: _Request) -> Model:
    from crmbench.models.litellm_model import LitellmModel

    return LitellmModel(
        request.name,
        request.model_id,
        settings=request.settings,
        limits=request.limits,
    )


def _scripted(request: _Request) -> Model:
    where, _, factory_name = request.model_id.rpartition(":")
    try:
        factory = getattr(_module(where), factory_name)
    except (ImportError, AttributeError, ValueError, OSError) as error:
        raise InputError(
            f"cannot load {request.name}: {error}",
            field="model",
            expected="scripted:MODULE:FACTORY or scripted:FILE.py:FACTORY",
        ) from error
    made = factory()
    return made if isinstance(made, Model) else ScriptedModel(made, request.name)


def _module(where: str) -> ModuleType:
    """A module by its name, or a file of Python by its path, read once."""
    if not where.endswith(".py"):
        return importlib.import_module(where)
    path = Path(where).resolve()
    name = f"_scripted_{path.stem}_{crc32(str(path).encode()):08x}"
    if name not in sys.modules:
        spec = spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no file of Python")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


_OPENERS: dict[str, Callable[[_Request], Model]] = {
    "openai": _openai,
    "openrouter": _openrouter,
    "azure": _azure,
    "ollama": _ollama,
    "anthropic": _anthropic,
    "http": _address,
    "https": _address,
    "anthropic+http": _address,
    "anthropic+https": _address,
    "litellm": _litellm,
    "scripted": _scripted,
}
