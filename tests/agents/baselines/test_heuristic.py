"""The heuristic agent: what each group of rules does in a small org of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.agents.baselines.office import MANAGER, OPEN_DEAL, WON_DEAL, Office, furnish

from crmbench.agents.baselines.heuristic import Heuristic


@pytest.fixture
def office() -> Iterator[Office]:
    made = furnish(Office())
    yield made
    made.episode.finish()


@pytest.fixture
def managers() -> Iterator[Office]:
    made = furnish(Office(MANAGER))
    yield made
    made.episode.finish()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("What is the Driver App deal at Mossgate Tiles worth?", "$50,000"),
        ("Which stage is the Driver App deal at Mossgate Tiles in?", "Qualification"),
        ("What is Tess Hobart's phone number?", "+44 20 555 0111"),
        ("How many open deals does Mossgate Tiles Ltd have?", "Open deals: 1"),
        ("What is the status of Fallow Foods?", "Inactive"),
        ("How many quotes are on the Driver App deal?", "Quotes: 1"),
        ("Which contacts do we have at Mossgate Tiles Ltd?", "Tess Hobart"),
        ("Which clients are in Groceries?", "Fallow Foods"),
    ],
)
def test_questions_are_answered_from_the_fields(office: Office, words: str, told: str) -> None:
    before = office.episode.database.digest()
    assert told in office.say(words)
    assert office.episode.database.digest() == before


def test_an_amount_is_set_and_a_large_change_noted(office: Office) -> None:
    office.say("Set the amount of the Driver App deal at Mossgate Tiles Ltd to 80k.")
    assert office.deal(OPEN_DEAL)["amount"] == 80000
    assert "$50,000" in office.all("note")[0]["content"]


@pytest.mark.parametrize(("words", "amount"), [("Raise", 54000.0), ("Lower", 46000.0)])
def test_a_percentage_moves_the_amount(office: Office, words: str, amount: float) -> None:
    office.say(f"{words} the amount of the Driver App deal at Mossgate Tiles Ltd by 8 percent.")
    assert office.deal(OPEN_DEAL)["amount"] == amount


def test_a_stage_takes_its_probability_from_the_policy_and_is_undone(office: Office) -> None:
    office.say("Move the Driver App deal at Mossgate Tiles Ltd to Negotiation.")
    moved = office.deal(OPEN_DEAL)
    assert (moved["stage"], moved["probability"]) == ("Negotiation", 75)
    office.say("Undo that.")
    back = office.deal(OPEN_DEAL)
    assert (back["stage"], back["probability"]) == ("Qualification", 25)


def test_a_new_deal_follows_the_house_rules(office: Office) -> None:
    office.say("New deal for Mossgate Tiles Ltd: Yard Planner, $12,500.")
    made = [d for d in office.all("opportunity", name=WON_DEAL) if d["stage"] == "Prospecting"]
    assert [(d["amount"], d["probability"], d["owner"]) for d in made] == [(12500, 10, "Ada Pell")]


def test_a_missing_amount_is_asked_for_and_the_answer_completes_the_request(office: Office) -> None:
    assert "amount" in office.say("New deal for Mossgate Tiles Ltd: Yard Planner.")
    assert len(office.all("opportunity")) == 2
    office.say("It's $9,000.")
    assert {d["amount"] for d in office.all("opportunity")} == {50000, 20000, 9000}


def test_a_lost_deal_needs_a_reason(office: Office) -> None:
    assert office.say("Mark the Driver App deal at Mossgate Tiles Ltd as lost.").endswith("?")
    assert office.deal(OPEN_DEAL)["stage"] == "Qualification"
    office.say("Their budget was cut.")
    lost = office.deal(OPEN_DEAL)
    assert (lost["stage"], lost["probability"]) == ("Closed-Lost", 1)
    assert "budget" in office.all("note")[0]["content"]


def test_a_deal_is_won_only_with_an_approved_quote(managers: Office) -> None:
    words = "The Driver App deal at Mossgate Tiles Ltd is won."
    assert "DEAL-3" in managers.say(words)
    managers.say("Mark the latest quote on the Driver App deal as Approved.")
    managers.say(words)
    won = managers.deal(OPEN_DEAL)
    assert (won["stage"], won["amount"], won["probability"]) == ("Closed-Won", 48000, 99)


def test_an_open_deal_is_copied_and_a_closed_one_is_not(office: Office) -> None:
    assert "DEAL-9" in office.say("Copy the Yard Planner deal at Mossgate Tiles Ltd.")
    office.say('Copy the Driver App deal at Mossgate Tiles Ltd and call it "Second Depot".')
    made = office.deal("Second Depot")
    assert (made["stage"], made["probability"], made["amount"]) == ("Prospecting", 10, 50000)


def test_quotes_are_made_repriced_and_canceled(office: Office) -> None:
    office.say("Make a new quote for the Driver App deal at Mossgate Tiles Ltd.")
    assert {q["version"]: q["amount"] for q in office.all("quote")} == {"v1": 48000, "v2": 50000}
    office.say("Change the amount of that quote to $47,000.")
    assert {q["version"]: q["amount"] for q in office.all("quote")} == {"v1": 48000, "v2": 47000}
    office.say("Cancel quote v1 on the deal.")
    assert {q["version"]: q["status"] for q in office.all("quote")} == {
        "v1": "Canceled",
        "v2": "Draft",
    }


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("Make a new quote for the Driver App deal at Mossgate Tiles Ltd, 40 % off.", "DISC-2"),
        ("Make a new quote for the Driver App deal at Mossgate Tiles Ltd, 20 % off.", "DISC-1"),
        ("New deal for Fallow Foods: Yard Planner, $5,000.", "CLIENT-3"),
        ("Set Fallow Foods to Active.", "CLIENT-3"),
        ("Make Mossgate Tiles Ltd Inactive.", "CLIENT-5"),
        ("Add Mossgate Tiles GmbH as a client, post@mossgatetiles.example.", "CLIENT-1"),
        ("Delete the Driver App deal at Mossgate Tiles Ltd.", "DEAL-5"),
        ("Log a note on the Driver App deal: the buyer is in hospital.", "NOTE-2"),
        ("Set up the contract for the Driver App deal at Mossgate Tiles Ltd.", "CONTRACT-1"),
        ("Hand the Yard Planner deal at Mossgate Tiles Ltd to Ada Pell.", "DEAL-8"),
        ("Change the e-mail of Tess Hobart to tess@inbox.example.", "CONTACT-2"),
        ("Mark the latest quote on the Driver App deal as Approved.", "QUOTE-6"),
        ("Tell Tess Hobart how much Fallow Foods pays us.", "CONTACT-4"),
    ],
)
def test_what_the_house_rules_forbid_is_refused_by_name(
    office: Office, words: str, rule: str
) -> None:
    before = office.episode.database.digest()
    reply = office.say(words)
    assert reply.startswith("I could not do that:")
    assert rule in reply
    assert office.episode.database.digest() == before


def test_a_client_is_entered_for_who_asks(office: Office) -> None:
    assert "e-mail" in office.say("Add Birchall Glass as a new client, industry Ceramics.")
    office.say("It's desk@birchallglass.example.")
    made = office.all("client", name="Birchall Glass")[0]
    assert (made["status"], made["owner"], made["industry"]) == ("Prospect", "Ada Pell", "Ceramics")


def test_the_contract_of_a_won_deal_runs_a_year_and_may_be_prolonged(office: Office) -> None:
    office.say("Set up the contract for the Yard Planner deal at Mossgate Tiles Ltd.")
    made = office.all("contract")[0]
    assert (made["value"], made["status"]) == (20000, "Pending")
    assert made["start_date"].endswith("-01")
    office.say("Extend that contract by 12 months.")
    year = int(made["end_date"][:4]) + 1
    assert office.all("contract")[0]["end_date"][:7] == f"{year}{made['end_date'][4:7]}"


def test_a_file_is_stored_with_the_deal_under_its_name(office: Office) -> None:
    office.say("Attach site_plan.pdf to the Driver App deal at Mossgate Tiles Ltd.")
    stored = office.all("document")[0]
    assert (stored["file_name"], stored["uploaded_by"]) == ("site_plan.pdf", "Ada Pell")
    assert stored["entity_id"] == office.deal(OPEN_DEAL)["opportunity_id"]


def test_a_contact_is_added_once_there_is_a_title(office: Office) -> None:
    words = "Add Noor Bell as a contact at Mossgate Tiles Ltd, noor.bell@mossgatetiles.example."
    assert "title" in office.say(words)
    office.say("Quality Manager")
    made = office.all("contact", last_name="Bell")[0]
    assert (made["first_name"], made["title"]) == ("Noor", "Quality Manager")


def test_one_request_reaches_every_record_that_it_names(managers: Office) -> None:
    managers.say("Add a note to every open deal of Mossgate Tiles Ltd: new price list in May.")
    noted = managers.all("note")
    assert [note["entity_id"] for note in noted] == [managers.deal(OPEN_DEAL)["opportunity_id"]]
    managers.say("Give all open deals of Mossgate Tiles Ltd to Ben Orr.")
    assert managers.deal(OPEN_DEAL)["owner"] == "Ben Orr"
    managers.say("Cancel all draft quotes of Mossgate Tiles Ltd.")
    assert managers.all("quote")[0]["status"] == "Canceled"


def test_a_refusal_of_the_crm_is_passed_on(office: Office) -> None:
    reply = office.say("Attach setup.exe to the Driver App deal at Mossgate Tiles Ltd.")
    assert reply.startswith("I could not do that:")
    assert office.all("document") == []


# --- whatever is said ---------------------------------------------------------------------------

VOCABULARY = """
    deal quote client contract contact note all every delete copy won lost Active to 80k 12% v1 by
    Mossgate Fallow Tess Hobart Driver App x.pdf a@b.example 2030-02-30 31 June €5 \u0130 ? :
"""
WORDS = st.sampled_from(VOCABULARY.split())
GARBAGE = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map(" ".join))


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(GARBAGE, min_size=1, max_size=3))
def test_nothing_that_is_said_makes_it_fail(office: Office, said: list[str]) -> None:
    office.agent = Heuristic()
    for words in said:
        reply = office.say(words)
        assert isinstance(reply, str)
        assert reply
