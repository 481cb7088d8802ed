"""Does a reply convey a fact? One matcher a kind, all over the same reading of the reply."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from crmbench.core.fact import Fact
from crmbench.grading.facts.booleans import conveys_boolean
from crmbench.grading.facts.choices import conveys_choice
from crmbench.language import patterns
from crmbench.language.dates import DateMention, means, relative_dates
from crmbench.language.finding import SAID, Finding, not_said
from crmbench.language.numbers import Amount
from crmbench.language.reading import Reading, read
from crmbench.language.stance import Stance, is_bound, is_excluded, stance
from crmbench.language.subjects import subject_clauses

_OLD_WANTED = re.compile(r"\b(?:old|previous|former|original|prior|earlier|before|past|initial)\b")
_BOUND_WANTED = re.compile(
    r"\b(?:max|min|limit|threshold|cap|ceiling|floor|most|least|up to)", re.I
)


class Hit(NamedTuple):
    """Where a reply mentions the value, or one like it."""

    start: int
    end: int


def conveys(reply: str, fact: Fact, today: str = "") -> Finding:
    """Whether a reply tells its reader the fact.

    The value must be mentioned, in any usual form, and asserted: not denied, replaced, asked
    about, guessed or given as a range. No rival value may be asserted beside it.

    Args:
        today: ISO date of the world, where the fact itself has none.
    """
    if today and not fact.today:
        fact = _dated(fact, today)
    return _MATCHERS[fact.kind](read(reply), fact)


def mentions(reply: str, fact: Fact, today: str = "") -> Finding:
    """Whether a reply gives the value away at all: denied, asked, struck out or guessed as well.

    For what must not be said. `ok` is true when it is said. Of a list, one item is enough; a
    boolean is given away when it is asserted.
    """
    if today and not fact.today:
        fact = _dated(fact, today)
    if fact.kind == "list":
        return _any(mentions(reply, item) for item in fact.items())
    if fact.kind == "boolean":
        return conveys(reply, fact)
    reading = read(reply, keep_struck=True)
    if next(_hits(reading, fact, loose=True), None) is None:
        return not_said("not mentioned")
    return SAID


def places(reading: Reading, fact: Fact) -> Iterator[Hit]:
    """Where a reply gives the value of a fact, however it stands to it; of a list each item's."""
    if fact.kind == "list":
        for item in fact.items():
            yield from places(reading, item)
    elif fact.kind != "boolean":
        yield from _hits(reading, fact)


@lru_cache(maxsize=1024)
def _dated(fact: Fact, today: str) -> Fact:
    return Fact.from_json({**fact.to_json(), "today": today})


def _any(verdicts: Iterator[Finding]) -> Finding:
    return next((verdict for verdict in verdicts if verdict.ok), not_said("not mentioned"))


def _conveys_value(reading: Reading, fact: Fact) -> Finding:
    """For every kind whose mentions are found one by one."""
    numeric = fact.kind in _AMOUNTS
    refused: Stance = ""
    asserted: list[Hit] = []
    for hit in _hits(reading, fact):
        how = _stance(reading, hit, fact, numeric)
        refused = refused or how
        if not how:
            asserted.append(hit)
            if not fact.subject:
                break
    if not asserted:
        return not_said(_REASONS[refused] if refused else "not said")
    return _bound_to_subject(reading, fact, asserted) or _rival(reading, fact) or SAID


_REASONS: dict[Stance, str] = {
    "negated": "it is denied",
    "old": "it is given as what was before",
    "asked": "it is only asked about",
    "conditional": "it is only supposed",
    "hedged": "it is only guessed",
    "inexact": "it is not given exactly",
}


def _stance(reading: Reading, hit: Hit, fact: Fact, numeric: bool) -> Stance:
    how = stance(reading, *hit, numeric=numeric, date=fact.kind == "date")
    if how == "old" and _OLD_WANTED.search(fact.label.lower()):
        return ""
    if not how and numeric and is_bound(reading, hit.start):
        return "" if _BOUND_WANTED.search(fact.label) else "inexact"
    return how


