"""The prompts of the model agents: text files with a few slots, filled from the view."""

from __future__ import annotations

import orjson

from crmbench.core.task import TaskView
from crmbench.models.prompt_files import OURS, PromptFiles


def preamble(view: TaskView, prompts: PromptFiles = OURS) -> str:
    """What every model agent is told: its work, the date, the house rules."""
    persona = f" The person is {view.persona}." if view.persona else ""
    return prompts.filled("function_calling", today=view.today, persona=persona, policy=view.policy)


def preamble_with_tools(view: TaskView, framework: str, prompts: PromptFiles = OURS) -> str:
    """The same for a text protocol: with the tools written out, and how to answer."""
    tools = "\n".join(orjson.dumps(tool).decode() for tool in view.tools)
    shown = prompts.filled("text_tools", preamble=preamble(view, prompts), tools=tools)
    return f"{shown}\n{prompts.text(framework)}"
