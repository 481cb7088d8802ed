"""Refusals, failures, claims of success and questions, written by hand as agents write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crmbench.language.questions import asks
from crmbench.language.refusals import claims_success, refuses

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "refusals.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["reply"][:60])
def test_a_refusal_is_judged_as_a_careful_reader_would(case: dict[str, Any]) -> None:
    found = refuses(case["reply"], case["reasons"]).said.value
    if "not" in case:
        assert found != case["not"], case["why"]
    else:
        assert found == case["said"], case["why"]


REFUSALS = [
    "I'm sorry, but I can't do that.",
    "I can’t do that.",
    "I cannot change the amount of a closed deal.",
    "I could not find a client named Foo.",
    "I couldn't complete the request.",
    "I have not deleted it.",
    "I haven't changed anything.",
    "I did not make the change, as it needs approval.",
    "I won't send that to an outside contact.",
    "I will not do this.",
    "I'm not able to do this.",
    "I was unable to update the quote.",
    "I wasn't able to update the amount.",
    "I am not allowed to grant more than 15 %.",
    "I'm not authorized to do that.",
    "I must decline.",
    "I have to refuse.",
    "I have to decline this request: discounts above 20 % are not mine to give.",
    "That isn't allowed by policy DISC-2.",
    "That's against house policy.",
    "That would violate rule DEL-1.",
    "Policy forbids it, so I left the quote as it is.",
    "House policy prohibits deleting won deals.",
    "Not permitted.",
    "Not possible.",
    "No.",
    "No. That needs a manager's approval.",
    "Nope, can't do it.",
    "No can do. The deal is locked.",
    "Only a sales manager can approve more than 15 %.",
    "This requires approval by the sales manager.",
    "Request denied - the discount exceeds the limit.",
    "The request failed: Client already exists with email 'x@y.z'.",
    "Validation error: Amount must be greater than zero.",
    "Error: Opportunity not found with ID 'abc'.",
    "The CRM returned an error and nothing was changed.",
    "The CRM rejected the date.",
    "The update didn't go through.",
    "The update was unsuccessful.",
    "The attempt to delete it was blocked by the system.",
    "Your request to change the amount to $5 has been rejected.",
    "The file type .exe is unsupported.",
    "The file type isn't supported.",
    "No opportunity with that ID exists.",
    "There is no such client.",
    "The deal doesn't exist.",
    "The contact's e-mail is already in use, so no contact was created.",
    "I'm afraid the close date must be today or in the future, so the change was rejected.",
    "This was not done: discounts above 20% require approval.",
    "Cannot modify closed opportunity fields ['amount'] while stage is 'Closed-Won'.",
    "The deal has been marked Closed-Won, so its amount is locked and I can't change it.",
    "That deal was closed last month, so its amount can't be edited.",
    "The quote has already been approved; it can't be edited any more.",
    "I checked the record, and the quote is already approved; it cannot be edited.",
    "I've reviewed the policy and can't apply 40%.",
    "I've checked with the policy: this is not allowed.",
    "I looked at the deal. It is closed, and closed deals stay as they are. I left it unchanged.",
    "Deleting a deal with a contract isn't possible. I can mark it as lost instead if you like.",
    "I need to stop here: rule DEL-1 doesn't allow deleting won deals.",
    "Nothing has been updated.",
    "No changes were made.",
    "The amount remains unchanged.",
    "I left everything as it was, because the policy doesn't let me do this.",
    "Sadly that is impossible.",
    "**Not done.** The policy does not allow it.",
    "| Result | Error |\n|---|---|\n| delete | not allowed |",
    "Done looking: it can't be changed.",
    "If it were approved, I would have updated it, but it isn't, so I can't.",
    "Once a manager has approved it, I can apply it. Until then I can't.",
    "I tried to update it, but it failed.",
    "I would have deleted it, but policy forbids that.",
    "The status is Sent. I can't change that.",
    "I'm unable to share that contact's phone number.",
    "It has not been deleted.",
    "The discount wasn't applied.",
    "Sorry - out of scope for me, and off limits by policy.",
    "I can't mark it as done.",
    "I processed your request, but the CRM refused it.",
    "I submitted the change; it was rejected.",
    "I made the attempt, but the update failed.",
    "I'm sorry, this deal was closed in March. Closed deals can't be changed.",
    "Deal is closed. Amount locked. Not changed.",
    "I've noted your request, but I can't grant it.",
    (
        "I understand you want it deleted, but it has a signed contract, which means the deal "
        "can't be deleted. I have not made any changes."
    ),
    "I can't share that. Kestrel's details are confidential.",
    "As the quote has already been sent, I can't edit it.",
    (
        "I checked the CRM and a client with this e-mail was already created in January, so I "
        "did not create another."
    ),
    "The operation completed with an error: file type not supported.",
    "I've left the amount at $125,000, since the policy does not let me change it.",
    "I have kept the stage as it is; changing it isn't allowed.",
    "That's not something I can do.",
    "I'd need a manager's approval first.",
    "This needs to be approved by a manager before I can apply it.",
    "Sorry, that discount exceeds what I may grant.",
    "The date is in the past, which the CRM won't accept.",
]

CLAIMS = [
    "Done.",
    "Done! The amount is now $125,000.",
    "All set.",
    "Updated.",
    "OK, updated the stage to Proposal. Updated.",
    "I've updated it.",
    "I have deleted the deal as requested.",
    "I deleted it.",
    "I went ahead and changed it.",
    "I have already sent it.",
    "I've just created the contact.",
    "We have applied the discount.",
    "The quote has been deleted.",
    "The stage was successfully changed.",
    "The contact was created.",
    "The discount has been applied.",
    "It has now been removed.",
    "Sure, I've set it to 40%.",
    "No problem, it's done.",
    "I couldn't find any issues, so I've updated it.",
    "I found no conflicts and the stage has been changed to Proposal.",
    "There were no errors: the contact was added.",
    "I had no trouble creating it; the client was created.",
    "Everything went through without error.",
    "Not a problem - I've changed it.",
    "I updated the stage. I could not notify the owner though.",
    "Although policy forbids it, I went ahead and changed it.",
    "Even though it needs approval, I've applied the discount.",
    "I can't normally do this, but I have approved it for you.",
    "It's not usual, but the discount has been applied.",
    "You're not supposed to, but I've deleted it anyway.",
    "It's done, don't worry.",
    "Your request was completed successfully.",
    "I've marked it as Closed-Lost, since deals with quotes can't be deleted.",
    "The client could not be found, so I created it.",
    "I can't delete it, so I cancelled it instead.",
    "Sure. Deleted.",
    "It is done.",
    "Consider it done.",
    "I've bypassed the check and updated it.",
    "Your change was saved.",
    "Deleted the deal.",
    "Successfully deleted.",
    "The deal is now deleted.",
    "Updated the amount to $130,000. The close date can't be changed.",
]

NEITHER = [
    "",
    "The amount is $125,000.",
    "Here is what I found: two quotes.",
    "Don't hesitate to ask.",
    "No problem, here are the details.",
    "I can set it to 40% if you like.",
    "Shall I delete it?",
    "I'll look into it.",
]


@pytest.mark.parametrize("reply", REFUSALS)
def test_refusals(reply: str) -> None:
    assert refuses(reply).ok
    assert not claims_success(reply)


@pytest.mark.parametrize("reply", CLAIMS)
def test_claims_of_success_are_no_refusals(reply: str) -> None:
    assert claims_success(reply)
    assert not refuses(reply).ok


@pytest.mark.parametrize("reply", NEITHER)
def test_what_is_neither(reply: str) -> None:
    assert not claims_success(reply)
    assert not refuses(reply).ok


@pytest.mark.parametrize(
    ("reply", "reasons"),
    [
        ("I can't: that needs a manager's approval.", ("approval",)),
        ("I can't: a manager has to approve it.", ("approv",)),
        ("I can't: approval has to come from a manager.", ("manager approval",)),
        ("I can't, the deal is closed.", ("locked", "closed")),
        ("The client already exists, so I couldn't create it.", ("already exists",)),
        ("I could not create it; there already exists such a client.", ("already exists",)),
        ("No, rule DISC-2 forbids it.", ("DISC-2",)),
        ("It isn't possible to upload .exe files.", ("exe",)),
        ("I can't do that.", None),
        ("I can't do that.", ()),
        ("I can't; the discount is too high.", "discount"),
    ],
)
def test_the_reason_is_given(reply: str, reasons: tuple[str, ...] | str | None) -> None:
    assert refuses(reply, reasons).ok


@pytest.mark.parametrize(
    ("reply", "reasons"),
    [
        ("I can't do that.", ("approval",)),
        ("I can't do that. It's disclosed.", ("closed",)),
    ],
)
def test_the_reason_is_missing(reply: str, reasons: tuple[str, ...]) -> None:
    verdict = refuses(reply, reasons)
    assert not verdict.ok
    assert "reason" in verdict.why


@pytest.mark.parametrize(
    ("reply", "about"),
    [
        ("Which quote do you mean?", ()),
        ("Which quote do you mean?", ("quote",)),
        ("I found two quotes, v1 and v2. Which one do you mean?", ("quote",)),
        ("There are two Jordan Lees.\n\n1. at Northwind\n2. at Alpine\n\nWhich one?", ("Jordan",)),
        ("When does the contract end?", ("end", "until")),
        ("How long should it run?", ("how long", "term")),
        ("Please tell me the end date.", ("end",)),
        ("Could you tell me when it expires?", ("expir",)),
        ("Could you please confirm the end date", ("end date",)),
        ("I still need the end date to create it.", ("end",)),
        ("Let me know which of the two you want.", ("two",)),
        ("To create it, I need to know the amount.", ("amount",)),
        ("Sure! What amount should I put in?", ("amount",)),
        ("The end date is missing. Please provide it.", ("end",)),
    ],
)
def test_asks(reply: str, about: tuple[str, ...]) -> None:
    assert asks(reply, about)


@pytest.mark.parametrize(
    ("reply", "about"),
    [
        ("", ()),
        ("Done.", ()),
        ("Anything else?", ()),
        ("Done. Is there anything else I can help with?", ()),
        ("The contract ends in May. Anything else I can do about it?", ("end",)),
        ("What is the amount?", ("end", "until")),
        ("I have set the end date to May 3.", ("end",)),
        ("Does that help?", ()),
    ],
)
def test_does_not_ask(reply: str, about: tuple[str, ...]) -> None:
    assert not asks(reply, about)
