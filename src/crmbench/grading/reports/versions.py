"""Versions of quotes and phases of deals in a report, against those that were written and known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.roles import phrases
from crmbench.grading.reports.sources import Sources
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading

_NUMBERED = re.compile(r"\b(phase|version|v) ?(\d{1,2})\b")


def _numbered(text: str) -> set[str]:
    return {f"{kind[0]}{number}" for kind, number in _NUMBERED.findall(text)}


def other_versions(reading: Reading, sources: Sources) -> Iterator[str]:
    """A version of a quote or a phase of a deal, where another one was written."""
    told = _numbered(reading.low)
    if not told:
        return
    written = _numbered("\n".join(value for cell in sources.cells for value in cell.new))
    written |= _numbered("\n".join(map(fold, map(str, _names_written(sources)))))
    for kind in "vp":
        own = {number for number in written if number[0] == kind}
        named = {number for number in told if number[0] == kind}
        if (
            own
            and named
            and not own & named
            and not named & _numbered(fold(sources.context.question))
            and not all(_is_a_reference(reading, number, sources) for number in named)
        ):
            yield f"{sorted(named)[0]!r} is not what was written"
            return
    yield from unknown_versions(reading, sources)


_AS_THE = re.compile(
    r"\b(?:of|as|by|per|with|from|what|like|to|on) the (?P<state>approved|sent|rejected|canceled) $"
)


def _is_a_reference(reading: Reading, number: str, sources: Sources) -> bool:
    """Whether a version only tells where a value is from: "the same as the approved v1"."""
    rows = [row for row in sources.context.all_rows if row.get("version") == number]
    states = {fold(str(row.get("status"))) for row in rows}
    told = [
        _AS_THE.search(reading.low, max(0, start - 40), start)
        for start, _ in phrases(reading.low, number)
    ]
    return bool(told) and all(match and match["state"] in states for match in told)


def unknown_versions(reading: Reading, sources: Sources) -> Iterator[str]:
    """A version of a quote or a phase of a deal that nothing speaks of."""
    told = _numbered(reading.low)
    if not told:
        return
    looked_up = f"{sources.context.record_text}\n{sources.beyond}\n{sources.told}"
    told -= _numbered("\n".join(map(fold, map(str, _names_written(sources)))))
    unknown = told - _numbered(looked_up)
    if unknown:
        yield f"{sorted(unknown)[0]!r} is not known"


def _names_written(sources: Sources) -> Iterator[str]:
    for change in sources.deeds.effect:
        row = change.after or change.before or {}
        yield from (str(row.get(column) or "") for column in ("name", "version", "Title"))
