"""Figures, dates, states and periods in a report that nothing of what is known bears out.

All of these leave a report undecided: a figure, a date or a status may come from where the reader
cannot see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.core.answer import STATES
from crmbench.grading.report_deeds import (
    other_columns,
    other_subjects,
    other_things,
    unfounded_deeds,
)
from crmbench.grading.report_names import other_deals
from crmbench.grading.roles import role, spans
from crmbench.grading.sources import Sources, follows
from crmbench.language.claims import is_unreal
from crmbench.language.numbers import Amount, results
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading, read
from crmbench.language.stance import stance
from crmbench.language.word_sets import word_set


def unknown_values(reading: Reading, sources: Sources) -> Iterator[str]:
    """What in a report no source bears out, in words; each may be a misreport."""
    figures = read(sources.deeds.directory.masked(reading.text))
    yield from _amounts(figures, sources)
    yield from _dates(reading, sources)
    yield from _states(reading, sources)
    yield from _old_for_new(figures, sources)
    yield from _made(reading, sources)
    yield from _another(reading, sources)
    yield from _too(reading, sources)
    yield from _updated(reading, sources)
    yield from _wrong_old(figures, sources)
    yield from _sums(figures, sources)
    yield from unfounded_deeds(reading, sources)
    yield from other_columns(reading, sources)
    yield from other_things(reading, sources)
    yield from other_subjects(reading, sources)
    yield from _files(reading, sources)
    yield from _contact_data(reading, sources)
    yield from _addresses(reading, sources)
    yield from _reasons(reading, sources)
    yield from _only_earlier(reading, sources)
    yield from _spans(reading, sources)
    yield from _number_of_records(reading, sources)
    yield from other_deals(reading, sources)
    yield from _other_state(reading, sources)
    yield from _denied_content(reading, sources)


def _is_figure(amount: Amount) -> bool:
    return bool(amount.currency) or amount.percent or amount.value >= 1000


def _amounts(reading: Reading, sources: Sources) -> Iterator[str]:
    """An amount or a percentage that is not known and follows from none that are."""
    told = [
        amount
        for amount in (*reading.numbers, *reading.number_words)
        if _is_figure(amount) and not _OF_TIME.match(reading.low, amount.end)
    ]
    if not told:
        return
    for amount in told:
        value = amount.value
        if value in sources.figures or value in sources.all_figures:
            continue
        beside = {other.value for other in told if other.value != value}
        if not follows(value, beside | sources.deeds.new_figures | sources.said_figures):
            yield f"{reading.text[amount.start : amount.end]!r} is not what was written"
            return
    yield from _in_its_place(reading, told, sources)


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
        for amount in alike:
            if role(reading, amount.start, amount.end) == "old" or _TO_NEW.match(
                reading.low, amount.end
            ):
                yield f"{reading.text[amount.start : amount.end]!r} is not what was before"
                return


_TO_NEW = re.compile(r"[\s*)\"]*->")


def _is_number(*values: tuple[str, ...]) -> bool:
    return all(value and _MONEY.fullmatch(value[0]) for value in values)


_COMPARED = re.compile(r"\b(?:above|under|below|off|less|more|over|on top|plus|on|higher|lower)\b")


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
        if not any(
            abs(result - value) < 1
            for one in amounts
            for value in amounts
            for result in results(one, percent.value)
        ):
            yield f"{reading.text[percent.start : percent.end]!r} is not the difference"
            return


_OF_TIME = re.compile(r"\s?(?:s|h|sec(?:ond)?s?|min(?:ute)?s?|hours?|days?)\b")


def _in_its_place(reading: Reading, told: list[Amount], sources: Sources) -> Iterator[str]:
    """An amount stands where the one that was written should: told is another, and not that."""
    fresh = sources.deeds.new_figures - sources.deeds.old_figures
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
        if not wanted or not alike or any(amount.value in wanted for amount in alike):
            continue
        for amount in alike:
            if amount.value in sources.said_figures or amount.value in fresh:
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
        if (date.month, date.day) not in sources.days and not _is_count(reading, date.start):
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


_COUNTS = re.compile(
    r"\b(?:count|counts|cases|each|orders)\b.*\b[a-z]{3,9} \d{1,2}(?:,| and) [a-z]{3,9} \d{1,2}\b|"
    r"\b[a-z]{3,9} \d{1,2} (?:each|cases?|orders?)\b"
)


def _is_count(reading: Reading, place: int) -> bool:
    """Whether the figure behind a month counts something: "September 2, November 1"."""
    first, last = reading.sentence(place)
    return _COUNTS.search(reading.low, first, last) is not None


_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_STATUS = re.compile(
    r"(?:\b(?P<by>is|are|as|to|now|at|on|in|into|of|status|stage|priority|marked|set|became|"
    r"back to|remains?|stays?|moved|flagged|a|an|the)\b|(?P<to>->)|(?:^|[.!?]\s)(?=[pqn][ruoe]\w+ing|proposal|qualif|negot)|[:\"'(>,|-])[\s\"':*]*"
    r"(?P<state>prospecting|prospect|"
    r"qualification|proposal|negotiation|closed[ -]won|closed[ -]lost|won|lost|active|inactive|"
    r"draft|sent|approved|rejected|cancell?ed|signed|pending|expired|terminated|escalated|closed|"
    r"open|critical|high|medium|low|published|online|archived|working|waiting on customer|new)\b"
    r"(?![ -]?(?:deals?|quotes?|case|one\b))(?! [a-z]+ (?:is|was|has|have)\b)"
)
_LABEL = re.compile(r"\b(?:status|priority|stage)\W*$")
_NO_STATE = frozenset({"working", "new", "low", "high", "open", "prospect"})
"""States that are common words too: they count after "to" and "status" alone."""
_NAMES_STATE = frozenset({"to", "back to", "status", "stage", "priority", "marked", "set", "as"})
_OTHER_THING = re.compile(r"\bv\d+\b|\b(?:other|another|earlier|previous|first|second)\b")


def _states(reading: Reading, sources: Sources) -> Iterator[str]:
    deeds, context = sources.deeds, sources.context
    asked = fold(context.question)
    told = f"{deeds.texts}\n{asked.replace(' ', '-')}\n{asked}"
    held_near = set(sources.near.split("\n"))
    for match in _STATUS.finditer(reading.low):
        state = match["state"].replace("cancelled", "canceled")
        if state.startswith("closed "):
            state = state.replace(" ", "-")
        if state in _NO_STATE and not (match["to"] or match["by"] in _NAMES_STATE):
            if not _LABEL.search(reading.low, max(0, match.start() - 16), match.start()):
                continue
        known = re.compile(rf"\b{state}")
        if known.search(told):
            continue
        place = match.start("state")
        if state in deeds.old_texts:
            how = stance(reading, place, match.end("state"))
            if not how and not _is_what_was(reading, place):
                yield f"{state!r} is what was before"
                return
            continue
        if any(state == held or held.endswith(f"-{state}") for held in held_near) or is_unreal(
            reading.low, place
        ):
            continue
        first, last = reading.sentence(place)
        if _OTHER_THING.search(reading.low, first, last) and (
            known.search(context.record_text) or known.search(sources.beyond)
        ):
            continue
        yield f"{state!r} is not what was written"
        return


_WAS = re.compile(
    r"\b(?:was|were|from|before|previous(?:ly)?|had been|until|so far|old|formerly|former|"
    r"instead of|no longer|replac\w+)\b|->"
)


def _is_what_was(reading: Reading, place: int) -> bool:
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
        if amount.value not in replaced or _is_what_was(reading, amount.start):
            continue
        yield f"{reading.text[amount.start : amount.end]!r} is what was before"
        return


_MADE = re.compile(
    r"\b(?:created|added|made|drafted|uploaded|attached|wrote|written|logged|left|opened|scheduled|"
    r"booked|set up|put|entered|saved|recorded|raised|issued)\b(?: (?!to |on |in |for )\S+){0,4}? "
    r"(?P<thing>note|quote|contract|contact|task|reminder|follow-up|appointment|meeting|deal|"
    r"opportunity|document|file|comment|ticket|discount|client|customer|article|draft|call)\b"
    r"(?!'s| owner| name| status| stage| itself| amount| as | record)"
)


_PASSIVE = re.compile(
    r"\b(?P<thing>note|contract|task|reminder|follow-up|appointment|meeting|comment|ticket|discount|"
    r"article|call|event|letter|e-mail|message)\b(?: [\w-]+){0,4}? (?:was|were|has been|have been|is)"
    r"(?: also| now| already)* (?:created|added|made|drafted|logged|opened|scheduled|booked|set up|"
    r"sent|written|raised|issued)\b"
)
_ANOTHER = re.compile(
    r"\b(?:second|another|further|additional|separate|extra) (?:new )?(?P<thing>[a-z-]{4,})\b"
)
_TOO = re.compile(
    r"\b(?:the |a |an )(?:first |new |own )?(?P<thing>quote|contract|note|comment|article|contact|task|"
    r"reminder|meeting)\b[^.;!?\n]{0,40}\b(?:too|also|as well)\b"
)


def _made(reading: Reading, sources: Sources) -> Iterator[str]:
    """A record that is said to have been made, and of which nothing knows."""
    deeds = sources.deeds
    known = f"{sources.context.question.lower()}\n{deeds.texts}\n{deeds.tables_written}"
    for match in (*_MADE.finditer(reading.low), *_PASSIVE.finditer(reading.low)):
        if match["thing"] in known or is_unreal(reading.low, match.start()):
            continue
        if match[0].startswith("left"):
            continue
        yield f"it may not have been done: {match[0]!r}"
        return


def _another(reading: Reading, sources: Sources) -> Iterator[str]:
    """A second record is said to have been made, where one was, or none."""
    made = sum(change.before is None for change in sources.deeds.effect)
    for match in _ANOTHER.finditer(reading.low):
        before = reading.low[
            max(reading.sentence(match.start())[0], match.start() - 60) : match.start()
        ]
        if made < 2 and _VERB_BEFORE.search(before) and match[0] not in sources.context.said:
            if not is_unreal(reading.low, match.start()) and not reading.is_asked(match.start()):
                yield f"it may not have been done: {match[0]!r}"
                return


def _too(reading: Reading, sources: Sources) -> Iterator[str]:
    """Something else is there "too", and nothing of its kind was written."""
    deeds = sources.deeds
    known = f"{sources.context.question.lower()}\n{deeds.texts}\n{deeds.tables_written}"
    for match in _TOO.finditer(reading.low):
        if match["thing"] not in known and not is_unreal(reading.low, match.start()):
            if not reading.is_asked(match.start()):
                yield f"it may not have been done: {match[0]!r}"
                return


_UPDATED = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:only |just )?(?:updated|changed|corrected|modified)\b"
)


def _updated(reading: Reading, sources: Sources) -> Iterator[str]:
    """Something is said to have been changed, where all that was written is new."""
    match = _UPDATED.search(reading.low)
    if match and all(change.before is None for change in sources.deeds.effect):
        if not is_unreal(reading.low, match.start()):
            yield f"{match[0]!r}: a record was made"


_VERB_BEFORE = re.compile(r"\b(?:added|made|created|opened|drafted|set up|put|wrote|entered)\b")
_FILE = re.compile(r"[\w()-]+\.(?:pdf|docx?|xlsx?|csv|pptx?|txt|png|jpe?g|zip)\b")


_CONTACT_DATA = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\+\d[\d ().-]{7,}\d")


def _contact_data(reading: Reading, sources: Sources) -> Iterator[str]:
    """An e-mail address or a telephone number that nothing knows."""
    for match in _CONTACT_DATA.finditer(reading.low):
        told = match[0].rstrip(".")
        digits = re.sub(r"\D", "", told) if "@" not in told else ""
        if digits and digits in re.sub(r"[ ().-]", "", sources.told):
            continue
        if not sources.knows(told):
            yield f"{told!r} is not what was written"
            return


def _addresses(reading: Reading, sources: Sources) -> Iterator[str]:
    """The street of an address that was written, with another number."""
    for cell in sources.cells:
        for value in cell.new if cell.column == "address" else ():
            number, _, street = value.partition(",")[0].partition(" ")
            if not number.isdigit() or not street:
                continue
            told = set(re.findall(rf"(\d+) {re.escape(street)}", reading.low))
            town = value.rpartition(", ")[2]
            half = number in told and cell.old and town not in reading.low
            if (told and number not in told) or (
                half and cell.old[0].rpartition(", ")[2] in reading.low
            ):
                yield f"{sorted(told)[0]!r} is not the number that was written"
                return


_REASON = re.compile(r"\b(?:because|reason is that|reason:) (?P<why>[^.;!?\n]{8,120})")
_RULES = word_set(
    "rule rules policy handbook guideline guidelines asked wanted requested told gave given named"
)
_DULL = word_set("them they there this that have been will would with from what when your")


def _reasons(reading: Reading, sources: Sources) -> Iterator[str]:
    """Why a deal was lost is told otherwise than the note that was written says."""
    if not any(note.startswith("lost") for note in sources.notes):
        return
    known = set(_WORD.findall("\n".join((*sources.notes, sources.context.said))))
    for match in _REASON.finditer(reading.low):
        words = set(_WORD.findall(match["why"])) - _DULL
        if words and not words & (known | _RULES):
            yield f"{match[0]!r} is not the reason that was written"
            return


def _only_earlier(reading: Reading, sources: Sources) -> Iterator[str]:
    """A day is told that only an earlier request knows, and nothing of what was written is."""
    days = [date for date in reading.dates if date.day is not None]
    if not days or not sources.context.earlier:
        return
    fresh = {value for cell in sources.cells for value in cell.new if len(value) > 2}
    if any(True for value in fresh for _ in spans(reading, value)):
        return
    question, near = read(sources.context.question), read(sources.near)
    known = {(d.month, d.day) for part in (question, near) for d in part.dates}
    for date in days:
        if (date.month, date.day) not in known:
            yield f"{reading.text[date.start : date.end]!r} is of an earlier request"
            return


def _files(reading: Reading, sources: Sources) -> Iterator[str]:
    for match in _FILE.finditer(reading.low):
        if not sources.knows(match[0]):
            yield f"{match[0]!r} is not what was written"
            return


_SPAN = re.compile(
    r"\b(?:(?P<n>\d+|an?|one|two|three|four|five|six|seven|ten|twelve) )(?:\w+ )?"
    r"(?P<unit>hours?|days?|weeks?|months?|years?)\b"
)


def _spans(reading: Reading, sources: Sources) -> Iterator[str]:
    """A period in another unit than the one that was written."""
    written = {match["unit"].rstrip("s") for match in _SPAN.finditer(sources.deeds.texts)}
    known = f"{sources.deeds.texts}\n{sources.context.said}"
    for match in _SPAN.finditer(reading.low) if written else ():
        if match["unit"].rstrip("s") not in known:
            yield f"{match[0]!r} is not what was written"
            return


_SEVERAL = re.compile(r"\b(?:both|all (?:of them|\w+ (?:deals|quotes|cases)))\b")


def _number_of_records(reading: Reading, sources: Sources) -> Iterator[str]:
    match = _SEVERAL.search(reading.low)
    if match and len(sources.deeds.effect) == 1 and "both" not in sources.context.question.lower():
        yield f"{match[0]!r}: one record was written"


def _other_state(reading: Reading, sources: Sources) -> Iterator[str]:
    """A state that neither the words nor what was looked up names."""
    for name, code in STATES.items():
        low = name.lower()
        if low not in reading.low or low in sources.told:
            continue
        found = re.search(rf"\b{low}\b", reading.low)
        known = f"{sources.context.record_text}\n{sources.context.history_text}"
        if found and not re.search(rf"\b(?:{code.lower()}|{low})\b", known):
            yield f"{name!r} is not known"
            return


_NEGATOR = re.compile(r"\b(?:not|never|cannot|no longer|isn't|\w+n't)\b")
_WORD = re.compile(r"[a-z]{4,}")


def _denied_content(reading: Reading, sources: Sources) -> Iterator[str]:
    """What a note or a comment says is told with a "not" that it does not hold."""
    for text in sources.notes:
        if _NEGATOR.search(text) or _NEGATOR.search(sources.context.question.lower()):
            continue
        words = set(_WORD.findall(text))
        for match in _NEGATOR.finditer(reading.low):
            first, last = reading.sentence(match.start())
            beside = set(_WORD.findall(reading.low[match.end() : min(last, match.end() + 40)]))
            sentence = set(_WORD.findall(reading.low[first:last]))
            if beside & words and 2 * len(sentence & words) > len(words):
                yield f"{match[0]!r} is not in what was written"
                return
