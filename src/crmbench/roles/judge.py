"""A model as the judge, asked where the deterministic checks cannot decide.

Three things are left open by the checks: a turn graded by tool match whose call ran and is not the
expected one, as there can be other ways to the same end; a reading of a reply that is not certain
(see `crmbench.roles.readings`); and text that no fact is looked for in. The first two kinds of
verdict count, the third is reported. Every other turn has been decided; a
judge is asked about it only to see how far it agrees with the checks, and changes nothing there.

The judge sees what a person could see: house rules, words, calls and their results. Nothing here
that makes its material takes a task or a verdict, so ground truth cannot get into it.

The weights are Arc's: 70 % the goal, 30 % the process, and 0.8 passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import Template
from typing import Any, NamedTuple

import orjson

from crmbench.core.domain import Domain
from crmbench.core.episode import view_of
from crmbench.core.record import JudgeRecord, TurnJudgement, Why, with_judgements
from crmbench.core.task import Task, TaskView
from crmbench.core.trace import CallRecord, EpisodeTrace, TokenUsage, TurnTrace
from crmbench.errors import AgentError
from crmbench.grading.decisions import with_decisions
from crmbench.grading.gold import REFERENCE
from crmbench.grading.tool_match import MAX_READS
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict, note_texts
from crmbench.models import Message, ModelError, system, user
from crmbench.roles.json_answers import objects
from crmbench.roles.readings import decide
from crmbench.roles.role_model import RoleModel, prompt_text

GOAL_WEIGHT, PROCESS_WEIGHT = 0.7, 0.3
PASS_AT = 0.8
RESULT_LIMIT = 6_000
"""Characters of a tool's result that the judge reads."""


class Question(NamedTuple):
    """A turn to ask about, and why."""

    place: int
    """In the trace, from 0."""
    why: Why
    checks: bool | None


class Scores(NamedTuple):
    """What a judge answered."""

    goal: float
    process: float
    rationale: str

    @property
    def score(self) -> float:
        return round(GOAL_WEIGHT * self.goal + PROCESS_WEIGHT * self.process, 6)


@dataclass(frozen=True)
class Judge:
    """Asks a model about the turns of an episode.

    Args:
        role_model: The model.
        everything: Ask about every turn, to measure agreement.
    """

    role_model: RoleModel
    everything: bool = False

    @property
    def name(self) -> str:
        """The model's name."""
        return self.role_model.model.name

    async def judge(
        self,
        domain: Domain,
        task: Task,
        trace: EpisodeTrace,
        verdict: EpisodeVerdict,
        view: TaskView | None = None,
    ) -> JudgeRecord:
        """Ask about every turn that `questions` names; a judge that fails is recorded as such.

        Args:
            verdict: Of the deterministic checks.
            view: What the judge may know of the task; made from the domain by default.
        """
        seen = view or view_of(domain, task)
        found, usage = [], TokenUsage()
        for question in questions(domain, task, trace, verdict, self.everything):
            said, spent = await self._ask(seen, trace.turns, question)
            found.append(said)
            usage = usage + spent
        return JudgeRecord(self.name, tuple(found), usage)

    async def _ask(
        self, view: TaskView, turns: Sequence[TurnTrace], question: Question
    ) -> tuple[TurnJudgement, TokenUsage]:
        turn_id = turns[question.place].turn_id
        messages = request(view, turns, question.place)
        usage, problem = TokenUsage(), ""
        for _ in range(2):
            try:
                reply, spent = await self.role_model.ask(messages, f"judge/{turn_id}")
            except ModelError as error:
                problem = str(error)
                break
            usage = usage + spent
            try:
                scores = read_scores(reply.text)
            except AgentError as error:
                problem = str(error)
                messages += [
                    reply.message() if reply.text else Message("assistant", "-"),
                    user(f"That could not be used: {problem} Answer with the JSON object only."),
                ]
                continue
            passed = scores.score >= PASS_AT
            judged = TurnJudgement(
                turn_id, question.why, question.checks, passed, scores.score, *scores
            )
            return judged, usage
        failed = TurnJudgement(
            turn_id, question.why, question.checks, None, rationale=f"judge failed: {problem}"
        )
        return failed, usage

    async def consult(
        self, domain: Domain, task: Task, trace: EpisodeTrace, verdict: EpisodeVerdict
    ) -> tuple[EpisodeTrace, JudgeRecord]:
        """The trace with all that the judge decides of it, and the record of what it said.

        Args:
            verdict: Of the deterministic checks.
        """
        record = await self.judge(domain, task, trace, verdict)
        trace = with_judgements(trace, record)
        made, usage = await decide(self.role_model, domain, trace, verdict)
        return with_decisions(trace, made), replace(record, usage=record.usage + usage)

    async def close(self) -> None:
        await self.role_model.model.close()


