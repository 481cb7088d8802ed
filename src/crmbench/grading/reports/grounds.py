"""What in a report is the ground of a decision and not what was done.

"Handed over to Ida Roth (HB-12, in force since 6 May)" tells one value that was written, and a day
that is the handbook's. What a report says of an article is no part of what the grader knows, so its
figures and days are neither borne out nor denied.
"""

from __future__ import annotations

import re

from crmbench.language.reading import Reading, read

_CITES = r"(?:hb-\d|\b(?:memos?|articles?|circulars?|minutes) (?:no\.? ?)?\d)"
_IN_BRACKETS = re.compile(rf"\((?![$€£])(?=within\b|by [a-z]|[^()]*{_CITES})[^()]*\)")
"""Example: "(HB-9304, since 6 November)", "(by Ash SA, 16 May)". Not: "($9,000 by HB-2)"."""
_DAY = r"(?:\d{1,2} [a-z]+ \d{4}|[a-z]+ \d{1,2}, \d{4}|\d{4}-\d\d-\d\d)"
_IN_FORCE = re.compile(
    r"\b(?:since|as of|(?:dropped|ended|repealed|lapsed|changed|withdrawn|lifted|in force) "
    r"(?:on|from|since|as of)) "
    rf"(?P<ground>{_DAY})(?=[^;.\n]{{0,80}}{_CITES})"
)
"""Example: "goes to her since 3 May 2026 (HB-2)". Not: "now closes on 3 May 2026 (HB-2)"."""
_ALLOWED = re.compile(rf"\bhandbook allows (?:up to|at most|until) (?P<ground>{_DAY})")
"""Example: "The handbook allows up to 27 July 2026". Not: "as allowed, until 27 July 2026"."""
_OLD_CONTRACT = re.compile(
    r"(?P<ground>(?:\d[\d.]* ?(?:%|percent)[^.;:()\n]{0,40}? )?(?:the|its|their) "
    r"(?:old|previous|present|current|expiring) contract(?:'s)?(?: value)?(?: of| at|,| is)? "
    r"[$€£]?\d[\d,.]*\d)"
)
"""Example: "9 % below the old contract of $6,800". Not: "instead of $6,800"."""


def without_grounds(reading: Reading) -> Reading:
    """A reading with blanks, place for place, for the grounds that it gives.

    They are brackets that cite an article or tell by whom or within what, a day from which an
    article that is cited holds or no longer holds, the last day that the handbook allows, and what
    the old contract is worth.
    """
    spans = [match.span() for match in _IN_BRACKETS.finditer(reading.low)]
    for pattern in (_IN_FORCE, _ALLOWED, _OLD_CONTRACT):
        spans += [match.span("ground") for match in pattern.finditer(reading.low)]
    if not spans:
        return reading
    text = reading.text
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return read(text)
