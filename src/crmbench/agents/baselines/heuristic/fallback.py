"""What can be said in an org whose tools are not those of the sales CRM."""

from __future__ import annotations

from typing import Any

from crmbench.agents.baselines.heuristic.service_questions import at_desk
from crmbench.agents.protocol import Session

_SHOWN = 600
_LONGEST = 200


def search_anything(session: Session, utterance: str) -> str:
    """Answer as a service desk would, or recite what the first searching tool finds."""
    if any(tool.get("name") == "respond" for tool in session.tools):
        answer = at_desk(session, utterance)
        if answer is not None:
            return answer
    for tool in session.tools:
        argument = _text_argument(tool)
        if argument is None:
            continue
        result = session.call_now(str(tool["name"]), {argument: utterance[:_LONGEST]})
        if result.ok:
            return f"This is what I found: {str(result.value)[:_SHOWN]}"
    return "I found nothing that fits."


def _text_argument(tool: dict[str, Any]) -> str | None:
    """The one argument that a searching tool needs, if it is a text."""
    name = str(tool.get("name") or "")
    schema = tool.get("parameters") or tool.get("input_schema") or {}
    required = schema.get("required") or []
    if "search" not in name or len(required) != 1:
        return None
    described = (schema.get("properties") or {}).get(required[0]) or {}
    return str(required[0]) if described.get("type") == "string" else None