def _hits(reading: Reading, fact: Fact, loose: bool = False) -> Iterator[Hit]:
    """Where the value is mentioned.

    Args:
        loose: Take every mention, for what must not be said: an amount without its currency, a
            name within a longer one.
    """
    if fact.kind in _AMOUNTS:
        yield from _amount_hits(reading, fact, loose)
        yield from _alias_hits(reading, fact)
    elif fact.kind == "date":
        yield from _date_hits(reading, fact)
    elif fact.kind == "id":
        pattern = patterns.id_pattern((str(fact.value), *fact.aliases))
        yield from (Hit(*match.span()) for match in pattern.finditer(reading.text))
    elif fact.kind == "choice":
        pattern = patterns.choice_pattern((str(fact.value), *fact.aliases))
        yield from (Hit(*match.span()) for match in pattern.finditer(reading.low))
    else:
        yield from _phrase_hits(reading, fact, loose)


def _phrase_hits(reading: Reading, fact: Fact, loose: bool) -> Iterator[Hit]:
    values = (str(fact.value), *fact.aliases)
    if fact.kind == "name":
        finder = patterns.name_pattern(values, whole=not loose)
    else:
        finder = patterns.text_pattern(values)
    for span in finder.spans(reading.low):
        yield Hit(*span)


def _alias_hits(reading: Reading, fact: Fact) -> Iterator[Hit]:
    if fact.aliases:
        for span in patterns.text_pattern(fact.aliases).spans(reading.low):
            yield Hit(*span)


def _date_hits(reading: Reading, fact: Fact) -> Iterator[Hit]:
    for mention in _dates(reading, fact):
        if means(mention, fact.value, fact.today):
            yield Hit(mention.start, mention.end)
    yield from _alias_hits(reading, fact)


def _dates(reading: Reading, fact: Fact) -> list[DateMention]:
    if not fact.today:
        return reading.dates
    return [*reading.dates, *relative_dates(reading.low, fact.today)]


_AMOUNTS = frozenset({"money", "number", "percent", "count"})
_LABEL_NUMBER = re.compile(
    r"\b(?:version|page|step|option|line|number|nr|no\.|rule|section|tier|phase|ticket|id|part|"
    r"room|suite|floor|unit|turn)\s$"
)
_PRONOUN_BEFORE = re.compile(
    r"\b(?:which|that|this|(?<!just )(?<!only )the|other|each|every|any|no|another|first|last|"
    r"right|wrong|second|latest|newest|current|old|new|same|some|by|after|day|on)[\s-]$"
)
_ONE_IDIOM = re.compile(r"[ -](?:by|on|after|at a)[ -](?:one|time)\b| another\b")
_OF_THEM = re.compile(
    r" (?:out )?of (?:the |our |their |all )?(?:\d|[a-z]+teen\b|ten\b|t[a-z]+ty\b)"
)
_NOUN_AFTER = re.compile(r"[ -]+((?!(?:is|was|as|for|on) )(?:[a-z'&/-]+[ ]){0,4}[a-z'-]+)")
_NONE = re.compile(
    r"\b(?:none|nil|nothing|no one|nobody|empty|zero|no(?! (?:doubt|problem|worries))|"
    r"not (?:\w+ )?any|(?:\w+n't|cannot) (?:\w+ )?(?:\w+ )?any)\b"
)


def _amount_hits(reading: Reading, fact: Fact, loose: bool) -> Iterator[Hit]:
    for amount in reading.numbers:
        if _fits(amount, fact, reading, loose):
            yield Hit(amount.start, amount.end)
    for amount in reading.number_words:
        if _fits(amount, fact, reading, loose) and not _is_pronoun(reading, amount):
            yield Hit(amount.start, amount.end)


def _is_pronoun(reading: Reading, amount: Amount) -> bool:
    """Whether "one" stands for a thing: "that one"."""
    if amount.value != 1:
        return False
    if _ONE_IDIOM.match(reading.low, amount.end):
        return True
    return _PRONOUN_BEFORE.search(reading.low, max(0, amount.start - 10), amount.start) is not None


def _fits(amount: Amount, fact: Fact, reading: Reading, loose: bool) -> bool:
    kind = fact.kind
    if amount.ordinal or not _equal(amount, fact):
        return False
    if kind == "money":
        return not amount.percent and amount.currency in {"", fact.unit or "USD"}
    if kind == "percent":
        if amount.percent:
            return True
        return not amount.currency and (loose or _labelled_percent(reading, amount, fact))
    if amount.percent or amount.currency:
        return False
    before = reading.low[max(0, amount.start - 10) : amount.start]
    return kind != "count" or not _LABEL_NUMBER.search(before)


