"""Phrases: complete, fillable, and never garbled where it counts."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest

from crmbench.authoring.relative import days_named
from crmbench.core.fact import Fact
from crmbench.domains.sales.authoring.relative_dates import some_day
from crmbench.domains.sales.phrases import VOICES, Wording, load_bank, money, plain
from crmbench.domains.sales.phrases.bank import MANNERS
from crmbench.domains.sales.phrases.manners import dictate, hurry
from crmbench.domains.sales.phrases.values import date_forms, money_forms, percent_forms
from crmbench.grading.facts import mentions

TODAY = date(2026, 3, 24)


def test_there_are_thousands_of_phrasings_and_none_twice_in_an_intent() -> None:
    intents = load_bank().intents
    texts = [
        ("".join(p.parts), name) for name, m in intents.items() for ps in m.values() for p in ps
    ]
    assert len(texts) >= 2000
    twice = {text for text in texts if texts.count(text) > 1}
    assert not twice


def test_phrasings_are_sentences() -> None:
    for name, manners in load_bank().intents.items():
        if name.startswith(("the.", "when.", "frame.")):
            continue
        for phrasing in (p for texts in manners.values() for p in texts):
            text = "".join(phrasing.parts)
            assert text.rstrip()[-1] in ".!?", (name, text)
            assert phrasing.parts[0] == "" or not text[0].islower(), (name, text)
            assert "  " not in text, (name, text)


def test_every_intent_speaks_in_all_manners_or_any() -> None:
    for name, manners in load_bank().intents.items():
        spoken = set(manners) & set(MANNERS)
        assert "any" in spoken or {"terse", "formal", "chatty"} <= spoken, name


@pytest.mark.parametrize("voice", VOICES)
def test_values_are_written_so_that_a_careful_reader_gets_them_back(voice: str) -> None:
    rng = random.Random(voice)
    for _ in range(200):
        amount = float(rng.randint(1, 9_000) * 500)
        day = TODAY + timedelta(days=rng.randint(0, 500))
        for text in money_forms(amount, voice):
            assert mentions(text, Fact("money", amount)).ok, text
        for text in date_forms(day, voice, TODAY):
            fact = Fact("date", day.isoformat(), today=TODAY.isoformat())
            assert mentions(text, fact).ok, text
        for text in percent_forms(rng.randint(1, 50), voice):
            assert text[0].isdigit()


def test_no_manner_touches_a_value() -> None:
    rng = random.Random(5)
    value = "\x02The Quote And You, Ltd.\x03"
    for _ in range(100):
        for manner in (hurry, dictate):
            assert value in manner(
                f"Please change the quote for {value}. Thanks, and quickly.", rng
            )


def test_a_speaker_rarely_repeats_anything() -> None:
    wording = Wording(load_bank(), "chatty", TODAY, "Ines", random.Random(1))
    slots = {"amount": money(125_000.0)}
    said = [wording.say("do.set_amount", slots) for _ in range(60)]
    assert len(set(said)) == 60
    assert all(mentions(text, Fact("money", 125_000.0)).ok for text in said)


def test_answers_have_no_frame() -> None:
    wording = Wording(load_bank(), "formal", TODAY, "Ines", random.Random(1))
    text = wording.answer("answer.title", {"title": plain("Plant Manager")})
    assert "Plant Manager" in text
    assert "Ines" not in text


@pytest.mark.parametrize("start", ["2025-12-31", "2026-01-31", "2026-02-27", "2026-03-24"])
def test_relative_days_are_read_as_they_were_meant(start: str) -> None:
    today = date.fromisoformat(start)
    rng = random.Random(start)
    wording = Wording(load_bank(), "chatty", today, "Ines", rng)
    for _ in range(300):
        when = some_day(today, rng, True)
        words = wording.answer(when.slot.value, when.slot.slots)
        assert days_named(words, today) == {when.iso}, words
