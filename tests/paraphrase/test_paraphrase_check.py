"""What a rewrite may and may not do to what a user says."""

from __future__ import annotations

from functools import cache

import pytest

from crmbench.core.fact import Fact
from crmbench.core.task import Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.domains.registry import load_domain
from crmbench.paraphrase.check import Known, bare_text, complaints, known_of, values_said
from crmbench.paraphrase.names import Names, flat, names_of
from crmbench.paraphrase.values import read_values
from crmbench.runner.task_sets import load_named


@cache
def known() -> Known:
    """Of a populated world, for a conversation that is graded by no text."""
    turns = (Turn(1, "Hello."),)
    task = Task("t", "sales", "mill-04", turns, Gold((GoldTurn(),)))
    return known_of(load_domain("sales"), task)


GOOD = [
    (
        (
            "They've added sites, so put 35% on top of the open Kelpstone Motor Works Inc deal "
            "closing in December 2025. What does that make it? Thanks!"
        ),
        (
            "Kelpstone Motor Works Inc added some sites, so please raise their open deal, the one "
            "closing in December 2025, by 35 percent. What's the new figure?"
        ),
    ),
    ("Cancel the sent quote.", "Please go ahead and cancel the quote that was sent."),
    ("Raise the deal's amount by 30%.", "The amount of the deal should go up by thirty percent."),
    (
        (
            "please make a new quote for the Driver App 2026 deal with Emi Aoki's company that is "
            "8 percent above the last one, er, and tell me its amount"
        ),
        (
            "could you do a fresh quote for Driver App 2026, the deal with Emi Aoki's company, 8% "
            "above the last one, and tell me what it's worth"
        ),
    ),
    (
        "next, can you dig out how to reach Wesley Brook, number and e-mail?",
        "also, how would I get in touch with Wesley Brook? I need the number and e-mail",
    ),
    ("Attach proposal_v2.pdf to the deal.", "Could you put proposal_v2.pdf on the deal?"),
    (
        "Stick a note on the deal? They want to make up their minds by the 10th of February.",
        "They intend to decide by February 10, so please put a note about it on the deal.",
    ),
    (
        "hi. could you get v2 of the quotes for the open Thistledown Dairy deal to 3.4k for me?",
        "hey, can you change version 2 of the quotes on Thistledown Dairy's open deal to $3,400?",
    ),
    (
        "The contract goes on for another nine months. What's the end date?",
        "The contract runs nine months longer. Tell me the date on which it ends.",
    ),
    ("Give me both deals at once.", "I need to see the two deals together."),
    ("Update their phone to +1 555 0170 476.", "Their phone number is +1 555 0170 476 now."),
    (
        "Note that the contact is away until 2026-07-15, nothing else.\n\nBest,\nAgnieszka",
        (
            "Put down a note saying the contact is away until July 15, 2026, and nothing more."
            "\n\nBest,\nAgnieszka"
        ),
    ),
    ("Remove the deal from the CRM.", "Please delete that deal from the CRM."),
    (
        "Have it close three weeks from today, please.",
        "Set it to close 3 weeks from now.",
    ),
    (
        "Restore the previous amount; the new phone number is right.",
        "Please put the amount back to what it was; the new phone number is correct.",
    ),
    (
        'Note on the account: "wants a demo first".',
        "Please write the note “wants a demo first” on the account.",
    ),
    ("Move the call to 3 pm.", "The call should be at 3:00pm now."),
    ("Who has that deal?", "Whose deal is that?"),
]


@pytest.mark.parametrize(("original", "rewrite"), GOOD, ids=[pair[0][:40] for pair in GOOD])
def test_other_words_for_the_same_pass(original: str, rewrite: str) -> None:
    assert complaints(original, rewrite, known()) == []


