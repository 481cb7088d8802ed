"""Does a reply refuse or report a failure?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from crmbench.language.claims import agrees, claims
from crmbench.language.cues import ALL_WELL, NONE_ON_FILE, REFUSAL
from crmbench.language.finding import SAID, Finding, not_said, unsure
from crmbench.language.questions import is_question
from crmbench.language.reading import Reading, read
from crmbench.language.reasons import gives_reason, has_reason_at_all

_DENIES = re.compile(
    r"n't\b|\b(?:not|no|never|nothing|none|nobody|neither|nor|only|unless|until|off|out|stays?|"
    r"away|barred|door|gates?|as \w+ as (?:it|they|ever|before)|remains?|keeps?|kept|left|still|"
    r"without|above|over|wait|too|afraid|sorry|unfortunately)\b"
)


def claims_success(reply: str) -> bool:
    """Whether a reply says that what was asked for has been done.

    "I've updated it" and "Done" claim it. What was done before and explains a refusal ("the deal
    has already been closed, so I can't …"), what was not done, and what could be done do not.
    """
    reading = read(reply)
    found = claims(reading)
    return any(claim.weight == "certain" for claim in found) or (
        bool(found) and not refusal_cues(reading)
    )


@lru_cache(maxsize=512)
def refusal_cues(reading: Reading) -> tuple[str, ...]:
    """The words that tell of a refusal or failure."""
    low = ALL_WELL.sub(lambda match: "~" * len(match[0]), reading.low)
    return tuple(match[0].strip(" .!:;,\n-") for match in REFUSAL.finditer(low))


def refuses(reply: str, reasons: Sequence[str] | str | None = (), question: str = "") -> Finding:
    """Whether a reply conveys that what was asked for was not done, and claims no success.

    A claim beside a refusal ("only the manager may, so I've set it for now"; "I couldn't, but I've
    put it into a note") leaves it unsure; so does a refusal in words that are not known, or one
    that gives another reason than those asked for.

    Args:
        reasons: Words of which the reply must give one, or a synonym, in any case and order,
            within one sentence; beginnings of words do ("approv" for "approval"). None or empty:
            no reason is asked for.
        question: What the user asked for. A reason in other words than those of the wish itself
            refuses even where no word of refusal stands: "That's personal, and stays out."
    """
    reading = read(reply)
    cues, found = refusal_cues(reading), claims(reading)
    if not reading.low.strip():
        return not_said("nothing is said")
    serious = [claim for claim in found if claim.weight != "state"]
    if not cues:
        return _without_cue(reading, [claim.words for claim in found], reasons, question)
    if serious:
        return unsure(f"it refuses, and may claim success: {serious[0].words!r}")
    return _reason(reading, reasons, question)


def _without_cue(
    reading: Reading,
    claimed: Sequence[str],
    reasons: Sequence[str] | str | None,
    question: str,
) -> Finding:
    if not claimed and question and _refuses_by_reason(reading, reasons, question):
        return SAID
    if claimed and (len(claimed) > 1 or _DENIES.search(reading.low) is None):
        return not_said(f"it claims success: {claimed[0]!r}")
    sentences = [part for part in _sentences(reading) if part.strip()]
    short = len(reading.low) < _LONG and not agrees(reading)
    told = not all(is_question(part) for part in sentences)
    hinted = _DENIES.search(reading.low) is not None or any(
        gives_reason(reading, reason) for reason in _wanted(reasons)
    )
    if short and told and hinted:
        return unsure("no refusal is found in it")
    return not_said("no refusal or failure is reported")


_THERE = re.compile(
    r"\b(?:is|are|'s|'re|it's) (?:now |all )*(?:on|in|there|ready|with|at|under|yours|saved|"
    r"stored)\b|"
    r"\b(?:now|again|from now on|done|ready|noted|ok|okay|set|says)\b"
)
"""What may tell that it was done, without a verb of doing."""


def _refuses_by_reason(
    reading: Reading, reasons: Sequence[str] | str | None, question: str
) -> bool:
    """Whether a reason is given, in words that the question does not hold, and nothing claimed."""
    if len(reading.low) > _SHORT or _THERE.search(reading.low) or agrees(reading):
        return False
    if all(is_question(part) for part in _sentences(reading) if part.strip()):
        return False
    asked = set(re.findall(r"[a-z0-9]+", question.lower()))
    own = re.sub(r"[a-z0-9]+", lambda match: "" if match[0] in asked else match[0], reading.low)
    return any(gives_reason(read(own), reason) for reason in _wanted(reasons))


_SHORT = 400
_LONG = 1500
"""Characters of a reply from which on it recites records rather than refuses in its own way."""


def _wanted(reasons: Sequence[str] | str | None) -> tuple[str, ...]:
    return (reasons,) if isinstance(reasons, str) else tuple(reasons or ())


def _reason(reading: Reading, reasons: Sequence[str] | str | None, question: str) -> Finding:
    wanted = _wanted(reasons)
    if not wanted:
        absent = NONE_ON_FILE.search(reading.low)
        return unsure(f"it may speak of something else: {absent[0]!r}") if absent else SAID
    given = [reason for reason in wanted if gives_reason(reading, reason)]
    if given and all(_repeats(reading, reason, question) for reason in given):
        return unsure(f"the reason may only repeat the request: {given[0]!r}")
    if given:
        told = read("".join(part for part in _sentences(reading) if not _is_asked(part)))
        if any(gives_reason(told, reason) for reason in wanted):
            return SAID
        return unsure("the reason stands in a question alone")
    listed = ", ".join(wanted)
    if not has_reason_at_all(reading):
        return not_said(f"no reason is given; one of: {listed}")
    return unsure(f"another reason may be given than one of: {listed}")


def _repeats(reading: Reading, reason: str, question: str) -> bool:
    """Whether a reason stands only within words of the request: the "mp4" of "put demo.mp4 on
    it".
    """
    low = reading.low
    for word in question.lower().split():
        bare = word.strip(".,;:!?()\"'")
        if len(bare) > len(reason) and reason.lower() in bare:
            low = low.replace(bare, " ")
    return low != reading.low and not gives_reason(read(low), reason)


def _is_asked(sentence: str) -> bool:
    return sentence.rstrip(" \"'*)\n").endswith("?")


def _sentences(reading: Reading) -> list[str]:
    starts = [0, *reading.ends[:-1]]
    return [reading.low[start:end] for start, end in zip(starts, reading.ends, strict=True)]
