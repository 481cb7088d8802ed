"""Does a figure or a date stand with what it belongs to, or may two be swapped?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.core.fact import Fact
from crmbench.grading.facts.context import Context
from crmbench.language.dates import means
from crmbench.language.finding import Finding, not_said, unsure
from crmbench.language.numbers import Amount, results
from crmbench.language.patterns import text_pattern
from crmbench.language.reading import Reading, read
from crmbench.language.stance import stance
from crmbench.language.word_sets import word_set

_FIGURES = frozenset({"money", "number", "percent", "count", "date"})
_CLAUSE = re.compile(r"[.;:!?\n|()](?=\s|$)|\(|,(?=\s)|\s-\s|\b(?:and|but|while|whereas)\b")
_COMPARED = re.compile(
    r"\b(?:than|from|instead of|rather than|not|before|was|old|previous|previously|formerly|"
    r"earlier|against|versus|vs|compared (?:with|to)|up from|down from|of|out of)\W*(?:the )?"
    r"(?:\w+ )?$"
)
_NOW = re.compile(r"\b(?:now|new|current(?:ly)?|today|is at|latest)\b")
_THEN = re.compile(
    r"\b(?:before|previous(?:ly)?|old|was|were|formerly|earlier|original(?:ly)?|from)\b"
)
_OLD_LABEL = re.compile(r"\b(?:old|previous|former|original|prior|earlier|before|past|initial)\b")
_DULL = word_set("the of a an in to for and value amount number date total")


def swapped(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """What speaks against a figure being given for what was asked, if anything does."""
    if fact.kind not in _FIGURES:
        return None
    own = list(_places(reading, fact))
    if not own:
        return None
    was_asked = fact.kind != "count" and _OLD_LABEL.search(fact.label.lower())
    if was_asked and all(_is_now(reading, *place) for place in own):
        return not_said("it is given as what is now")
    return _beside_other_facts(reading, fact, context, own) or _beside_others(
        reading, fact, context, own
    )


_LABELS = {
    "e-mail": r"e-?mail(?: address)?|mail",
    "phone": r"phone(?: number)?|tel(?:ephone)?|number",
}
_VALUE_OF = r"\W*(?:(?:is|was|are|would be)(?: recorded as| at)?|[:=|])[\s*\"']*$"


def labelled_otherwise(reading: Reading, fact: Fact, context: Context) -> Finding | None:
    """The value stands only where the label of another fact says that its own would: "Phone:
    info@…".
    """
    others = [o for o in context.facts if o is not fact and o.label and o.label != fact.label]
    if not others or fact.kind == "list" or not fact.label:
        return None
    others = [other for other in others if _may_stand(reading, other)]
    if not others:
        return None
    places = list(_places(reading, fact)) if fact.kind in _FIGURES else _phrases(reading, fact)
    for other in others:
        if other.kind == "list" or not places or other.value == fact.value:
            continue
        if all(_is_labelled(reading, *place, other, fact) for place in places):
            return not_said(f"it is given as {other.label}")
    return None


_IN_BRACKETS = re.compile(r"[\s*]*\((?:the |its )?(?P<label>[^)\n]+)\)")


def _phrases(reading: Reading, fact: Fact) -> list[tuple[int, int]]:
    return list(text_pattern((str(fact.value), *fact.aliases)).spans(reading.low))


def _may_stand(reading: Reading, fact: Fact) -> bool:
    """Whether a label may stand in the reply: most do not, and the patterns need not run."""
    label = fact.label.lower()
    return label in _LABELS or label in reading.low


def _label_form(fact: Fact) -> str:
    return _LABELS.get(fact.label.lower(), re.escape(fact.label.lower()))


def _is_labelled(reading: Reading, start: int, end: int, other: Fact, fact: Fact) -> bool:
    """Whether the other's label stands directly before the place, or in brackets behind it."""
    label = _label_form(other)
    behind = _IN_BRACKETS.match(reading.low, end)
    if behind:
        return re.fullmatch(label, behind["label"]) is not None
    first, last = reading.line(start)
    after = reading.low[end : min(last, end + 24)]
    if re.match(rf"[\s*]*(?:{_label_form(fact)}|{re.escape(fact.unit.lower()) or '$'})\b", after):
        return False
    before = reading.low[max(first, start - 48) : start]
    own = re.search(rf"\b(?:{_label_form(fact)})\b", before)
    return own is None and re.search(rf"\b(?:{label})\b{_VALUE_OF}", before) is not None


