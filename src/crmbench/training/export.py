"""Runs as data for fine-tuning: chats of right episodes, and pairs of a right and a wrong step."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import orjson

from crmbench.agents.chat import value_text
from crmbench.core.conditions.lay import lay
from crmbench.core.task import Task
from crmbench.core.trace import CallRecord, EpisodeTrace
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.parts import open_run
from crmbench.training.decontaminate import Contamination
from crmbench.training.resources import told_of

Chat = list[dict[str, Any]]
"""Messages in OpenAI's form; a call's arguments are JSON text, as for fine-tuning there."""


@dataclass
class Exported:
    """What an export holds, and what it left out."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    """Why episodes were left out, and how many."""

    def write(self, out: Path) -> None:
        """Write the rows as JSON Lines.

        Raises:
            InputError: The file cannot be written.
        """
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in self.rows))
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(out)) from error


def read_runs(paths: Iterable[Path]) -> list[tuple[Task, EpisodeRecord]]:
    """The episodes of runs, each with its task.

    Raises:
        InputError: A directory holds no run.
    """
    found = []
    for path in paths:
        run = open_run(path)
        run.config()
        tasks = {task.task_id: task for task in run.tasks()}
        found += [(tasks[each.trace.task_id], each) for each in run.each()]
    return found


def export_chats(
    episodes: Iterable[tuple[Task, EpisodeRecord]], contamination: Contamination | None
) -> Exported:
    """Successful episodes, a row each: ``messages``, ``tools`` (JSON text) and what it is.

    Args:
        contamination: Whose tasks are left out; None: nothing is.
    """
    exported = Exported()
    for task, record in _clean(episodes, contamination, exported.dropped):
        if not record.verdict.success:
            exported.dropped["not a success"] += 1
            continue
        system, steps, tools = _steps_of(task, record.trace)
        messages = [system, *(message for step in steps for message in step)]
        exported.rows.append({"messages": messages, "tools": tools, **_about(task, record)})
    return exported


def export_pairs(
    episodes: Iterable[tuple[Task, EpisodeRecord]], contamination: Contamination | None
) -> Exported:
    """For each wrong episode the first wrong step, beside what a right one of the task did there.

    A row has ``prompt``, ``chosen`` and ``rejected`` (messages) and ``tools`` (JSON text). Both
    episodes did and heard the same up to the step, and the step lies in the turn that failed: what
    differs before that may be another right way.

    Args:
        contamination: Whose tasks are left out; None: nothing is.
    """
    exported = Exported()
    groups: dict[str, list[tuple[Task, EpisodeRecord]]] = defaultdict(list)
    for task, record in _clean(episodes, contamination, exported.dropped):
        groups[f"{task.domain}/{task.world}/{task.task_id}"].append((task, record))
    for members in groups.values():
        right = [record for _, record in members if record.verdict.success]
        for task, record in members:
            if record.verdict.success:
                continue
            if record.verdict.undecided:
                exported.dropped["undecided"] += 1
            elif not right:
                exported.dropped["no right episode of its task"] += 1
            elif (pair := _pair(task, record, right)) is None:
                exported.dropped["no right episode with the same beginning"] += 1
            else:
                exported.rows.append(pair)
    return exported


def _clean(
    episodes: Iterable[tuple[Task, EpisodeRecord]],
    contamination: Contamination | None,
    dropped: Counter[str],
) -> Iterator[tuple[Task, EpisodeRecord]]:
    for task, record in episodes:
        why = contamination.of(task) if contamination else None
        if why is not None:
            dropped[why] += 1
        elif not record.verdict.counted:
            dropped["does not count"] += 1
        else:
            yield task, record


def _about(task: Task, record: EpisodeRecord) -> dict[str, Any]:
    return {"task_id": task.task_id, "domain": task.domain, "trial": record.trace.trial}


def _pair(
    task: Task, wrong: EpisodeRecord, right: Sequence[EpisodeRecord]
) -> dict[str, Any] | None:
    """The longest common beginning decides which right episode stands beside the wrong one."""
    system, bad, tools = _steps_of(task, wrong.trace)
    best: tuple[int, list[Chat]] = (-1, [])
    for record in right:
        _, good, _ = _steps_of(task, record.trace)
        same = sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(bad, good, strict=False)))
        best = max(best, (same, good), key=lambda each: each[0])
    place, good = best
    if place >= min(len(bad), len(good)):
        return None
    if _turn_at(bad, place) != wrong.verdict.failed_at_turn:
        return None
    before = [message for step in bad[:place] for message in step]
    heard = [message for message in bad[place] if message["role"] == "user"]
    return {
        "prompt": [system, *before, *heard],
        "chosen": _own(good[place]),
        "rejected": _own(bad[place]),
        "tools": tools,
        **_about(task, wrong),
    }


def _own(step: Chat) -> Chat:
    """What the agent itself said in a step."""
    return [message for message in step if message["role"] == "assistant"]


def _turn_at(steps: Sequence[Chat], place: int) -> int:
    """The turn, from 1, that a step lies in: a reply ends one."""
    return 1 + sum(str(step[-1]["role"]) == "assistant" for step in steps[:place])


def _steps_of(task: Task, trace: EpisodeTrace) -> tuple[dict[str, Any], list[Chat], str]:
    """The system's message, the steps, and the tools as JSON text.

    A step is what was heard before it, the agent's message, and the tools' answers. Where the
    agent asked back, a trace does not say before which of its messages a call was made; calls
    stand before the last one.
    """
    tools, system = told_of(lay(load_domain(task.domain), task))
    steps: list[Chat] = []
    number = 0
    for turn in trace.turns:
        *asked, last = turn.messages
        heard: Chat = []
        for message in asked:
            heard.append({"role": message.role, "content": message.text})
            if message.role == "assistant":
                steps.append(heard)
                heard = []
        for call in turn.calls:
            steps.append([*heard, *_call_messages(call, number)])
            heard, number = [], number + 1
        if last.role == "assistant":
            steps.append([*heard, {"role": "assistant", "content": last.text}])
    return system, steps, orjson.dumps(tools).decode()


def _call_messages(call: CallRecord, number: int) -> Chat:
    name = f"call_{number}"
    function = {"name": call.tool, "arguments": orjson.dumps(call.arguments).decode()}
    text = value_text(call.ok, call.result if call.ok else call.error)
    return [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": name, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": name, "content": text},
    ]
