"""Utterances: sentences with alternatives, behind an opening and before a closing."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import yaml

from crmbench.authoring.phrasing import PhrasingHistory
from crmbench.authoring.pools import Pool, owners

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_TRIES = 60
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


@cache
def phrases(name: str) -> Mapping[str, Any]:
    """The content of `phrases/<name>.yaml`."""
    file = resources.files("crmbench.domains.service") / "phrases" / f"{name}.yaml"
    found: Mapping[str, Any] = yaml.load(file.read_text("utf-8"), Loader=_LOADER)
    return found


@cache
def template_owners() -> Mapping[str, Pool]:
    """Which pool has each template of the folder; words for goods are everybody's."""
    folder = resources.files("crmbench.domains.service") / "phrases"
    names = sorted(file.name.removesuffix(".yaml") for file in folder.iterdir())
    return owners(group for name in names if name != "goods" for group in _lists(phrases(name)))


def _lists(content: Any) -> Iterator[Sequence[str]]:
    if isinstance(content, Mapping):
        content = list(content.values())
    elif isinstance(content, list) and all(isinstance(each, str) for each in content):
        yield content
        return
    for value in content if isinstance(content, list) else ():
        yield from _lists(value)


def expand(template: str, rng: random.Random) -> str:
    """A template with one of each ``[this|or that]`` chosen; they may be nested."""
    while "[" in template:
        template = _CHOICE.sub(lambda m: rng.choice(m[1].split("|")), template)
    return template


def tidy(text: str) -> str:
    """One space between words, a capital at the start of each sentence."""
    text = re.sub(r"\s+([,.?!;:])", r"\1", " ".join(text.split()))
    return re.sub(r"(^|[.?!] )([a-z])", lambda m: m[1] + m[2].upper(), text)


class Voice:
    """Says things, never the same sentence twice, and rarely in the same phrasing.

    Args:
        history: What was said by this voice and others, none of which says it again.
        pool: The part of the phrasings that it speaks in; all of them if empty.
    """

    def __init__(
        self, rng: random.Random, history: PhrasingHistory | None = None, pool: Pool = ""
    ) -> None:
        self._rng = rng
        self.pool = pool
        self._history = history or PhrasingHistory()

    def say(self, templates: Sequence[str], frame: str, **values: str) -> str:
        """An utterance of one of the templates, among some tries the phrasing heard least.

        Args:
            frame: Whose openings and closings it may have: a key of `frames.yaml`.
            values: What fills the slots.
        """
        return self._history.least_heard(lambda: self._one(templates, frame, values), _TRIES)

    def word_for_word(self, texts: Sequence[str]) -> str | None:
        """One of some utterances as it stands; None if all of them were said before."""
        new = [text for text in texts if text not in self._history.texts]
        if not new:
            return None
        text = self._rng.choice(new)
        self._history.note(text)
        return text

    def _own(self, templates: Sequence[str]) -> Sequence[str]:
        """Those templates that the voice's pool has."""
        if not self.pool:
            return templates
        owned = template_owners()
        return [template for template in templates if owned[template] == self.pool]

    def _one(self, templates: Sequence[str], frame: str, values: Mapping[str, str]) -> str:
        rng = self._rng
        frames = phrases("frames")[frame]
        openings, closings, bodies = map(
            self._own, (frames["openings"], frames["closings"], templates)
        )
        opening = rng.choice(openings) if rng.random() < 0.7 else ""
        closing = rng.choice(closings) if rng.random() < 0.4 else ""
        body = expand(rng.choice(bodies), rng)
        text = expand(" ".join((opening, "{body}", closing)), rng).replace("{body}", body)
        return tidy(text.format_map(values))
