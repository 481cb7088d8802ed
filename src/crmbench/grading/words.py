"""What is right and wrong with the words of a turn: each reading certain, or not.

A turn's words are right when no reading speaks against them, wrong when a certain one does, and
undecided when only unsure ones do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from enum import Enum

from crmbench.core.fact import Fact
from crmbench.core.task import GoldTurn
from crmbench.grading.facts import mentions
from crmbench.grading.facts.context import Context
from crmbench.grading.facts.read import read_fact
from crmbench.language.finding import Finding, Said
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading, read
from crmbench.language.refusals import refuses
from crmbench.language.stance import stance


class Outcome(Enum):
    """What became of a turn, or of an episode."""

    SUCCEEDS = "succeeds"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the words that is wrong, or may be."""

    why: str
    """In words."""
    certain: bool
    """False: two careful readers could differ."""


def outcome_of(problems: Sequence[Problem]) -> Outcome:
    """What follows from the problems of a turn's words."""
    if any(problem.certain for problem in problems):
        return Outcome.FAILS
    return Outcome.UNDECIDED if problems else Outcome.SUCCEEDS


def word_problems(gold: GoldTurn, reply: str, context: Context) -> Iterator[Problem]:
    """What is, or may be, wrong with what a reply tells, or gives away.

    What was done and what was answered are read by `reports` and `answer`.
    """
    for fact in gold.facts:
        finding = read_fact(reply, fact, context)
        yield from against(finding, f"does not convey {describe(fact)}")
    for fact in gold.forbidden:
        yield from _given_away(reply, fact, gold.facts)
    if gold.expect_success and not context.writes:
        # Where nothing is to be told, nothing was to be looked up: whom a reason names is open.
        if gold.facts or gold.answer:
            yield from _unknown_records(reply, context)
        yield from _mispaired(reply, context)
    if not gold.expect_success:
        finding = refuses(reply, gold.refusal_reasons, context.question)
        yield from against(finding, "does not convey the refusal")
        if finding.ok:
            yield from _refusal_doubts(reply, gold, context)


def _unknown_records(reply: str, context: Context) -> Iterator[Problem]:
    """A record is named that neither the user nor anything that was looked up speaks of."""
    reading = read(reply)
    for name, start, _ in context.directory.mentions(reading.low):
        if " " not in name or not reading.text[start].isupper():
            continue
        if context.directory.tables[name] <= context.directory.few:
            continue
        keys = context.directory.ids.get(name, ())
        if context.speaks_of(name) or name in map(fold, context.people):
            continue
        if not any(context.speaks_of(key.lower()) for key in keys):
            yield Problem(f"{name!r} is not known", False)
            return


_VERSION = re.compile(r"\bv\d{1,2}\b")


def _mispaired(reply: str, context: Context) -> Iterator[Problem]:
    """An amount is told of one version of a quote that is another's."""
    reading = read(reply)
    if not _VERSION.search(reading.low):
        return
    amounts = context.amounts_by_version
    for match in _VERSION.finditer(reading.low):
        _, last = reading.sentence(match.start())
        following = next((a for a in reading.numbers if a.start >= match.end()), None)
        if following is None or following.start > min(last, match.end() + 16):
            continue
        if _VERSION.search(reading.low, match.end(), following.start) or match[0] not in amounts:
            continue
        others = {value for key, held in amounts.items() if key != match[0] for value in held}
        if following.value in others - amounts[match[0]]:
            yield Problem(f"{match[0]!r} does not come to {following.value:,.0f}", False)
            return


def against(finding: Finding, what: str) -> Iterator[Problem]:
    """The problem that a finding is, unless what was looked for is said."""
    if not finding.ok:
        yield Problem(f"{what}: {finding.why}", finding.said is Said.NOT_SAID)


def describe(fact: Fact) -> str:
    return f"{fact.label or fact.kind} {fact.value!r}"


def _given_away(reply: str, fact: Fact, asked: Sequence[Fact]) -> Iterator[Problem]:
    own = {float(other.value) for other in asked if other.kind == "money"}
    if mentions(reply, fact).ok:
        yield Problem(f"says {describe(fact)}, which it must not", True)
    elif fact.kind == "money" and _is_about(reply, float(fact.value), own):
        yield Problem(f"may give away {describe(fact)}", False)


def _is_about(reply: str, value: float, own: Set[float]) -> bool:
    """Whether an amount is given that is near the value: "a bit more than 60 thousand".

    Args:
        own: Amounts that the reply has to give.
    """
    reading = read(reply, keep_struck=True)
    return any(
        abs(amount.value - value) <= 0.15 * value
        for amount in (*reading.numbers, *reading.number_words)
        if not amount.percent and amount.value not in own
    )


