"""Words of a reply, and what they were read as."""

from __future__ import annotations

from itertools import pairwise

import pytest

from crmbench.core.fact import Fact
from crmbench.core.task import GoldTurn
from crmbench.grading.read_words import read_words, segments

AMOUNT = Fact("money", 45_000, "amount")
SECRET = Fact("name", "Wei Shen", "owner")


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        ("The amount is **$45,000** now.", "fact", "$45,000"),
        ("It comes to 45k in all.", "fact", "45k"),
        ("It closes on 2026-05-03.", "value", "2026-05-03"),
        ("There are 17 of them.", "value", "17"),
        ("Wei Shen owns it.", "forbidden", "Wei Shen"),
        ("I've updated the deal.", "claim", "I've updated"),
    ],
)
def test_words_are_found_where_they_stand(reply: str, kind: str, words: str) -> None:
    gold = GoldTurn(facts=(AMOUNT,), forbidden=(SECRET,))
    found = [(each.kind, reply[each.start : each.end]) for each in read_words(reply, gold)]
    assert any(k == kind and words.strip("$").lower() in w.lower() for k, w in found), found


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Nothing.",
        "**$45,000** and $45,000 | 45k\n- 45,000 on 3 May 2026",
        "I can't, é 45,000 ü",
    ],
)
def test_the_pieces_are_the_reply(reply: str) -> None:
    found = read_words(reply, GoldTurn(facts=(AMOUNT,)))
    assert "".join(text for text, _ in segments(reply, found)) == reply


def test_words_are_found_behind_markup_that_is_taken_off() -> None:
    reply = "**7** of them\n| Client |  |\n|---|---|\n| Acme | **$45,000** |\n| Beta | 45,000 |"
    found = read_words(reply, GoldTurn(facts=(AMOUNT,)))
    facts = [reply[each.start : each.end].strip("$* |") for each in found if each.kind == "fact"]
    assert facts
    assert set(facts) == {"45,000"}
    places = [(each.start, each.end) for each in found]
    assert places == sorted(places)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
