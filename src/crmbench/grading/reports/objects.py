"""What a report says a deed was done to, against what was written: a column, a record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crmbench.grading.reports.roles import spans
from crmbench.grading.reports.sources import Sources
from crmbench.language.claims import is_unreal
from crmbench.language.reading import Reading

_CHANGED = re.compile(
    r"\b(?:moved|changed|updated|set|raised|lowered|put|adjusted|switched|extended|shortened|"
    r"bumped|pushed|back to|went|goes|gone|increased|reduced|reset|corrected|filled in|added|is "
    r"now|"
    r"are now|has been|now (?:runs|says|reads|stands|shows|closes|ends|is)|is \S+ now)\b|\bnow\b"
)
_STAYS = re.compile(
    r"\b(?:stays?|remains?|unchanged|untouched|still|kept|keeps?|left|as before|same|already|"
    r"not|n't|without|no|nothing|(?:was|were)(?! (?:also |then )?\w+ed\b)|if|shall|should|would|"
    r"want|like|may|can|could|need|"
    r"because|since|which|takes?|follows?|comes? with)\b|\?|n't\b|as (?:it|they|you|set|before)"
)
COLUMNS: dict[str, tuple[str, ...]] = {
    r"clos(?:e|ing) date": ("closedate",),
    r"validity(?: date| period)?|valid[ -](?:date|until|period)|expiry": ("validuntil",),
    r"amount|(?<!new )value": ("amount", "value"),
    r"probability|odds": ("probability", "stage"),
    r"stage": ("stage",),
    r"status": ("status", "publishstatus"),
    r"priority": ("priority", "status"),
    r"owner(?:ship)?": ("owner", "ownerid"),
    r"phone(?: number)?": ("phone", "personmobilephone"),
    r"e-?mail(?: address)?": ("email", "personemail"),
    r"(?:job )?title": ("title", "subject"),
    r"subject": ("subject",),
}
"""What people call a column, and the columns meant."""
_COLUMN = re.compile(
    rf"\b(?:{'|'.join(f'(?P<c{n}>{words})' for n, words in enumerate(COLUMNS))})\b"
)


def other_columns(reading: Reading, sources: Sources) -> Iterator[str]:
    """A column that is said to be changed, and is not one of those that were."""
    for match in _COLUMN.finditer(reading.low):
        wanted = list(COLUMNS.values())[int((match.lastgroup or "c0")[1:])]
        if any(column in sources.columns for column in wanted):
            continue
        first, last = _clause(reading, match.start())
        if match[0] in sources.context.question.lower():
            continue
        clause = reading.low[first:last]
        if _STAYS.search(clause) or match[0] in sources.deeds.texts:
            continue
        if _CHANGED.search(clause):
            yield f"{match[0]!r} was not changed"
            return


_CLAUSE_END = re.compile(r"[;,(]|\s-\s|\band\b|\bbut\b|\bso\b|\bwith\b|\bat\b|\buntil\b")


def _clause(reading: Reading, place: int) -> tuple[int, int]:
    first, last = reading.sentence(place)
    for match in _CLAUSE_END.finditer(reading.low, first, place):
        first = match.end()
    after = _ASIDE_END.search(reading.low, place, last)
    return first, after.start() if after else last


_ASIDE_END = re.compile(r"\)")
"""What ends an aside: "(close date 2026-09-12) moved to Proposal"."""
_THINGS: dict[str, tuple[str, ...]] = {
    r"deals?|opportunit(?:y|ies)": ("Opportunity",),
    r"quotes?": ("Quote",),
    r"clients?|customers?|accounts?": ("Client", "Account", "Company"),
    r"contacts?": ("Contact",),
    r"contracts?": ("Contract",),
    r"cases?": ("Case",),
    r"articles?": ("Knowledge__kav",),
}
_THING = "|".join(f"(?P<t{number}>{words})" for number, words in enumerate(_THINGS))
_ON_THING = re.compile(
    r"\b(?:on|to|with|under|onto|in|into|for) (?:the |your |his |her |their |a |this |that )?"
    rf"(?:(?!the |and |or )[\w'-]+ ){{0,4}}?(?:{_THING})"
    r"(?: record| entry)?\b(?! (?:owner|manager|number))"
)


def other_things(reading: Reading, sources: Sources) -> Iterator[str]:
    """A note, file or comment that is said to be on a record of another kind than it is."""
    own = {change.table for change in sources.deeds.effect if change.before is None}
    attached = own & {"Note", "Document", "CaseComment"}
    if not attached or own - attached - {"CaseHistory__c"}:
        return
    kinds = {str((change.after or {}).get("entity_type")) for change in sources.deeds.effect}
    kinds |= {change.table for change in sources.deeds.effect}
    if "CaseComment" in own:
        kinds.add("Case")
    for match in _ON_THING.finditer(reading.low):
        if reading.low[: match.start()].endswith("according ") or match[0] in sources.told:
            continue
        number = next(int(name[1:]) for name, found in match.groupdict().items() if found)
        words, tables = list(_THINGS.items())[number]
        asked = re.search(rf"\b(?:{words})\b", sources.context.question.lower())
        if kinds.intersection(tables) or asked:
            continue
        if "Quote" in kinds and _OF_A_QUOTE.search(reading.low, 0, match.start()):
            continue
        if not is_unreal(reading.low, match.start()) and not reading.low[
            match.end() :
        ].lstrip().startswith("?"):
            yield f"{match[0]!r} is not what was written"
            return


_OF_A_QUOTE = re.compile(r"\bquote (?:v\d+ |version \d+ )?$")
"""Before the deal that a quote is on: "attached to quote v3 on the Yard Management deal"."""
_CONFUSED: dict[str, str] = {
    "Opportunity": r"deals?|opportunit",
    "Quote": r"quotes?|offer",
    "Contract": "contract",
}
_SAYS = re.compile(
    r"\b(?:the|this|your|their|its) (?:[\w-]+ ){0,3}?(?P<thing>deal|opportunity|quote|contract)"
    r"(?:'s [a-z ]{3,14})? (?:now )?(?:says|is|stands|reads|shows|comes|runs|amounts|has|carries)\b"
)


def other_subjects(reading: Reading, sources: Sources) -> Iterator[str]:
    """A value that was written is told of a record of another kind: a quote's of the deal."""
    written = {change.table for change in sources.deeds.effect}
    own = [table for table in _CONFUSED if table in written]
    if len(own) != 1:
        return
    fresh = {
        value
        for cell in sources.cells
        if cell.table == own[0]
        for value in set(cell.new) - set(cell.old)
        if value[:1].isdigit()
    }
    for match in _SAYS.finditer(reading.low):
        first, last = reading.sentence(match.start())
        if re.search(rf"\b(?:{_CONFUSED[own[0]]})", reading.low[first:last]):
            continue
        told = any(first <= at < last for value in fresh for at, _ in spans(reading, value))
        if told and match["thing"] not in sources.context.question.lower():
            yield f"{match[0]!r} is not what was written"
            return
