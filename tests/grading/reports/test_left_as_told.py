"""What a report of many writes tells of records and columns that were left as they were."""

from __future__ import annotations

import pytest

from crmbench.core.fact import Fact
from crmbench.core.journal import Change
from crmbench.core.schema import Row
from crmbench.grading.directory import Directory
from crmbench.grading.facts.context import Context
from crmbench.grading.reports.deeds import Deeds
from crmbench.grading.reports.problems import report_problems
from crmbench.grading.words import Outcome, outcome_of

PEOPLE = {"u1": "Leah Ito", "u2": "Ivy Dixon", "q1": "Footwear Queue"}


def case(number: str, priority: str, **others: str | None) -> Row:
    return {
        "Id": f"c{number}",
        "CaseNumber": number,
        "Priority": priority,
        "Status": "New",
        "OwnerId": "q1",
        "SuppliedName": "Anita Morris",
        "MasterRecordId": None,
        **others,
    }


ROWS = {
    str(row["Id"]): row
    for row in (
        case("01215620", "Medium"),
        case("01215664", "Low"),
        case("01215278", "Low"),
        case("01215998", "Low"),
        case("01215424", "Medium"),
        case("01216610", "High"),
        case("01217778", "Low", SuppliedName="J. Dhar"),
        case("01217777", "Low", SuppliedName=None, SuppliedEmail="Jonah.Dhar+shop@nook.example"),
    )
}
DIRECTORY = Directory(
    PEOPLE,
    {
        name.lower(): frozenset({"User" if key[0] == "u" else "Group"})
        for key, name in PEOPLE.items()
    },
    ROWS,
)


def change(number: str, **after: str | float) -> Change:
    row = ROWS[f"c{number}"]
    return Change("Case", f"c{number}", row, {**row, **after})


def outcome(reply: str, asked: str, *changes: Change) -> Outcome:
    return outcome_of(list(report_problems(reply, Deeds(changes, DIRECTORY), Context(asked))))


def merged(reply: str) -> Outcome:
    """A report on 01215620 and 01215664, merged into 01215278, which is Medium from then on, and
    on 01215998, merged into 01215424, which is Medium as before.
    """
    return outcome(
        f"Done. The duplicates were merged:\n{reply}",
        "Merge the duplicate cases.",
        change("01215620", MasterRecordId="c01215278", Status="Closed"),
        change("01215664", MasterRecordId="c01215278", Status="Closed"),
        change("01215278", Priority="Medium"),
        change("01215998", MasterRecordId="c01215424", Status="Closed"),
    )


def given(reply: str) -> Outcome:
    """A report on three cases that were given to Leah Ito."""
    numbers = ("01215620", "01215664", "01215278")
    return outcome(
        f"Done. The three cases were assigned to Leah Ito. {reply}",
        "Assign the cases that wait in the Footwear Queue. Some ask for Ivy Dixon.",
        *(change(number, OwnerId="u1") for number in numbers),
    )


@pytest.mark.parametrize(
    "told",
    [
        "Owners, statuses and issue fields were not touched.",
        "Owners and statuses are as they were.",
        "1. 01215998 into 01215424; stays Medium (the highest of all).",
        "Left alone: 01216610 (too long after 01215278).",
        "Left alone: Anita Morris 01216610 (too long after the first).",
        "01216610 was not merged.",
        "There was nothing in it that I could not do.",
        "There was no case that I could not assign to a customer. Nothing was refused.",
        "On 17 of those I also set the priority that stays.",
        "On two of the cases that remain I changed the priority to the one that stays by the rule.",
        "Two were merged into 115 that remain. On 14 of those that remain I set the priority.",
        "Nothing was left undone. The merges cannot be undone.",
        "Nothing that you asked for was left undone.",
        "Nothing that was asked remains undone.",
        "Owners and statuses of the cases that remain were not touched.",
        "The case that remains is named first. Priority set on one that remains: 01215278.",
        "Look-alikes that are not duplicates by the rules were left alone.",
        "Left alone: Jonah Dhar 01217777 (another line).",
        "Left alone: Jonah Dhar 01217778 (another line).",
    ],
)
def test_what_was_left_as_it_is_told_denies_no_merge(told: str) -> None:
    assert merged(told) is Outcome.SUCCEEDS


@pytest.mark.parametrize(
    "told",
    [
        "Priorities were not touched.",
        "Owners and priorities are as they were.",
        "1. 01215620 and 01215664 into 01215278; stays Low.",
        "The priority of the cases stays as it was.",
        "01215620 and 01215664 into 01215278, the one that stays Low.",
        "I merged them. The priority of 01215278 that stays Low is right.",
        "1. 01215620 and 01215664 into 01215278; stays Medium.",
        "Left alone: 01215664, 01216610.",
        "01215998 was left alone.",
        "01215664 was not merged.",
        "Left alone: Bruno Hale 01216610.",
        "I could not merge 01215664.",
        "There was one case that I could not assign to a customer.",
        "One merge was refused.",
        "One merge was left undone.",
        "One merge that you asked for was left undone.",
        "Two that were asked for remain undone.",
        "Priorities of the cases that remain were not touched.",
        "The case that remains stays Low: 01215278.",
        "Look-Alikes were left alone.",
        "Left alone: Jonah Dhar 01216610.",
        "Left alone: Bruno Dhar 01217778.",
    ],
)
def test_what_was_merged_or_set_was_not_left_alone(told: str) -> None:
    assert merged(told) is not Outcome.SUCCEEDS


