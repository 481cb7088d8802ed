"""A value was found and asserted: what else in the reply makes a reader doubt it?

Each doubt is a reason why two careful readers could differ: a stranger named beside it, a title
given to somebody else, the thing denied in the next sentence, figures that may be swapped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from crmbench.core.fact import Fact
from crmbench.grading.facts.binding import labelled_otherwise, swapped
from crmbench.grading.facts.context import Context
from crmbench.grading.facts.strangers import listed_strangers, rival_people
from crmbench.language.capitals import is_title, runs, same_title
from crmbench.language.claims import claims
from crmbench.language.finding import Finding, not_said, unsure
from crmbench.language.patterns import text_pattern
from crmbench.language.reading import Reading
from crmbench.language.stance import stance

_IGNORANCE = re.compile(
    r"\b(?:does(?:n't| not) (?:say|tell|show|name|state|mention)|"
    r"(?:i|we) (?:do(?:n't| not)|can(?:'t|not)|could(?: not|n't)) "
    r"(?:know|say|tell|be sure|find (?:out|it|them|that|who|which|any))|"
    r"one of (?:them|these|those) (?:is|has|must)|is unknown|not sure|no idea|"
    r"might be wrong|could be wrong|double-check|not (?:certain|entirely sure|quite sure))\b"
)
_TIE = re.compile(
    r"(?<!no )(?<!not a )(?<!isn't a )\b(?:tied?|ties|neck and neck|in a draw|joint(?:ly)?|"
    r"level with|equal first|share (?:the )?(?:first place|top spot|lead))\b(?! ?[- ]?break)"
)
_WHICH = re.compile(r"\bwhich (?:one|of|do|did|should|would|is it)\b[^.!?\n]*\?")
_NOT_ON_FILE = r"(?:is|are|was|'s)(?:n't| not) (?:on (?:file|record)|known|named|listed|recorded)"
_MAIL = re.compile(r"[\w.+-]+@[\w.-]+\w")
_PHONE = re.compile(r"\+?\d[\d ().-]{7,}\d")


def doubts(reading: Reading, fact: Fact, context: Context) -> Iterator[Finding]:
    """Every doubt about a fact whose value the reply asserts, the certain ones as `not said`."""
    for check in _CHECKS:
        found = check(reading, fact, context)
        if found is not None:
            yield found


def _denied(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """ "There is no Finance Director on file"; "the record doesn't say who"."""
    del context
    ignorance = _IGNORANCE.search(reading.low) if reading.may_negate else None
    if ignorance:
        return unsure(f"it also says {ignorance[0]!r}")
    if fact.kind in {"boolean", "list", "count"} or not (fact.label and reading.may_negate):
        return None
    denial = _no_label(fact.label.lower()).search(reading.low)
    return unsure(f"it also says {denial[0]!r}") if denial else None


@lru_cache(maxsize=1024)
def _no_label(label: str) -> re.Pattern[str]:
    words = r"\W+".join(map(re.escape, re.findall(r"[a-z0-9]+", label)))
    return re.compile(rf"\bno (?:\w+ )?{words}\b|\b{words}\b[^.;\n]{{0,30}}{_NOT_ON_FILE}")


OR_ELSE = re.compile(
    r"[*\"')]{0,3},? ?(?:/|\bor\b) ?(?:maybe |perhaps |possibly |even |else )?"
    r"(?:at |by |in |with )?"
)
"""Behind a value. Example: "50% or maybe 25%". Not: "50%, organised"."""


def _alternative(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """Another value of the kind is offered beside the right one: "50% or maybe 25%"."""
    del context
    if fact.kind not in {"name", "choice", "percent", "money"} or "or " not in reading.low:
        return None
    for start, end in _places(reading, fact):
        behind = OR_ELSE.match(reading.low, end)
        if behind is None or "or" not in behind[0]:
            continue
        if fact.kind in {"name", "choice"}:
            other = reading.text[behind.end() : behind.end() + 1].isupper()
        else:
            other = any(
                amount.start - behind.end() in {0, 1}
                and amount.percent is (fact.kind == "percent")
                and amount.value != fact.value
                for amount in reading.numbers
            )
        if other:
            return unsure(f"{reading.text[start : behind.end() + 12]!r} leaves it open")
    return None


def _places(reading: Reading, fact: Fact) -> list[tuple[int, int]]:
    if fact.kind in {"percent", "money"}:
        return [(a.start, a.end) for a in reading.numbers if a.value == fact.value]
    return list(text_pattern((str(fact.value), *fact.aliases)).spans(reading.low))


def _undecided(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """A tie is claimed, or the user is asked which is meant."""
    del context
    which = _WHICH.search(reading.low) if "?" in reading.low else None
    if which:
        return unsure(f"it asks {which[0]!r}")
    if fact.kind in {"name", "choice", "text"}:
        tie = _TIE.search(reading.low)
        if tie:
            return unsure(f"it speaks of a tie: {tie[0]!r}")
    return None


def _titled_otherwise(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """The person is named with another function than the one asked for."""
    del context
    if fact.kind != "name" or not is_title(fact.label):
        return None
    pattern = text_pattern((str(fact.value), *fact.aliases))
    for start, end in pattern.spans(reading.low):
        first, last = reading.sentence(start)
        titles = [run for run in runs(reading.text[first:last]) if is_title(run.text)]
        if not titles or fact.label.lower() in reading.low[first:last]:
            continue
        if not any(same_title(run.text, fact.label) for run in titles):
            near = reading.low[end : end + 40]
            return unsure(f"it calls them {titles[0].text!r} ({near.strip()!r})")
    return None


_THING = re.compile(
    r"\b(?:client|company|account|deal|opportunity|file|document|quote)\b(?! owner)"
)


def _beside_people(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """Somebody else is named as well, and may be meant as the answer."""
    if fact.kind != "name" or _THING.search(fact.label.lower()):
        return None
    for rival in rival_people(reading, fact, context):
        if not _answers_alone(reading, fact, rival):
            return unsure(f"{rival!r} is named as well")
    return None


_DEMONSTRATIVE = re.compile(
    r"(?:^|[.!?,:\n]\s*)(?:that|it|this|they|he|she)(?:'s| is| was| would be)\b|"
    r"^\W*(?:so|hence|thus|result|answer|in short)\b"
)
_OWNING = r"own(?:s|ed|er)?|belongs? to|look(?:s|ed) after|(?:handled|led|run) by|has it|with"


def _answers_alone(reading: Reading, fact: Fact, rival: str) -> bool:
    """Whether one sentence gives the value, and the label or "that's", and not the rival."""
    label = re.escape(fact.label.lower())
    asked = re.compile(rf"\b(?:{label}|{_OWNING})\b" if fact.label == "owner" else rf"\b{label}\b")
    value = text_pattern((str(fact.value), *fact.aliases))
    rivals = [start for start, _ in text_pattern((rival,)).spans(reading.low)]
    for start, _ in value.spans(reading.low):
        first, last = reading.sentence(start)
        sentence = reading.low[first:last]
        if any(first <= at < last for at in rivals):
            continue
        named = asked.search(sentence) or _DEMONSTRATIVE.search(sentence)
        others = [reading.low[slice(*reading.sentence(at))] for at in rivals]
        if named and not any(re.search(rf"\b{label}\b", other) for other in others):
            return True
    return False


def _listed(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """A list names somebody or something that does not belong to it."""
    if fact.kind != "list" or not fact.items():
        return None
    for name, enumerated in listed_strangers(reading, fact, context):
        why = f"{name!r} is listed too"
        return not_said(why) if enumerated else unsure(why)
    return None


def _several_addresses(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """Another address or number of the same form than the right one and those the user knows."""
    if fact.kind != "text":
        return None
    value = str(fact.value).lower()
    pattern = _MAIL if "@" in value else _PHONE if _PHONE.fullmatch(value) else None
    if pattern is None:
        return None
    own = re.sub(r"\D", "", value)
    for match in pattern.finditer(reading.low):
        alike = match[0] == value if pattern is _MAIL else re.sub(r"\D", "", match[0]) == own
        known = match[0] in context.said
        if not alike and not known and not stance(reading, *match.span()):
            return unsure(f"{match[0]!r} is given as well")
    return None


_GUESSED_LIST = re.compile(
    r"\b(?:(?:might|could|may) be|probably|perhaps|maybe|possibly|presumably|"
    r"i (?:think|guess|believe|suspect|assume)|not (?:quite |entirely )?(?:sure|certain)|"
    r"seems?|appears?|likely)\b[^.!?\n]*:?\s*\n\s*(?:-|\d+[.)])"
)


def _introduced(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """The words before a list only guess at it: "these could be the contacts:"."""
    del context
    found = _GUESSED_LIST.search(reading.low) if fact.kind == "list" else None
    return unsure(f"the list is only guessed: {found[0].strip()!r}") if found else None


def _figures(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    return swapped(reading, fact, context)


_JUST = re.compile(r"\bjust\b")
_FIRST_PERSON = re.compile(r"\b(?:i|we)\b")


def _claims_a_write(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """A reply to a mere question that says something was just done."""
    del fact
    if context.writes or not context.question or not _FIRST_PERSON.search(reading.low):
        return None
    own = [claim for claim in claims(reading) if claim.weight == "certain"]
    own = [claim for claim in own if re.match(r"(?:i|we)\b", claim.words)]
    if own and context.earlier and _JUST.search(own[0].words):
        return None
    return unsure(f"it claims a change: {own[0].words!r}") if own else None


def _runner_up(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """Another candidate is named first: "A is the biggest, then B" tells A."""
    del context
    value = str(fact.value)
    if fact.kind != "choice" or " " not in value:
        return None
    first = next(text_pattern((value, *fact.aliases)).spans(reading.low), None)
    for option in fact.options:
        if option == value or first is None:
            continue
        for start, end in text_pattern((option,)).spans(reading.low):
            if start < first[0] and not stance(reading, start, end):
                return unsure(f"{option!r} is named before it")
    return None


_TIME = re.compile(r"\s?(?P<unit>hour|day|week|month|year)s?\b(?P<ago> ago\b| (?:late|overdue)\b)?")


def _other_unit(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """A number of days is told as one of weeks, or as days that have gone by."""
    wanted = (
        _TIME.search(f" {fact.unit or fact.label}") if fact.kind in {"count", "number"} else None
    )
    if wanted is None:
        return None
    past = re.search(
        r"\b(?:ago|since|overdue|late|past)\b", f"{fact.label} {context.question.lower()}"
    )
    for amount in (*reading.numbers, *reading.number_words):
        told = _TIME.match(reading.low, amount.end) if amount.value == fact.value else None
        if told and told["unit"] != wanted["unit"]:
            return not_said(f"it is given in {told['unit']}s")
        if told and told["ago"] and not past:
            return unsure(f"it says{told['ago']!r}")
    return None


_CHECKS: tuple[Callable[[Reading, Fact, Context], Finding | None], ...] = (
    _listed,
    _introduced,
    _figures,
    labelled_otherwise,
    _denied,
    _undecided,
    _alternative,
    _runner_up,
    _titled_otherwise,
    _beside_people,
    _several_addresses,
    _claims_a_write,
    _other_unit,
)
