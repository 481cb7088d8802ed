"""What a reply binds a right value to: the lower one, the end, the total, the record's own date.

"The higher one is $28,000", where that is the lower; "2 contracts, each worth $61,100", where that
is the total. All of these leave a reply open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from crmbench.core.fact import Fact
from crmbench.grading.facts.context import FIGURES, Context
from crmbench.grading.reports.roles import Span, spans
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading

_SIDES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(rf"\b(?:{one})\b"), re.compile(rf"\b(?:{other})\b"))
    for one, other in (
        (
            "lower|lowest|cheaper|cheapest|smaller|smallest|least|minimum",
            "higher|highest|dearer|dearest|larger|largest|bigger|biggest|greatest|maximum",
        ),
        (
            "first|earliest|oldest",
            "last|latest|newest|later|latter|second|most recent",
        ),
        (
            "start|starts|started|starting|begin|begins|began|beginning|from",
            "end|ends|ended|ending|to|expires?|expired|expiry|runs? out|until|till|through",
        ),
    )
)
"""Words that are opposites: a value of one side is none of the other."""
_CUT = re.compile(r"[.;:!?\n|()](?=\s|$|\*)|,(?=\s)|\b(?:and|but|while|whereas|then)\b|\s-\s")


def misbound(reading: Reading, context: Context) -> Iterator[str]:
    """A value that a reply must tell is told as something else, in words; at most one."""
    for fact in context.facts:
        why = (
            _on_the_other_side(reading, fact, context)
            or _of_the_rest(reading, fact)
            or _each(reading, fact, context)
            or _split(reading, fact)
        )
        if why:
            yield why
            return
    yield from _widened(reading, context)
    yield from _other_days(reading, context)
    yield from _of_another_group(reading, context)
    yield from _of_another_kind(reading, context)
    yield from _counts_of_ids(reading, context)


def _places(reading: Reading, fact: Fact) -> list[Span]:
    if fact.kind in FIGURES:
        return list(
            spans(reading, f"{float(fact.value):g}" if float(fact.value) < 1e6 else str(fact.value))
        )
    return list(spans(reading, fold(str(fact.value))))


def _clause_before(reading: Reading, place: int) -> str:
    first, _ = reading.sentence(place)
    for match in _CUT.finditer(reading.low, first, place):
        first = match.end()
    return reading.low[first:place]


def _on_the_other_side(reading: Reading, fact: Fact, context: Context) -> str:
    """Whether it is told as the opposite of what it is: "the higher one is $28,000"."""
    if fact.kind in {"list", "boolean", "count"}:
        return ""
    label = fact.label.lower()
    for pair in _SIDES:
        sides = [index for index, words in enumerate(pair) if words.search(label)]
        if len(sides) != 1:
            continue
        own, other = pair[sides[0]], pair[1 - sides[0]]
        told = [_clause_before(reading, start) for start, _ in _places(reading, fact)]
        wrong = [clause for clause in told if _last(other, clause) > _last(own, clause)]
        if wrong and len(wrong) == len(told) and not other.search(context.question.lower()):
            return f"it is told of another: {wrong[0].strip()[-40:]!r}"
    return ""


def _last(words: re.Pattern[str], clause: str) -> int:
    return max((match.start() for match in words.finditer(clause)), default=-1)


_REST = re.compile(
    r"\b(?:remaining|rest|others?)(?: \w+)?(?: (?:is|are|of|at|with|comes? to))?\W*$"
)


def _of_the_rest(reading: Reading, fact: Fact) -> str:
    """Whether it is told of what remains: "the remaining $94,000 are in another stage"."""
    if fact.kind != "money" or _REST.search(fact.label.lower()):
        return ""
    told = [_clause_before(reading, start) for start, _ in _places(reading, fact)]
    if told and all(_REST.search(clause) for clause in told) and "differ" not in fact.label:
        return f"it is told of another: {told[0].strip()[-40:]!r}"
    return ""


_EACH_BEFORE = re.compile(r"\beach(?: one)?(?: (?:is|are|worth|at|of|for|over|comes? to|has))*\W*$")
_EACH_AFTER = re.compile(r"\W{0,3}(?:each|apiece)\b")
_TOTAL = re.compile(r"\b(?:total|altogether|sum|together|combined)\b")


def _each(reading: Reading, fact: Fact, context: Context) -> str:
    """Whether a total is told of each of those that make it up."""
    if fact.kind != "money" or not _TOTAL.search(fact.label.lower()):
        return ""
    if any(other.kind == "count" and other.value == 1 for other in context.facts):
        return ""
    for start, end in _places(reading, fact):
        if _EACH_BEFORE.search(_clause_before(reading, start)) or _EACH_AFTER.match(
            reading.low, end
        ):
            return f"the total is told of each: {reading.text[start:end]!r}"
    return ""


_IN_OTHERS = re.compile(
    r"\b(?:in|of|from|under|belongs? to|with) (?:an)?other (?!words|hand)\w+|\bare not\b|\bis not\b"
)


def _split(reading: Reading, fact: Fact) -> str:
    """Whether some of a list are told as those of another kind: "C and D are in other ones"."""
    if fact.kind != "list":
        return ""
    for item in fact.items():
        for _, end in _places(reading, item):
            last = reading.sentence(end)[1]
            stop = re.compile(r"[.;\n]").search(reading.low, end, last)
            clause = reading.low[end : stop.start() if stop else last]
            if _IN_OTHERS.match(clause.lstrip(" ,*")) or re.match(
                rf"(?: and [\w' -]{{2,40}})?,? (?:is|are) (?:listed )?{_IN_OTHERS.pattern}", clause
            ):
                return f"it is told of another kind: {clause.strip()!r}"
    return ""


_WIDER = re.compile(
    r"\b(?:counting|including|incl\.|with|plus) (?:also |even |all )*(?:the |those )?"
    r"(?P<state>lost|closed|won|canceled|cancelled|rejected|inactive|expired)(?: and \w+)? "
    r"(?:ones?|deals?|quotes?|clients?|contracts?|cases?)\b"
)
_NOT_BEFORE = re.compile(r"\b(?:not|n't|without|no)\W+(?:\w+ )?$")
_NARROW = re.compile(r"\b(?:open|active|running|current|live)\b")


def _widened(reading: Reading, context: Context) -> Iterator[str]:
    """A figure of the open ones is told to count others as well."""
    labels = " ".join(fact.label.lower() for fact in context.facts)
    match = _WIDER.search(reading.low) if _NARROW.search(labels) else None
    if match is None or match["state"] in context.question.lower():
        return
    if not _NOT_BEFORE.search(reading.low, 0, match.start()):
        yield f"it is told of more: {match[0]!r}"


_DAY_OF: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"\bclos(?:e|ing) date\b|\bcloses\b"), ("close_date",)),
    (re.compile(r"\bvalid (?:until|till|through|to)\b|\bexpir\w+\b"), ("valid_until", "end_date")),
    (re.compile(r"\bend date\b|\bends\b|\bruns (?:out|until)\b"), ("end_date", "valid_until")),
    (re.compile(r"\bstart date\b|\bstart(?:s|ed)\b|\bbegan\b"), ("start_date",)),
)
_LINK = re.compile(
    r"[^\w.;!?\n]*(?:(?:is|was|of|on|now|set|for|to|at|date|the|falls|still|it|a)\b[^\w.;!?\n]*){0,5}"
)


def _other_days(reading: Reading, context: Context) -> Iterator[str]:
    """A day is told as a record's date of some kind, and is that of none that was looked up."""
    days = [date for date in reading.dates if date.day is not None]
    rows = (*context.turn_rows, *context.changed.values()) if days else ()
    if not context.turn_rows and _tells_of_others(reading, context):
        return
    for words, columns in _DAY_OF if days else ():
        held = {str(row[c])[:10] for row in rows for c in columns if row.get(c)}
        if not held:
            continue
        for match in words.finditer(reading.low):
            for date in days:
                gap = (
                    (match.end(), date.start)
                    if date.start >= match.end()
                    else (date.end, match.start())
                )
                if gap[0] > gap[1] or not _LINK.fullmatch(reading.low, *gap):
                    continue
                ending = f"-{date.month:02d}-{date.day:02d}"
                if context.today.endswith(ending):
                    continue
                known = {day for day in held if day.endswith(ending)}
                if date.year is not None:
                    known = {day for day in known if day.startswith(str(date.year))}
                if not known and ending not in context.said:
                    yield f"{reading.text[date.start : date.end]!r} is of no such date"
                    return


