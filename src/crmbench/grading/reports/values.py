"""States, addresses, files and reasons in a report that nothing of what is known bears out.

All of these leave a report undecided: a status may come from where the reader cannot see.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.core.answer import STATES
from crmbench.grading.reports.claimed_deeds import unfounded_deeds
from crmbench.grading.reports.extras import (
    changed_from,
    miscalled,
    more_things,
    other_quotes,
    same_to_others,
    state_of_new,
    the_other,
    told_of_another,
    wrong_old,
)
from crmbench.grading.reports.figures import tells_what_was, unknown_figures
from crmbench.grading.reports.measures import wrong_measures
from crmbench.grading.reports.names import other_deals
from crmbench.grading.reports.objects import other_columns, other_subjects, other_things
from crmbench.grading.reports.pairs import mispaired, misstated_versions, turned_round
from crmbench.grading.reports.recited import without_recited
from crmbench.grading.reports.records import unmade_records
from crmbench.grading.reports.scope import deeds_on_other_kinds, more_records, moved_to
from crmbench.grading.reports.sources import Sources
from crmbench.language.claims import is_unreal
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading
from crmbench.language.stance import stance
from crmbench.language.word_sets import word_set


def unknown_values(reading: Reading, sources: Sources) -> Iterator[str]:
    """What in a report no source bears out, in words; each may be a misreport."""
    for check in _CHECKS:
        yield from check(reading, sources)


_STATUS = re.compile(
    r"(?:\b(?P<by>is|are|as|to|now|at|on|in|into|of|status|stage|priority|marked|set|became|"
    r"back to|remains?|stays?|moved|flagged|a|an|the)\b|(?P<to>->)|(?<=it)'s|(?:^|"
    r"[.!?]\s)(?=[pqn][ruoe]\w+ing|proposal|qualif|negot)|[:\"'(>,|-])[\s\"':*]*"
    r"(?P<state>prospecting|prospect|"
    r"qualification|proposal|negotiation|closed[ -]won|closed[ -]lost|won|lost|active|inactive|"
    r"draft|sent|approved|rejected|cancell?ed|signed|pending|expired|terminated|escalated|closed|"
    r"open|critical|high|medium|low|published|online|archived|working|waiting on customer|new)\b"
    r"(?![ -]?(?:deals?|quotes?|case|one\b))(?! [a-z]+ (?:is|was|has|have)\b)"
)
_LABEL = re.compile(r"\b(?:status|priority|stage|after|now|new value)\W*$")
_NO_STATE = frozenset({"working", "new", "low", "high", "open", "prospect"})
"""States that are common words too: they count after "to" and "status" alone."""
_NAMES_STATE = frozenset({"to", "back to", "status", "stage", "priority", "marked", "set", "as"})
_OTHER_THING = re.compile(r"\bv\d+\b|\b(?:other|another|earlier|previous|first|second)\b")


EITHER = re.compile(
    r"(?<![\w$])(?P<one>[A-Z][\w-]*|\d[\d.,]*%?) or (?:maybe |perhaps |possibly )?"
    r"(?P<other>[A-Z][\w-]*|[$]?\d[\d.,]*%?)"
)
"""Example: "was June or July". Not: "in June, or so"."""


def _left_open(reading: Reading, sources: Sources) -> Iterator[str]:
    """One of two values is told, of which one was written."""
    for match in EITHER.finditer(reading.text):
        words = fold(match[0])
        sides = {fold(match["one"]), fold(match["other"])}
        written = {side for side in sides if side in sources.deeds.texts}
        if written and written != sides and not sources.knows(words):
            yield f"it leaves open which: {match[0]!r}"
            return


_IN_COLUMN = re.compile(
    r"\b(?P<column>status|stage|priority)\b[\s*:|'\"]*(?:is |was |now |has been set to |set to |"
    r"changed to |"
    r"to |[a-z ]{3,24} -> |-> )*[*'\"]*(?P<value>[a-z]+(?:-[a-z]+)?)"
)
"""Example: "Priority: **High**", "status low -> escalated". Not: "the status of the case"."""


def _misplaced(reading: Reading, sources: Sources) -> Iterator[str]:
    """What one column of a record holds is told of another: "Status: High"."""
    told = list(_IN_COLUMN.finditer(reading.low))
    held: dict[str, set[str]] = {}
    for row in (
        (*sources.rows, *(change.before or {} for change in sources.deeds.effect)) if told else ()
    ):
        for column, value in row.items():
            if column.lower() in {"status", "stage", "priority"} and isinstance(value, str):
                held.setdefault(column.lower(), set()).add(fold(value))
    for match in told if len(held) > 1 else ():
        own = held.get(match["column"], set())
        others = {v for column, values in held.items() if column != match["column"] for v in values}
        if own and match["value"] in others - own:
            yield f"{match[0]!r} is not what was written"
            return


def _is_named_state(reading: Reading, match: re.Match[str]) -> bool:
    """Whether a word that is common elsewhere too stands where a state does."""
    if match["to"] or match["by"] in _NAMES_STATE:
        return True
    return _LABEL.search(reading.low, max(0, match.start() - 16), match.start()) is not None


def _states(reading: Reading, sources: Sources) -> Iterator[str]:
    deeds, context = sources.deeds, sources.context
    asked = fold(context.question)
    told = f"{deeds.texts}\n{asked.replace(' ', '-')}\n{asked}"
    held_near = set(sources.near.split("\n"))
    # What one record was and another is now: which of them is meant is not read.
    exchanged = {value for cell in sources.cells for value in cell.new} & deeds.old
    for match in _STATUS.finditer(reading.low):
        state = match["state"].replace("cancelled", "canceled")
        if state.startswith("closed "):
            state = state.replace(" ", "-")
        if state in _NO_STATE and not _is_named_state(reading, match):
            continue
        known = re.compile(rf"(?<![a-z]){state}(?![a-z])")
        if known.search(told) or state in exchanged:
            continue
        place = match.start("state")
        if state in deeds.old_texts:
            how = stance(reading, place, match.end("state"))
            if not how and not tells_what_was(reading, place):
                yield f"{state!r} is what was before"
                return
            continue
        if any(state == held or held.endswith(f"-{state}") for held in held_near) or is_unreal(
            reading.low, place
        ):
            continue
        if reading.is_asked(place) or _THOSE_THAT.search(reading.low, 0, match.start("state")):
            continue
        if _of_another_thing(reading, place, sources) and (
            known.search(context.record_text) or known.search(sources.beyond)
        ):
            continue
        yield f"{state!r} is not what was written"
        return


_THOSE_THAT = re.compile(
    r"\b(?:that|which|those|ones|all|deals|quotes|cases|contracts) (?:are|were) (?:already |"
    r"still )?$"
)
"""Before a state that tells which are meant: "deals that are closed I left alone"."""


def _of_another_thing(reading: Reading, place: int, sources: Sources) -> bool:
    """Whether the sentence is about another record than those that were written: "v2", where v3
    is the new one.
    """
    first, last = reading.sentence(place)
    directory = sources.deeds.directory
    for name, _, _ in directory.mentions(reading.low[first:last]):
        if name not in sources.called and name in sources.context.record_text and " " in name:
            return True
    own = {word for name in sources.called for word in name.split()}
    own.update(word for cell in sources.cells for value in cell.new for word in value.split())
    return any(match[0] not in own for match in _OTHER_THING.finditer(reading.low, first, last))


_FILE = re.compile(
    r"[\w()-]+\.(?:pdf|docx?|xlsx?|csv|pptx?|txt|png|jpe?g|zip|exe|mp[34]|mov|msg|eml|json|xml|"
    r"html?|rtf|od[ts]|gif|svg|bat|js|heic)\b"
)


_CONTACT_DATA = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\+\d[\d ().-]{7,}\d")


def contact_data(reading: Reading, sources: Sources) -> Iterator[str]:
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


def _files(reading: Reading, sources: Sources) -> Iterator[str]:
    for match in _FILE.finditer(reading.low):
        name = match[0].lstrip("(")
        if not sources.knows(name):
            yield f"{name!r} is not what was written"
            return
        if _is_rival_file(reading, name, sources):
            yield f"{name!r} is not the file that was written"
            return


def _is_rival_file(reading: Reading, name: str, sources: Sources) -> bool:
    """Whether another file is named than the one that was uploaded, and that one is not."""
    own = {v for c in sources.cells if c.column == "file_name" for v in c.new}
    asked = fold(sources.context.question)
    return bool(own) and name not in asked and not any(each in reading.low for each in own)


def _other_state(reading: Reading, sources: Sources) -> Iterator[str]:
    """A state that neither the words nor what was looked up names."""
    near = {line.upper() for line in sources.near.split("\n") if len(line) == 2}
    own = near & set(STATES.values())
    if any(code.lower() in _codes_told(reading) for code in own):
        return
    known = "" if own else f"{sources.context.record_text}\n{sources.context.history_text}"
    known += "\n".join(code.lower() for code in own)
    for match in _STATE_NAME.finditer(reading.low):
        low = match[0]
        if low in sources.told or re.search(rf"\b(?:{_CODES[low]}|{low})\b", known):
            continue
        yield f"{low.title()!r} is not known"
        return


def _codes_told(reading: Reading) -> set[str]:
    return {_CODES[match[0]] for match in _STATE_NAME.finditer(reading.low)}


_CODES = {name.lower(): code.lower() for name, code in STATES.items()}
_STATE_NAME = re.compile(rf"\b(?:{'|'.join(sorted(_CODES, key=len, reverse=True))})\b")
_NEGATOR = re.compile(r"\b(?:not|never|cannot|no longer|isn't|\w+n't)\b")
_WORD = re.compile(r"[a-z]{4,}")


def _denied_content(reading: Reading, sources: Sources) -> Iterator[str]:
    """What a note or a comment says is told with a "not" that it does not hold."""
    if sources.notes and reading.may_negate:
        reading = without_recited(reading, sources)
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


_CHECKS = (
    unknown_figures,
    wrong_measures,
    _misplaced,
    _states,
    unmade_records,
    unfounded_deeds,
    other_columns,
    other_things,
    other_subjects,
    more_things,
    same_to_others,
    wrong_old,
    told_of_another,
    state_of_new,
    other_quotes,
    turned_round,
    mispaired,
    misstated_versions,
    miscalled,
    _left_open,
    the_other,
    changed_from,
    _files,
    contact_data,
    _addresses,
    _reasons,
    other_deals,
    _other_state,
    _denied_content,
    deeds_on_other_kinds,
    moved_to,
    more_records,
)