def _equal(amount: Amount, fact: Fact) -> bool:
    wanted = float(fact.value)
    if amount.plus and fact.kind != "percent":
        return False
    if math.isclose(amount.value, wanted, rel_tol=1e-9, abs_tol=1e-9):
        return True
    if fact.kind == "money":
        return abs(amount.value - wanted) < 0.0051 and amount.places >= 2
    # 33.3333… is conveyed by 33.33, and by 33.3 %: rounding, where there is no exact way.
    if fact.kind == "count" or round(wanted, 4) == wanted:
        return False
    enough = 1 if fact.kind == "percent" else 2
    return amount.places >= enough and math.isclose(
        amount.value, round(wanted, amount.places), abs_tol=1e-9
    )


def _labelled_percent(reading: Reading, amount: Amount, fact: Fact) -> bool:
    """A bare number is a percentage where its label says so: "probability: 60"."""
    words = re.findall(r"[a-z]+", fact.label.lower()) or ["probability", "percentage"]
    first, _ = reading.line(amount.start)
    return words[-1] in reading.low[max(first, amount.start - 40) : amount.start]


def _conveys_count(reading: Reading, fact: Fact) -> Finding:
    if not fact.value:
        return _conveys_zero(reading, fact)
    verdict = _conveys_value(reading, fact)
    noun = fact.unit or fact.label
    if not verdict.ok or not noun or _counts(reading, fact):
        return verdict
    return not_said(f"not a count of {noun}")


def _counts(reading: Reading, fact: Fact) -> bool:
    """False when the reply counts what the label names, and gets another number."""
    label = {_stem(word) for word in (fact.unit or fact.label).split()}
    named = other = told_whole = False
    for amount in (*reading.numbers, *reading.number_words):
        if amount.currency or amount.percent:
            continue
        own, whole = amount.value == fact.value, _tells_rest(reading, amount, fact)
        following = _NOUN_AFTER.match(reading.low, amount.end)
        words = {_stem(word) for word in following[1].split()} if following else set()
        fits = label & words if own else label <= words
        of_them = own and _OF_THEM.match(reading.low, amount.end) is not None
        if not (whole or of_them or fits) or _is_refused(reading, amount):
            continue
        if own and (whole or of_them):
            return True
        named = named or own
        other = other or not own
        told_whole = told_whole or whole
    # "All 5 renewals are done; 4 are on hold": four, whatever else there are five of.
    return (named and not told_whole) or not other


def _is_refused(reading: Reading, amount: Amount) -> bool:
    return bool(stance(reading, amount.start, amount.end, numeric=True))


_PART = re.compile(r"[.;,!?\n]|\b\d")
_LINKS = frozenset({"that", "which", "of", "on", "in", "the", "are"})


def _tells_rest(reading: Reading, amount: Amount, fact: Fact) -> bool:
    """Whether what the label says beside the unit stands with the number: "5 of them on hold"."""
    rest = {_stem(word) for word in fact.label.split()} - _LINKS
    rest -= {_stem(word) for word in fact.unit.split()}
    if not (fact.unit and rest):
        return False
    before = _PART.split(reading.low[max(0, amount.start - 60) : amount.start])[-1]
    after = _PART.split(reading.low[amount.end : amount.end + 60])[0]
    return any(rest <= {_stem(word) for word in part.split()} for part in (before, after))


def _stem(words: str) -> str:
    found = re.findall(r"[a-z]+", words.lower())
    if not found:
        return ""
    last = str(found[-1])
    if last.endswith("ies"):
        return last[:-3] + "y"
    return last[:-1] if last.endswith("s") and not last.endswith("ss") else last


def _conveys_zero(reading: Reading, fact: Fact) -> Finding:
    if any(True for _ in _amount_hits(reading, fact, False)):
        return _conveys_value(reading, fact)
    noun = _stem(fact.unit or fact.label)
    for amount in (*reading.numbers, *reading.number_words):
        if amount.value and noun and noun in reading.low[amount.end : amount.end + 30]:
            return not_said(f"{noun} are counted")
    return SAID if _says_none(reading, fact.unit or fact.label) else not_said("not said")


