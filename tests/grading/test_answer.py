"""Answers: exact sets, token F1, and "None" by saying so."""

from __future__ import annotations

import pytest

from crmbench.core.answer import Answer
from crmbench.core.trace import CallRecord, Message, TurnTrace
from crmbench.grading.answer import given, judge, read_reply, says_none, token_f1
from crmbench.grading.answer_rivals import ONLY_COUNTED
from crmbench.grading.directory import Directory

AGENT = "005Qy000007mTb2IAE"
OTHER = "005Qy000007mTbPIAU"
CASE = "500Qy000007mTbPIAU"


@pytest.mark.parametrize(
    "text",
    [
        AGENT,
        AGENT[:15],
        f"The agent is {AGENT}.",
        f'["{AGENT}"]',
        f"**{AGENT}** (she closed case {CASE})",
        f"`{AGENT}`\n",
    ],
)
def test_an_id_is_read_however_it_is_written(text: str) -> None:
    assert judge(Answer("id", (AGENT,), prefix="005"), text).ok


@pytest.mark.parametrize(
    "text",
    ["", "None", OTHER, f"{AGENT} or {OTHER}", AGENT.lower(), AGENT[:-4], f"x{AGENT}", "Done."],
)
def test_another_id_or_one_more_is_wrong(text: str) -> None:
    verdict = judge(Answer("id", (AGENT,), prefix="005"), text)
    assert not verdict.ok
    assert verdict.score == 0
    assert verdict.why


def test_without_a_prefix_every_id_counts() -> None:
    assert not judge(Answer("id", (AGENT,)), f"{AGENT}, case {CASE}").ok


def test_several_ids_are_a_set() -> None:
    answer = Answer("id", (AGENT, OTHER))
    assert judge(answer, f"{OTHER}, {AGENT}").ok
    assert not judge(answer, AGENT).ok
    assert judge(answer, answer.said).ok


@pytest.mark.parametrize(
    ("text", "ok"),
    [
        ("March", True),
        ("march", True),
        ("Mar.", True),
        ("It was in March 2025.", True),
        ("2025-03", True),
        ("March, which may surprise you", True),
        ("March or April", False),
        ("2025-04", False),
        ("the march of progress", False),
        ("2025-03-04 to 2025-04-01", False),
    ],
)
def test_months(text: str, ok: bool) -> None:
    assert judge(Answer("month", ("March",)), text).ok is ok


def test_may_is_a_month_alone_and_with_a_capital() -> None:
    answer = Answer("month", ("May",))
    assert judge(answer, "may").ok
    assert judge(answer, "In May").ok
    assert not judge(answer, "it may be so").ok


@pytest.mark.parametrize(
    ("text", "ok"),
    [
        ("OR", True),
        ("or", True),
        ("Oregon", True),
        ("The state is OR.", True),
        ("Oregon (OR)", True),
        ("CA or WA", False),
        ("Washington", False),
        ("OR, CA", False),
    ],
)
def test_states(text: str, ok: bool) -> None:
    assert judge(Answer("state", ("OR",)), text).ok is ok


def test_a_state_within_the_name_of_another_is_not_read() -> None:
    assert judge(Answer("state", ("WV",)), "West Virginia").ok
    assert judge(Answer("state", ("AR",)), "Arkansas").ok


@pytest.mark.parametrize(
    "text",
    [
        "None",
        "none.",
        "There is none.",
        "No agent handled more than five cases.",
        "No knowledge article was violated.",
        "n/a",
        "There is no such product.",
        f"None: nothing was broken in case {CASE}",
    ],
)
def test_none_is_given_by_saying_so(text: str) -> None:
    assert says_none(text)
    assert judge(Answer("id", (), prefix="005"), text).ok


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Done.",
        "I'm sorry, but I can't do that: it is against policy and not possible here.",
        f"None, or {AGENT}",
        AGENT,
        "Nonetheless I have the answer",
    ],
)
def test_what_does_not_say_none(text: str) -> None:
    assert not judge(Answer("id", (), prefix="005"), text).ok


def test_token_f1_follows_its_definition() -> None:
    assert token_f1("The returns take 30 days.", "returns take 30 days") == 1
    assert token_f1("within 30 days", "30 days") == pytest.approx(2 * (2 / 3) / (2 / 3 + 1))
    assert token_f1("30 30 30", "30") == pytest.approx(0.5)
    assert token_f1("", "") == 1
    assert token_f1("", "x") == token_f1("y", "x") == 0
    assert token_f1("10.50 dollars", "10,50 dollars") == 0.5


def test_a_text_is_right_from_its_threshold_on() -> None:
    answer = Answer("text", ("30 days from delivery", "a month"), threshold=0.6)
    assert judge(answer, "30 days from delivery").score == 1
    assert judge(answer, "one month").score == pytest.approx(2 / 3)
    assert judge(answer, "one month").ok
    assert not judge(answer, "you have 30 weeks from the day of order").ok
    assert not judge(answer, "None").ok
    assert judge(Answer("text"), "None").ok


