"""The search text: words, phrases, wildcards, AND, OR, AND NOT, parentheses.

The same words on both databases: text is cut at everything in ASCII that is neither letter nor
digit, ASCII letters are folded, and every other character is part of a word but for a few
punctuation marks of `MARKS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Literal

from crmbench.salesforce.soql.errors import SoqlError

MALFORMED_SEARCH = "MALFORMED_SEARCH"
INVALID_SEARCH = "INVALID_SEARCH"
MAX_SEARCH = 10_000

MARKS = "—–…“”‘’•\u00a0‡"
"""Punctuation beyond ASCII at which text is cut. The last one separates fields in the index."""
BREAK = "‡"

TOKEN = re.compile(
    r"""\s*(?:(?P<phrase>"(?:[^"\\]|\\.)*")|(?P<open>\()|(?P<close>\))|(?P<word>(?:[^\s()"\\]|\\.)+))""",
    re.DOTALL,
)
LETTER = r"[a-z0-9\x80-\U0010ffff]"
WORDS = re.compile(f"{LETTER}+")
PIECES = re.compile(r"[a-z0-9*?\x80-\U0010ffff]+")
FOLD = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)} | {ord(m): " " for m in MARKS}


@dataclass(frozen=True, slots=True)
class Term:
    """Words that must follow each other; each may hold the wildcards ``*`` and ``?``."""

    words: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether an index decides it: no wildcard but for a ``*`` at the very end."""
        joined = " ".join(self.words)
        return not re.search(r"[*?]", joined[:-1]) and not joined.endswith("?")


