"""Why an episode failed, in a word; and why a success may be worth nothing, in a sentence."""

from __future__ import annotations

from crmbench.core.score.verdict import EpisodeVerdict, TurnVerdict
from crmbench.core.task import GoldTurn, Task
from crmbench.core.trace import EpisodeTrace, TurnTrace

_STATE_WORDS = (
    (" was written instead of ", "wrong record"),
    (" should not have been written", "extra write"),
    (" was not written", "missing write"),
    (": expected ", "wrong field"),
)
_REPLY_WORDS = (
    ("does not convey the refusal", "refusal not conveyed"),
    ("the note does not convey", "note lacks a fact"),
    ("does not convey", "fact not conveyed"),
    ("says ", "said what it must not"),
)


def failure_kind(trace: EpisodeTrace, verdict: EpisodeVerdict) -> str:
    """What went wrong first in an episode that failed."""
    failed = next((turn for turn in verdict.turns if not turn.success), None)
    if failed is not None and failed.turn_id <= len(trace.turns):
        kind = _turn_failure(failed, trace.turns[failed.turn_id - 1])
        if kind is not None:
            return kind
    if trace.outcome != "finished":
        return trace.outcome.replace("_", " ")
    return "final state" if verdict.final_state is False else "not finished"


def _turn_failure(verdict: TurnVerdict, turn: TurnTrace) -> str | None:
    if turn.error is not None:
        return None
    if verdict.state is None:
        return _tool_failure(verdict)
    for texts, words in ((verdict.mismatches, _STATE_WORDS), (verdict.unsaid, _REPLY_WORDS)):
        for text in texts:
            return next((kind for part, kind in words if part in text), "other")
    return None


def _tool_failure(verdict: TurnVerdict) -> str:
    match = verdict.tool
    if match.call is None:
        return "no tool call"
    if not match.tool:
        return "wrong tool"
    if match.outcome and not match.arguments:
        return "wrong arguments"
    return "wrong arguments" if match.call.ok and not match.arguments else "call failed"


def worthless_success(task: Task, trace: EpisodeTrace, trivial: bool) -> str | None:
    """Why the success of an episode takes no understanding of what was asked; None if it does.

    Args:
        trivial: Whether the agent does no work. Then there is always a reason to give: that its
            calls happened to be the ones expected.
    """
    turns = task.gold.turns
    by_tools = task.gold.grading == "tool_match"
    reasons = [_needs_no_thought(turn, by_tools) for turn in turns]
    if all(reason is not None for reason in reasons):
        return "; ".join(sorted({reason for reason in reasons if reason is not None}))
    if not trivial:
        return None
    made = sum(len(turn.calls) for turn in trace.turns)
    if made == 0:
        return "it made no call: nothing had to change, and its reply satisfies what was asked for"
    return f"by chance: its {made} calls and replies happen to satisfy every turn"


def _needs_no_thought(turn: GoldTurn, by_tools: bool) -> str | None:
    """Why a turn is passed without understanding it, if it is."""
    last = turn.calls[-1] if turn.calls else None
    if by_tools:
        if last is None:
            return "no call is expected, so making none passes"
        if turn.expect_success and not last.arguments:
            return f"{last.tool} takes no arguments here, so calling it at all passes"
        return None
    asks_nothing = not (turn.facts or turn.note_facts or turn.refusal_reasons)
    if turn.expect_success and not turn.calls and asks_nothing:
        return "nothing has to change and nothing has to be said"
    return None