RAISE = "Raise the deal's amount by 30%."
LATEST = "Cancel the latest quote for Acme Ltd."
FRIDAY = "Move the close date to next Friday, and the amount from 10k to 12k."
TWO = "Set it to 5k for Anna Berg and 6k for Tom Hill."
MAIL = "Write to ann.lee@acme.example about report_q3.xlsx and id a1b2c3."
TWICE = "Emi Aoki wants to see the deals with Emi Aoki's company."
BAD = [
    # A value is lost, changed or new.
    (RAISE, "Please raise the amount of the deal."),
    (RAISE, "Please raise the amount of the deal by 13%."),
    (RAISE, "Please raise the amount of the deal by 30 dollars."),
    (RAISE, "Please raise the amount of the deal by 30% to 45k."),
    (LATEST, "Please cancel the latest quote for Acme."),
    (LATEST, "Please cancel the latest quote for Acme Inc."),
    (LATEST, "Please cancel the latest quote for Acme Ltd Europe."),
    (FRIDAY, "Please move the close date to next Thursday, and the amount from 10k to 12k."),
    (FRIDAY, "Please move the close date to Friday, and the amount from 10k to 12k."),
    (FRIDAY, "Please move the close date to next Friday, and the amount from 10k to €12k."),
    (MAIL, "Please write to ann@acme.example about report_q3.xlsx and id a1b2c3."),
    (MAIL, "Please write to ann.lee@acme.example about report_q4.xlsx and id a1b2c3."),
    (MAIL, "Please write to ann.lee@acme.example about report_q3.xlsx and id a1b2c4."),
    ("Call me by May 5.", "Please call me by May 6."),
    ("Call me by May 5.", "Please call me by May 5, 2024."),
    ("Call me at +1 555 0170 476.", "Please call me at +1 555 0170 477."),
    ('Note on it: "wants a demo"', 'Please add the note "wants the demo"'),
    ("Renew it for two years.", "Please renew it for two months."),
    ("Give me both deals.", "Please give me the deals."),
    (TWICE, "Emi Aoki would like to see the deals with her company."),
    (TWICE, "She would like to see the deals with Emi Aoki's company."),
    ('Call the file "Renewal", a renewal.', "The file should be called a renewal."),
    # Somebody who was not named.
    (RAISE, "Marcus, please raise the deal's amount by 30%."),
    (RAISE, "Please raise the amount of Acme's deal by 30%."),
    # The same values with other parts.
    (FRIDAY, "Please move the close date to next Friday, and the amount to 12k from 10k."),
    (TWO, "Make it 5k for Tom Hill and 6k for Anna Berg."),
    (TWO, "Make it 6k for Anna Berg and 5k for Tom Hill."),
    # The request is another.
    (RAISE, "Please lower the amount of the deal by 30%."),
    (RAISE, "Please don't raise the amount of the deal by 30%."),
    (LATEST, "Please cancel the quote for Acme Ltd."),
    (LATEST, "Please delete the latest quote for Acme Ltd."),
    (LATEST, "Please cancel the largest quote for Acme Ltd."),
    (LATEST, "Please cancel the latest sent quote for Acme Ltd."),
    ("Mark the deal as lost.", "Please mark the deal as won."),
    ("What is its stage and who is the owner?", "Please tell me its stage."),
    # The form.
    (RAISE, ""),
    (RAISE, " \n "),
    (RAISE, "raise the deal's amount by 30%"),
    (RAISE, "Please raise the amount of the deal by [PERCENT], that is 30%."),
    (RAISE, "Please raise the amount of {deal} by 30%, the deal."),
    (RAISE, "Please raise the deal's amount by 30%" + ", if you please" * 20),
    (RAISE, "Here is the rewritten message: increase the deal's amount by 30%"),
    ("Let me know how much the deal with them is worth by now.", "How much is the deal?"),
]


@pytest.mark.parametrize(("original", "rewrite"), BAD, ids=[pair[1][:50] for pair in BAD])
def test_a_rewrite_that_changes_what_is_said_is_refused(original: str, rewrite: str) -> None:
    assert complaints(original, rewrite, known())


def test_a_complaint_names_what_is_wrong() -> None:
    found = complaints(RAISE, "Please raise the amount of Acme's deal by 20 percent.", known())
    assert "the number '30%' is missing" in found
    assert "the number '20 percent' was not said" in found
    assert "the name 'Acme' was not said" in found