def _is_now(reading: Reading, start: int, end: int) -> bool:
    clause = _clause(reading, start, end)
    return _NOW.search(clause) is not None and _THEN.search(clause) is None


def _places(reading: Reading, fact: Fact) -> Iterator[tuple[int, int]]:
    """Where the fact's value stands, as a figure of its kind."""
    if fact.kind == "date":
        for mention in reading.dates:
            if means(mention, str(fact.value), fact.today):
                yield mention.start, mention.end
        return
    for amount in (*reading.numbers, *reading.number_words):
        if amount.value == float(fact.value):
            yield amount.start, amount.end


def _clause_span(reading: Reading, start: int, end: int) -> tuple[int, int]:
    first, last = reading.sentence(start)
    for match in _CLAUSE.finditer(reading.low, first, start):
        first = match.end()
    after = _CLAUSE.search(reading.low, end, last)
    return first, after.start() if after else last


def _clause(reading: Reading, start: int, end: int) -> str:
    return reading.low[slice(*_clause_span(reading, start, end))]


def _names(clause: str, fact: Fact) -> bool:
    """Whether a clause names what the fact is about, by its subject or the words of its label."""
    if fact.subject:
        return any(True for _ in text_pattern((fact.subject,)).spans(clause))
    words = [word for word in re.findall(r"[a-z]+", fact.label.lower()) if word not in _DULL]
    return any(re.search(rf"\b{word.removesuffix('s')}", clause) for word in words)


def _beside_other_facts(
    reading: Reading, fact: Fact, context: Context, own: list[tuple[int, int]]
) -> Finding | None:
    """Another fact of the turn has a figure of the same kind: each must stand with its own."""
    others = [
        other
        for other in context.facts
        if other is not fact and other.kind == fact.kind and other.value != fact.value
    ]
    for other in others:
        places = list(_places(reading, other))
        if not places:
            continue
        clauses = [_clause(reading, *place) for place in own]
        if any(_names(clause, fact) for clause in clauses):
            continue
        if any(_names(clause, other) for clause in clauses):
            return not_said(f"it is given as {other.label or other.subject}")
        if _holds(float_of(fact), float_of(other), reading):
            continue
        in_order = context.facts.index(fact) < context.facts.index(other)
        if (own[0] < places[0]) != in_order:
            return unsure(f"it may be given as {other.label or other.subject}")
    return None


def float_of(fact: Fact) -> float | None:
    return float(fact.value) if fact.kind != "date" else None


def _holds(one: float | None, other: float | None, reading: Reading) -> bool:
    """Whether one figure is the difference of the other and a third that the reply gives."""
    if one is None or other is None:
        return False
    return any(
        abs(abs(third.value - other) - one) < _TO_THE_DOLLAR
        for third in reading.numbers
        if third.value not in {one, other} and third.value > max(one, other)
    )


def _beside_others(
    reading: Reading, fact: Fact, context: Context, own: list[tuple[int, int]]
) -> Finding | None:
    """A figure of the same kind that nobody asked for stands beside it."""
    if fact.kind in {"count", "number", "percent"}:
        return None
    strangers = [
        place
        for place in _alike(reading, fact, context)
        if not any(a < place[1] and place[0] < b for a, b in own)
    ]
    if not strangers:
        return None
    spans = [_clause_span(reading, *place) for place in own]
    bound = [
        (a, b) for a, b in spans if _names(reading.low[a:b], fact) or _OPENS.match(reading.low, a)
    ]
    if any(not any(a <= place[0] < b for place in strangers) for a, b in bound):
        return None
    # One stranger is enough; a reply of thousands of figures is not asked about each.
    stranger: tuple[int, int] | None = strangers[0]
    if fact.kind == "money":
        others = {amount.value for amount in (*reading.numbers, *reading.number_words)}
        others |= {amount.value for amount in read(context.question).numbers}
        strangers = [p for p in strangers if not _is_a_versions_own(reading, p, context)]
        stranger = next((p for p in strangers if not _is_operand(reading, p, fact, others)), None)
    elif fact.kind == "date":
        stranger = next((p for p in strangers if not _begins_range(reading, p, own)), None)
    if stranger is None:
        return None
    text = reading.text[slice(*stranger)]
    return unsure(f"{text!r} is given as well")


