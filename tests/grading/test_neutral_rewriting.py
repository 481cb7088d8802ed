"""Rewriting a certain reply in neutral ways never makes its reader find that it is not said."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmbench.core.fact import Fact
from crmbench.grading.facts.context import Context
from crmbench.grading.facts.read import read_fact
from crmbench.language.finding import Said
from crmbench.language.refusals import refuses

TODAY = "2026-04-20"


@dataclass(frozen=True)
class Certain:
    """A reply of independent sentences, each of which tells one fact for certain."""

    question: str
    told: tuple[tuple[Fact, str], ...]


REPLIES = (
    Certain(
        "What is the Dock Scheduling deal worth, when does it close, and in what stage is it?",
        (
            (Fact("money", 125000, "amount"), "The amount is $125,000."),
            (Fact("date", "2026-05-03", "close date", today=TODAY), "It closes on May 3, 2026."),
            (
                Fact("choice", "Proposal", "stage", options=("Prospecting", "Proposal")),
                "The stage is Proposal.",
            ),
        ),
    ),
    Certain(
        "Who owns it, how likely is it, and how many quotes are there?",
        (
            (Fact("name", "Maja Holm", "owner"), "The owner is Maja Holm."),
            (Fact("percent", 50, "probability"), "The probability is 50 %."),
            (Fact("count", 4, "quotes"), "There are 4 quotes."),
        ),
    ),
    Certain(
        "Whom do we know at Mosswood, and on what number do we reach them?",
        (
            (
                Fact("list", ("Bram Mulder", "Ines Vos"), "contacts"),
                "We know Bram Mulder and Ines Vos.",
            ),
            (Fact("text", "+31 10 555 4043", "phone"), "Their phone number is +31 10 555 4043."),
        ),
    ),
    Certain(
        "How much lower is the quote than the deal, and when does it run out?",
        (
            (Fact("money", 9950, "difference"), "The difference is $9,950."),
            (Fact("date", "2026-06-30", "valid until"), "It is valid until 2026-06-30."),
        ),
    ),
)
"""Each reply as people answer the question."""

Rewriter = Callable[[list[str]], list[str]]
"""Of the sentences of a reply others that tell the same."""


def before(words: str) -> Rewriter:
    return lambda told: [words, *told]


def behind(words: str) -> Rewriter:
    return lambda told: [*told, words]


def each(change: Callable[[str], str]) -> Rewriter:
    return lambda told: [change(sentence) for sentence in told]


def typographic(sentence: str) -> str:
    """With the space that does not break before units, and curly quotes."""
    spaced = re.sub(r"(?<=\d) (?=%)", "\u00a0", sentence)
    return spaced.replace("'", "\u2019")


def bold_value(sentence: str) -> str:
    """With what stands behind "is" in bold."""
    return re.sub(r"\b(is|are|on|until|know) (.+?)([.]?)$", r"\1 **\2**\3", sentence)


REWRITERS: dict[str, Rewriter] = {
    "a greeting": before("Hi there!"),
    "another greeting": before("Good morning, Mei."),
    "thanks": before("Thanks for waiting."),
    "an offer": behind("Let me know if you need anything else."),
    "a question at the end": behind("Anything else I can help with?"),
    "a dash before the offer": behind("\u2014 happy to dig further."),
    "good wishes": behind("Have a good day!"),
    "no changes": behind("I made no changes."),
    "where it was looked up": before("I looked this up in the CRM."),
    "bullets": each(lambda sentence: f"\n- {sentence}"),
    "stars": each(lambda sentence: f"\n* {sentence}"),
    "numbers": lambda told: [f"\n{n}. {sentence}" for n, sentence in enumerate(told, start=1)],
    "bold": each(lambda sentence: f"**{sentence}**"),
    "a bold value": each(bold_value),
    "bold capitals": before("**SUMMARY**\n"),
    "a heading": before("### Summary\n\n"),
    "the other order": lambda told: told[::-1],
    "the first one last": lambda told: [*told[1:], *told[:1]],
    "lines": each(lambda sentence: f"{sentence}\n"),
    "typographic": each(typographic),
    "in quotes": lambda told: ["\u201c", *told, "\u201d"],
    "spaces": each(lambda sentence: sentence.replace(". ", ".  ")),
}
ORDERED = ("the other order", "the first one last")


def rewritten(told: list[str], names: list[str]) -> str:
    """The reply after every rewriting; the order of sentences comes first."""
    for name in sorted(names, key=lambda name: name not in ORDERED):
        told = REWRITERS[name](told)
    return " ".join(told)


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(REPLIES),
    st.lists(st.sampled_from(sorted(REWRITERS)), max_size=4, unique=True),
)
def test_a_neutral_rewriting_never_flips_said_to_not_said(
    certain: Certain, names: list[str]
) -> None:
    facts = tuple(fact for fact, _ in certain.told)
    context = Context(certain.question, asker="Mei Tang", facts=facts)
    plain = " ".join(sentence for _, sentence in certain.told)
    reply = rewritten([sentence for _, sentence in certain.told], names)
    for fact in facts:
        assert read_fact(plain, fact, context).said is Said.SAID
        finding = read_fact(reply, fact, context)
        assert finding.said is not Said.NOT_SAID, (reply, finding)


@pytest.mark.parametrize("name", sorted(REWRITERS))
@pytest.mark.parametrize("certain", REPLIES, ids=lambda each: each.question[:30])
def test_one_neutral_rewriting_leaves_it_certain(certain: Certain, name: str) -> None:
    facts = tuple(fact for fact, _ in certain.told)
    context = Context(certain.question, asker="Mei Tang", facts=facts)
    reply = rewritten([sentence for _, sentence in certain.told], [name])
    for fact in facts:
        finding = read_fact(reply, fact, context)
        assert finding.said is Said.SAID, (reply, finding)


REFUSALS = (
    "I can't do that: only the sales manager may approve a quote.",
    "I have not added the note. Health is nothing that we keep in the CRM.",
    "The deal is not deleted, because it has a quote.",
)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(REFUSALS),
    st.lists(st.sampled_from(sorted(REWRITERS)), max_size=3, unique=True),
)
def test_a_neutral_rewriting_of_a_refusal_makes_it_no_claim(refusal: str, names: list[str]) -> None:
    told = re.split(r"(?<=\.) ", refusal)
    assert refuses(refusal).said is Said.SAID
    kept = [name for name in names if name not in ORDERED]
    finding = refuses(rewritten(told, kept))
    assert finding.said is not Said.NOT_SAID, (rewritten(told, kept), finding)