def _tells_of_others(reading: Reading, context: Context) -> bool:
    """Whether a record is named that none of those is, or refers to, that turns before wrote."""
    names = context.directory.names
    texts = {v for row in context.changed.values() for v in row.values() if isinstance(v, str)}
    known = {fold(names.get(text, text)) for text in texts}
    return any(
        " " in name and name not in known for name, _, _ in context.directory.mentions(reading.low)
    )


def _of_another_group(reading: Reading, context: Context) -> Iterator[str]:
    """An amount is told of a group that is another's: "in Qualification $115,000"."""
    groups = context.groups
    if not groups:
        return
    named = sorted(span for name in groups for span in spans(reading, name))
    for (start, end), following in pairwise([*named, (len(reading.low), 0)]):
        own = groups[reading.low[start:end]]["amount"]
        last = min(reading.sentence(start)[1], following[0])
        amount = next((a for a in reading.numbers if end <= a.start < last and a.currency), None)
        others = {g["amount"] for name, g in groups.items() if name != reading.low[start:end]}
        if amount and amount.value != own and amount.value in others:
            yield f"{reading.text[amount.start : amount.end]!r} is of another group"
            return


_QUOTE_STATE = re.compile(
    r"\bquote\b(?: v\d+)?\W{0,4}(?:is|was|now|stands at|status)?\W{0,4}"
    r"(?P<state>closed-won|closed-lost|prospecting|qualification|negotiation)\b"
)


def _of_another_kind(reading: Reading, context: Context) -> Iterator[str]:
    """A stage of deals is told of a quote: "Latest quote: Closed-Won"."""
    match = _QUOTE_STATE.search(reading.low)
    if match and match[0] not in context.said:
        yield f"no quote is in such a state: {match[0]!r}"


_ID = re.compile(r"\b[0-9a-z]{15}(?:[0-9a-z]{3})?\b")
_WITH = re.compile(r"\W{0,6}(?:with|has|had|at|:|,|\()*\W*(?:only |just )?$")


def _counts_of_ids(reading: Reading, context: Context) -> Iterator[str]:
    """A count is told of an id that the calls gave another id."""
    counted = context.counted
    for match in _ID.finditer(reading.low) if counted else ():
        own = counted.get(match[0])
        amount = next(
            (a for a in (*reading.numbers, *reading.number_words) if a.start >= match.end()), None
        )
        if own is None or amount is None or amount.start > match.end() + 24:
            continue
        others = {v for key, values in counted.items() if key != match[0] for v in values}
        if not _WITH.fullmatch(reading.low, match.end(), amount.start):
            continue
        if amount.value not in own and amount.value in others:
            yield f"{reading.text[amount.start : amount.end]!r} is of another"
            return