def _says_none(reading: Reading, label: str) -> bool:
    """Whether the reply says that there are none: near the label, or in a sentence of few words."""
    stems = [_stem(word) for word in label.split() if len(word) > 3]
    for match in _NONE.finditer(reading.low):
        first, last = reading.sentence(match.start())
        sentence = reading.low[first:last]
        if sentence.rstrip().endswith("?"):
            continue
        line = reading.low[slice(*reading.line(match.start()))]
        place = line if "|" in line else sentence
        if any(stem in place for stem in stems):
            return True
        if len(sentence.split()) <= 4:
            return True
    return False


def _conveys_list(reading: Reading, fact: Fact) -> Finding:
    items = fact.items()
    if not items and not _says_none(reading, fact.unit or fact.label):
        return not_said("does not say that there are none")
    for item in items:
        verdict = _MATCHERS[item.kind](reading, item)
        if not verdict.ok:
            return not_said(f"{item.value!r}: {verdict.why}")
    return _extra(reading, fact, items) or SAID


def _extra(reading: Reading, fact: Fact, items: Sequence[Fact]) -> Finding | None:
    """A candidate that the reply lists and that is not in the list."""
    wanted = {str(item.value) for item in items}
    taken = [hit for item in items for hit in _hits(reading, item)]
    candidates = fact.options if fact.only else ()
    for option in (*candidates, *map(str, fact.rivals)):
        if option in wanted:
            continue
        other = Fact(fact.item, _typed(fact.item, option), unit=fact.unit, today=fact.today)
        for hit in _hits(reading, other):
            if any(
                a <= hit.start and hit.end <= b and b - a > hit.end - hit.start for a, b in taken
            ):
                continue
            if not stance(reading, *hit) and not is_excluded(reading, *hit):
                return not_said(f"{option!r} is listed too")
    return None


def _typed(kind: str, value: Any) -> Any:
    return float(value) if kind in _AMOUNTS and isinstance(value, str) else value


def _rival(reading: Reading, fact: Fact) -> Finding | None:
    """A rival that the reply asserts as well."""
    own = list(_hits(reading, fact)) if fact.rivals else []
    for rival in fact.rivals:
        other = Fact(fact.kind, rival, label=fact.label, unit=fact.unit, today=fact.today)
        for hit in _hits(reading, other):
            if any(a <= hit.start and hit.end <= b for a, b in own):
                continue
            if not _stance(reading, hit, other, fact.kind in _AMOUNTS):
                return not_said(f"{rival!r} is said as well")
    return None


def _bound_to_subject(reading: Reading, fact: Fact, asserted: Sequence[Hit]) -> Finding | None:
    """Where values of this kind stand next to the subject, the right one must be among them."""
    if not fact.subject:
        return None
    clauses = subject_clauses(reading, fact.subject)
    if any(a <= hit.start < b for a, b in clauses for hit in asserted):
        return None
    if any(a <= start < b for a, b in clauses for start in _alike(reading, fact)):
        return not_said(f"another value is given for {fact.subject}")
    return None


def _alike(reading: Reading, fact: Fact) -> Iterator[int]:
    """Where values of the fact's kind are, whichever they are."""
    if fact.kind == "date":
        yield from (mention.start for mention in reading.dates if mention.day)
    elif fact.kind in _AMOUNTS:
        for amount in (*reading.numbers, *reading.number_words):
            money = bool(amount.currency) or (not amount.percent and amount.value >= 1000)
            fits = {"money": money, "percent": amount.percent}
            if fits.get(fact.kind, not amount.currency and not amount.percent):
                yield amount.start
    else:
        for rival in (*fact.rivals, *fact.options):
            if str(rival) != str(fact.value):
                yield from (hit.start for hit in _hits(reading, Fact(fact.kind, rival)))


_MATCHERS: dict[str, Callable[[Reading, Fact], Finding]] = {
    "money": _conveys_value,
    "number": _conveys_value,
    "percent": _conveys_value,
    "count": _conveys_count,
    "date": _conveys_value,
    "name": _conveys_value,
    "id": _conveys_value,
    "text": _conveys_value,
    "choice": conveys_choice,
    "boolean": conveys_boolean,
    "list": _conveys_list,
}
