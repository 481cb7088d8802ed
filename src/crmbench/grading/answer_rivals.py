"""A right answer beside rivals: a runner-up, a ranking and those who were tied may be told."""

from __future__ import annotations

import re

from crmbench.grading.answer_values import Named
from crmbench.language.finding import SAID, Finding, not_said, unsure
from crmbench.language.reading import Reading

_BEHIND = re.compile(
    r"\b(?:runner-?up|second|next|follow\w*|then|behind|after (?:it|that|them)|third|"
    r"nearest|closest|"
    r"trail\w*|fewer|lower|compared|against|than|others?|rest|before|previous\w*|from|"
    r"last(?! (?:\d|few|\w+ (?:day|week|month|quarter|year)))|"
    r"not (?:even )?|ahead of|versus|vs)\b",
    re.IGNORECASE,
)


def beside_others(
    reading: Reading, said: list[Named], others: list[Named], settled: bool = False
) -> Finding:
    """Whether those who are named beside the answer are no other answers.

    Args:
        said: Where the answer stands.
        others: Where its rivals stand.
        settled: The right answer was submitted beside the reply.
    """
    name = reading.text[others[0].start : others[0].end]
    clauses = [clause_of(reading, each) for each in others]
    own = [_own_clause(reading, each) for each in said]
    if all(map(_LABEL_BEHIND.match, own)) and not any(map(_LABEL_BEHIND.match, clauses)):
        return not_said(f"the reply puts {name!r} first")
    if all(_is_of_the_others(reading, each) for each in others) and not any(
        _is_of_the_others(reading, each) for each in said
    ):
        return SAID
    leads = said[0].start < others[0].start
    if leads and not all(map(_CAME_NEAR.search, own)) and _are_counted(reading, said, others):
        return SAID
    if all(
        _BEHIND.search(clause) or _is_of_the_others(reading, each)
        for clause, each in zip(clauses, others, strict=True)
    ):
        if any(not _BEHIND.search(clause) for clause in own):
            return SAID
    elif all(_BEHIND.search(clause) for clause in own):
        return not_said(f"the reply puts {name!r} first")
    if any(_WINS.search(clause) for clause in own) and not any(map(_WINS.search, clauses)):
        return SAID
    tied = leads and all(_is_tied(reading, each) for each in others)
    if tied and not all(_is_tied(reading, each) for each in said):
        return SAID
    if settled and not any(_may_be_given(reading, each) for each in others):
        return SAID
    return unsure(f"the reply names {name!r} as well")


AGAINST = re.compile(r"\b(?:against|ahead of|versus|vs|compared (?:with|to))\b")
"""What stands behind it in words on the winner is said of the others."""


def _own_clause(reading: Reading, each: Named) -> str:
    clause = clause_of(reading, each)
    at = clause.find(reading.low[each.start : each.end]) + each.end - each.start
    against = AGAINST.search(clause, at)
    return clause[: against.start()] if against else clause


OF_THE_OTHERS = re.compile(r"\b(?:others|the rest|remaining (?:ones|\w+s))\b[^.;]{0,200}$")
"""Before a rival. Example: "1 for each of the others (". Not: "of another state, "."""


def _is_of_the_others(reading: Reading, each: Named) -> bool:
    """Whether one stands in a list of those who are not it."""
    first = reading.sentence(each.start)[0]
    before = reading.low[first : each.start]
    return any(pattern.search(before) for pattern in (OF_THE_OTHERS, LEFT_OUT, IN_APPOSITION))


LEFT_OUT = re.compile(
    r"\b(?:left out|leaving out|excluded|excluding|not counting|skipped|without|except|"
    r"apart from)\b"
    r"[^.;!?]{0,120}$"
)
"""Before a rival that was not to be counted. Example: "Left out: the five and ". Not: "out of "."""
IN_APPOSITION = re.compile(
    r"\b(?:than|as|from|to|unlike|after|before|behind) (?:the|my|your|that) (?:[\w-]+ ){0,6}?"
    r"(?:one|suggestion|answer|pick|agent|issue|article|choice|cases?|place|turn)[ ,(:]+[*`]*$"
)
"""Before a rival's name, behind what it is. Example: "twice as many as the next one, "."""


TIED = re.compile(
    r"\b(?:tied?|tying|equal(?:ly)?|level|even|neck and neck|a draw|"
    r"(?:the )?same (?:\w+ )?(?:number|count|total|figure|share)|as many)\b"
)
"""Example: "she and Logan Boyle are equal with four". Not: "Logan Boyle has four"."""
_DECIDES = re.compile(
    r"\b(?:so|hence|therefore|either|or|both (?:get|could|can)|could|can|may|might|too|also|"
    r"as well|instead|gets?|takes?|wins?|goes to|should|his|hers|theirs|answer|latter)\b|n't\b|"
    r"\bnot\b"
)
"""What gives it to one of those who are tied."""


