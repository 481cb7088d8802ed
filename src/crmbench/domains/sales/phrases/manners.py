"""Manners of speech that change words, not what is said: typing in a hurry, dictating.

Values are enclosed in marks (`render.PROTECT`) and pass through untouched: nobody's amount, name
or date is ever garbled.
"""

from __future__ import annotations

import random
import re

_PIECES = re.compile(r"(\x02[^\x03]*\x03)")
_WORD = re.compile(r"[A-Za-z']+")
_SHORTER = {
    "please": ("pls", "plz", "please"),
    "you": ("u", "you", "you"),
    "your": ("ur", "your"),
    "thanks": ("thx", "thanks", "tks"),
    "with": ("w/", "with", "with"),
    "because": ("bc", "because"),
    "opportunity": ("oppty", "opp", "opportunity"),
    "and": ("and", "&", "adn"),
    "about": ("abt", "about"),
    "tomorrow": ("tmrw", "tomorrow"),
    "before": ("b4", "before"),
    "quickly": ("quick",),
    "are": ("are", "r"),
    "for": ("for", "fro", "for"),
    "the": ("the", "the", "teh", "the"),
    "that": ("that", "taht", "that", "that"),
    "they": ("they", "tehy", "they"),
    "what": ("what", "waht", "what"),
    "from": ("from", "form", "from"),
    "should": ("shoudl", "should"),
    "could": ("coudl", "could"),
    "would": ("woudl", "would"),
    "just": ("jsut", "just", "just"),
    "now": ("now", "nwo", "now"),
    "right": ("right", "rigth"),
    "their": ("their", "thier"),
    "which": ("which", "wich"),
    "quote": ("quote", "qoute", "quote"),
    "client": ("client", "cleint", "client"),
    "change": ("change", "chnage", "change"),
    "update": ("update", "updaet"),
    "something": ("something", "somehting"),
    "really": ("really", "realy"),
    "receive": ("recieve",),
    "definitely": ("definately",),
}
_PAUSES = ("um,", "uh,", "let me think,", "you know,", "so,", "er,")


def hurry(text: str, rng: random.Random) -> str:
    """Lower case, clipped words and slips of the finger; the last full stop is lost."""
    pieces = _PIECES.split(text)
    slips = 0
    for place in range(0, len(pieces), 2):
        words = []
        for word in re.split(r"(\W+)", pieces[place]):
            choices = _SHORTER.get(word.lower())
            if choices is not None and slips < 4 and rng.random() < 0.5:
                short = rng.choice(choices)
                slips += short != word.lower()
                words.append(short)
            else:
                words.append(word.lower())
        pieces[place] = "".join(words).replace("i'm", "im").replace("don't", "dont")
    return _without_stop("".join(pieces))


def dictate(text: str, rng: random.Random) -> str:
    """Spoken into a phone: no capitals at the start of sentences, a pause here and there."""
    pieces = _PIECES.split(text)
    for place in range(0, len(pieces), 2):
        pieces[place] = re.sub(
            r"(?:^|(?<=[.!?] ))([A-Z])(?=[a-z ])(?!(?<=I)[ '])", _lower, pieces[place]
        )
    gaps = [i for i in range(0, len(pieces), 2) if ", " in pieces[i]]
    if gaps and rng.random() < 0.5:
        place = rng.choice(gaps)
        pieces[place] = pieces[place].replace(", ", f", {rng.choice(_PAUSES)} ", 1)
    return _without_stop("".join(pieces))


def _lower(match: re.Match[str]) -> str:
    return match[1].lower()


def _without_stop(text: str) -> str:
    marks = text[len(text.rstrip("\x03")) :]
    bare = text.rstrip("\x03")
    return bare.removesuffix(".") + marks