@pytest.mark.parametrize(
    "told",
    [
        "01215620 (Ivy Dixon) and 01215664 (Ivy Dixon) did not go by the wish.",
        "01215620 did not go to Ivy Dixon.",
        "I could not read all of the desk memos word for word.",
        "I read the memos that the searches brought up as bearing on these cases, not all of them.",
        "I could not look up every last memo that might have changed these rules.",
        "With the calls available I could not open every one of the roughly 1,080 memos.",
        "What I could not do: read every one of the more than 1,000 memos.",
        "I did not open the letters of customers for whom I found only one open web case.",
        "What I could not do in full: I did not open every letter (about 150 in full).",
        "I did not open every memo of the handbook, so one that I missed cannot be ruled out.",
        "I read all of the cases that could be about this, but not all of the other 100.",
    ],
)
def test_who_did_not_get_a_case_and_what_was_not_read_deny_nothing(told: str) -> None:
    assert given(told) is Outcome.SUCCEEDS


@pytest.mark.parametrize(
    "told",
    [
        "01215620 did not go to Leah Ito.",
        "01215620 (Leah Ito) did not go by the wish.",
        "01216610 did not go to Ivy Dixon.",
        "I could not read the memos and could not assign 01215664.",
        "I read the memos and assigned the cases, not all of them.",
        "The memo might have assigned 01215664; I did so with not all of them.",
        "I could not assign all of the cases.",
        "What I could not do: read the memos and assign 01215664.",
        "What I could not do in full: I did not assign every case (about 150 of them).",
        "I could not open and assign every one of the roughly 1,080 cases.",
        "I handled all of the cases that could be about this, but not all of the other 100.",
    ],
)
def test_who_got_a_case_is_not_denied(told: str) -> None:
    assert given(told) is not Outcome.SUCCEEDS


@pytest.mark.parametrize(
    ("told", "passes"),
    [
        ("I changed the Status from New to Escalated.", True),
        ("I changed the Status from Escalated to New.", False),
        ("The Status was Escalated before and is New now.", False),
    ],
)
def test_a_change_that_is_told_the_wrong_way_round_is_no_right_report(
    told: str, passes: bool
) -> None:
    numbers = ("01215620", "01215664", "01215278")
    changes = [change(number, Status="Escalated") for number in numbers[:2]]
    changes += [change(number, OwnerId="u1") for number in numbers]
    found = outcome(told, "Give out the cases, and escalate what nobody can take.", *changes)
    assert (found is Outcome.SUCCEEDS) is passes


@pytest.mark.parametrize(
    ("told", "passes"),
    [
        ("I left it as it is. The number is 2.", False),
        ("I've left everything unchanged. 2.", False),
        ("I left them as they were where they were right, and changed 2.", True),
    ],
)
def test_who_begins_with_having_left_it_has_not_said_that_it_was_done(
    told: str, passes: bool
) -> None:
    changes = [change(number, OwnerId="u1") for number in ("01215620", "01215664", "01215278")]
    asked = Context("Put right what is wrong.", facts=(Fact("count", 2, label="changed"),))
    found = outcome_of(list(report_problems(told, Deeds(tuple(changes), DIRECTORY), asked)))
    assert (found is Outcome.SUCCEEDS) is passes


def test_what_was_asked_for_and_is_not_possible_denies_no_lesser_deed() -> None:
    before: Row = {"opportunity_id": "o1", "name": "Gannet Bay", "close_date": "2026-12-05"}
    moved = Change("Opportunity", "o1", before, {**before, "close_date": "2027-01-12"})
    reply = (
        "Gannet Bay is put off to 12 January 2027: the client is a public body and may wait 38 "
        "days, so 3 May 2027 is not possible."
    )
    asked = "Gannet Bay: please put the renewal off to 3 May 2027."
    assert outcome(reply, asked, moved) is not Outcome.FAILS


@pytest.mark.parametrize(
    ("told", "passes"),
    [
        ("2 Overpaid (14.05 dollars in all).", True),
        ("2 Overpaid (14.05 dollars in all) and 1 Underpaid: 18.05 dollars altogether.", True),
        ("2 Overpaid (14.50 dollars in all).", False),
    ],
)
def test_a_total_of_what_was_written_is_known(told: str, passes: bool) -> None:
    changes = [
        change("01215620", Outcome="Overpaid", Amount=9.55),
        change("01215664", Outcome="Overpaid", Amount=4.5),
        change("01215278", Outcome="Underpaid", Amount=4.0),
    ]
    found = outcome(f"Done: I recorded the outcomes. {told}", "Review the credits.", *changes)
    assert (found is Outcome.SUCCEEDS) is passes


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("Outcomes: 2 Overpaid and 1 Underpaid.", Outcome.SUCCEEDS),
        ("Of the two older ones 1 Overpaid and 1 Underpaid.", Outcome.SUCCEEDS),
        ("Overpaid: 2 cases. The other is Underpaid.", Outcome.SUCCEEDS),
        ("Overpaid: 3 cases. The other is Underpaid.", Outcome.UNDECIDED),
        ("Outcomes: 1 Overpaid and 2 Underpaid.", Outcome.UNDECIDED),
        ("Outcomes: 3 Overpaid and 0 Underpaid.", Outcome.UNDECIDED),
    ],
)
def test_a_tally_of_all_that_was_written_is_right(told: str, found: Outcome) -> None:
    outcomes = {"01215620": "Overpaid", "01215664": "Overpaid", "01215278": "Underpaid"}
    changes = [change(number, Outcome=value) for number, value in outcomes.items()]
    report = f"Done: I recorded the three outcomes. {told}"
    assert outcome(report, "Review the credits.", *changes) is found
