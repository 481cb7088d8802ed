"""A model that decides the readings of a reply of which the grader is not certain.

It is asked about one reading at a time, and told the value that the grader looked for: whether the
reply says it is all that is open. What it answers is kept as a `Decision` with the reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from crmbench.core.domain import Domain
from crmbench.core.trace import Decision, EpisodeTrace, TokenUsage, TurnTrace
from crmbench.grading.answer import submitted
from crmbench.grading.decisions import open_readings
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import EpisodeVerdict
from crmbench.models import Message, ModelError, system, user
from crmbench.models.prompt_files import OURS, PromptFiles
from crmbench.roles.json_answers import objects
from crmbench.roles.role_model import RoleModel

Decisions = Mapping[tuple[str, int, int], Sequence[Decision]]
"""By task, trial and turn."""


async def decide(
    model: RoleModel, domain: Domain, trace: EpisodeTrace, verdict: EpisodeVerdict
) -> tuple[Decisions, TokenUsage]:
    """What the model says of each open reading of an undecided episode, and what that took.

    A reading of which it gives no usable answer, in two attempts, stays open.
    """
    made: dict[tuple[str, int, int], list[Decision]] = {}
    usage = TokenUsage()
    turns = {turn.turn_id: turn for turn in trace.turns}
    for each in open_readings([EpisodeRecord(trace, verdict, 0.0)]):
        messages = question(domain, turns[each.turn], each.reading, model.prompts)
        right, spent = await _ask(model, messages, each.turn)
        usage = usage + spent
        if right is not None:
            decision = Decision(each.reading, right, model.model.name, each.reply)
            made.setdefault((each.task_id, each.trial, each.turn), []).append(decision)
    return made, usage


def question(
    domain: Domain, turn: TurnTrace, reading: str, prompts: PromptFiles = OURS
) -> list[Message]:
    """The messages that ask about one reading of a turn."""
    tools = domain.toolbox.by_name
    told = [message.text for message in turn.messages if message.role == "assistant"]
    material = {
        "request": turn.utterance,
        "reply": "\n\n".join(told),
        "submitted": submitted(turn),
        "written": [
            {"tool": call.tool, "arguments": call.arguments}
            for call in turn.calls
            if call.ok and call.tool in tools and tools[call.tool].writes
        ],
        "point": reading,
    }
    return [system(prompts.text("reading")), user(orjson.dumps(material).decode())]


async def _ask(
    model: RoleModel, messages: list[Message], turn: int
) -> tuple[bool | None, TokenUsage]:
    usage = TokenUsage()
    for _ in range(2):
        try:
            reply, spent = await model.ask(messages, f"reading/{turn}")
        except ModelError:
            break
        usage = usage + spent
        for found in objects(reply.text):
            if isinstance(found.get("right"), bool):
                return bool(found["right"]), usage
        messages = [
            *messages,
            reply.message() if reply.text else Message("assistant", "-"),
            user('That holds no JSON object with "right": true or false. Answer with it only.'),
        ]
    return None, usage
