"""Words on which the meaning of a request turns, in groups: a rewrite keeps to its groups.

A group is met by any of its words. Some of them may not be new either: a request to cancel must
not become one to delete, nor the latest quote the largest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple


class Group(NamedTuple):
    """Words of which one stands for another."""

    name: str
    """For messages."""
    seen: re.Pattern[str]
    """Where this is found in the original …"""
    kept: re.Pattern[str]
    """… this must be found in the rewrite."""
    guarded: bool = False
    """Not to be found in a rewrite of a text in which `kept` is not found."""
    with_percent: bool = False
    """Of use only beside a percentage."""


def _group(
    name: str, seen: str, more: str = "", *, guarded: bool = False, with_percent: bool = False
) -> Group:
    both = f"{seen}|{more}" if more else seen
    found, kept = (re.compile(rf"\b(?:{text})\b") for text in (seen, both))
    return Group(name, found, kept, guarded, with_percent)


GROUPS = (
    # What it is about.
    _group("deal", r"deals?|opportunit(?:y|ies)"),
    _group("quote", r"quot(?:e|es|ed|ing)"),
    _group("contract", r"contracts?", r"agreements?"),
    _group("note", r"not(?:e|es|ed|ing)|jot\w*"),
    _group("stage", r"stages?|how far", r"pipeline"),
    _group("status", r"status(?:es)?", r"state|standing"),
    _group(
        "owner",
        r"own|owns|owners?|owned|in whose name|looks? after",
        r"in charge|responsible|belongs? to|handles?|account manager|looking after",
    ),
    _group("phone", r"(?:tele)?phones?", r"numbers?|calls?|ring|mobile|line"),
    _group("e-mail", r"e-?mails?", r"mails?|address(?:es)?|inbox"),
    _group("close", r"clos(?:e|es|ed|ing)"),
    _group("expiry", r"expir\w+|runs? out", r"valid\w*|lapses?|good until|ends?"),
    _group("validity", r"valid\w*", r"expir\w+|runs? out|lapses?|good until"),
    _group("probability", r"probabilit\w+|odds|likelihood", r"chances?|likel\w+"),
    _group("weighted", r"weighted"),
    _group(
        "amount",
        r"amounts?|how much|worth|total|sum|combined|valued? at|add(?:ed|s)? up",
        r"values?|prices?|figures?|numbers? in dollars|add|altogether|biggest|costs?|bigger",
    ),
    _group("how many", r"how many|count|number of", r"numbers?|counted|total|quantity"),
    _group("days", r"days?"),
    _group("difference", r"differences?|differ", r"gap|apart"),
    _group("address", r"address(?:es)?", r"e-?mails?|mails?|located"),
    _group("title", r"titles?", r"jobs?|roles?|positions?"),
    _group("industry", r"industr(?:y|ies)", r"sector|branch|business"),
    # Which one.
    _group(
        "new",
        r"new|another|further|additional",
        r"fresh|create|make|add|draft|prepare|second|next|more|write|do|now|change\w*|longer",
    ),
    _group("the newest", r"latest|newest|most recent", r"last", guarded=True),
    _group("the last", r"last", r"latest|newest|most recent|final|previous"),
    _group("the oldest", r"oldest|earliest", r"first", guarded=False),
    _group(
        "the biggest",
        r"biggest|largest|highest|priciest|bigger|larger",
        r"greatest|greater|maximum|top|most expensive|higher",
        guarded=True,
    ),
    _group("the smallest", r"smallest|cheapest|smaller|cheaper|lowest", r"least|minimum|lower"),
    _group("the other", r"the others?", r"others?|remaining"),
    _group("open", r"open|still running", r"running|ongoing|in progress"),
    _group("all", r"all|every|each|everybody|everyone|everything", r"any|entire|whole|full|both"),
    _group("except", r"except|apart from|other than|excluding|without", r"but|minus|leav\w+ out"),
    _group("not", r"not|never|\w+n't|cannot", r"no|nothing|none|nobody|without|un\w+"),
    # What to do.
    _group("delete", r"delet\w+|remov\w+|eras\w+|get rid", r"drop|take out", guarded=True),
    _group("cancel", r"cancel\w*|pull|withdraw\w*|scrap|void", r"retract|call off", guarded=True),
    _group("copy", r"cop(?:y|ies)|clon\w+|duplicat\w+", guarded=True),
    _group(
        "undo",
        r"undo|revert|restore|previous|former|roll back",
        r"back|before|prior|earlier|original",
    ),
    _group("renew", r"renew\w*|extend\w*|prolong\w*", r"longer|further|another|more"),
    _group(
        "ask",
        r"what|whose|who|whom|which|when|where|how|tell me|let me know|give me",
        r"show|list|names?|confirm|look up|find|check|pull up|need|know|like|want",
    ),
    # Which way.
    _group(
        "more",
        r"rais\w+|increas\w+|above|on top|plus|more than|higher|bump\w*",
        r"more|up|add\w*|over|extra|uplift",
        with_percent=True,
    ),
    _group(
        "less",
        r"lower\w*|reduc\w+|decreas\w+|below|under|minus|less|discount\w*|off|cut|knock\w*",
        r"down|cheaper|drop\w*|take|shave|trim",
        with_percent=True,
    ),
)
_NEW_NOT = re.compile(r"\b(?:not|never|(?:do|does|did|should|must|wo|need)n't|except|unless)\b")
_MORE, _LESS = (next(group for group in GROUPS if group.name == way) for way in ("more", "less"))


def lost_meanings(
    original: str, rewrite: str, options: Sequence[str], *, percent: bool
) -> Iterator[str]:
    """What a rewrite has lost or added of these groups, as complaints.

    Args:
        original: In lower case, without its values.
        rewrite: The same of the rewrite.
        options: The statuses and stages of the domain, as it writes them.
        percent: Whether a percentage is among the values.
    """
    for group in (*GROUPS, *_option_groups(tuple(options))):
        if group.with_percent and not percent:
            continue
        if group.seen.search(original) and not group.kept.search(rewrite):
            yield f"it no longer says '{_first(group.seen, original)}' or a plain word for it"
        elif group.guarded and group.seen.search(rewrite) and not group.kept.search(original):
            yield f"'{_first(group.seen, rewrite)}' was not said"
    if _NEW_NOT.search(rewrite) and not _group_of("not").kept.search(original):
        yield f"'{_first(_NEW_NOT, rewrite)}' was not said"
    if percent:
        for way, opposite in ((_MORE, _LESS), (_LESS, _MORE)):
            turned = opposite.seen.search(rewrite) and not opposite.kept.search(original)
            if way.seen.search(original) and turned:
                yield f"'{_first(opposite.seen, rewrite)}' was not said"


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[0] if match else ""


def _group_of(name: str) -> Group:
    return next(group for group in GROUPS if group.name == name)


@cache
def _option_groups(options: tuple[str, ...]) -> tuple[Group, ...]:
    """A group for each word of a status or stage: ``Canceled`` is met by any form of cancel."""
    stems: dict[str, None] = {}
    for option in options:
        for word in re.findall(r"[a-z]+", option.casefold()):
            if len(word) >= 3:
                stems[_stem(word)] = None
    return tuple(
        _group(stem, stem if len(stem) <= 4 else rf"{stem}\w*", guarded=stem not in _EVERYDAY)
        for stem in stems
    )


_EVERYDAY = frozenset({"clos", "expir", "high", "low", "new", "email", "phone", "web", "call"})
"""Options that are also said in passing."""


def _stem(word: str) -> str:
    for ending in ("ation", "ing", "led", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word
