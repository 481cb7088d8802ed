"""Right replies of a strong agent, playing blind, that were once misread, each in its turn; and
wrong ones beside them that must not pass.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from crmbench.core.backends import backend_maker
from crmbench.core.journal import Change
from crmbench.domains.registry import load_domain
from crmbench.grading.directory import Directory
from crmbench.grading.facts.context import Context
from crmbench.grading.gold import execute_gold
from crmbench.grading.reports.deeds import Deeds
from crmbench.grading.reports.problems import report_problems
from crmbench.grading.reports.sources import Sources
from crmbench.grading.turn_words import TurnWords, judge_words
from crmbench.grading.words import Outcome, outcome_of
from crmbench.runner.task_sets import load_named


@cache
def turn_with(tool: str) -> TurnWords:
    """The first turn of the published service/hard set in which a tool is called."""
    task = next(
        task
        for task in load_named("service/hard").tasks()
        if any(call.tool == tool for turn in task.gold.turns for call in turn.calls)
    )
    domain = load_domain(task.domain)
    backend = backend_maker("sqlite")(domain)
    run = execute_gold(domain, task, backend)
    backend.close()
    return TurnWords.of_gold(domain, task, run, len(task.turns) - 1, None)


def assigned() -> list[tuple[str, str]]:
    """The numbers of the cases that the turn assigned, and the names of the new owners."""
    words = turn_with("assign_case")
    given = [(c.before or {}, c.after or {}) for c in words.deeds.effect if c.table == "Case"]
    return [
        (row["CaseNumber"], words.directory.names[row["OwnerId"]])
        for before, row in given
        if row["OwnerId"] != before.get("OwnerId")
    ]


def test_a_reference_that_was_written_is_told_by_the_name_of_its_record() -> None:
    words = turn_with("assign_case")
    sources = Sources(words.deeds, words.context)
    owners = {value for cell in sources.cells if cell.column == "OwnerId" for value in cell.new}
    assert owners == {name.lower() for _, name in assigned()}
    assert all("User" in words.directory.tables[owner] for owner in owners)


def test_a_report_that_names_each_case_and_its_agent_is_right() -> None:
    pairs = assigned()
    number, name = pairs[0]
    listed = "; ".join(f"{case} to {owner}" for case, owner in pairs)
    for reply in (
        f"Done: none had to stay. {listed}.",
        f"Done. {number} went to {name}.",
        f"Done. | {number} | {name} |",
    ):
        assert not list(judge_words(turn_with("assign_case"), reply)), reply


def other_queue() -> str:
    """A queue from which nothing was given out, though the turn's words know it."""
    words = turn_with("assign_case")
    came = {(change.before or {}).get("OwnerId") for change in words.deeds.effect}
    names = words.directory.names
    return next(
        name for key, name in sorted(names.items()) if name.endswith(" Queue") and key not in came
    )


def test_a_queue_that_was_left_alone_may_be_said_to_be() -> None:
    words, queue = turn_with("assign_case"), other_queue()
    asked = replace(words.context, question=f"{words.context.question} Not the {queue}.")
    words = replace(words, context=asked)
    for reply in (
        f"Done. Nothing else was changed; the {queue} was left alone.",
        f"Done. All cases of the queues other than the {queue} are given out.",
        f"Done. The {queue} is left as it was.",
    ):
        assert not list(judge_words(words, reply)), reply
    assert list(judge_words(words, f"Done, I gave out the cases of the {queue}."))


def merged() -> list[str]:
    """The numbers of the cases that the turn merged into others."""
    rows = [change.after or {} for change in turn_with("merge_cases").deeds.effect]
    return sorted(row["CaseNumber"] for row in rows if row.get("MasterRecordId"))


def test_cases_that_were_merged_may_be_said_to_be() -> None:
    words = turn_with("merge_cases")
    numbers = merged()
    for reply in (
        "Done.",
        f"{len(numbers)} cases were duplicates and are merged.",
        f"I merged {numbers[0]} into the case that was first.",
        "Done, the duplicates have been merged: " + ", ".join(numbers),
    ):
        assert not list(judge_words(words, reply)), reply


def test_cases_that_were_not_merged_may_not_be() -> None:
    words = turn_with("assign_case")
    assert list(judge_words(words, "Done, and I merged the two duplicates into one."))