def _is_operand(reading: Reading, place: tuple[int, int], fact: Fact, others: set[float]) -> bool:
    """Whether the figure asked for follows from this one and another: "5 % above the $65,500"."""
    operand = next(amount.value for amount in reading.numbers if amount.start == place[0])
    value = float(fact.value)
    return any(
        abs(result - value) < _TO_THE_DOLLAR
        for other in others - {value, operand}
        for result in results(operand, other)
    )


_OF_VERSION = re.compile(r"\b(?P<version>v\d{1,2})[\w ]{0,12}\($")
_UNTOUCHED = re.compile(r"\b(?:unchanged|untouched|stays?|remains?|as (?:it|before)|left|keeps?)\b")


def _is_a_versions_own(reading: Reading, place: tuple[int, int], context: Context) -> bool:
    """Whether a figure only tells which version was left alone: "v1 ($19,950) is unchanged"."""
    first, last = reading.sentence(place[0])
    version = _OF_VERSION.search(reading.low, first, place[0])
    if version is None or not _UNTOUCHED.search(reading.low, place[1], last):
        return False
    value = next(amount.value for amount in reading.numbers if amount.start == place[0])
    rows = [row for row in context.all_rows if row.get("version") == version["version"]]
    return any(row.get("amount") == value for row in rows)


_TO_THE_DOLLAR = 0.51
_RANGE = re.compile(r"\s*(?:-|to|until|through|till)\s*")


def _begins_range(reading: Reading, place: tuple[int, int], own: list[tuple[int, int]]) -> bool:
    """Whether a date is where a range begins that ends with the one that was asked for."""
    return any(
        place[1] <= start and _RANGE.fullmatch(reading.low, place[1], start) for start, _ in own
    )


_OPENS = re.compile(r"\s*(?:it(?:'s| is| was)|that(?:'s| is)|\W)")


def _alike(reading: Reading, fact: Fact, context: Context) -> Iterator[tuple[int, int]]:
    """Figures of the fact's kind that no fact and no word of the user accounts for."""
    if fact.kind == "date":
        known_dates = [str(other.value) for other in context.facts if other.kind == "date"]
        for mention in reading.dates:
            if mention.day is None or any(means(mention, day, fact.today) for day in known_dates):
                continue
            if reading.low[mention.start : mention.end] in context.said:
                continue
            if not _is_compared(reading, mention.start, mention.end):
                yield mention.start, mention.end
        return
    known = {float(other.value) for other in context.facts if other.kind == "money"}
    for amount in reading.numbers:
        money = bool(amount.currency) or (not amount.percent and amount.value >= 1000)
        if not money or amount.value in known or _is_year(reading, amount):
            continue
        if f"{amount.value:,.0f}" in context.said or f"{amount.value:.0f}" in context.said:
            continue
        if not _is_compared(reading, amount.start, amount.end):
            yield amount.start, amount.end


def _is_year(reading: Reading, amount: Amount) -> bool:
    """Whether a number is the year in a name: "Driver App 2027"."""
    told = reading.low[amount.start : amount.end]
    return told.isdigit() and len(told) == 4 and told.startswith("20")


def _is_compared(reading: Reading, start: int, end: int) -> bool:
    """Whether it is named as what was, or what something else is compared with."""
    if stance(reading, start, end, numeric=True):
        return True
    first, _ = reading.sentence(start)
    return _COMPARED.search(reading.low, max(first, start - 40), start) is not None
