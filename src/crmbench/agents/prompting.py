"""The prompts of the model agents: text files with a few slots, filled from the view."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib import resources
from string import Template

import orjson

from crmbench.core.task import TaskView


@cache
def prompt_text(name: str) -> str:
    """A prompt file, as it is."""
    return (resources.files("crmbench.agents") / "prompts" / f"{name}.md").read_text("utf-8")


def preamble(view: TaskView) -> str:
    """What every model agent is told: its work, the date, the house rules."""
    persona = f" The person is {view.persona}." if view.persona else ""
    return Template(prompt_text("function_calling")).substitute(
        today=view.today, persona=persona, policy=view.policy
    )


def preamble_with_tools(view: TaskView, framework: str) -> str:
    """The same for a text protocol: with the tools written out, and how to answer."""
    tools = "\n".join(orjson.dumps(tool).decode() for tool in view.tools)
    shown = Template(prompt_text("text_tools")).substitute(preamble=preamble(view), tools=tools)
    return f"{shown}\n{prompt_text(framework)}"


def prompt_digests() -> dict[str, str]:
    """SHA-256 of every prompt file, for a run's record."""
    folder = resources.files("crmbench.agents") / "prompts"
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".md"))
    return {name: sha256((folder / name).read_bytes()).hexdigest() for name in names}
