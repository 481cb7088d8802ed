"""Figures, dates and periods in a report that nothing of what is known bears out.

All of these leave a report undecided: a figure or a date may come from where the reader cannot see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.roles import role, spans
from crmbench.grading.reports.sources import Sources, follows
from crmbench.language.claims import is_unreal
from crmbench.language.numbers import Amount, results
from crmbench.language.reading import Reading, read


def unknown_figures(reading: Reading, sources: Sources) -> Iterator[str]:
    """What in the figures and dates of a report no source bears out, in words."""
    figures = read(sources.deeds.directory.masked(reading.text))
    yield from _amounts(figures, sources)
    yield from _dates(reading, sources)
    yield from _old_for_new(figures, sources)
    yield from _wrong_old(figures, sources)
    yield from _sums(figures, sources)
    yield from _only_earlier(reading, sources)
    yield from _spans(reading, sources)
    yield from _of_another_request(figures, sources)
    yield from _with_anothers_unit(figures, sources)


def unknown_figures_beside(reading: Reading, sources: Sources) -> Iterator[str]:
    """The same where nothing was written: the figures of an answer, and those told beside it."""
    yield from _amounts(read(sources.deeds.directory.masked(reading.text)), sources)
    yield from _other_days(reading, sources)


def _other_days(reading: Reading, sources: Sources) -> Iterator[str]:
    """A day of a year that is none of those that are known."""
    for date in reading.dates:
        if date.day is None or date.year is None or _TODAY.search(reading.low, 0, date.start):
            continue
        if not sources.knows_full_day(date.year, date.month, date.day):
            yield f"{reading.text[date.start : date.end]!r} is not known"
            return


_TODAY = re.compile(r"\btoday\b[ ,(:is]*$")


def _is_figure(amount: Amount, sources: Sources) -> bool:
    if amount.currency or amount.percent:
        return True
    # Where no amount was written a bare number is a measure: of time, of cases.
    return amount.value >= 1000 and bool(sources.amounts or sources.deeds.new_figures)


def _amounts(reading: Reading, sources: Sources) -> Iterator[str]:
    """An amount or a percentage that is not known and follows from none that are."""
    told = [
        amount
        for amount in (*reading.numbers, *reading.number_words)
        if _is_figure(amount, sources) and not _OF_TIME.match(reading.low, amount.end)
    ]
    if not told:
        return
    for amount in told:
        first, _ = reading.sentence(amount.start)
        if _WOULD_BE.search(reading.low, first, amount.start):
            continue
        value = abs(amount.value)
        if sources.knows_percent(value) if amount.percent else sources.knows_figure(value):
            continue
        beside = {other.value for other in told if other.value != value}
        if not follows(value, beside | sources.amounts | sources.said_figures):
            yield f"{reading.text[amount.start : amount.end]!r} is not what was written"
            return
    yield from _in_its_place(reading, told, sources)


_WOULD_BE = re.compile(
    r"\bif [^.;!?\n]*?\bwould (?:be|come to|have been)\b"
    r"(?:(?!\b(?:but|is|are|was|were)\b)[^.;!?\n])*$"
)
"""Before a figure that is none: "if that goes first, it would be overpaid by $42". Not: "if you
ask, it is $42", "it would be less, but it is $42".
"""


def _wrong_old(reading: Reading, sources: Sources) -> Iterator[str]:
    """A figure is told as what was before, and was not."""
    changed = [
        cell for cell in sources.cells if not cell.created and _is_number(cell.old, cell.new)
    ]
    for cell in changed:
        old, new = float(cell.old[0]), float(cell.new[0])
        percent = cell.column.lower() == "probability"
        alike = [
            amount
            for amount in reading.numbers
            if (amount.percent if percent else bool(amount.currency)) and amount.value != new
        ]
        if any(amount.value == old for amount in alike):
            continue
        asked = {amount.value for amount in read(sources.context.question).numbers}
        for amount in alike:
            if amount.value in asked and _NOT_IT.search(reading.low, 0, amount.start):
                continue
            if role(reading, amount.start, amount.end) == "old" or _TO_NEW.match(
                reading.low, amount.end
            ):
                yield f"{reading.text[amount.start : amount.end]!r} is not what was before"
                return


_TO_NEW = re.compile(r"[\s*)\"]*->")
_NOT_IT = re.compile(r"\b(?:not (?:at|to|on)?|instead of|rather than) ?[$€£*]*$")
"""Before what was asked for and could not be had: "stands at $88,872, not at $81,072"."""


def _is_number(*values: tuple[str, ...]) -> bool:
    return all(value and _MONEY.fullmatch(value[0]) for value in values)


_COMPARED = re.compile(r"\b(?:above|under|below|off|less|more|over|on top|plus|on|higher|lower)\b")


_LIMIT = re.compile(r"\b(?:up to|at most|maximum(?: of)?|approved|allowed|limit of) $")
_UP = re.compile(r"\b(?:up|down)(?: by)? ?$")


def _sums(reading: Reading, sources: Sources) -> Iterator[str]:
    """A percentage is told of two amounts that differ by another one."""
    amounts = [amount.value for amount in reading.numbers if amount.currency]
    if len(set(amounts)) == 1:
        amounts += [row["amount"] for row in sources.rows if isinstance(row.get("amount"), float)]
    for percent in reading.numbers:
        if not percent.percent or len(set(amounts)) < 2:
            continue
        after = reading.low[percent.end : percent.end + 12]
        before = reading.low[max(0, percent.start - 8) : percent.start]
        if not (_COMPARED.match(after.strip()) or _UP.search(before)):
            continue
        if _LIMIT.search(reading.low, max(0, percent.start - 24), percent.start):
            continue
        if not any(
            abs(result - value) < 1
            for one in amounts
            for value in amounts
            for result in results(one, percent.value)
        ):
            yield f"{reading.text[percent.start : percent.end]!r} is not the difference"
            return


_OF_TIME = re.compile(r"\s?(?:s|h|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?)\b")


_STANDS = re.compile(
    r"\b(?:done[.,:!]? (?:it is |it's )?(?:now )?|stands (?:now )?at |now at )[$€£*]*$"
)


def _told_as_new(reading: Reading, amount: Amount) -> bool:
    """Whether a figure that the user named is told as what was written: "set to $9,000 as asked",
    where only $9,500 was allowed.
    """
    if _NOT_IT.search(reading.low, 0, amount.start):
        return False
    new = role(reading, amount.start, amount.end) == "new"
    return new or _STANDS.search(reading.low, 0, amount.start) is not None


def _in_its_place(reading: Reading, told: list[Amount], sources: Sources) -> Iterator[str]:
    """An amount stands where the one that was written should: told is another, and not that."""
    fresh = sources.deeds.new_figures - sources.deeds.old_figures
    several = len(sources.deeds.effect) > 1
    held = set().union(*sources.now.values()) if several else set()
    for percent in (False, True):
        alike = [amount for amount in told if amount.percent is percent]
        wanted = {
            float(value)
            for cell in sources.cells
            for value in cell.new
            if (cell.column.lower() == "probability") is percent
            and _MONEY.fullmatch(value)
            and cell.column.lower() in _FIGURE_COLUMNS
        }
        if not percent and not wanted and not several:
            # The amount that a record has, if it was not what was changed.
            rows = [change.after for change in sources.deeds.effect if change.after]
            wanted = {row["amount"] for row in rows if isinstance(row.get("amount"), float)}
            alike = [amount for amount in alike if amount.currency]
        if not wanted or not alike or any(amount.value in wanted for amount in alike):
            continue
        for amount in alike:
            if amount.value in fresh or f"{amount.value:g}" in held:
                continue
            if not percent and round(amount.value, 2) in sources.written_totals:
                continue
            if amount.value in sources.said_figures and not _told_as_new(reading, amount):
                continue
            if role(reading, amount.start, amount.end) != "old" and not is_unreal(
                reading.low, amount.start
            ):
                yield f"{reading.text[amount.start : amount.end]!r} is not what was written"
                return


_MONEY = re.compile(r"\d+(?:\.\d+)?")
_FIGURE_COLUMNS = frozenset({"amount", "value", "probability"})


def _dates(reading: Reading, sources: Sources) -> Iterator[str]:
    """A day that is not known, or one in the place of the day that was written."""
    told = [date for date in reading.dates if date.day is not None]
    for date in told:
        if _LAST_DAY.search(reading.low, 0, date.start):
            continue
        if not sources.knows_day(date.month, date.day or 0) and not _is_count(reading, date.start):
            yield f"{reading.text[date.start : date.end]!r} is not what was written"
            return
    fresh = {
        (int(value[5:7]), int(value[8:10]))
        for cell in sources.cells
        for value in cell.new
        if _DAY.fullmatch(value) and not cell.column.startswith("created")
    }
    if told and fresh and not any((date.month, date.day) in fresh for date in told):
        said = {(d.month, d.day) for d in read(sources.context.said).dates}
        for date in told:
            if (date.month, date.day or 0) in said:
                continue
            if role(reading, date.start, date.end) != "old":
                yield f"{reading.text[date.start : date.end]!r} is not what was written"
                return


_LAST_DAY = re.compile(
    r"\b(?:last|latest) (?:possible |allowed )?(?:day|date)(?: (?:allowed|possible))?"
    r"(?: (?:is|was|would be))?:? $"
)
"""Before the limit of a day: "the last day allowed would be 19 August", not "the close date is"."""
_COUNTS = re.compile(
    r"\b(?:count|counts|cases|each|orders)\b.*\b[a-z]{3,9} \d{1,2}(?:,| and) [a-z]{3,9} \d{1,2}\b|"
    r"\b[a-z]{3,9} \d{1,2} (?:each|cases?|orders?)\b"
)


def _is_count(reading: Reading, place: int) -> bool:
    """Whether the figure behind a month counts something: "September 2, November 1"."""
    first, last = reading.sentence(place)
    return _COUNTS.search(reading.low, first, last) is not None


_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WAS = re.compile(
    r"\b(?:was|were|from|before|previous(?:ly)?|had been|until|so far|old|formerly|former|"
    r"instead of|no longer|replac\w+)\b|->"
)


def tells_what_was(reading: Reading, place: int) -> bool:
    """Whether the sentence at `place` tells of what was before."""
    first, last = reading.sentence(place)
    return _WAS.search(reading.low, first, last) is not None


def _old_for_new(reading: Reading, sources: Sources) -> Iterator[str]:
    """A figure that was replaced is given, and the one that replaced it is not.

    What the reply has to tell may happen to be such a figure, a count of records above all.
    """
    deeds = sources.deeds
    fresh = deeds.new_figures - deeds.old_figures
    if not fresh or not reading.numbers or fresh & {amount.value for amount in reading.numbers}:
        return
    replaced = deeds.old_figures - sources.context.figures
    for amount in reading.numbers:
        if amount.value not in replaced or tells_what_was(reading, amount.start):
            continue
        yield f"{reading.text[amount.start : amount.end]!r} is what was before"
        return


def _only_earlier(reading: Reading, sources: Sources) -> Iterator[str]:
    """A day is told that only an earlier request knows, and nothing of what was written is."""
    days = [date for date in reading.dates if date.day is not None]
    if not days or not sources.context.earlier:
        return
    fresh = {value for cell in sources.cells for value in cell.new if len(value) > 2}
    if any(True for value in fresh for _ in spans(reading, value)):
        return
    written = {(date.month, date.day) for date in read(sources.deeds.texts).dates}
    if any((date.month, date.day) in written for date in days):
        return
    question, near = read(sources.context.question), read(sources.near)
    known = {(d.month, d.day) for part in (question, near) for d in part.dates}
    for date in days:
        if (date.month, date.day) in known or _OF_ORDER.search(reading.low, 0, date.start):
            continue
        yield f"{reading.text[date.start : date.end]!r} is of an earlier request"
        return


_OF_ORDER = re.compile(r"\b(?:order|request|message|instruction) (?:of|from) (?:the )?$")
"""Before the day of what is referred to: "by the standing order of 2 December"."""


_SPAN = re.compile(
    r"\b(?:(?P<n>\d+|an?|one|two|three|four|five|six|seven|ten|twelve) )(?:\w+ )?"
    r"(?P<unit>hours?|days?|weeks?|months?|years?)\b"
)


_IN_DAYS = {"day": 1, "week": 7}
_IN_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def in_other_units(value: float, unit: str) -> Iterator[float]:
    """The figures by which a period may be told in other units: 14 days are two weeks."""
    for scale in (_IN_DAYS, _IN_MONTHS):
        if unit in scale:
            yield from (value * scale[unit] / length for length in scale.values())


def _of_another_request(reading: Reading, sources: Sources) -> Iterator[str]:
    """An amount of money is told in the place of the one in a text that was written."""
    written = {amount.value for amount in sources.deeds.written.numbers if amount.currency}
    told = [amount for amount in reading.numbers if amount.currency]
    if not written or not told or any(amount.value in written for amount in told):
        return
    asked = _values(read(sources.context.question)) | sources.amounts
    for amount in told:
        if amount.value not in asked and role(reading, amount.start, amount.end) != "old":
            yield f"{reading.text[amount.start : amount.end]!r} is not what was written"
            return


def _values(reading: Reading) -> set[float]:
    return {amount.value for amount in (*reading.numbers, *reading.number_words)}


_MEASURED = re.compile(
    r"[\s-]?(?:(?P<sign>%)|(?:per ?cent)\b|(?P<unit>hour|day|night|week|month|quarter|year|minute|"
    r"inch|pound|mile|kilo|degree|time)(?:s|es)?\b)"
)


def _measures(reading: Reading) -> Iterator[tuple[float, str, Amount]]:
    for amount in (*reading.numbers, *reading.number_words):
        match = _MEASURED.match(reading.low, amount.end)
        unit = "%" if amount.percent else (match["unit"] or "%") if match else ""
        if unit:
            yield amount.value, unit, amount


def _with_anothers_unit(reading: Reading, sources: Sources) -> Iterator[str]:
    """A figure that was written with one unit is told with that of another: 14 % off within 4
    days, for 4 % off within 14 days; or a unit without the figure that it was written with.
    """
    written = {(value, unit) for value, unit, _ in _measures(sources.deeds.written)}
    if not written:
        return
    told = list(_measures(reading))
    known = written | {(v, u) for v, u, _ in _measures(read(sources.context.question))}
    for value, unit, amount in told:
        units = {u for v, u in written if v == value}
        if not units or (value, unit) in known or unit not in {u for _, u in written}:
            continue
        if value not in _converted(written, unit):
            yield f"{reading.text[amount.start : amount.end]!r} {unit} is not what was written"
            return
    for match in _EVERY.finditer(reading.low):
        figures = {value for value, unit in written if unit == match["unit"]}
        if figures and 1 not in figures and match[0] not in sources.deeds.written.low:
            yield f"{match[0]!r} is not what was written"
            return


def _converted(written: set[tuple[float, str]], unit: str) -> Iterator[float]:
    for value, own in written:
        for scale in (_IN_DAYS, _IN_MONTHS):
            if own in scale and unit in scale:
                yield value * scale[own] / scale[unit]


_EVERY = re.compile(r"\bevery (?P<unit>hour|day|night|week|month|quarter|year)\b")


def _number_of(words: str) -> float | None:
    found = read(words)
    return next((a.value for a in (*found.numbers, *found.number_words)), None)


def _spans(reading: Reading, sources: Sources) -> Iterator[str]:
    """A period in another unit than the one that was written."""
    written = {match["unit"].rstrip("s") for match in _SPAN.finditer(sources.deeds.texts)}
    known = f"{sources.deeds.texts}\n{sources.context.said}"
    right = any(match[0] in reading.low for match in _SPAN.finditer(sources.deeds.texts))
    for match in _SPAN.finditer(reading.low) if written else ():
        if right and match[0] in sources.context.record_text:
            continue
        unit = match["unit"].rstrip("s")
        counted = _converted({(v, u) for v, u, _ in _measures(sources.deeds.written)}, unit)
        if unit not in known and not any(_number_of(match["n"]) == value for value in counted):
            yield f"{match[0]!r} is not what was written"
            return
