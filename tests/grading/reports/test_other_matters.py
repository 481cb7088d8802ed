"""What a reply tells of other matters beside the deed, and deeds that it tells of other records:
each in a turn of its own making.
"""

from __future__ import annotations

import pytest

from crmbench.core.journal import Change
from crmbench.grading.facts.context import Context
from crmbench.grading.reports.deeds import Deeds
from crmbench.grading.reports.problems import report_problems
from crmbench.grading.words import Outcome, outcome_of

AMOUNT = Change(
    "Opportunity",
    "d1",
    {"opportunity_id": "d1", "name": "Acme - Scanner", "stage": "Proposal", "amount": 5000.0},
    {"opportunity_id": "d1", "name": "Acme - Scanner", "stage": "Proposal", "amount": 6000.0},
)
RAISED = Deeds((AMOUNT,))
ASKED = Context("Raise the amount of the scanner deal to $6,000.")


def outcome(reply: str) -> Outcome:
    return outcome_of(list(report_problems(reply, RAISED, ASKED)))


@pytest.mark.parametrize(
    "beside",
    [
        "The quote was not changed.",
        "I haven't touched the contract.",
        "The old quote still says $5,000.",
        "The client record stays as it was.",
        "I didn't want to touch anything else.",
        "A sent quote can't be edited, so it stays.",
        "Nobody has been e-mailed.",
    ],
)
def test_what_was_left_alone_denies_nothing(beside: str) -> None:
    assert outcome(f"The amount of the deal is now $6,000. {beside}") is Outcome.SUCCEEDS


@pytest.mark.parametrize(
    "reply",
    [
        "The deal was not changed.",
        "The amount stays at $5,000.",
        "I haven't touched the deal.",
        "Deals in Proposal can't be edited, so the amount stays at $5,000.",
    ],
)
def test_what_was_written_is_still_denied(reply: str) -> None:
    assert outcome(reply) is not Outcome.SUCCEEDS


@pytest.mark.parametrize(
    "beside",
    [
        "I've set the contract to Active as well.",
        "The quote has been raised to the same figure.",
        "I have also extended the contract by a year.",
        "I registered Acme Ltd as a client, too.",
        "I moved the deal to Negotiation too.",
        "I did that for every open deal of theirs.",
        "I reported it to the sales manager.",
    ],
)
def test_deeds_on_other_records_leave_it_open(beside: str) -> None:
    assert outcome(f"The amount of the deal is now $6,000. {beside}") is Outcome.UNDECIDED