def _is_tied(reading: Reading, each: Named) -> bool:
    """Whether one is named in a sentence that only tells who was equal before the tie broke."""
    first, last = reading.sentence(each.start)
    sentence = reading.low[first:last]
    return TIED.search(sentence) is not None and _DECIDES.search(sentence) is None


_WINS = re.compile(
    r"\b(?:\w{2,}est|most|least|first|best|top|answer|hence|therefore|leads?|wins?|won|beats?|"
    r"ahead|"
    r"comes out|should (?:go to|have|get|take)|it(?:'s| is))\b"
)
"""What is said of the winner, and not of those behind it."""
_NUMBER_WORDS = "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_COUNTED = re.compile(
    r"[\s:|,()*`–-]{0,12}(?:\(\w{2,18}\)[\s:|,*]{0,4})?(?:[a-z. ]{1,24}: )?"
    rf"[$]?(?:\d|{_NUMBER_WORDS}\b)"
)
"""A rival with its figure, in a list that the winner leads."""


ONLY_COUNTED = re.compile(r"[^.;\n]{0,24}\b(?:only|just|each)\b[^.;\n]{0,12}")
"""Example: "has only 3", behind a rival. Not: "is the fastest, with 3"."""
_FIGURE = re.compile(rf"\d|\b{_NUMBER_WORDS}\b")
GIVEN = re.compile(
    r"\b(?:fastest|slowest|quickest|lowest|highest|shortest|longest|fewest|latest|busiest|least|"
    r"most|best|top|winner|winning|answer|wins?|won|goes|gets?|takes?|should|latter|instead|rather|"
    r"faster|quicker|ahead(?! of)|it(?:'s| is)|that(?:'s| is)|is the|the one|so|hence|thus|"
    r"therefore|or|either|but)\b"
)
"""What gives it to a rival beside whom it stands. Example: "so it goes to". Not: "follows with"."""
SHARED = re.compile(r"\b(?:and|both|alike|shar(?:e|es|ed|ing)|leads?|led|more)\b|[/&]")
"""What may make a rival an answer too. Example: "June leads with two". Not: "June had one"."""


def _may_be_given(reading: Reading, each: Named) -> bool:
    """Whether the sentence of a rival could give it to that one, or to both."""
    sentence = reading.low[slice(*reading.sentence(each.start))]
    return any(pattern.search(sentence) for pattern in (GIVEN, SHARED, TIED))


_LATTER = re.compile(r"\b(?:latter|(?:second|last) (?:one|of (?:the|these) two))\b")
_CAME_NEAR = re.compile(
    r"\b(?:after|close|closest|looked|checked|would|before|behind|next|second)\b"
)
"""In words on the winner: it is not meant as one."""


def _are_counted(reading: Reading, said: list[Named], others: list[Named]) -> bool:
    """Whether the rivals only stand with their figures in a list that the winner leads."""
    if _LATTER.search(reading.low):
        return False
    behind = max(each.end for each in said if each.start < others[0].start)
    if not re.search(r"\w", re.sub(r"\band\b", "", reading.low[behind : others[0].start])):
        # "Ann and Ben 4 each": the winner has no figure of its own.
        return False
    return all(_is_counted(reading, behind, each) for each in others)


def _is_counted(reading: Reading, behind: int, each: Named) -> bool:
    low, last = reading.low, reading.sentence(each.start)[1]
    only = ONLY_COUNTED.match(low, each.end, last)
    if not _COUNTED.match(low, each.end) and not (only and _FIGURE.search(only[0])):
        return False
    parts = re.split(r"[;.!?\n]", low[behind : each.start])
    pieces = parts[-1].split(",")
    apart = len(parts) > 1 and not pieces[-1].strip()
    before = parts[-1] if apart else pieces[-1]
    return not GIVEN.search(before) and not GIVEN.search(low, each.end, last)


_CUT = re.compile(r"[.;:!?\n|()](?=\s|$)|,(?=\s)|\b(?:and|but|while|whereas)\b")


_LABEL_BEHIND = re.compile(
    r"\W*(?:the )?(?:left out|excluded|skipped|not counted|runners?-?up|next(?: best| up|"
    r" in line)?|"
    r"(?:second|third)(?: place| best| lowest| highest)?|"
    r"(?:behind|after) (?:it|that|them)|followed by)\W*:"
)
"""A label of those behind, which belongs to what it stands before."""


def clause_of(reading: Reading, each: Named) -> str:
    """The clause in which something is named, with the label before it."""
    first, last = reading.sentence(each.start)
    for match in _CUT.finditer(reading.low, first, each.start):
        if match[0] == ":" and _LABEL_BEHIND.match(reading.low, first, match.end()):
            continue
        first = match.end()
    after = _CUT.search(reading.low, each.end, last)
    return reading.low[first : after.start() if after else last]