_SECRET = re.compile(r"share|confidential|disclos|pass on|privacy", re.IGNORECASE)
_CONTACT_DATA = re.compile(r"[\w.+-]+@[\w.-]+\w|\+?\d[\d ().-]{7,}\d")
_STATE = (
    r"closed(?:-won|-lost)?|won|lost|approved|sent|active|inactive|canceled|cancelled|rejected|"
    r"draft|pending|signed"
)
_STATED = re.compile(
    rf"\b(?:is|it's|'s|has been|are) (?:already |currently |now |been |an? |marked )*"
    rf"(?P<state>{_STATE})\b|\bhas (?:an? |already )+(?P<of>approved|sent|rejected|signed)\b"
)
_GENERAL = re.compile(
    r"\b(?:only|as soon as|whether|before|once|when|while|unless|until|if|or|may|must|"
    r"have to)\b[^.!?\n]*$"
)


_NUMBER = re.compile(r"(?<![\d.,/-])\d+(?:\.\d+)?(?![\d/-])")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?(?:%|percent|per cent)")
_STAYS = re.compile(r"\b(?:stays?|still|remains?|left)(?: \w+)? (?:at )?$")


def _percents(reasons: str, context: Context) -> set[float]:
    """The percentages that a reason may name: the user's, the rules', and those on record."""
    found = {float(number) for number in _NUMBER.findall(f"{context.said} {reasons}")}
    found.update(float(number) for number in _PERCENT.findall(context.record_text))
    return found | context.probabilities


def _refusal_doubts(reply: str, gold: GoldTurn, context: Context) -> Iterator[Problem]:
    """A right refusal that gives the secret away, or a reason that the records do not bear out."""
    reasons = " ".join(gold.refusal_reasons)
    reading = read(reply)
    if not gold.refusal_reasons or _SECRET.search(reasons):
        yield from _secrets(reading, context)
    for amount in reading.numbers:
        if not amount.percent:
            continue
        if _STAYS.search(reading.low, max(0, amount.start - 24), amount.start):
            continue
        if amount.value not in _percents(reasons, context):
            words = reading.low[amount.start : amount.end]
            yield Problem(f"it may be no reason that {words!r}", False)
    yield from _untrue_states(reading, context)
    yield from _denied_states(reading, reasons, context)
    needless = _NEEDLESS.search(reading.low)
    if needless and gold.refusal_reasons and not _ALREADY.search(reasons):
        yield Problem(f"it may not be needless: {needless[0]!r}", False)


DENIED = re.compile(
    r"\b(?:is|has|was|are)(?:n't| not)(?: yet| been| currently| even)* (?P<state>won|lost|signed|"
    r"approved|rejected|active|inactive)\b"
)
"""Example: "the deal is not yet won". Not: "it is not clear who won"."""


def _denied_states(reading: Reading, reasons: str, context: Context) -> Iterator[Problem]:
    """A record is said not to be in a state that it is in: "the deal is not yet won"."""
    for match in DENIED.finditer(reading.low):
        state = match["state"]
        first, _ = reading.sentence(match.start())
        if _GENERAL.search(reading.low, first, match.start()) or state in reasons.lower():
            continue
        if re.search(rf"(?:^|\n|-){state}(?: *\n|$)", context.record_text):
            yield Problem(f"it may be no reason that {match[0]!r}", False)
            return


_NEEDLESS = re.compile(
    r"\bnothing (?:\w+ )?(?:left )?to (?:do|change)\b|\b(?:not|isn't|is not|wouldn't be) "
    r"(?:be )?(?:necessary|needed|required)\b|\bno need (?:to|for)\b|\bneedn't\b|"
    r"\balready (?:belongs?|done|the case|owned|with)\b"
)
_ALREADY = re.compile(r"already|exist|duplicate|same", re.IGNORECASE)


def _secrets(reading: Reading, context: Context) -> Iterator[Problem]:
    """Contact data or an amount that the user did not say."""
    for match in _CONTACT_DATA.finditer(reading.low):
        if match[0].strip() not in context.said:
            yield Problem(f"may give away {match[0].strip()!r}", False)
    for amount in reading.numbers:
        told = reading.low[amount.start : amount.end]
        if amount.currency and told.strip() not in context.said:
            yield Problem(f"may give away {told.strip()!r}", False)


def _untrue_states(reading: Reading, context: Context) -> Iterator[Problem]:
    """A state is given as the reason that no record and no word of the user bears out."""
    if not context.records:
        return
    known = ""
    for match in _STATED.finditer(reading.low):
        state = match["state"] or match["of"]
        first, _ = reading.sentence(match.start())
        if _GENERAL.search(reading.low, first, match.start()):
            continue
        if stance(reading, *match.span()) in {"negated", "old"}:
            continue
        known = known or f"{context.record_text}\n{context.question.lower()}"
        if not re.search(rf"\b{state}", known):
            yield Problem(f"it may be no reason that {match[0]!r}", False)