def test_values_are_read_as_they_stand() -> None:
    text = "Put 17.5K on Emi Aoki's Driver App 2026 deal by next Friday; see terms_v2.pdf."
    assert values_said(text, known()) == [
        "17.5K", "Emi Aoki", "Driver App", "2026", "next Friday", "terms_v2.pdf",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$12,500", "12.5k"),
        ("8 percent", "8%"),
        ("1.2 million dollars", "$1,200,000"),
        ("the 3rd of May 2026", "2026-05-03"),
        ("version 3", "v3"),
        ("3 weeks from today", "three weeks from now"),
        ("the end of this month", "the last day of the month"),
        ("two years", "2 years"),
        ("9:30 am", "9:30"),
    ],
)
def test_forms_of_a_value_are_one(one: str, other: str) -> None:
    first, second = (
        {
            (value.kind, value.key)
            for value in read_values(text, known().names, known().today).values
        }
        for text in (one, other)
    )
    assert first == second != set()


def test_what_the_ground_truth_takes_from_the_words_stays_in_them() -> None:
    call = GoldCall("create_new_client", {"industry": "glass wool", "name": "{{turn_1.name}}"})
    gold = GoldTurn((call,), note_facts=(Fact("text", "moved downtown", "news"),))
    turns = (Turn(1, "They make glass wool and moved downtown, so note it."),)
    domain = load_domain("sales")
    task = Task("t", "sales", "mill-04", turns, Gold((gold,)))
    knows = known_of(domain, task, known().names)
    said = turns[0].utterance
    assert not complaints(said, "As they moved downtown, note it; glass wool is theirs.", knows)
    assert "'glass wool' is missing" in complaints(
        said, "They make mineral wool and moved downtown, so please note it.", knows
    )
    assert "'moved downtown' is missing" in complaints(
        said, "They make glass wool and have left the suburbs, so please note it.", knows
    )


def test_a_file_without_facts_keeps_its_values_word_for_word() -> None:
    call = GoldCall("opportunity_search", {"amount": 5000})
    task = Task("t", "sales", "mill-04", (Turn(1, "x"),), Gold((GoldTurn((call,)),), "tool_match"))
    exact = known_of(load_domain("sales"), task, known().names)
    said = "Find the deal of $5,000 for me."
    assert not complaints(said, "Which deal is it that has $5,000?", exact)
    assert complaints(said, "Which deal is it that has 5k dollars?", exact)
    assert not complaints(said, "Which deal is it that has 5k dollars?", known())


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("  Do it. \n", "Do it."),
        ('"Do it."', "Do it."),
        ("“Do it.”", "Do it."),
        ('"One" and "two"', '"One" and "two"'),
        ("```\nDo it.\n```", "Do it."),
        ("```text\nDo it.\n```", "Do it."),
    ],
)
def test_what_models_put_around_a_text_goes(reply: str, text: str) -> None:
    assert bare_text(reply) == text


@cache
def known_of_demo() -> list[tuple[Task, Known]]:
    """The conversations that come along, the names of each world made once."""
    domain = load_domain("sales")
    names: dict[str, Names] = {}
    found = []
    for task in load_named("demo").tasks():
        if task.world not in names:
            names[task.world] = names_of(domain, task)
        found.append((task, known_of(domain, task, names[task.world])))
    return found


def test_no_value_can_be_dropped_from_any_conversation() -> None:
    dropped, passed = 0, []
    for task, knows in known_of_demo():
        for turn in task.turns:
            text = flat(turn.utterance)
            for value in read_values(text, knows.names, knows.today).values:
                end = value.start + len(value.shown)
                rewrite = f"Something for you here: {text[: value.start]}{text[end:]}"
                dropped += 1
                if not complaints(turn.utterance, rewrite, knows):
                    passed.append(rewrite)
    assert dropped > 50
    assert passed == []


def test_another_opening_alone_loses_nothing_of_any_conversation() -> None:
    """The check has to read both texts alike: what is in one is found in the other."""
    wrong = []
    for task, knows in known_of_demo():
        for turn in task.turns:
            said = turn.utterance[0].lower() + turn.utterance[1:]
            wrong += complaints(turn.utterance, f"Something for you here: {said}", knows)
    assert wrong == []
