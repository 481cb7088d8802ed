"""Legal forms of companies: what is left out of a name when people speak."""

from __future__ import annotations

import re

LEGAL_FORMS = (
    "a/s", "ab", "ag", "aps", "as", "asa", "bv", "co", "corp", "dac", "gmbh", "inc", "kg", "kk",
    "lda", "llc", "ltd", "nv", "oy", "plc", "sa", "sarl", "sas", "sl", "spa", "srl",
)  # fmt: skip
"""In lower case, without a full stop."""

_FORM = re.compile(rf"[ ,]+(?:{'|'.join(LEGAL_FORMS)})\.?(?=\s+-\s|$)", re.IGNORECASE)
"""A form at the end of a name, or of the part before a dash: "Oksanen Paper Inc - Pilot", not
"Co Design - Pilot"."""


def without_legal_forms(name: str) -> str:
    """The name as people say it: "Moorhen Ltd." is "Moorhen", "Oksanen Paper Inc - Pilot" is
    "Oksanen Paper - Pilot"."""
    return _FORM.sub("", name)
