"""Names in running text: runs of capitalised words, whoever they may be of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from crmbench.language.word_sets import word_set

_WORD = r"[A-Z][\w'-]*[a-z][\w'-]*|[A-Z]{2,}\b|[A-Z]\."
_PARTICLE = r"(?:van|von|de|den|der|la|le|di|da|dos|of|the|&|-)"
_RUN = re.compile(rf"(?<![\w@./'-])(?:{_WORD})(?:[ ](?:{_PARTICLE}[ ])*(?:{_WORD}|v?\d+(?!\w)))*")
_PLAIN = word_set(
    "a an the this that these those their its his her our your my it they he she you i we there "
    "here what who which when where why how is are was were do does did have has had can could "
    "would should shall will may might must let if as at in on of for from to by with without and "
    "or but so no not yes yet only both all any some each every one two three four five six seven "
    "eight nine ten sorry sure done hello hi hey dear good morning afternoon evening thanks thank "
    "please note just also currently today now nothing none nobody everything once since because "
    "while although though after before until unless among counting adding according under until "
    "want need tell give shout anything everybody great lovely happy happily right okay ok next "
    "then first last right hiya kind regards best unfortunately afraid status stage owner amount "
    "value date title name contact contacts client clients deal deals quote quotes contract e-mail "
    "email phone address total case result answer product agent article issue new old won lost "
    "that's it's they're i've i'm i'll you're there's who's here's don't can't couldn't "
    "won't isn't "
    "didn't mr mrs ms miss dr signor signora crm id usd eur gbp jan feb mar apr jun jul aug sep "
    "sept oct nov dec january february march april june july august september october november "
    "december monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun "
    "says according noted recorded updated created added moved changed corrected assigned "
    "reassigned escalated "
    "attached uploaded saved opened closed drafted published up down "
    "draft sent approved rejected canceled cancelled active inactive prospect prospecting "
    "qualification proposal negotiation closed closed-won closed-lost pending signed"
)
_TITLE_NOUN = (
    "manager|director|lead|officer|buyer|clerk|engineer|coordinator|planner|counsel|controller|"
    "procurement|accountant|analyst|assistant|administrator|president|ceo|cfo|cto|coo|head|"
    "supervisor|representative|specialist|secretary|foreman|dispatcher|partner|chair"
)
_TITLE = re.compile(rf"\b(?:{_TITLE_NOUN})\b", re.IGNORECASE)


class Run(NamedTuple):
    """A run of capitalised words."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=512)
def runs(text: str) -> tuple[Run, ...]:
    """The capitalised runs of a text, without the plain words that begin a sentence."""
    return tuple(_runs(text))


def _runs(text: str) -> Iterator[Run]:
    for match in _RUN.finditer(text):
        words = match[0].split(" ")
        start = match.start()
        while words and _is_plain(words[0]):
            start += len(words[0]) + 1
            words = words[1:]
        while words and (words[-1].lower() in _PLAIN or not words[-1][0].isalnum()):
            words = words[:-1]
        if words:
            joined = " ".join(words)
            yield Run(joined.removesuffix("'s"), start, start + len(joined))


_CONTRACTED = re.compile(r"[a-z]+'(?:d|ll|ve|re|m|t)")


def _is_plain(word: str) -> bool:
    """Whether a word is no name: "You'll", "September-November"."""
    low = word.lower()
    if low in _PLAIN or _CONTRACTED.fullmatch(low):
        return True
    if low.isdigit():
        return True
    return "-" in low and all(part in _PLAIN for part in low.split("-"))


def is_title(run: str) -> bool:
    """Whether a run names a function in a company: "Finance Director"."""
    return _TITLE.search(run) is not None


def words_of(text: str) -> set[str]:
    """The words of a text in lower case, without a possessive's ending."""
    low = text.lower()
    words = {word.removesuffix("'s").strip("'") for word in _JOINED_WORD.findall(low)}
    words.update(_SINGLE_WORD.findall(low))
    return words


_JOINED_WORD = re.compile(r"[^\W_][\w'-]*")
_SINGLE_WORD = re.compile(r"[^\W_]+")


def same_title(one: str, other: str) -> bool:
    """Whether two titles are the same: "IT Director" and "Director of IT", or "CFO"."""
    first, second = words_of(one) - {"of", "the"}, words_of(other) - {"of", "the"}
    if first == second:
        return True
    return any(
        "".join(word[0] for word in long.split()).lower() == short.lower()
        for long, short in ((one, other), (other, one))
        if " " in long and " " not in short
    )
