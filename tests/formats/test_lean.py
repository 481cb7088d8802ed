"""Outlines for figures: what they leave out, what they share, what is said of a bad line."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from crmbench.core.journal import Change
from crmbench.core.trace import CallRecord, EpisodeTrace, Message, TokenUsage, TurnTrace
from crmbench.formats.episode_store import encode
from crmbench.formats.lean import Lean
from crmbench.grading.answer import ANSWER_ARGUMENT, ANSWER_TOOL
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.tool_match import ToolMatch
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict


def played(trial: int = 0, reply: str = "Done.") -> EpisodeRecord:
    created = Change("clients", "c1", None, {"name": "Acme"})
    calls = (
        CallRecord("create_new_client", {"name": "Acme"}, True, {"id": "c1"}, changes=(created,)),
        CallRecord(ANSWER_TOOL, {ANSWER_ARGUMENT: 42}, True, "noted"),
    )
    turn = TurnTrace(1, (Message("user", "Add Acme."), Message("assistant", reply)), calls)
    verdict = TurnVerdict(
        1,
        True,
        True,
        None,
        ToolMatch(calls[0], True, True, True, None),
        "create_new_client",
        {"name": "Acme"},
        (),
        (),
    )
    usage = TokenUsage(10, 5, model_calls=1, cost=0.25)
    trace = EpisodeTrace("t1", trial, (turn,), usage=usage)
    judged = EpisodeVerdict("t1", trial, True, (verdict,), None, True, True, 2, 0, None)
    return EpisodeRecord(trace, judged, 1.5)


def test_arguments_and_results_are_left_out_and_answers_are_not() -> None:
    whole = played()
    lean = Lean().read(encode(whole).line, 1.5)
    first, answer = lean.trace.turns[0].calls
    assert first == CallRecord("create_new_client", {}, True)
    assert answer == CallRecord(ANSWER_TOOL, {ANSWER_ARGUMENT: "42"}, True)
    judged = lean.verdict.turns[0]
    assert judged.tool == replace(whole.verdict.turns[0].tool, call=None)
    assert judged.expected_arguments == {}
    turns = (replace(whole.trace.turns[0], calls=(first, answer)),)
    assert lean.trace == replace(whole.trace, turns=turns)
    assert lean.verdict == replace(whole.verdict, turns=lean.verdict.turns)
    assert lean.seconds == 1.5


def test_an_episode_at_hand_is_shortened_to_what_its_line_is_read_as() -> None:
    whole = played()
    assert Lean().shorten(whole, 1.5) == Lean().read(encode(whole).line, 1.5)
    shared = Lean()
    first, second = shared.shorten(whole, 1.5), shared.read(encode(played(1)).line, 2.5)
    assert first.verdict.turns[0] is second.verdict.turns[0]


def test_trials_that_went_the_same_way_share_their_turns() -> None:
    lean = Lean()
    one, two, other = (
        lean.read(encode(each).line) for each in (played(0), played(1), played(2, "I did."))
    )
    assert [each.key for each in (one, two, other)] == [("t1", 0), ("t1", 1), ("t1", 2)]
    assert [each.verdict.trial for each in (one, two, other)] == [0, 1, 2]
    assert two.trace.turns is one.trace.turns
    assert two.verdict.turns is one.verdict.turns
    assert other.trace.turns[0].reply == "I did."
    assert other.trace.turns[0].calls is one.trace.turns[0].calls


def test_a_line_of_an_old_run_gives_the_same() -> None:
    # Fields that were added since may be lacking, and the results stand in the line.
    whole = played()
    data = {
        "trace": msgspec.to_builtins(whole.trace),
        "verdict": msgspec.to_builtins(whole.verdict),
    }
    del data["verdict"]["undecided"], data["trace"]["usage"]
    found = Lean().read(msgspec.json.encode(data))
    expected = Lean().read(encode(whole).line)
    assert found.verdict == expected.verdict
    assert found.trace == replace(expected.trace, usage=TokenUsage())


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        (b'"ok":true', b'"ok":7', "$.trace.turns[0].calls[0].ok"),
        (b'"expected_tool":"create_new_client"', b'"expected_tool":7', "$.verdict.turns[0].expec"),
        (b'"counted":true', b'"counted":7', "$.verdict.counted"),
    ],
)
def test_the_place_of_a_fault_is_named_from_the_beginning_of_the_line(
    right: bytes, wrong: bytes, place: str
) -> None:
    line = encode(played()).line
    assert right in line
    with pytest.raises(msgspec.DecodeError) as raised:
        Lean().read(line.replace(right, wrong, 1))
    assert place in str(raised.value)
