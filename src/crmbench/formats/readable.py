"""A conversation as a person reads it: what is said, what is right, and why it is hard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crmbench.core.fact import Fact
from crmbench.core.task import GoldTurn, Task, Turn


def read_aloud(task: Task) -> str:
    """A task as Markdown: the words, then what a right agent does and tells."""
    world = "an empty CRM with its own records" if task.world == "empty" else task.world
    lines = [
        f"### {task.task_id}: {task.category}, {task.complexity}",
        "",
        f"World {world}. Speaking: {task.persona or 'not said'}.",
        f"Family {task.family or 'none'}. Counts: {_CRITERIA[task.gold.criteria]}.",
    ]
    if task.tags:
        lines.append(f"Hard because of: {', '.join(tag.replace('_', ' ') for tag in task.tags)}.")
    for turn, gold in zip(task.turns, task.gold.turns, strict=True):
        lines += ["", *_turn(turn, gold)]
    return "\n".join(lines) + "\n"


_CRITERIA = {
    "all_turns": "every turn",
    "final_state": "the final state",
    "both": "the final state, and what every reply must tell",
}


def _turn(turn: Turn, gold: GoldTurn) -> Iterator[str]:
    yield f"**{turn.turn_id}. User:**"
    yield ""
    # In the user's own lines, so that a mail looks like one.
    yield from (f"> {line}".rstrip() for line in turn.utterance.splitlines())
    if turn.clarification:
        yield ""
        yield f"When asked about it: “{turn.clarification.answer}”"
    yield ""
    yield from (f"- does `{call_text(call.tool, call.arguments)}`" for call in gold.calls)
    if not gold.expect_success:
        why = gold.error_substring or "a house rule"
        yield f"- says that it was not done ({why})"
    if gold.answer is not None:
        yield f"- answers {gold.answer.said}"
    yield from (f"- tells {fact_text(fact)}" for fact in gold.facts)
    yield from (f"- writes into the note {fact_text(fact)}" for fact in gold.note_facts)
    yield from (f"- does not mention {fact_text(fact)}" for fact in gold.forbidden)
    for place, formula in gold.derivations.items():
        yield f"- computes {place.partition('.')[2]} as `{formula}`"
    if gold.rules:
        yield f"- obeys {', '.join(gold.rules)}"


SHOWN = 4
"""Items of a long list or object in an argument that are shown."""


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """A tool call as Python writes it."""
    return f"{tool}({', '.join(f'{k}={_value(v)}' for k, v in arguments.items())})"


def _value(value: Any) -> str:
    """A value as Python writes it, of a long list or object the first few items."""
    if isinstance(value, list):
        return f"[{_some([_value(item) for item in value])}]"
    if isinstance(value, dict):
        return f"{{{_some([f'{key!r}: {_value(item)}' for key, item in value.items()])}}}"
    return repr(value)


def _some(items: list[str]) -> str:
    if len(items) <= 2 * SHOWN:
        return ", ".join(items)
    return f"{', '.join(items[:SHOWN])}, … {len(items) - SHOWN} more"


def fact_text(fact: Fact) -> str:
    """What a fact says, with its label."""
    if fact.kind == "list":
        shown = ", ".join(str(item.value) for item in fact.items()) or "that there are none"
    else:
        shown = f"{fact.value:,}" if isinstance(fact.value, int | float) else str(fact.value)
    return f"{fact.label}: {shown}" if fact.label else shown
