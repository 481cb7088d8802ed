"""Deeds that a report tells of, against those that were done.

Every kind of deed has its verbs, and what bears it out: a change of that kind, or the user's own
words. A deed that nothing bears out may not have been done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crmbench.grading.reports.sources import Sources
from crmbench.language.claims import is_unreal
from crmbench.language.reading import Reading
from crmbench.language.verbs import EARLIER


class DeedKind(NamedTuple):
    """A kind of deed: its verbs, the words of a wish for it, and what change bears it out."""

    verbs: str
    asked: str
    """Beginnings of words of the user, and of texts that were written, that speak of it."""
    done: Callable[[Sources], bool]
    states: str = ""
    """How a record stands after it: told of a record that stands so, it is no deed."""


def _set_to(*states: str) -> Callable[[Sources], bool]:
    return lambda sources: any(
        value.startswith(states) for cell in sources.cells for value in cell.new
    )


def _columns(*columns: str) -> Callable[[Sources], bool]:
    return lambda sources: any(column in name for name in sources.columns for column in columns)


def _handed_over(sources: Sources) -> bool:
    return any(
        "owner" in cell.column.lower() or (cell.column == "client_id" and not cell.created)
        for cell in sources.cells
    )


def _gone(sources: Sources) -> bool:
    return any(change.after is None for change in sources.deeds.effect)


def _merged(sources: Sources) -> bool:
    """Clients that are merged are gone, cases point to the one that remains."""
    return _gone(sources) or _columns("masterrecordid")(sources)


def _made(*tables: str) -> Callable[[Sources], bool]:
    return lambda sources: any(
        change.before is None and (not tables or change.table in tables)
        for change in sources.deeds.effect
    )


def _numbers(up: bool) -> Callable[[Sources], bool]:
    def changed(sources: Sources) -> bool:
        for cell in sources.cells:
            try:
                old, new = float(cell.old[0]), float(cell.new[0])
            except (ValueError, IndexError):
                continue
            if old < new if up else new < old:
                return True
        return any(cell.column.lower() == "priority" for cell in sources.cells)

    return changed


def _never(sources: Sources) -> bool:
    del sources
    return False


KINDS: dict[str, DeedKind] = {
    "close": DeedKind(
        "closed", r"(?<!time to )close(?! date)|closed|lost\b|won\b", _set_to("closed"), "closed"
    ),
    "reopen": DeedKind(
        "re-?opened",
        r"re-?open",
        lambda sources: any(value.startswith("closed") for c in sources.cells for value in c.old),
    ),
    "publish": DeedKind(
        "published|put online|gone online|gone live",
        "publish|online",
        _set_to("online", "published"),
        "online|published",
    ),
    "send": DeedKind(
        r"sent(?! back)|e-?mailed|mailed|forwarded|gone (?:out )?to the (?:client|customer)|"
        r"gone out",
        r"send\b|sent\b(?! from my)|e-?mail (?:it|them|him|her|the)|forward",
        _set_to("sent"),
        "sent",
    ),
    "deliver": DeedKind(
        r"on (?:its|the|their) way to|(?:sent|mailed|gone(?: out)?|passed|"
        r"handed) to (?:the (?:client|customer|contact)|him|"
        r"her|"
        r"them)(?! from\b)",
        r"send (?:it|them|this|that|him|her|the|an?)\b|mail (?:it|them|him|her|the)\b|hand|pass",
        _never,
    ),
    "notify": DeedKind(
        r"notified|informed|(?<!is )(?<!are )(?<!'s )(?<!now )called|phoned|contacted|"
        r"let (?!me\b|us\b)[\w' ]{1,24}? know|"
        r"wrote (?:to )?(?:him|her|them|[a-z]+ [a-z]+ that)|told(?= (?:him|her|them|the|[a-z]+ "
        r"[a-z]+)\b)",
        r"notif|inform|let (?!me\b|us\b).{1,40}know|tell (?!me\b|us\b)",
        _never,
    ),
    "report": DeedKind(
        r"(?:reported|flagged|raised) (?:[\w']+ ){0,5}?(?:to|with) (?:the |your |their |his |her )?"
        r"(?:\w+ )?(?:manager|supervisor|boss|team|lead|legal|hr)",
        r"report|flag|manager|inform|let (?!me\b)",
        _never,
    ),
    "delete": DeedKind(
        "deleted|removed|erased|archived|thrown out",
        r"delet|remov|take .{1,40}off|"
        r"throw|get rid|drop|scrap|erase",
        _gone,
    ),
    "merge": DeedKind("merged|combined", "merg|combin|duplicat", _merged),
    "approve": DeedKind(
        r"approved|authori[sz]ed|signed off|okayed|given (?:their|his|her|its) (?:ok|approval)",
        "approv",
        _set_to("approved"),
        "approved",
    ),
    "sign": DeedKind("signed", "sign", _set_to("signed"), "signed"),
    "cancel": DeedKind(
        r"cancell?ed", "cancel|call off|withdraw|scrap|lost", _set_to("canceled"), "canceled"
    ),
    "reject": DeedKind(
        "rejected|turned down", "reject|turn(?:ed)? .{0,20}down", _set_to("rejected"), "rejected"
    ),
    "escalate": DeedKind("escalated", "escalat", _set_to("escalated"), "escalated"),
    "activate": DeedKind("(?:re-?)?activated", "activ", _set_to("active"), "active"),
    "deactivate": DeedKind("deactivated", "inactiv|deactiv", _set_to("inactive"), "inactive"),
    "assign": DeedKind(
        r"(?:re-?)?assigned|handed over|transferred|given (?:it |the (?:case|deal|client) )?to|"
        r"gave (?:it|the (?:case|deal|client)) to|put you in charge",
        r"assign|hand|transfer|give|owner|rout|belong|pass|move|take",
        _handed_over,
    ),
    "appoint": DeedKind(
        "made (?:you|him|her|them) (?:the|a|an|its|their)",
        "owner|in charge|make (?:me|him|her|them)|main",
        _handed_over,
    ),
    "refund": DeedKind("refunded|credited|reimbursed", "refund|credit|reimburs", _never),
    "bill": DeedKind("invoiced|billed|charged", "invoic|bill|charg", _never),
    "schedule": DeedKind(
        "scheduled|booked|reserved|ordered|arranged",
        "schedul|book|reserv|order|arrang|appoint",
        _never,
    ),
    "extend": DeedKind(
        "extended|prolonged|postponed|shortened",
        r"exten|longer|until|postpon|push|"
        "date|run|valid",
        _columns("date", "validuntil"),
    ),
    "lower": DeedKind(
        "lowered|reduced|discounted|decreased|downgraded",
        r"lower|reduc|less|off|discount|cut|under|down|below|cheap|decreas",
        _numbers(up=False),
    ),
    "raise": DeedKind(
        "raised|increased|upgraded|bumped up",
        r"rais|increas|more|up\b|above|high|add|plus|priorit",
        _numbers(up=True),
    ),
    "copy": DeedKind("cloned|copied|duplicated", "clon|cop[yi]|duplic|same as|like", _never),
    "rename": DeedKind("renamed", "name|call", _columns("name", "title", "subject")),
    "create": DeedKind(
        r"created|(?:set up|opened|drafted) (?:a|an|another|one)|made (?:a|an|another) (?:new |"
        r"second |further |separate )?(?:contact|deal|client|quote|contract|note|article|case)",
        r"creat|new|add|open|make|made|draft|quote|deal|write|note|record|contract|set up|register",
        _made(),
    ),
    "upload": DeedKind(
        "uploaded|attached", r"upload|attach|file|stor|stick|put|document|add", _made("Document")
    ),
}
_SUBJECT = (
    r"(?P<own>\bmarked as|\b(?:i|we)(?:'ve| have|'d)?(?: (?:\w+ly|also|then|just|already|even|"
    r"have|since))*|"
    r"\band(?: (?:then|also|even|have|i|i've|it|it's|has|was|is|been|already))*|"
    r"(?:^|[,;.!\n:(]|\s-)(?: ?(?:and|then|also|even))*)"
    r"|\b(?:has|have|was|were|is|are|'s|been|got|gets)(?: (?:\w+ly|also|now|already|been|then|even|"
    r"all))*"
)
_VERBS = {name: re.compile(rf"(?:{kind.verbs})\b(?!-)") for name, kind in KINDS.items()}
_ANY_VERB = re.compile(
    rf"(?<!\w)(?=[a-z])(?=(?:{'|'.join(kind.verbs for kind in KINDS.values())})\b)"
)
"""Where verbs begin, also those within the words of another kind: "[raised] it and [sent] it"."""
_ASKED = {name: re.compile(rf"\b(?:{kind.asked})") for name, kind in KINDS.items()}
_SUBJECT_BEFORE = re.compile(rf"(?:{_SUBJECT})\s?$")
DESCRIBED = r"(?:were|are|have|count|stay|remain|went|left (?:aside|alone|out))\b"
"""Begins what is told of records that a participle only describes: "merged cases [were] left"."""
_ATTRIBUTE = re.compile(
    rf" (?!(?:this|its|his|was|has|is|does|us)\b)[a-z]+s,? {DESCRIBED}|"
    r" (?:case|deal|quote|contact) [\w-]*\d[\w-]* (?:was|is|has)\b"
)
"""After a participle that only tells which records are meant: "merged cases were counted", "merged
cases left aside", "merged case 0121 was left". Not: "merged cases and left".
"""
_STATED_TOO = re.compile(r"\b(?:is|are|was|were|been) (?:\w+ed|won|lost|sent) ?$")
"""Before "and closed" that tells how a record stands: "it's been won and closed"."""
_TO_NOBODY = re.compile(r"(?: out| on)? (?:to )?(?:nobody|no ?one|nowhere|none)\b")
_WHICH = re.compile(
    r"\b(?:which|that|who|whom|what|as|the|were|those|(?:those|ones|cases?) they) $"
)
"""Before a participle that tells which are meant: "with the case they [were merged] into"; not
where a sentence begins: "They [were merged]".
"""


def unfounded_deeds(reading: Reading, sources: Sources) -> Iterator[str]:
    """Deeds that neither a change nor the words of the user bear out, in words."""
    places = [match.start() for match in _ANY_VERB.finditer(reading.low)]
    if not places:
        return
    question = sources.context.question.lower()
    for name, kind in KINDS.items():
        # Each kind is looked for where a verb begins, not in the whole reply.
        found = [match for at in places if (match := _VERBS[name].match(reading.low, at))]
        if not found or kind.done(sources):
            continue
        if _ASKED[name].search(question) or _ASKED[name].search(sources.deeds.written.low):
            continue
        words = _told_of(reading, found, name, sources)
        if words:
            yield f"it may not have been done: {words!r}"


_IN_BRACKETS = re.compile(r" (?:on|to|by|in|under|from|at|with)\b")


def _describes(low: str, start: int, end: int) -> bool:
    """Whether a participle only says which is meant: "the merged 0121", "(booked on 0121)"."""
    if low.endswith(("the ", "its ", "their ", "each "), 0, start):
        return True
    return low.endswith("(", 0, start) and _IN_BRACKETS.match(low, end) is not None


def _told_of(reading: Reading, found: list[re.Match[str]], name: str, sources: Sources) -> str:
    low, states = reading.low, KINDS[name].states
    for match in found:
        subject = _SUBJECT_BEFORE.search(low, max(0, match.start() - 60), match.start())
        if subject is None or is_unreal(low, match.start()) or EARLIER.match(low, match.end()):
            continue
        if _ATTRIBUTE.match(low, match.end()) or _TO_NOBODY.match(low, match.end()):
            continue
        if _describes(low, match.start(), match.end()):
            continue
        by_me = (subject["own"] or "").startswith(("i ", "i'", "we ", "we'", "i", "we"))
        if not by_me and _WHICH.search(low, max(0, subject.start() - 12), subject.start()):
            continue
        if reading.is_asked(match.start()):
            continue
        own = (subject["own"] or "").strip(" ,;.!\n:(-")
        own = "" if own == "and" and _STATED_TOO.search(low, 0, subject.start()) else own
        stands = not own and states and _stands_so(states, sources)
        if stands and not _is_otherwise_now(reading, match.start(), states, sources):
            continue
        return low[subject.start() : match.end()].strip(" ,;.!\n:(")
    return ""


def _is_otherwise_now(reading: Reading, place: int, states: str, sources: Sources) -> bool:
    """Whether the sentence names a record that was written, and given another state."""
    first, last = reading.sentence(place)
    set_to = {v for c in sources.cells if c.column.lower() in _STATES for v in c.new}
    if not set_to or any(re.match(states, value) for value in set_to):
        return False
    ids = {change.key.lower() for change in sources.deeds.effect}
    return any(name in reading.low[first:last] for name in ids)


_STATES = frozenset({"status", "stage"})


def _stands_so(states: str, sources: Sources) -> bool:
    """Whether some record that the report may speak of stands as it says."""
    known = (sources.near, sources.context.record_text, sources.beyond, sources.deeds.old_texts)
    return any(re.search(rf"\b(?:{states})", text) for text in known)
