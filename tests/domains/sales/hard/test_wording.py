"""What changes an article is read back in each of its wordings, however the article is named."""

from __future__ import annotations

import itertools
from datetime import date

import pytest

from crmbench.authoring.handbook import Condition, Provision, Rulebook
from crmbench.domains.sales.hard.handbook.duplicate_words import DUPLICATE_TERMS, FIRST, VALUE
from crmbench.domains.sales.hard.handbook.questions import YES_NO
from crmbench.domains.sales.hard.handbook.spoken import CONTENTS, Contents
from crmbench.domains.sales.hard.wording import CHANGES, HANDBOOK, TERMS

DAY = "3 March 2026"
NAMES = (
    "HB-412",
    "Circular 19/2024",
    "Ceilings: slow payer",
    "Which one stays: some stop, Dairy",
    "Changes to earlier articles, 19 July 2025",
    "Minutes of the sales round of 3 May 2026",
    *(wordings[0].format(case="the client's industry is Dairy") for wordings in CONTENTS.values()),
    CONTENTS["stays"][1].format(
        case="one of them is under a payment stop and at the same time they have different owners"
    ),
)
FIGURES = (
    ("4.5 %", "3 %"),
    ("30 days", "41 days"),
    ("$250,000", "$300,000"),
    ("Ines Vermeer", "Bo van Dyk"),
    (FIRST, VALUE),
)
CASES = ("the client is a public body", "they have different owners")
LEAST = {"value": 12, "repeal": 12, "except": 10, "extend": 8}


def gaps_of(kind: str) -> list[dict[str, str]]:
    if kind == "value":
        return [{"new": new, "old": old} for new, old in FIGURES]
    return [{}] if kind == "repeal" else [{"cond": case} for case in CASES]


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_read_back_in_all_wordings(kind: str) -> None:
    assert len(set(CHANGES[kind])) >= LEAST[kind]
    for wording, name, gaps in itertools.product(CHANGES[kind], NAMES, gaps_of(kind)):
        text = wording.format(target=name, date=DAY, **gaps)
        text = text[0].upper() + text[1:]
        (said,) = HANDBOOK.read(f"It is looked at again once a year.\n{text}\nPlease keep this.")
        found = dict(said.gaps)
        target = found.pop("target")
        assert (said.kind, found) == (kind, {"date": DAY, **gaps})
        # It may begin the sentence.
        assert target in (name, name[0].upper() + name[1:])


SMALL = (
    "the",
    "our",
    "a",
    "an",
    "or",
    "to",
    "of",
    "in",
    "on",
    "for",
    "is",
    "by",
    "if",
    "when",
    "that",
)
"""Words of no subject."""


@pytest.mark.parametrize("kind", CONTENTS)
def test_what_an_article_lays_down_is_told_in_many_words_without_one_in_common(kind: str) -> None:
    subjects = {told: (subject, kinds) for subject, kinds in YES_NO.items() for told in kinds}
    subject, kinds = subjects.get(kind, (kind, (kind,)))
    case = (Condition("industry", "Dairy"),)
    found = Provision("HB-1", subject, kind == kinds[0], date(2026, 1, 1), case)
    # The other answer to the same question in the same case is another article.
    other = Provision("HB-2", subject, kind != kinds[0], date(2026, 1, 2), case)
    book = Rulebook((found, other) if kind in subjects else (found,), ())
    wordings = CONTENTS[kind]
    assert len(set(wordings)) >= 7
    for wording in wordings:
        text = wording.format(case="the client is in the Dairy trade")
        assert Contents(book).article(text) == "HB-1"
        assert Contents(book).article(text[0].upper() + text[1:]) == "HB-1"
        assert not any(term in text for term in (*TERMS, *DUPLICATE_TERMS))
    said = [{*wording.partition("{")[0].split()} - {*SMALL} for wording in wordings]
    assert not set.intersection(*said)
