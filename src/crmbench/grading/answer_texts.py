"""Answers in words: whether the key facts stand in a text and nothing takes them back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from crmbench.core.answer import Answer
from crmbench.language.finding import SAID, Finding, not_said, unsure
from crmbench.language.number_words import TENS, UNDER_TWENTY
from crmbench.language.reading import Reading, read
from crmbench.language.stance import stance

_ARTICLES = frozenset({"a", "an", "the"})
_TOKEN = re.compile(r"\w+(?:[.,]\d+)*")
_WORDS = {word: str(number) for number, word in enumerate((*UNDER_TWENTY, TENS[0]))}
_WORDS |= {word: str(10 * place) for place, word in enumerate(TENS, 2)}
_FIGURES = {word: str(number) for number, word in enumerate((*UNDER_TWENTY, TENS[0]))}
_UNITS = {
    "minute": r"minutes?|mins?\.?", "hour": r"hours?|hrs?\.?|h", "day": r"days?|d",
    "week": r"weeks?|wks?", "month": r"months?|mos?\.?|mths?", "year": r"years?|yrs?\.?",
    "inch": r"inch(?:es)?|in\.?|\"", "inche": r"inch(?:es)?|in\.?|\"",
    "degree": r"degrees?|deg|°", "pound": r"pounds?|lbs?\.?", "ounce": r"ounces?|oz\.?",
    "dollar": r"dollars?|usd", "percent": r"percent|per cent|%", "foot": r"feet|foot|ft\.?",
    "mile": r"miles?|mi\.?", "second": r"seconds?|secs?\.?",
}  # fmt: skip
_ANY_UNIT = "|".join(_UNITS.values())
LONG = 120
"""Words from which on a text recites rather than answers."""


def read_text_answer(answer: Answer, text: str) -> Finding:
    """Whether a text gives the key facts of the answer, and no others beside them."""
    reading = read(text)
    if not answer.facts:
        score = max((token_f1(text, value) for value in answer.values), default=0.0)
        if score >= answer.threshold:
            return SAID
        return not_said(f"token F1 {score:.2f} is below {answer.threshold:.2f}")
    if len(text.split()) > LONG:
        return not_said(f"it has more than {LONG} words")
    for fact in answer.facts:
        finding = _read_key(reading, fact, answer)
        if not finding.ok:
            return finding
    return SAID


def _read_key(reading: Reading, fact: str, answer: Answer) -> Finding:
    spans = [match.span() for match in _key(fact).finditer(reading.low)]
    if not spans and holds(reading.text, fact) and not (reading.may_negate or reading.may_doubt):
        return SAID
    if not spans:
        return _without_key(reading, fact, answer)
    # "At most once in 60 days": what is no longer so is told by another figure beside it. And an
    # answer may itself be a denial: "never within seven days".
    right = {"old", *_stances(read(answer.values[0]), fact)}
    stances = ["" if how in right else how for how in _stances(reading, fact)]
    if all(stances):
        return not_said(f"{fact!r} is {stances[0]}")
    rival = next(_rivals(reading, fact, answer), None)
    if rival is not None:
        return _with_rival(reading, fact, rival, spans)
    if any(stances):
        return unsure(f"{fact!r} is said and {next(filter(None, stances))}")
    return SAID


def _stances(reading: Reading, fact: str) -> list[str]:
    return [stance(reading, *match.span()) for match in _key(fact).finditer(reading.low)]


def _with_rival(
    reading: Reading, fact: str, rival: tuple[int, int], spans: list[tuple[int, int]]
) -> Finding:
    other = reading.low[slice(*rival)]
    first, second = sorted((rival, spans[0]))
    between = reading.low[first[1] : second[0]]
    if re.fullmatch(r"[^.;!?\n]{0,20}\bor\b[^.;!?\n]{0,12}", between):
        return not_said(f"{other!r} is given as an alternative")
    return unsure(f"{other!r} is given as well as {fact!r}")


def _without_key(reading: Reading, fact: str, answer: Answer) -> Finding:
    if next(_rivals(reading, fact, answer), None) is not None:
        return not_said(f"it gives another figure than {fact!r}")
    words = [word for word in words_of(fact) if word not in _ARTICLES]
    there = set(words_of(reading.low))
    score = max((token_f1(reading.low, value) for value in answer.values), default=0.0)
    if score >= answer.threshold or any(_near(word, there) for word in words):
        return unsure(f"{fact!r} may be said in other words")
    return not_said(f"does not hold {fact!r}")


def _near(word: str, there: set[str]) -> bool:
    if word in there:
        return True
    return len(word) > 4 and any(other.startswith(word[:4]) for other in there)


def _rivals(reading: Reading, fact: str, answer: Answer) -> Iterator[tuple[int, int]]:
    """Other figures with the unit of the key fact, asserted in the text."""
    parts = words_of(fact)
    if not parts or not parts[0].replace(".", "").isdigit():
        return
    unit = _UNITS.get(parts[1]) if len(parts) > 1 else None
    money = "$" in fact
    own = {
        amount.value
        for value in (*answer.values, *answer.facts)
        for amount in (*read(value).numbers, *read(value).number_words)
    }
    for amount in (*reading.numbers, *reading.number_words):
        if amount.value in own or amount.ordinal:
            continue
        after = reading.low[amount.end : amount.end + 12]
        same = bool(amount.currency) if money else False
        if unit is not None:
            same = re.match(rf"[\s-]?(?:{unit})(?![a-z])", after) is not None
        elif not money:
            same = not amount.currency and not re.match(rf"[\s-]?(?:{_ANY_UNIT})(?![a-z])", after)
        if same and not stance(reading, amount.start, amount.end):
            yield amount.start, amount.end


@lru_cache(maxsize=1024)
def _key(fact: str) -> re.Pattern[str]:
    """A pattern for the words of a key fact, numbers in figures or written out."""
    forms = []
    for word in words_of(fact):
        spelt = [name for name, figure in _WORDS.items() if figure == word]
        if word.replace(".", "").isdigit():
            whole = rf"{re.escape(word)}(?:\.0+)?"
            if len(word) > 3 and word.isdigit():
                whole = rf"(?:{whole}|{int(word):,})"
            forms.append(rf"(?:{'|'.join([whole, *spelt])})")
        else:
            unit = _UNITS.get(word)
            forms.append(
                rf"(?:{unit})" if unit else rf"{re.escape(word)}(?:s|es|n?e?d|ning|ing|e)?"
            )
    between = r"[\s\W]{0,3}(?:(?:a|an|the|of|to|in)\s)?"
    return re.compile(rf"(?<![\w.]){between.join(forms)}(?!\w|[.,]\d)")


def holds(text: str, fact: str) -> bool:
    """Whether the words of a fact stand in a text, one behind the other.

    Numbers up to twenty may be figures or words; hyphens and a plural's ending do not count, and
    the last word may be longer ("scan" is held by "scanned").
    """
    wanted = rf"\b{re.escape(' '.join(words_of(fact)))}(?:n?e?d|ning|ing|es)?\b"
    return re.search(wanted, " ".join(words_of(text))) is not None


def words_of(text: str) -> list[str]:
    """The words of a text in one form."""
    plain = re.sub(r"(?<=\d)-", " ", text.lower()).replace("-", "")
    words = (_FIGURES.get(word, word).replace(",", "") for word in _TOKEN.findall(plain))
    return [word.removesuffix("s") if len(word) > 3 else word for word in words]


def token_f1(text: str, reference: str) -> float:
    """The F1 of two texts as bags of words, as SQuAD defines it (Rajpurkar et al., 2016).

    Case, punctuation and articles do not count. Two empty texts are equal.
    """
    got, wanted = _tokens(text), _tokens(reference)
    if not got or not wanted:
        return float(got == wanted)
    common = (got & wanted).total()
    if common == 0:
        return 0.0
    precision, recall = common / got.total(), common / wanted.total()
    return 2 * precision * recall / (precision + recall)


def _tokens(text: str) -> Counter[str]:
    return Counter(word for word in _TOKEN.findall(text.lower()) if word not in _ARTICLES)
