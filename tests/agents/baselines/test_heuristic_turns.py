"""Single turns of the heuristic agent: quotes, changes and answers, at the borders of each rule."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from tests.agents.baselines.office import MANAGER, OPEN_DEAL, WON_DEAL, Office, furnish

DEAL = "the Driver App deal at Mossgate Tiles Ltd"


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


def today(office: Office) -> date:
    return date.fromisoformat(office.session.view.today)


def quotes(office: Office) -> dict[str, tuple[str, float]]:
    return {q["version"]: (q["status"], q["amount"]) for q in office.all("quote")}


# --- changes of deals ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        ("Raise it by $4,000.", "amount", 54_000),
        ("Lower it by $4,000.", "amount", 46_000),
        ("Set the amount to $40,000.", "amount", 40_000),
        ("Set the probability to 35 percent.", "probability", 35),
        ("Move the close date to 2031-02-03.", "close_date", "2031-02-03"),
        ("Hand it over to Ben Orr.", "owner", "Ben Orr"),
    ],
)
def test_a_deal_spoken_of_is_changed_in_the_one_field(
    office: Office, words: str, field: str, value: object
) -> None:
    office.say(f"What is {DEAL} worth?")
    before = office.deal(OPEN_DEAL)
    assert office.say(words).startswith("Done.")
    assert office.deal(OPEN_DEAL) == {**before, field: value}
    assert office.all("note") == [], "none of these is a change of more than a quarter"


@pytest.mark.parametrize(("amount", "noted"), [(62_500, 0), (62_501, 1), (37_500, 0), (37_499, 1)])
def test_a_change_beyond_a_quarter_is_noted(office: Office, amount: int, noted: int) -> None:
    office.say(f"Set the amount of {DEAL} to ${amount:,}.")
    notes = office.all("note")
    assert len(notes) == noted
    for note in notes:
        assert note["content"] == f"Amount changed from $50,000 to ${amount:,}."
        assert note["created_by"] == "Ada Pell"
        assert note["entity_id"] == office.deal(OPEN_DEAL)["opportunity_id"]


def test_a_probability_that_was_named_goes_before_the_stages_own(office: Office) -> None:
    office.say(f"Move {DEAL} to Proposal, we're at 65 percent.")
    moved = office.deal(OPEN_DEAL)
    assert (moved["stage"], moved["probability"]) == ("Proposal", 65)


def test_only_the_manager_hands_over_anothers_deal(managers: Office) -> None:
    managers.say("Hand the Yard Planner deal at Mossgate Tiles Ltd to Ada Pell.")
    assert managers.deal(WON_DEAL)["owner"] == "Ada Pell"


# --- changes of people and clients ----------------------------------------------------------------


def test_a_persons_details_are_changed_and_nobody_elses(office: Office) -> None:
    client = office.all("client", name="Mossgate")[0]
    office.say("Tess Hobart has a new number: +44 20 555 0199.")
    office.say("Her e-mail is now t.hobart@mossgatetiles.example.")
    office.say("Tess Hobart is now Quality Manager.")
    person = office.all("contact")[0]
    assert person["phone"] == "+44 20 555 0199"
    assert person["email"] == "t.hobart@mossgatetiles.example"
    assert person["title"] == "Quality Manager"
    assert office.all("client", name="Mossgate")[0] == client


def test_a_clients_details_are_its_own(office: Office) -> None:
    person = office.all("contact")[0]
    office.say("The client Mossgate Tiles Ltd has a new phone number, +44 20 555 0123.")
    assert office.all("client", name="Mossgate")[0]["phone"] == "+44 20 555 0123"
    assert office.all("contact")[0] == person


# --- quotes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("off", "made"), [(10, True), (11, False)])
def test_a_rep_gives_ten_percent_freely(office: Office, off: int, made: bool) -> None:
    reply = office.say(f"Make a new quote for {DEAL}, {off} % off.")
    assert ("v2" in quotes(office)) is made
    assert ("DISC-1" in reply) is not made


@pytest.mark.parametrize(("off", "made"), [(30, True), (31, False)])
def test_a_manager_gives_thirty_percent_at_most(managers: Office, off: int, made: bool) -> None:
    reply = managers.say(f"Make a new quote for {DEAL}, {off} % off.")
    assert ("v2" in quotes(managers)) is made
    assert ("DISC-2" in reply) is not made
    if made:
        assert quotes(managers)["v2"] == ("Draft", 35_000)


def test_an_approval_in_the_notes_frees_a_reps_discount(office: Office) -> None:
    key = office.deal(OPEN_DEAL)["opportunity_id"]
    content = "Discount approved up to 20 percent."
    office.do("add_note", entity_type="Opportunity", entity_id=key, content=content)
    office.say(f"Make a new quote for {DEAL}, 20 % off.")
    assert quotes(office)["v2"] == ("Draft", 40_000)


def test_a_new_quote_is_named_after_its_deal_and_holds_for_thirty_days(office: Office) -> None:
    office.say(f"Make a new quote for {DEAL} at $49,000.")
    made = office.all("quote")[1]
    assert made["name"] == f"{OPEN_DEAL} v2"
    assert made["amount"] == 49_000
    assert made["valid_until"] == (today(office) + timedelta(days=30)).isoformat()


def test_a_closed_deal_gets_no_quote(office: Office) -> None:
    reply = office.say("Make a new quote for the Yard Planner deal at Mossgate Tiles Ltd.")
    assert "DEAL-6" in reply
    assert list(quotes(office)) == ["v1"]


@pytest.mark.parametrize(("days", "renewed"), [(6, True), (7, False)])
def test_sending_renews_what_is_valid_for_less_than_a_week(
    office: Office, days: int, renewed: bool
) -> None:
    until = (today(office) + timedelta(days=days)).isoformat()
    office.do("modify_quote", quote_id=office.all("quote")[0]["quote_id"], valid_until=until)
    office.say(f"Mark the latest quote on {DEAL} as Sent.")
    sent = office.all("quote")[0]
    assert sent["status"] == "Sent"
    fresh = (today(office) + timedelta(days=30)).isoformat()
    assert sent["valid_until"] == (fresh if renewed else until)


def test_a_sent_quote_keeps_its_amount_and_a_new_version_has_the_other(office: Office) -> None:
    office.say(f"Mark the latest quote on {DEAL} as Sent.")
    office.say("Change the amount of that quote to $47,000.")
    assert quotes(office) == {"v1": ("Canceled", 48_000), "v2": ("Draft", 47_000)}


@pytest.mark.parametrize(
    ("status", "words", "rule"),
    [
        ("Approved", "Change the amount of the quote on {} to $47,000.", "QUOTE-3"),
        ("Approved", "Cancel the quote on {}.", "QUOTE-3"),
        ("Sent", "Delete the quote on {}.", "QUOTE-4"),
    ],
)
def test_a_quote_is_kept_from_what_its_status_forbids(
    office: Office, status: str, words: str, rule: str
) -> None:
    office.do("modify_quote", quote_id=office.all("quote")[0]["quote_id"], status=status)
    assert rule in office.say(words.format(DEAL))
    assert quotes(office) == {"v1": (status, 48_000)}


def test_a_draft_is_deleted(office: Office) -> None:
    office.say(f"Delete the quote on {DEAL}.")
    assert quotes(office) == {}


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        ("Who owns the Driver App deal?", f"Deal: {OPEN_DEAL}\nOwner: Ada Pell"),
        (f"When does {DEAL} close?", f"Deal: {OPEN_DEAL}\nClose date: 2030-06-30"),
        (f"What are the odds of {DEAL}?", f"Deal: {OPEN_DEAL}\nProbability: 25 %"),
        (f"What is the status of the quote on {DEAL}?", "Status: Draft\nValid until: 2030-01-31"),
        (f"How much is the quote on {DEAL}?", "Quote: $48,000\nDeal: $50,000"),
        ("Who is the Head of Procurement at Mossgate Tiles Ltd?", "Name: Tess Hobart"),
        ("What is the title of Tess Hobart?", "Name: Tess Hobart\nTitle: Head of Procurement"),
        ("What is the industry of Fallow Foods?", "Industry: Groceries"),
        ("Which deals are open at Mossgate Tiles Ltd?", OPEN_DEAL),
        ("Which deals are open at Fallow Foods?", "None is open."),
        ("What do the open deals of Ben Orr come to?", "Open deals: 0\nTotal: $0"),
        ("What do the open deals of Ada Pell come to?", "Open deals: 1\nTotal: $50,000"),
        (f"Which documents are attached to {DEAL}?", "There are no files."),
        ("How many contacts are at Mossgate Tiles Ltd?", "1 contacts: Tess Hobart"),
    ],
)
def test_an_answer_holds_what_was_asked_for_and_no_more(
    office: Office, words: str, reply: str
) -> None:
    assert office.say(words) == reply


def test_what_was_before_is_told_of_the_field_asked_for(office: Office) -> None:
    office.say(f"Set the amount of {DEAL} to $51,000.")
    office.say("Move the close date to 2031-02-03.")
    assert office.say("What was the amount before?") == "Before: $50,000"
    assert office.say("What was the close date before?") == "Before: 2030-06-30"


def test_details_that_must_not_be_shared_are_not(office: Office) -> None:
    key = office.all("contact")[0]["contact_id"]
    office.do("modify_contact", contact_id=key, notes="Private number: Do not share.")
    reply = office.say("What is Tess Hobart's phone number?")
    assert "CONTACT-1" in reply
    assert "555" not in reply
    assert "Head of Procurement" in office.say("What is the title of Tess Hobart?")
