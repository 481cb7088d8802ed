"""A file of Arc's as its makers judge it: each turn against the reply that the file expects.

Their documents count 70 % what was called and 30 % what was said, and pass a turn at 0.8. What was
called is 1 where the call is the expected one, 0 where the checks are certain that it is wrong, and
the judge's to say where another call ran. Here, and nowhere else, a judge is shown ground truth;
none of it reaches an agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from crmbench.core.task import Task, TaskView
from crmbench.core.trace import TurnTrace
from crmbench.models import Message, system, user
from crmbench.models.prompt_files import PromptFiles
from crmbench.roles.shown import shown_turns


def wanted(task: Task, place: int) -> bool:
    """Whether a turn, counted from 0, is judged by the reply that its file expects.

    Tasks that carry facts need no such reply: theirs are graded by state.
    """
    response = task.gold.turns[place].response or {}
    return task.gold.grading == "tool_match" and bool(response.get("text"))


def request(
    view: TaskView,
    task: Task,
    turns: Sequence[TurnTrace],
    place: int,
    prompts: PromptFiles,
) -> list[Message]:
    """The messages that ask about one turn and its expected reply."""
    material = shown_turns(turns, place) | {"expected": _expected(task, place)}
    rules = prompts.filled("response", today=view.today, policy=view.policy)
    return [system(rules), user(orjson.dumps(material).decode())]


def _expected(task: Task, place: int) -> dict[str, Any]:
    gold = task.gold.turns[place]
    response = dict(gold.response or {})
    reply = response.pop("text")
    others = [text for text in response.pop("answers", None) or () if text != reply]
    call = gold.calls[-1] if gold.calls else None
    expected = {
        "reply": reply,
        "other_replies": others,
        "criteria": response,
        "call": {"tool": call.tool, "arguments": dict(call.arguments)} if call else None,
        "to_succeed": gold.expect_success,
        "conversation": task.success_note,
    }
    return {name: value for name, value in expected.items() if value not in (None, [], {})}
