"""What was said, without mail headers, greetings and fillers."""

from __future__ import annotations

import re

_HEADER = re.compile(
    r"^\s*(?:(?:subject|fwd|fw|re|from|to)\s*:.*"
    r"|(?:hi|hello|dear|good \w+)\b[^.?!]{0,30},)\s*$",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"^\s*(?:(?:many |best |kind |warm )?(?:thanks|regards|best|cheers|wishes)|thank you(?: \w+)*"
    r"|sincerely|yours|sent from my \w+)[\w ]*,?\.?\s*$",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r",?\s*\b(?:u+m+|u+h+m?|e+rm?|you know|let me think|i mean)\b,?", re.IGNORECASE
)
_SHORT = {
    "b4": "before", "w/": "with", "u": "you", "r": "are", "bc": "because", "&": "and",
    "opp": "opportunity", "acct": "account", "&amp;": "and",
}  # fmt: skip


def clean(utterance: str, speaker: str = "") -> str:
    """The words that carry a request, on one line.

    Args:
        speaker: The user's name, which signs mails and is no part of what they ask.
    """
    lines = [line.lstrip("> ").rstrip() for line in utterance.splitlines()]
    kept = [line for line in lines if line and not _HEADER.match(line)]
    first = speaker.split(" ")[0].casefold()
    while len(kept) > 1 and (
        _CLOSING.match(kept[-1]) or kept[-1].casefold().strip(" .,") in {first, speaker.casefold()}
    ):
        kept.pop()
    text = _FILLER.sub("", " ".join(kept)).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return " ".join(_SHORT.get(word.casefold(), word) for word in text.split())
