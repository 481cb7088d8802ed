"""A notebook, for conversations whose session breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crmbench.core.arguments import TEXT
from crmbench.core.conditions.asked import AskedFor
from crmbench.core.conditions.base import Condition, with_tools
from crmbench.core.task import Task
from crmbench.core.tool import Param, Tool, Toolbox
from crmbench.errors import ToolError

PAGE = 4_000
"""Characters that an entry holds at most."""


class Notebook(Condition):
    """The agent's own notes, which outlive its transcript."""

    def __init__(self) -> None:
        super().__init__()
        self._breaks: tuple[int, ...] = ()
        self._entries: list[str] = []

    def about(self, task: Task, asked: Callable[[], AskedFor]) -> None:
        del asked
        self._breaks = task.breaks

    def told(self) -> str:
        turns = ", ".join(str(turn) for turn in self._breaks)
        return (
            f"The session breaks after the user's turn {turns}: from then on you remember "
            f"nothing of "
            "what was said and done before. What you keep with notebook_write before you "
            "answer that "
            "turn, notebook_read shows you afterwards. The user goes on as if there had been "
            "no break."
        )

    def tools(self, toolbox: Toolbox) -> Toolbox:
        text = Param("text", TEXT, True, f"what to keep, at most {PAGE:,} characters")
        return with_tools(
            toolbox,
            Tool("notebook_write", "Add an entry to your notebook.", False, (text,), self._write),
            Tool("notebook_read", "Show the entries of your notebook.", False, (), self._read),
        )

    def _write(self, handle: Any, text: str) -> dict[str, int]:
        del handle
        if not 1 <= len(text) <= PAGE:
            raise ToolError(f"Text must have 1 to {PAGE:,} characters.")
        self._entries.append(text)
        return {"entries": len(self._entries)}

    def _read(self, handle: Any) -> dict[str, list[str]]:
        del handle
        return {"entries": list(self._entries)}
