"""A model as the judge, asked where the deterministic checks cannot decide.

Three things are left open by the checks: a turn graded by tool match whose call ran and is not the
expected one, as there can be other ways to the same end; a reading of a reply that is not certain
(see `crmbench.roles.readings`); and text that no fact is looked for in. The first two kinds of
verdict count, the third is reported. Every other turn has been decided; a
judge is asked about it only to see how far it agrees with the checks, and changes nothing there.

Of these the judge sees what a person could see: house rules, words, calls and their results.
Nothing here that makes their material takes a task or a verdict, so no ground truth can get in.

A file of Arc's is judged as its makers do: every turn that expects a reply is asked about, with
that reply; see `crmbench.roles.expected_reply`. It counts 70 % the calls and 30 % the reply.

The weights are Arc's: 70 % the goal, 30 % the process, and 0.8 passes. `JudgeRules` has others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import orjson

from crmbench.core.domain import Domain
from crmbench.core.episode import view_of
from crmbench.core.record import JudgeRecord, TurnJudgement, Why, with_judgements
from crmbench.core.task import Task, TaskView
from crmbench.core.trace import EpisodeTrace, TokenUsage, TurnTrace
from crmbench.errors import AgentError, InputError
from crmbench.grading.decisions import with_decisions
from crmbench.grading.gold import REFERENCE
from crmbench.grading.tool_match import MAX_READS
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict, note_texts
from crmbench.models import Message, ModelError, system, user
from crmbench.models.prompt_files import OURS, PromptFiles
from crmbench.roles import expected_reply
from crmbench.roles.json_answers import objects
from crmbench.roles.readings import decide
from crmbench.roles.role_model import RoleModel
from crmbench.roles.shown import shown_turns


@dataclass(frozen=True)
class JudgeRules:
    """How scores become a verdict. The usual numbers are Arc's."""

    weight: float = 0.7
    """Share of the goal, or of the calls; the rest is the process, or the reply."""
    pass_at: float = 0.8
    """The least score that passes."""

    def __post_init__(self) -> None:
        for name, value in (("--judge-weight", self.weight), ("--judge-pass", self.pass_at)):
            if not 0 <= value <= 1:
                raise InputError(f"is {value}", field=name, expected="a number from 0 to 1")

    def record(self) -> dict[str, float]:
        """What is unusual of them, for a run's record."""
        usual, own = JudgeRules(), {"judge_weight": self.weight, "judge_pass": self.pass_at}
        others = {"judge_weight": usual.weight, "judge_pass": usual.pass_at}
        return {name: value for name, value in own.items() if value != others[name]}

    def score(self, first: float, second: float) -> float:
        """Both scores together, 0 to 1."""
        return round(self.weight * first + (1 - self.weight) * second, 6)

    def passes(self, score: float) -> bool:
        """Whether a score is enough."""
        return score >= self.pass_at


class Question(NamedTuple):
    """A turn to ask about, and why."""

    place: int
    """In the trace, from 0."""
    why: Why
    checks: bool | None
    calls: float | None = None
    """For a turn that expects a reply: what the checks say of its calls, 0 or 1; None where they
    leave them open."""


class Scores(NamedTuple):
    """What a judge answered: goal and process, or calls and reply."""

    first: float
    second: float
    rationale: str


@dataclass(frozen=True)
class Judge:
    """Asks a model about the turns of an episode.

    Args:
        role_model: The model.
        everything: Ask about every turn, to measure agreement.
        rules: How scores become a verdict.
    """

    role_model: RoleModel
    everything: bool = False
    rules: JudgeRules = JudgeRules()

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
            said, spent = await self._ask(seen, task, trace.turns, question)
            found.append(said)
            usage = usage + spent
        return JudgeRecord(self.name, tuple(found), usage)

    async def _ask(
        self, view: TaskView, task: Task, turns: Sequence[TurnTrace], question: Question
    ) -> tuple[TurnJudgement, TokenUsage]:
        turn_id, prompts = turns[question.place].turn_id, self.role_model.prompts
        names: tuple[str, str] = ("goal", "process")
        if question.why == "response":
            names = ("tool", "response")
            messages = expected_reply.request(view, task, turns, question.place, prompts)
        else:
            messages = request(view, turns, question.place, prompts)
        usage, problem = TokenUsage(), ""
        for _ in range(2):
            try:
                reply, spent = await self.role_model.ask(messages, f"judge/{turn_id}")
            except ModelError as error:
                problem = str(error)
                break
            usage = usage + spent
            try:
                scores = read_scores(reply.text, names)
            except AgentError as error:
                problem = str(error)
                messages += [
                    reply.message() if reply.text else Message("assistant", "-"),
                    user(f"That could not be used: {problem} Answer with the JSON object only."),
                ]
                continue
            return self._verdict(turn_id, question, scores), usage
        failed = TurnJudgement(
            turn_id, question.why, question.checks, None, rationale=f"judge failed: {problem}"
        )
        return failed, usage

    def _verdict(self, turn_id: int, question: Question, scores: Scores) -> TurnJudgement:
        first, second, rationale = scores
        if question.why != "response":
            score = self.rules.score(first, second)
            passed = self.rules.passes(score)
            return TurnJudgement(
                turn_id, question.why, question.checks, passed, score, first, second, rationale
            )
        calls = first if question.calls is None else question.calls
        score = self.rules.score(calls, second)
        return TurnJudgement(
            turn_id,
            question.why,
            question.checks,
            self.rules.passes(score),
            score,
            calls,
            None,
            rationale,
            second,
            self.rules.passes(second),
        )

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
        if expected_reply.wanted(task, place):
            calls = None if why == "call" else 1.0
            if why is None and checks is False:
                calls = 0.0
            yield Question(place, "response", known, calls)
        elif why is not None:
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


def request(
    view: TaskView, turns: Sequence[TurnTrace], place: int, prompts: PromptFiles = OURS
) -> list[Message]:
    """The messages that ask about one turn."""
    rules = prompts.filled("judge", today=view.today, policy=view.policy)
    return [system(rules), user(orjson.dumps(shown_turns(turns, place)).decode())]


def read_scores(text: str, names: tuple[str, str] = ("goal", "process")) -> Scores:
    """The scores in a judge's answer, whatever stands around the JSON object.

    Args:
        names: Of the two scores.

    Raises:
        AgentError: It holds no object with both scores, each from 0 to 1.
    """
    problem = "it holds no JSON object."
    for found in objects(text):
        first, second = (_score(found, name) for name in names)
        if first is not None and second is not None:
            return Scores(first, second, str(found.get("rationale") or ""))
        problem = f'"{names[0]}" and "{names[1]}" have to be numbers from 0 to 1.'
    raise AgentError(problem)


def _score(found: Mapping[str, Any], name: str) -> float | None:
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None
