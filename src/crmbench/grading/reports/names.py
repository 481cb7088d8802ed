"""Names in a report, against what was written: another record, person, version or title."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.core.answer import STATES
from crmbench.grading.reports.left_as_told import is_whose
from crmbench.grading.reports.mistaken import changed_before, unknown_sizes, values_of_others
from crmbench.grading.reports.other_matters import without_other_matters
from crmbench.grading.reports.roles import phrases, role, said_before, swapped
from crmbench.grading.reports.sources import Cell, Sources
from crmbench.grading.reports.versions import other_versions
from crmbench.language.capitals import is_title, runs, words_of
from crmbench.language.claims import is_unreal
from crmbench.language.patterns import fold
from crmbench.language.reading import Reading


def other_names(reading: Reading, sources: Sources) -> Iterator[tuple[str, bool]]:
    """What is wrong with the names of a report, and whether for certain."""
    yield from _turned_round(reading, sources)
    yield from _other_records(reading, sources)
    for check in (
        changed_before,
        values_of_others,
        unknown_sizes,
        _near_misses,
        _owners,
        _strangers,
        _titles,
        other_versions,
        _you,
        _winners,
    ):
        for why in check(reading, sources):
            yield why, False


def _turned_round(reading: Reading, sources: Sources) -> Iterator[tuple[str, bool]]:
    reading = without_other_matters(reading, sources)
    for cell in sources.cells:
        words, certain = swapped(reading, sources.replaced_only(cell))
        words = words or said_before(reading, cell) or _from_to(reading, cell)
        words = words or _by_first_names(reading, cell)
        if words:
            yield f"{words!r} is the wrong way round, or what was before", certain
            return


def _from_to(reading: Reading, cell: Cell) -> str:
    """Words that tell by first names that it went the other way: "from Anita to Ida"."""
    for new in cell.new:
        for old in cell.old:
            to, by = new.split(" ")[0], old.split(" ")[0]
            if to == by or not (new.count(" ") and old.count(" ")):
                continue
            match = re.search(
                rf"\bfrom {re.escape(to)}\b[^.;!?\n]{{0,24}}\bto {re.escape(by)}\b", reading.low
            )
            if match:
                return match[0]
    return ""


def _by_first_names(reading: Reading, cell: Cell) -> str:
    """Words that give a record by first name to whom it was taken from: "now belongs to Anita"."""
    if "owner" not in cell.column.lower() or cell.created:
        return ""
    for new in cell.new:
        for old in cell.old:
            to, by = new.split(" ")[0], old.split(" ")[0]
            if to == by or not (new.count(" ") and old.count(" ")):
                continue
            told = [
                (name, reading.low[max(0, start - 16) : end], _given(reading, start, end))
                for name, whole in ((to, new), (by, old))
                for start, end in phrases(reading.low, name)
                if not reading.low.startswith(whole, start)
            ]
            right = {(to, "new"), (by, "old")}
            if any((name, how) in right for name, _, how in told):
                continue
            for name, words, how in told:
                if (name, how) in {(by, "new"), (to, "old")}:
                    return words
    return ""


_NOW_THEIRS = re.compile(r"(?:\bnow|\bnew (?:owner|agent)\W*(?:is )?)\W*$")
_OLD_THEIRS = re.compile(
    r"\b(?:previous|former|old) (?:owner|agent)\W*(?:is |was )?\W*$|\bwas\W{1,4}$"
)
_THEIRS_NOW = re.compile(
    r"'s? now\b|'s,? (?:as of now|from now on)\b| (?:has|owns|holds) (?:it|this|the case)\b"
)


def _given(reading: Reading, start: int, end: int) -> str:
    """Whether a record is given to whoever stands at a place, or was theirs."""
    before = reading.low[max(0, start - 24) : start]
    if _OLD_THEIRS.search(before):
        return "old"
    if _NOW_THEIRS.search(before) or _THEIRS_NOW.match(reading.low, end):
        return "new"
    return role(reading, start, end)


def _other_records(reading: Reading, sources: Sources) -> Iterator[tuple[str, bool]]:
    """A record that was neither written nor is known from anywhere; or one of the same kind in the
    place of the one that was written.
    """
    deeds = sources.deeds
    directory = deeds.directory
    found = [
        (name, start, end)
        for name, start, end in directory.mentions(reading.low)
        if " " in name or reading.text[start].isupper()
    ]
    for name, start, end in found:
        tables = directory.tables[name]
        if name in deeds.texts or name in deeds.old_texts:
            continue
        written, replaced, near = sources.slots
        if name in written or name in replaced:
            continue
        if not sources.knows_record(name):
            if _is_reason(reading, name, start, sources):
                continue
            yield (
                f"{name!r} is not what was written",
                bool(deeds.tables & tables)
                and not any(other in deeds.texts for other, _, _ in found),
            )
            return
        rivals = {own for own in written if directory.tables.get(own, frozenset()) & tables}
        rivals |= {own for own, table in _made_before(sources) if table in tables}
        if not rivals and name not in fold(sources.context.question) and not tables & _STAFF:
            rivals = {own for own in near if directory.tables[own] & tables}
        if _takes_a_place(reading, name, start, sources):
            yield f"{name!r} is not what was written", False
            return
        if name in sources.near or not rivals:
            continue
        if is_unreal(reading.low, start) or _is_left_out(reading.low, start, end):
            continue
        if not any(_is_named(_rest(reading, start, end), own, name) for own in rivals):
            yield f"{name!r} is not what was written", False
            return


_LEFT_OUT = re.compile(
    r"\b(?:other than|except(?: for)?|apart from|excluding|but(?: for)?) (?:the )?$"
)
_LEFT_ALONE = re.compile(
    r"(?: (?:was|were|is|are|has been|stays?))?(?: \w+ly)? "
    r"(?:left (?:alone|out|untouched|as (?:it|they) (?:is|was|are|were))|untouched|not touched)\b"
)


def _is_left_out(text: str, start: int, end: int) -> bool:
    """Whether a record, which was not written, is named as one that was not: "the queues other
    than the Web Inbox Queue", "the Web Inbox Queue was left alone".
    """
    return bool(_LEFT_OUT.search(text, 0, start) or _LEFT_ALONE.match(text, end))


_TABLE_OF = {"client_id": "Client", "contact_id": "Contact", "opportunity_id": "Opportunity"}


def _made_before(sources: Sources) -> Iterator[tuple[str, str]]:
    """The records that earlier turns made and that what was written refers to, which no directory
    knows: their names and tables.
    """
    for key in sorted(sources.deeds.keys):
        row = sources.context.changed.get(key)
        if row and key not in sources.deeds.directory.names and isinstance(row.get("name"), str):
            yield fold(str(row["name"])), _TABLE_OF.get(next(iter(row)), "")


def _rest(reading: Reading, start: int, end: int) -> str:
    return f"{reading.low[:start]} {reading.low[end:]}"


_ASIDE = re.compile(
    r"\([^()]*$|\b(?:because|since|according to|on account of|due to|owing to|"
    r"(?:noted|recorded|kept|filed|stands?|entered) (?:on|with|under|against))\b[^.;!?\n]*$"
)


def _is_reason(reading: Reading, name: str, start: int, sources: Sources) -> bool:
    """Whether a record is named in an aside or a reason, beside the one that was written: "the
    dispute was first noted on" another client.
    """
    directory = sources.deeds.directory
    tables = directory.tables.get(name, frozenset())
    first, _ = reading.sentence(start)
    if not tables or tables & _STAFF or not _ASIDE.search(reading.low, first, start):
        return False
    before = reading.low[:start]
    own = {folded for folded in (*sources.slots[0], *sources.slots[2]) if folded != name}
    return any(
        directory.tables.get(other, frozenset()) & tables and _is_named(before, other, name)
        for other in own
    )


_PEOPLE = frozenset({"", "User", "Contact"})


def _takes_a_place(reading: Reading, name: str, start: int, sources: Sources) -> bool:
    """Whether somebody is said to want or say what a note has of another person."""
    if not sources.notes or not sources.deeds.directory.tables[name] <= _PEOPLE:
        return False
    if name in fold(sources.context.question) or is_unreal(reading.low, start):
        return False
    meant = {
        own
        for own in sources.slots[0]
        if sources.deeds.directory.tables.get(own, frozenset()) & _PEOPLE
        and any(own in note for note in sources.notes)
    }
    _, last = reading.sentence(start)
    told = _SAYS.match(reading.low, start + len(name), last) is not None
    return told and bool(meant) and not any(_is_named(reading.low, own, name) for own in meant)


_SAYS = re.compile(
    r" (?:wants?|wishes|asks?|asked|says?|said|needs?|would|has|will|is|prefers?|decides?|plans?|"
    r"expects?|likes?|mentioned|told|thinks?|wrote|called)\b"
)
_STAFF = frozenset({"", "User"})
"""People who may be named beside anything: who approved it, who wrote the note."""


def _is_named(text: str, name: str, other: str) -> bool:
    """Whether a record is named, if only by a word that sets it apart from another one."""
    if any(True for _ in phrases(text, name)):
        return True
    telling = {w for w in words_of(name) - words_of(other) if len(w) > 2 or w.isdigit()}
    found = telling & words_of(text)
    # "Logan" is enough for Logan Boyle, "under" is not for the issue Defect Under Warranty.
    return bool(found) and (len(words_of(name)) < 3 or 2 * len(found) > len(telling))


_STATES = re.compile(r"\b(?:new year)(?:'s)?\b")


_OWNER_BEFORE = re.compile(
    r"(?:\bowner(?: is| now|:)?|\bowned by|\bbelongs? to|\bgiven to|\bassigned to)[^\w\n]*$"
)
_OWNER_AFTER = re.compile(
    r"'?s?\s*(?:,? ?(?:now )?owns\b|is (?:now )?(?:the|its) (?:new )?owner\b|as (?:the|its|a|new|"
    r"their) "
    r"(?:new )?owner\b|owner\b)"
)


def _owners(reading: Reading, sources: Sources) -> Iterator[str]:
    """Somebody is called the owner of a record that was written, and is not."""
    cells = [cell for cell in sources.cells if cell.column.lower() in {"owner", "ownerid"}]
    given = {value for cell in cells for value in (*cell.new, *cell.old)}
    owners = {value for cell in cells for value in (*cell.new, *cell.old)}
    owners |= {fold(str(row["owner"])) for row in sources.rows if isinstance(row.get("owner"), str)}
    for run in runs(reading.text) if owners else ():
        before = reading.low[max(0, run.start - 24) : run.start]
        called = _OWNER_BEFORE.search(before) or _OWNER_AFTER.match(reading.low, run.end)
        if not called or len(run.text.split()) < 2 or " - " in run.text:
            continue
        name = fold(run.text)
        if _of_another_record(reading, run.start, sources):
            continue
        if given and name in sources.deeds.directory.tables and name not in given:
            yield f"{run.text!r} does not own it"
            return
        if not any(words_of(name) <= words_of(owner) for owner in owners) and not any(
            True for cell in sources.cells for value in cell.new if name in value
        ):
            yield f"{run.text!r} does not own it"
            return


def _of_another_record(reading: Reading, place: int, sources: Sources) -> bool:
    """Whether a sentence is about a record that the user spoke of and that was not written: "The
    Acme renewal belongs to Chen Wu", in a turn in which something else fell due.
    """
    first, last = reading.sentence(place)
    named = {
        name
        for name, _, _ in sources.deeds.directory.mentions(reading.low[first:last])
        if not sources.deeds.directory.tables[name] <= _STAFF and " " in name
    }
    own = {name for name in named if any(name in each for each in sources.called)}
    return not own and any(name in fold(sources.context.question) for name in named)


def _near_misses(reading: Reading, sources: Sources) -> Iterator[str]:
    """A name that shares most of its words with the one that is meant, and is not it."""
    question = fold(sources.context.question)
    for run in runs(reading.text):
        if len(run.text.split()) < 3:
            continue
        name = fold(run.text)
        name = name.partition(" of ")[2] if is_title(run.text) else _JOINT.split(name)[-1]
        words = words_of(name)
        if len(words) < 3 or name in question or name in sources.deeds.texts:
            continue
        if any(name in own for own in sources.called):
            # What was written may have been described rather than named.
            continue
        shared = [own for own in sources.meant if 2 * len(words & words_of(own)) > len(words)]
        if shared and not any(words <= words_of(own) for own in shared):
            yield f"{run.text!r} is not what was meant"
            return


def _is_known(name: str, sources: Sources) -> bool:
    words = words_of(name) - _STATE_WORDS
    return sources.knows(fold(name)) or any(words <= held for held in sources.word_sets)


def _strangers(reading: Reading, sources: Sources) -> Iterator[str]:
    """A name of several words that nothing knows, or of which the words are known one by one
    only: "Marlridge III 27 Inch" of a "Marlridge II 29 Inch".
    """
    for run in runs(reading.text):
        words = words_of(run.text) - _STATE_WORDS
        if len([word for word in words if not word[:1].isdigit()]) < 2 or is_title(run.text):
            continue
        if _STATES.search(reading.low, max(0, run.start - 8), run.end):
            continue
        if " " not in run.text and _CALL.match(reading.low, run.end) and run.start < 4:
            continue
        if _COMPOUND.fullmatch(run.text) and _BEGINS.search(reading.text, 0, run.start):
            continue
        if all(_is_known(part, sources) for part in _JOINT.split(run.text)):
            continue
        if _VERB_FIRST.match(run.text) and _is_known(run.text.partition(" ")[2], sources):
            continue
        if _is_reason(reading, fold(run.text), run.start, sources) or is_whose(run.text, sources):
            continue
        yield f"{run.text!r} is not known"
        return


_COMPOUND = re.compile(r"[A-Z][a-z]+(?:-[a-z]+)+")
"""A common word where a sentence begins: "Look-alikes". Not: "Look-Alikes"."""
_BEGINS = re.compile(r"(?:^|[.!?\n])[\s*-]*$")
_JOINT = re.compile(r" of |'s |(?<=s)' ")
"""What joins two names. Example: "Tove's Pallet Tracking"."""
_OF_SOMEBODY = re.compile(r"'s |(?<=s)' ")
_VERB_FIRST = re.compile(r"[A-Z][a-z]+ed v?\S+$")
"""A participle before what it was done to. Example: "Replaced v2"."""
_CALL = re.compile(r"[,!]")
"""Behind a word that opens a reply: an interjection, or whom it is for."""
_STATE_WORDS = frozenset({"north", "south", "west", "new", "day", "year", "year's"})


_NOBODY = frozenset({"nobody"})
_A_DEAL = re.compile(r"^(?:\s+\w+){0,2}?\s+(?:deal|opportunity|business)\b")


def other_deals(reading: Reading, sources: Sources) -> Iterator[str]:
    """A deal by name that is none of those that were written or are referred to."""
    written = set(sources.called)
    written |= {value for cell in sources.cells for value in cell.new if " - " in value}
    deals = {name for name in written if " - " in name}
    if not deals:
        return
    known = "\n".join((*sorted(written), fold(sources.context.question)))
    for run in runs(reading.text):
        name = fold(run.text)
        if " - " not in name and not (
            len(name.split()) > 1 and _A_DEAL.match(reading.low[run.end : run.end + 40])
        ):
            continue
        if sources.deeds.directory.tables.get(name, _NOBODY) <= _PEOPLE:
            continue
        words = words_of(_JOINT.split(name)[-1])
        if any(words <= words_of(deal) for deal in deals) or all(map(str.isdigit, words)):
            continue
        if name in sources.context.record_text and any(deal in reading.low for deal in deals):
            # What was looked up on the way, beside the deal that was written.
            continue
        if not words <= words_of(known) and not is_title(run.text):
            yield f"{run.text!r} was not written"
            return


def _titles(reading: Reading, sources: Sources) -> Iterator[str]:
    """A title that nothing knows, or one in the place of the title that was written."""
    written = {value for cell in sources.cells if cell.column == "title" for value in cell.new}
    right = any(True for value in written for _ in phrases(reading.low, value))
    for run in runs(reading.text):
        if not is_title(run.text) or run.text.lower() in _COMMON or " - " in run.text:
            continue
        title = fold(_OF_SOMEBODY.split(run.text)[-1])
        if " of " in title and not title.startswith(("head of ", "director of ", "vp of ")):
            title = title.partition(" of ")[0]
        if title not in sources.told and not any(
            words_of(title) <= held for held in sources.word_sets
        ):
            yield f"{run.text!r} is not what was written"
            return
        if not written or right or title in fold(sources.context.question):
            continue
        if role(reading, run.start, run.end) != "old" and not any(
            words_of(run.text) <= words_of(value) for value in written
        ):
            yield f"{run.text!r} is not what was written"
            return


_COMMON = frozenset({"manager", "director", "lead", "head", "officer", "partner"})
_YOURS = re.compile(
    r"\b(?:made you (?:the|its) (?:new )?owner|you(?:'re| are) (?:now )?(?:the|its|their) (?:new "
    r")?owner|(?:is|are) (?:now )?yours\b(?! to \w)|"
    r"(?:given|assigned|handed|belongs?|reassigned|gave|transferred)(?: \w+){0,3} to you\b|"
    r"owned by you\b|under your name\b|(?<!was )(?<!were )in your name\b|you own\b|"
    r"with you as (?:the )?owner)"
)


def _you(reading: Reading, sources: Sources) -> Iterator[str]:
    """The person who asks is called the owner, and is not."""
    match = _YOURS.search(reading.low)
    asker = fold(sources.context.asker)
    if match and asker and not is_unreal(reading.low, match.start()):
        written = [change.after or {} for change in sources.deeds.effect]
        rows = [row for row in written if isinstance(row.get("owner"), str)] or sources.rows
        owners = {fold(str(row.get("owner"))) for row in rows if isinstance(row.get("owner"), str)}
        if asker not in owners and asker not in sources.deeds.texts:
            yield f"{match[0]!r}: {sources.context.asker} is not"


def _winners(reading: Reading, sources: Sources) -> Iterator[str]:
    """A candidate that a call weighed is named, and the one that it singled out is not."""
    candidates: set[str] = set()
    singled: set[str] = set()
    for result in sources.context.records:
        if isinstance(result, list) and len(result) == 1 and isinstance(result[0], str):
            singled.add(result[0])
        elif isinstance(result, dict) and len(result) > 2:
            numeric = all(isinstance(value, int | float) for value in result.values())
            candidates |= set(result) if numeric else set()
    winners = singled & candidates
    if not winners:
        return
    told = [key for key in sorted(candidates) if _candidate_told(reading, key, sources)]
    if told and not any(key in winners for key in told):
        yield f"{told[0]!r} is not what the calls singled out"


def _candidate_told(reading: Reading, key: str, sources: Sources) -> bool:
    if re.search(rf"\b{re.escape(key)}\b", reading.text):
        return True
    names = (*_state_names(key), *map(fold, sources.deeds.directory.shown(key)))
    return any(True for name in names for _ in phrases(reading.low, name))


def _state_names(code: str) -> Iterator[str]:
    yield from (name.lower() for name, short in STATES.items() if short == code)