# --- which turns -------------------------------------------------------------------------------


def questions(
    domain: Domain,
    task: Task,
    trace: EpisodeTrace,
    verdict: EpisodeVerdict,
    everything: bool = False,
) -> Iterator[Question]:
    """The turns to ask a judge about.

    What the checks say of a turn is taken as their verdict only if no earlier turn that they find
    wrong, or leave open, can have a part in it: the org's state carries an earlier fault on, and
    so does a ground truth that refers to an earlier result.
    """
    sound = True
    for place, (turn, found) in enumerate(zip(trace.turns, verdict.turns, strict=True)):
        if turn.error is not None:
            return
        if task.gold.grading == "tool_match":
            why, checks = _by_tool(domain, task, place, turn, found)
        else:
            why, checks = _by_state(domain, task, place, turn, found)
        known = checks if sound or _stands_alone(task, place) else None
        if why is not None:
            yield Question(place, why, known)
        elif everything and known is not None:
            yield Question(place, "agreement", known)
        sound = sound and checks is not False and why != "call"


def _stands_alone(task: Task, place: int) -> bool:
    """Whether the checks compare a turn with nothing that earlier turns have left."""
    calls = task.gold.turns[place].calls
    arguments = str([dict(call.arguments) for call in calls])
    return task.gold.grading == "tool_match" and not REFERENCE.search(arguments)


def _by_tool(
    domain: Domain, task: Task, place: int, turn: TurnTrace, found: TurnVerdict
) -> tuple[Why | None, bool | None]:
    gold, call = task.gold.turns[place], found.tool.call
    if not gold.calls:
        return "text", None
    if found.tool.matches:
        return None, True
    if not gold.expect_success or call is None or not call.ok:
        return None, False
    expected = domain.toolbox.by_name.get(found.expected_tool or "")
    written = any(call.changes for call in turn.calls)
    hunted = len(turn.calls) > MAX_READS and not written
    if hunted or (written and not (expected and expected.writes)):
        return None, False
    return "call", None


def _by_state(
    domain: Domain, task: Task, place: int, turn: TurnTrace, found: TurnVerdict
) -> tuple[Why | None, bool | None]:
    unchecked = note_texts(domain.schema, turn) and not task.gold.turns[place].note_facts
    return "text" if unchecked else None, found.success


# --- what it is asked and answers --------------------------------------------------------------


def request(view: TaskView, turns: Sequence[TurnTrace], place: int) -> list[Message]:
    """The messages that ask about one turn."""
    material = {
        "earlier": [_shown(turn, results=False) for turn in turns[:place]],
        "turn": _shown(turns[place], results=True),
    }
    rules = Template(prompt_text("judge")).substitute(today=view.today, policy=view.policy)
    return [system(rules), user(orjson.dumps(material).decode())]


def _shown(turn: TurnTrace, *, results: bool) -> dict[str, Any]:
    return {
        "messages": [{"from": _WHO[m.role], "text": m.text} for m in turn.messages],
        "calls": [_call(call, results=results) for call in turn.calls],
    }


_WHO = {"user": "person", "assistant": "assistant"}


def _call(call: CallRecord, *, results: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"tool": call.tool, "arguments": call.arguments}
    if not call.ok:
        return {**shown, "error": call.error}
    return {**shown, "result": _cut(call.result)} if results else shown


def _cut(result: Any) -> Any:
    text = orjson.dumps(result).decode()
    if len(text) <= RESULT_LIMIT:
        return result
    return f"{text[:RESULT_LIMIT]} … ({len(text) - RESULT_LIMIT:,} more characters)"


def read_scores(text: str) -> Scores:
    """The scores in a judge's answer, whatever stands around the JSON object.

    Raises:
        AgentError: It holds no object with both scores, each from 0 to 1.
    """
    problem = "it holds no JSON object."
    for found in objects(text):
        goal, process = _score(found, "goal"), _score(found, "process")
        if goal is not None and process is not None:
            return Scores(goal, process, str(found.get("rationale") or ""))
        problem = '"goal" and "process" have to be numbers from 0 to 1.'
    raise AgentError(problem)


def _score(found: Mapping[str, Any], name: str) -> float | None:
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None
