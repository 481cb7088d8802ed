"""What changes an article is read back in each of its wordings, however the article is named."""

from __future__ import annotations

import itertools

import pytest

from crmbench.domains.sales.hard.handbook.duplicate_words import FIRST, VALUE
from crmbench.domains.sales.hard.handbook.spoken import DESCRIBED
from crmbench.domains.sales.hard.wording import CHANGES, HANDBOOK

DAY = "3 March 2026"
NAMES = (
    "HB-412",
    "Circular 19/2024",
    "Ceilings: slow payer",
    "Which one stays: some stop, Dairy",
    "Changes to earlier articles, 19 July 2025",
    "Minutes of the sales round of 3 May 2026",
    *(d.format(question="the ceiling", case="the client's industry is Dairy") for d in DESCRIBED),
    *(
        d.format(
            question="which one stays",
            case="one of them is under a payment stop and at the same time they have "
            "different owners",
        )
        for d in DESCRIBED
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
