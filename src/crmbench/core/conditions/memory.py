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
"""Characters that an entry holds at most, where the notebook may have any number of them."""
COUNTED = " (bytes of UTF-8)"
"""How the characters are counted: a page of rare signs would hold several times as much."""


class Notebook(Condition):
    """The agent's own notes, which outlive its transcript.

    Args:
        holds: Characters that it holds in all: one page, which each writing replaces. None: any
            number of entries.
    """

    def __init__(self, holds: int | None = None) -> None:
        super().__init__()
        self._holds = holds
        self._breaks: tuple[int, ...] = ()
        self._entries: list[str] = []

    def about(self, task: Task, asked: Callable[[], AskedFor]) -> None:
        del asked
        self._breaks = task.breaks

    def told(self) -> str:
        turns = ", ".join(str(turn) for turn in self._breaks)
        page = "" if self._holds is None else f"{_size(self._holds)} "
        return (
            f"The session breaks after the user's turn {turns}: from then on you remember nothing "
            "of what was said and done before. What you keep with notebook_write before you answer "
            f"that turn, notebook_read shows you afterwards. {page}The user goes on as if there "
            "had been no break."
        )

    def tools(self, toolbox: Toolbox) -> Toolbox:
        if self._holds is None:
            kept, what = f"what to keep, at most {PAGE:,} characters{COUNTED}", "Add an entry to"
        else:
            kept, what = f"all of it, at most {self._holds:,} characters{COUNTED}", "Write anew"
        text = Param("text", TEXT, True, kept)
        return with_tools(
            toolbox,
            Tool("notebook_write", f"{what} your notebook.", False, (text,), self._write),
            Tool("notebook_read", "Show the entries of your notebook.", False, (), self._read),
        )

    def _write(self, handle: Any, text: str) -> dict[str, int]:
        del handle
        most = PAGE if self._holds is None else self._holds
        size = len(text.encode(errors="surrogatepass"))
        if not 1 <= size <= most:
            raise ToolError(f"Text must have 1 to {most:,} characters{COUNTED}; this has {size:,}.")
        self._entries = [*self._entries, text] if self._holds is None else [text]
        return {"entries": len(self._entries)}

    def _read(self, handle: Any) -> dict[str, list[str]]:
        del handle
        return {"entries": list(self._entries)}


def _size(holds: int) -> str:
    return (
        f"The notebook holds {holds:,} characters{COUNTED}; what you write replaces all that it "
        "held."
    )
