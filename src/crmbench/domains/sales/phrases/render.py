"""From an intent to the words of one person: phrasing, values, opening, closing, and manner."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from crmbench.authoring.phrasing import PhrasingHistory
from crmbench.domains.sales.phrases.bank import Bank, Phrasing
from crmbench.domains.sales.phrases.manners import dictate, hurry
from crmbench.domains.sales.phrases.values import Slot, plain, write

Voice = Literal["terse", "formal", "chatty", "hurried", "dictated", "email"]
Place = Literal["first", "told", "done", "refused"]
"""At the start of the conversation, or after an answer, a change, a refusal."""
Act = Literal["ask", "do"]
"""Whether the turn only asks, or has something changed."""
VOICES: tuple[Voice, ...] = ("terse", "formal", "chatty", "hurried", "dictated", "email")
_MANNERS: Mapping[str, tuple[str, ...]] = {
    "terse": ("terse",),
    "formal": ("formal",),
    "chatty": ("chatty",),
    "hurried": ("terse", "chatty"),
    "dictated": ("chatty", "formal"),
    "email": ("formal", "chatty"),
}
_OPENS: Mapping[str, float] = {
    "terse": 0.35,
    "formal": 0.7,
    "chatty": 0.85,
    "hurried": 0.5,
    "dictated": 0.9,
    "email": 1.0,
}
_CLOSES: Mapping[str, float] = {
    "terse": 0.15,
    "formal": 0.35,
    "chatty": 0.4,
    "hurried": 0.35,
    "dictated": 0.4,
    "email": 0.9,
}
_TRIES = 40


@dataclass(frozen=True)
class Wording:
    """How one person speaks."""

    bank: Bank
    voice: Voice
    today: date
    speaker: str
    """First name, for signatures."""
    rng: random.Random
    history: PhrasingHistory = field(default_factory=PhrasingHistory)

    def say(
        self,
        intent: str,
        slots: Mapping[str, Slot],
        *,
        place: Place = "done",
        act: Act = "do",
        chatter: bool = False,
    ) -> str:
        """The words for an intent; tries not to repeat what was heard before.

        Args:
            place: The first turn has greetings and forwarded mail; after a refusal nobody cheers.
            act: People close a question in other words than an order.
            chatter: Whether something that does not matter is said beside it.

        Raises:
            HarnessError: The bank cannot word the intent with these slots.
        """
        return self.history.least_heard(
            lambda: self._once(intent, slots, (place, act), chatter), _TRIES
        )

    def answer(self, intent: str, slots: Mapping[str, Slot]) -> str:
        """A short answer to a question: no greeting, no closing."""
        return _styled(self._core(intent, slots), self.voice, self.rng)

    def _once(
        self,
        intent: str,
        slots: Mapping[str, Slot],
        where: tuple[Place, Act],
        chatter: bool,
    ) -> str:
        place, act = where
        core = self._core(intent, slots)
        # What begins with "So," or "Sorry" opens by itself, and what asks kindly does so once.
        opens, kind = _OPENS_BY_ITSELF.match(core) is not None, "indly" in core
        if chatter:
            core = _sentences(core, self._part("frame.chatter"), self.rng.random() < 0.3)
        if self.voice == "email":
            return self._mail(core, "bare" if opens and place != "first" else place)
        if not opens and self.rng.random() < _OPENS[self.voice]:
            core = _join(self._part(f"frame.opening.{place}"), core)
        if not kind and self.rng.random() < _CLOSES[self.voice]:
            core = _sentences(core, self._part(f"frame.closing.{act}"))
        return _styled(core, self.voice, self.rng)

    def _mail(self, core: str, place: str) -> str:
        """A mail, forwarded where it begins the conversation."""
        parts = {"body": plain(core), "speaker": plain(self.speaker)}
        return _finished(self._core(f"frame.mail.{place}", parts))

    def _part(self, intent: str) -> str:
        return self._core(intent, {"speaker": plain(self.speaker)})

    def _core(self, intent: str, slots: Mapping[str, Slot]) -> str:
        have = frozenset(slots)
        manners = _MANNERS[self.voice]
        needed = frozenset(name for name, slot in slots.items() if slot.required)
        options = self.bank.phrasings(intent, manners, have, needed)
        # Of three drawn, the one least used: phrasings wear out evenly.
        drawn = [self.rng.choice(options) for _ in range(3)]
        chosen = min(drawn, key=lambda p: self.history.cores["".join(p.parts)])
        self.history.cores["".join(chosen.parts)] += 1
        return self._fill(chosen, slots)

    def _fill(self, phrasing: Phrasing, slots: Mapping[str, Slot]) -> str:
        pieces = list(phrasing.parts)
        for place in range(1, len(pieces), 2):
            pieces[place] = self._value(slots[pieces[place]])
            ends_in_s = pieces[place].rstrip(PROTECT[1]).endswith("s")
            if ends_in_s and pieces[place + 1].startswith("'s "):
                pieces[place + 1] = "'" + pieces[place + 1][2:]
        text = "".join(pieces)
        return text[:1].upper() + text[1:] if len(pieces) > 1 and not pieces[0] else text

    def _value(self, slot: Slot) -> str:
        if slot.kind == "noun":
            said = self._core(slot.value, slot.slots)
            # A day said in words is a value too; the words of other nouns may be garbled.
            return _protected(said) if slot.value.startswith("when.") else said
        return _protected(write(slot, self.voice, self.today, self.rng))


def _protected(text: str) -> str:
    return PROTECT[0] + text.replace(PROTECT[0], "").replace(PROTECT[1], "") + PROTECT[1]


PROTECT = ("\x02", "\x03")
"""What stands between them is a value: no manner of speech may touch it."""
_OPENS_BY_ITSELF = re.compile(
    r"(?:and|so|oh|ah|aha|argh|okay|ok|good|great|nice|cool|perfect|right|huh|hm+|sorry|oops|wait|"
    r"then|fine|well|no|now|alright|hang on|my apologies|i am sorry|sigh|bad news|on second|"
    r"fair enough|in that case|i see|i understand|understood|scratch|correction|actually|the other|"
    r"with that|"
    r"also|next|thank|one more|in addition|furthermore|to continue|once|hello|hi|hey|haha|whoops|"
    r"makes sense|yikes|phew|ugh|ah|silly me|excellent|very well|that is fair|sure|news to me)\b"
    r"|[\w ]{1,18}:",
    re.IGNORECASE,
)


def _join(opening: str, core: str) -> str:
    if opening.endswith((".", "!", "?", "…")):
        return f"{opening} {core[:1].upper()}{core[1:]}"
    if core[:2] in ("I ", "I'") or not core[:1].isalpha() or core[1:2].isupper():
        return f"{opening} {core}"
    return f"{opening} {core[:1].lower()}{core[1:]}"


def _sentences(core: str, other: str, before: bool = False) -> str:
    first, second = (other, core) if before else (core, other)
    return f"{_ended(first)} {second[:1].upper()}{second[1:]}"


def _ended(text: str) -> str:
    bare = text.rstrip("\x03")
    return text if bare.endswith((".", "!", "?", "…", ":")) else f"{text}."


def _styled(text: str, voice: str, rng: random.Random) -> str:
    """The words in the person's manner, values untouched."""
    if voice == "hurried":
        text = hurry(text, rng)
    elif voice == "dictated":
        text = dictate(text, rng)
    return _finished(text)


def _finished(text: str) -> str:
    text = text.replace(PROTECT[0], "").replace(PROTECT[1], "")
    return re.sub(r"([.!?])\.(?=\s|$)", r"\1", text).strip()
