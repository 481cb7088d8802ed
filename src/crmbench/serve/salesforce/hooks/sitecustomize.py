"""Leads what a Python program sends to Salesforce to a local org; see `crmbench launch`.

Python runs a module of this name at its start. Nothing of the program's own is changed but the
place where the library `requests` sends what is addressed to Salesforce.
"""

from __future__ import annotations

import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

PLACE = "CRMBENCH_LAUNCH_URL"
"""The variable that names the local org: ``http://127.0.0.1:41234``."""
PATCHED = "requests.adapters"
HOSTS = (".salesforce.com", ".force.com", ".cloudforce.com")


def led(url: str, local: str) -> str | None:
    """The address in the local org that stands for an address of Salesforce's; None for others.

    Args:
        url: ``https://login.salesforce.com/services/Soap/u/59.0``.
        local: ``http://127.0.0.1:41234``.
    """
    parts = urlsplit(url)
    if parts.scheme != "https":
        return None
    host = parts.hostname or ""
    if not host.endswith(HOSTS) and parts.netloc != urlsplit(local).netloc:
        return None
    query = f"?{parts.query}" if parts.query else ""
    return f"{local}{parts.path}{query}"


def patch(adapters: ModuleType, local: str) -> None:
    """Let every adapter of `requests` send to the local org what is meant for Salesforce."""
    adapter = adapters.HTTPAdapter
    original = adapter.send

    def send(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        address = led(request.url, local)
        if address is None:
            return original(self, request, *args, **kwargs)
        request = request.copy()
        request.url = address
        # A proxy that leads out of the house does not lead back into it.
        return original(self, request, *args, **{**kwargs, "proxies": {}})

    adapter.send = send


class Watcher(MetaPathFinder):
    """Waits until the program imports `requests`, if it ever does."""

    def __init__(self, local: str) -> None:
        self._local = local

    def find_spec(
        self, name: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the module that is patched, which patches it once it is loaded."""
        del target
        if name != PATCHED:
            return None
        spec = PathFinder.find_spec(name, path)
        loader: Any = spec.loader if spec else None
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                patch(module, self._local)

            loader.exec_module = exec_module
        return spec


def run_the_next() -> None:
    """Run the module of this name that Python would have run without this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    others = [place for place in sys.path if os.path.abspath(place or ".") != here]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


if os.environ.get(PLACE) and __name__ == "sitecustomize":
    sys.meta_path.insert(0, Watcher(os.environ[PLACE]))
    run_the_next()