SLATEHILL, OLDCASTLE = (
    "4c5d1679-ab3f-47b4-a185-cee4b9847388",
    "4bd30d59-3bfa-477a-bb56-84059985bca1",
)
NAMES = Directory(
    {SLATEHILL: "Slatehill Milk Union SA - Renewal", OLDCASTLE: "Oldcastle Workwear BV"},
    {
        "slatehill milk union sa - renewal": frozenset({"Opportunity"}),
        "slatehill milk union sa": frozenset({"Client"}),
        "oldcastle workwear bv": frozenset({"Client"}),
    },
    {
        SLATEHILL: {
            "opportunity_id": SLATEHILL,
            "name": "Slatehill Milk Union SA - Renewal",
            "client_id": "c1",
            "probability": 25,
        },
        "c1": {"client_id": "c1", "name": "Slatehill Milk Union SA"},
    },
)
SET = Deeds((Change("Opportunity", SLATEHILL, {"probability": 25}, {"probability": 40}),), NAMES)
ASKED = Context("I would say 90 percent for Slatehill Milk Union SA by now, please set that.")
STANDS = "The Slatehill Milk Union SA renewal stands at 40 percent, not 90: the client has an open"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (
            f"{STANDS} dispute (D-7852; its settling was not noted by Legal), which caps it.",
            Outcome.SUCCEEDS,
        ),
        (f"{STANDS} dispute (D-2470, first noted on Oldcastle Workwear BV).", Outcome.SUCCEEDS),
        ("Slatehill: the change was not saved by Legal.", Outcome.FAILS),
        ("It was not saved (the probability was not accepted by Legal).", Outcome.FAILS),
        ("The renewal stays as it is (it was not changed by Legal).", Outcome.FAILS),
        ("The Oldcastle Workwear BV renewal stands at 40 percent.", Outcome.UNDECIDED),
        ("Done (on the renewal of Oldcastle Workwear BV).", Outcome.UNDECIDED),
    ],
)
def test_a_reason_may_deny_what_others_did_and_name_another_client(
    reply: str, outcome: Outcome
) -> None:
    assert outcome_of(list(report_problems(reply, SET, ASKED))) is outcome


REVIEWED = Deeds(
    (
        Change("Opportunity", "A", {"probability": 25}, {"probability": 5}),
        Change(
            "Opportunity",
            "B",
            {"amount": 93100, "probability": 25},
            {"amount": 85696, "probability": 25},
        ),
    ),
    Directory(),
)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("Corrected: Bluestem (now on hold), Beckstone (85,696, at 25 %).", Outcome.SUCCEEDS),
        ("Corrected: Bluestem (now at 5 %), Beckstone (85,696).", Outcome.SUCCEEDS),
        ("Corrected: Bluestem (5 %), Beckstone (now 93,100).", Outcome.UNDECIDED),
    ],
)
def test_a_value_that_one_record_lost_may_be_what_another_one_has(
    reply: str, outcome: Outcome
) -> None:
    asked = Context("Go through the renewals of Bluestem and Beckstone and correct them.")
    assert outcome_of(list(report_problems(reply, REVIEWED, asked))) is outcome


CASES = Deeds((Change("CreditReview__c", "r1", None, {"Outcome__c": "Correct"}),))


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("All are recorded; merged cases were counted with the one left.", Outcome.SUCCEEDS),
        ("All are recorded (and others, and merged cases, were left alone).", Outcome.SUCCEEDS),
        ("All are recorded (merged cases left aside).", Outcome.SUCCEEDS),
        ("All are recorded (merged cases went with those that remain).", Outcome.SUCCEEDS),
        ("All are recorded, and merged cases of one customer.", Outcome.UNDECIDED),
        ("All are recorded, and merged cases and left.", Outcome.UNDECIDED),
        ("All are recorded. Merged cases were not reviewed by themselves.", Outcome.SUCCEEDS),
        ("All are recorded. Some cases were not reviewed.", Outcome.UNDECIDED),
        ("All are recorded; merged the cases of one customer.", Outcome.UNDECIDED),
        ("All are recorded; the cases were merged.", Outcome.UNDECIDED),
        (
            "All are recorded. The merged cases were counted with the ones they were merged into.",
            Outcome.SUCCEEDS,
        ),
    ],
)
def test_a_participle_before_its_noun_is_no_deed(reply: str, outcome: Outcome) -> None:
    asked = Context("Review the credits of June and record the outcome on each.")
    assert outcome_of(list(report_problems(reply, CASES, asked))) is outcome


OVERPAID = Deeds(
    (Change("CreditReview__c", "r1", None, {"Outcome__c": "Overpaid", "Difference__c": 12.5}),)
)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("It is recorded: overpaid by $12.50.", Outcome.SUCCEEDS),
        (
            "It is recorded: overpaid by $12.50. If the other limit held, it would be $42.30.",
            Outcome.SUCCEEDS,
        ),
        ("It is recorded: overpaid by $12.50. Another was overpaid by $42.30.", Outcome.UNDECIDED),
        ("If the other limit held, that would be so. It is overpaid by $42.30.", Outcome.UNDECIDED),
        ("If the other limit held, it would be less, but it is $42.30.", Outcome.UNDECIDED),
        ("If the other limit held, it would be less, and was set to $42.30.", Outcome.UNDECIDED),
    ],
)
def test_a_figure_that_would_be_under_another_reading_is_none(reply: str, outcome: Outcome) -> None:
    asked = Context("Review the credits of June and record the outcome on each.")
    assert outcome_of(list(report_problems(reply, OVERPAID, asked))) is outcome


def test_what_one_record_was_another_may_be_now() -> None:
    def change(key: str, before: str, after: str) -> Change:
        row = {"Id": key, "CaseNumber": f"0121{key}"}
        return Change("Case", key, {**row, "Priority": before}, {**row, "Priority": after})

    context = Context("Merge what is one, and set the priorities.")
    both = Deeds((change("6660", "Critical", "Medium"), change("5386", "Medium", "Low")))
    one = Deeds((change("5386", "Medium", "Low"),))
    told = "01216660 (priority now Medium) and 01215386 (priority now Low)."
    assert not list(report_problems(told, both, context))
    assert list(report_problems("01215386 has priority Medium.", one, context))
