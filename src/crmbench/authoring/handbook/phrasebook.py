"""Sentences with gaps: said in several wordings, and read back.

A template is a sentence with named gaps, as in ``"{client} pays within {days} days."``. What can
stand in a gap is given once for all templates, as a regular expression. `Phrasebook` refuses
templates that cannot be told apart on the sentences that were said with them only when they are
read, so a domain's tests read back every sentence that it can say.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crmbench.errors import HarnessError

_GAP = re.compile(r"\{(\w+)\}")
"""A gap of a template: "{days}"; not "{}"."""


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence, understood."""

    kind: str
    gaps: Mapping[str, str]


class Phrasebook:
    """Says things of several kinds and reads them back.

    Args:
        templates: Kind to its wordings. All wordings of a kind have the same gaps.
        patterns: Gap to the regular expression of what may stand in it.

    Raises:
        HarnessError: A gap has no pattern, or two wordings of a kind have other gaps.
    """

    def __init__(self, templates: Mapping[str, Sequence[str]], patterns: Mapping[str, str]) -> None:
        self.templates = templates
        self._readers: list[tuple[str, re.Pattern[str]]] = []
        for kind, wordings in templates.items():
            gaps = {frozenset(_GAP.findall(wording)) for wording in wordings}
            if len(gaps) != 1:
                raise HarnessError(f"the wordings of '{kind}' have different gaps")
            missing = sorted(gaps.pop() - patterns.keys())
            if missing:
                raise HarnessError(f"'{kind}': no pattern for the gap '{missing[0]}'")
            self._readers += [(kind, _reader(wording, patterns)) for wording in wordings]

    def say(self, kind: str, rng: random.Random, **gaps: str) -> str:
        """The thing in one of its wordings."""
        return rng.choice(self.templates[kind]).format(**gaps)

    def read(self, text: str) -> list[Said]:
        """Everything that the text says, in the order in which it stands there."""
        found: dict[tuple[int, int], Said] = {}
        for kind, reader in self._readers:
            for match in reader.finditer(text):
                found[match.span()] = Said(kind, match.groupdict())
        ordered = sorted(found.items(), key=lambda item: (item[0][0], -item[0][1]))
        said: list[Said] = []
        end = 0
        for (start, stop), each in ordered:
            # What lies within a longer sentence is a part of that one.
            if start >= end:
                said.append(each)
                end = stop
        return said


def _reader(wording: str, patterns: Mapping[str, str]) -> re.Pattern[str]:
    parts: list[str] = []
    seen: set[str] = set()
    position = 0
    for gap in _GAP.finditer(wording):
        parts.append(re.escape(wording[position : gap.start()]))
        name = gap[1]
        parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{patterns[name]})")
        seen.add(name)
        position = gap.end()
    return re.compile("".join(parts) + re.escape(wording[position:]))