@dataclass(frozen=True, slots=True)
class Combination:
    """Two expressions and how they are joined; ``not`` means the first without the second."""

    op: Literal["and", "or", "not"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Choice:
    """Terms of which one is enough; what a wildcard stands for, spelled out."""

    terms: tuple[Term, ...]


Expression = Term | Combination | Choice


Vocabulary = Callable[[str], Iterable[str]]
"""Gives the words of an index that begin with a stem."""

MAX_WORDS = 1_000
"""Phrases that a wildcard may stand for before it is cheaper to read the records themselves."""


class TooManyWordsError(Exception):
    """A wildcard stands for too many words."""


PIECE = 32
"""Characters up to which a text is taken for a word or two, which come again and again."""


def words_of(text: str) -> list[str]:
    """The words of a text as the index has them."""
    return list(_words_of_piece(text)) if len(text) <= PIECE else _words_of(text)


def _words_of(text: str) -> list[str]:
    return WORDS.findall(text.translate(FOLD))


_words_of_piece = lru_cache(maxsize=16384)(_words_of)


def parse_words(text: str) -> Expression:
    """The meaning of a search text.

    Raises:
        SoqlError: It is empty, too long, or not well formed.
    """
    if len(text) > MAX_SEARCH:
        raise SoqlError(INVALID_SEARCH, f"search text is longer than {MAX_SEARCH} characters")
    parser = _Words(_tokens(text))
    if not parser.tokens:
        raise SoqlError(
            MALFORMED_SEARCH, "No search term found. The search term must be enclosed in braces."
        )
    found = parser.either()
    if parser.tokens:
        raise SoqlError(MALFORMED_SEARCH, f"unexpected token: '{parser.tokens[0][1]}'")
    return found


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise SoqlError(MALFORMED_SEARCH, f"unexpected token: '{text[at:].strip()[:20]}'")
        tokens.append((found.lastgroup, found.group(found.lastgroup)))
        at = found.end()
    return tokens


class _Words:
    """A descent over the tokens: OR binds least, then AND and AND NOT, then words side by side."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens

    def _is(self, *words: str) -> bool:
        kinds = self.tokens[: len(words)]
        return len(kinds) == len(words) and all(
            kind == "word" and text.upper() == word
            for (kind, text), word in zip(kinds, words, strict=True)
        )

    def either(self) -> Expression:
        left = self.both()
        while self._is("OR"):
            del self.tokens[0]
            left = Combination("or", left, self.both())
        return left

    def both(self) -> Expression:
        left = self.one()
        while self.tokens and self.tokens[0][0] != "close" and not self._is("OR"):
            if self._is("AND", "NOT"):
                del self.tokens[:2]
                left = Combination("not", left, self.one())
                continue
            if self._is("AND"):
                del self.tokens[0]
            left = Combination("and", left, self.one())
        return left

    def one(self) -> Expression:
        if not self.tokens or self._is("AND") or self._is("OR") or self._is("NOT"):
            found = self.tokens[0][1] if self.tokens else "<EOF>"
            raise SoqlError(MALFORMED_SEARCH, f"unexpected token: '{found}'")
        kind, text = self.tokens.pop(0)
        if kind == "close":
            raise SoqlError(MALFORMED_SEARCH, "unexpected token: ')'")
        if kind == "open":
            inner = self.either()
            if not self.tokens or self.tokens.pop(0)[0] != "close":
                raise SoqlError(MALFORMED_SEARCH, "unexpected token: '<EOF>'")
            return inner
        return _term(text[1:-1] if kind == "phrase" else text)


def _term(text: str) -> Term:
    # An escaped character stands for itself, and no punctuation is part of a word.
    plain = re.sub(r"\\.", " ", text, flags=re.DOTALL).translate(FOLD)
    # A wildcard needs a letter before it; at the beginning of a word it is passed over.
    words = tuple(w for w in (p.lstrip("*?") for p in PIECES.findall(plain)) if w)
    if len("".join(words).replace("*", "").replace("?", "")) < 2:
        raise SoqlError(INVALID_SEARCH, f"search term must be longer than one character: {text}")
    return Term(words)


def is_exact(expression: Expression) -> bool:
    """Whether an index alone decides the whole expression."""
    if isinstance(expression, Term):
        return expression.exact
    if isinstance(expression, Choice):
        return all(term.exact for term in expression.terms)
    return is_exact(expression.left) and is_exact(expression.right)


def widened(expression: Expression) -> Expression:
    """An expression that an index decides and that finds all that this one does, and more."""
    if isinstance(expression, Term):
        cut = []
        for word in expression.words:
            stem = re.split(r"[*?]", word)[0]
            cut.append(stem if stem == word else f"{stem}*")
            if stem != word:
                break
        return Term(tuple(cut))
    if isinstance(expression, Choice):
        return expression
    if expression.op == "not":
        left = widened(expression.left)
        return Combination("not", left, expression.right) if is_exact(expression.right) else left
    return Combination(expression.op, widened(expression.left), widened(expression.right))


def expanded(expression: Expression, vocabulary: Vocabulary) -> Expression | None:
    """The expression with each wildcard replaced by the words of the index that it stands for.

    Returns:
        An expression that an index decides, or None if nothing can fit it.

    Raises:
        TooManyWordsError: A wildcard stands for more words than an index should be asked for.
    """
    if isinstance(expression, Term):
        return _spelled_out(expression, vocabulary)
    if isinstance(expression, Choice):
        return expression
    left = expanded(expression.left, vocabulary)
    right = expanded(expression.right, vocabulary)
    if left is None:
        return right if expression.op == "or" else None
    if right is None:
        return None if expression.op == "and" else left
    return Combination(expression.op, left, right)


def _spelled_out(term: Term, vocabulary: Vocabulary) -> Expression | None:
    if term.exact:
        return term
    last = len(term.words) - 1
    choices = [
        # The index itself knows what begins with the last word of a phrase.
        [word] if place == last and Term((word,)).exact else _meant(word, vocabulary)
        for place, word in enumerate(term.words)
    ]
    if prod(map(len, choices)) > MAX_WORDS:
        raise TooManyWordsError(f"{' '.join(term.words)} stands for more than {MAX_WORDS} phrases")
    terms = tuple(Term(words) for words in product(*choices))
    return Choice(terms) if len(terms) > 1 else next(iter(terms), None)


def _meant(word: str, vocabulary: Vocabulary) -> list[str]:
    """The words of the index that a word with or without wildcards stands for."""
    stem = re.split(r"[*?]", word)[0]
    if stem == word:
        return [word]
    pattern = _pattern(Term((word,)))
    return [known for known in vocabulary(stem) if pattern.fullmatch(known)]


def matches(expression: Expression, fields: list[str]) -> bool:
    """Whether a record whose fields hold these texts fits an expression."""
    return _matches(expression, [text.translate(FOLD) for text in fields])


def _matches(expression: Expression, fields: list[str]) -> bool:
    if isinstance(expression, Choice):
        return any(_matches(term, fields) for term in expression.terms)
    if isinstance(expression, Combination):
        left = _matches(expression.left, fields)
        if expression.op == "or":
            return left or _matches(expression.right, fields)
        return left and _matches(expression.right, fields) == (expression.op == "and")
    pattern = _pattern(expression)
    return any(pattern.search(text) for text in fields)


@lru_cache(maxsize=256)
def _pattern(term: Term) -> re.Pattern[str]:
    """The words of a term, whole and one after the other, in a folded text."""
    wildcards = {"*": f"{LETTER}*", "?": LETTER}
    words = ("".join(wildcards.get(c, re.escape(c)) for c in word) for word in term.words)
    gap = LETTER.replace("[", "[^", 1) + "+"
    return re.compile(f"(?<!{LETTER}){gap.join(words)}(?!{LETTER})")
