"""A reply, read once: its plain text and the typed values that it mentions."""

from __future__ import annotations

from functools import cached_property, lru_cache

from crmbench.language.dates import DateMention, find_dates
from crmbench.language.numbers import Amount, find_number_words, find_numbers
from crmbench.language.text import around, lower, plain, sentence_ends

_NEGATION = (
    *("not", "n't", "no ", "never", "neither", "nor", "without", "nobody", "nothing", "cannot"),
    *("except", "exclud", "omitting", "than", "instead", "opposed", "apart", "aside", "ceased"),
    *("tried", "trying", "attempt", "wanted", "failed", "refused", "rejected", "declined", "stale"),
    *(
        "out of",
        "stopped",
        "old",
        "none",
        "wrong",
        "false",
        "correct",
        "doubt",
        "unable",
        "nt ",
        "outdated",
        "one of",
        "unknown",
    ),
    *(
        "mistake",
        "accurate",
        "out of date",
        "error",
        "nope",
        "leaving out",
        "minus",
        "far from",
        "thing but",
        "body but",
        "one but",
        "to be",
    ),
)
_DENIAL = (
    *("denied", "turned", "still", "stay", "remain", "left", "leave", "leaving", "touched"),
    *("unchanged", "failure", "refuse", "decline"),
)
_REPLACEMENT = (
    *("from", "was", "were", "previous", "former", "original", "old", "prior", "before", "->"),
    *("=>", "initially", "earlier", "used to", "once", "replac", "became", "turned", "supersed"),
    *("past", "stale", "until", "instead", "than", "been", "stood", "back then", "opposed", "got"),
    *("outdated", "--"),
)
_DOUBT = (
    *("either", "maybe", "perhaps", "possib", "probab", "presum", "likely", "might", "may be"),
    *("may have", "could", "think", "guess", "suspect", "assum", "suppos", "sure", "seem"),
    *("appear", "somewhere", "between", "should", "would", "estimate", "recall", "?", "or so"),
    *(
        "give or take",
        "thereabouts",
        " can ",
        " may ",
        "will",
        "'ll",
        "'d",
        "suggest",
        "recommend",
        "propose",
        "going to",
    ),
)
_CONDITION = ("if", "unless", "whether", "assuming", "suppose", "in case", "should you")


class Reading:
    """What the matchers look at. Values are found when first asked for, and once."""

    def __init__(self, reply: str, keep_struck: bool = False) -> None:
        self.text = plain(reply, keep_struck)
        self.low = lower(self.text)

    @cached_property
    def ends(self) -> list[int]:
        return sentence_ends(self.low)

    @cached_property
    def dates(self) -> list[DateMention]:
        return find_dates(self.low)

    @cached_property
    def numbers(self) -> list[Amount]:
        return find_numbers(self.low, [(date.start, date.end) for date in self.dates])

    @cached_property
    def number_words(self) -> list[Amount]:
        return find_number_words(self.low)

    # Whether the reply holds any word that could deny, replace, doubt or suppose what it says:
    # most replies hold none, and the patterns that decide need not run.

    @cached_property
    def may_negate(self) -> bool:
        return any(word in self.low for word in _NEGATION)

    @cached_property
    def may_deny(self) -> bool:
        return self.may_negate or any(word in self.low for word in _DENIAL)

    @cached_property
    def may_replace(self) -> bool:
        return any(word in self.low for word in _REPLACEMENT)

    @cached_property
    def may_doubt(self) -> bool:
        return any(word in self.low for word in _DOUBT)

    @cached_property
    def may_suppose(self) -> bool:
        return any(word in self.low for word in _CONDITION)

    def sentence(self, place: int) -> tuple[int, int]:
        """The span of the sentence, line or table cell at `place`."""
        return around(self.ends, place)

    def is_asked(self, place: int) -> bool:
        """Whether the sentence at `place` ends in a question mark."""
        _, end = self.sentence(place)
        return self.low[:end].rstrip(" \"')*").endswith("?")

    def line(self, place: int) -> tuple[int, int]:
        """The span of the line at `place`; a table row is one line."""
        start = self.low.rfind("\n", 0, place) + 1
        end = self.low.find("\n", place)
        return start, len(self.low) if end < 0 else end


@lru_cache(maxsize=512)
def read(reply: str, keep_struck: bool = False) -> Reading:
    """The reading of a reply, kept for the facts that are still to be looked for in it."""
    return Reading(reply, keep_struck)