def test_the_last_call_of_the_answering_tool_goes_before_the_reply() -> None:
    messages = (Message("user", "Who?"), Message("assistant", OTHER))

    def turn(*calls: CallRecord) -> TurnTrace:
        return TurnTrace(1, messages, calls)

    def respond(content: str, ok: bool = True) -> CallRecord:
        return CallRecord("respond", {"content": content}, ok)

    assert given(turn()) == OTHER
    assert given(turn(respond(CASE), respond(AGENT), CallRecord("get_issues", {}, True))) == AGENT
    assert given(turn(respond(AGENT), respond(CASE, ok=False))) == AGENT


@pytest.mark.parametrize(
    "answer",
    [
        Answer("id", (AGENT, OTHER), prefix="005"),
        Answer("month", ("May",)),
        Answer("text", ("some words",), threshold=0.4),
        Answer("state"),
    ],
)
def test_json_and_back(answer: Answer) -> None:
    assert Answer.from_json(answer.to_json()) == answer
    assert judge(answer, answer.said).ok


@pytest.mark.parametrize(
    ("kind", "value"), [("id", "005"), ("month", "Marchember"), ("state", "XX"), ("number", "5")]
)
def test_what_is_no_answer_of_its_kind_is_refused(kind: str, value: str) -> None:
    with pytest.raises(ValueError, match="answer"):
        Answer.from_json({"kind": kind, "values": [value]})


ANN, BEN, CY = "005Hs0000m00004IAA", "005Hs0000m0000bIAA", "005Hs0000m0000cIAA"
PEOPLE = {ANN: "Ann Webb", BEN: "Ben Boyle", CY: "Cy Ziegler"}
DIRECTORY = Directory(PEOPLE, {name.lower(): frozenset({"User"}) for name in PEOPLE.values()})


@pytest.mark.parametrize(
    "reply",
    [
        "Ann Webb: 6 cases, Ben Boyle: 4 cases.",
        "Ann Webb with 6; Ben Boyle had four only.",
        "| Ann Webb | 6 |\n| Ben Boyle | 4 |\n| Cy Ziegler | 3 |",
        "**Ann Webb** leads with the most (6), Ben Boyle and Cy Ziegler 4 each.",
        "Ann Webb came out lowest with 2, just ahead of Ben Boyle (3) and Cy Ziegler (4).",
        "It was Ann Webb: 5 against 1 for each of the others (Ben Boyle, Cy Ziegler).",
    ],
)
def test_rivals_may_stand_behind_the_answer_with_their_figures(reply: str) -> None:
    assert read_reply(Answer("id", (ANN,), prefix="005"), reply, DIRECTORY).ok


@pytest.mark.parametrize(
    "reply",
    [
        "Ann Webb had 3, so it goes to Ben Boyle, 4 cases.",
        "Ann Webb: 3 cases. Ben Boyle: 4 cases. So the latter.",
        "Ann Webb had 6; the fastest, Ben Boyle: 4.",
        "Ann Webb came close, it is Ben Boyle: 4.",
        "Ann Webb was close. Ben Boyle, 4, is the one.",
        "Ann Webb, 42. Ben Boyle, 40, is faster.",
        "Ann Webb or Ben Boyle, 4 each.",
        "Ann Webb and Ben Boyle 4 each.",
        "Ann Webb and Ben Boyle are the only ones.",
        "Ann Webb next to Ben Boyle.",
        "After Ann Webb I looked on: Ben Boyle 4.",
        "I looked at Ann Webb; the lowest is Ben Boyle (4).",
    ],
)
def test_a_figure_does_not_make_a_rival_of_the_winner(reply: str) -> None:
    assert not read_reply(Answer("id", (ANN,), prefix="005"), reply, DIRECTORY).ok


SETTLED = ("Ann Webb, now that Ben Boyle is away.",)
"""Beside the right submission no other answers, and by themselves open."""
GIVEN_TO_ANOTHER = (
    "Ann Webb takes longest; the quickest is Ben Boyle.",
    "Ann Webb and Ben Boyle.",
    "Ann Webb had one, Ben Boyle leads with two.",
    "Ann Webb is level with Ben Boyle.",
)


@pytest.mark.parametrize("reply", [*SETTLED, *GIVEN_TO_ANOTHER])
def test_beside_a_right_submission_a_rival_is_one_only_where_it_may_be_given_to_it(
    reply: str,
) -> None:
    answer = Answer("id", (ANN,), prefix="005")
    assert not read_reply(answer, reply, DIRECTORY).ok
    assert read_reply(answer, reply, DIRECTORY, settled=True).ok is (reply in SETTLED)


def test_nobody_in_a_comparison_denies_nothing() -> None:
    answer = Answer("id", (ANN,), prefix="005")
    assert read_reply(answer, "Ann Webb, as nobody has settled more of them.", DIRECTORY).ok
    assert not read_reply(answer, "Ann Webb, or rather nobody.", DIRECTORY).ok


def test_what_the_pattern_of_small_counts_matches() -> None:
    assert ONLY_COUNTED.match(" has only 3")
    assert not ONLY_COUNTED.match(" is the fastest, with 3")
