"""Answers: whether the one thing that was asked for is what the agent answered.

Ids, months and states are compared exactly, as sets: all of them and no other. Texts are compared
by token F1, and must hold the words and figures that make them right. Where nothing fits the
question the right answer is "None", and saying so counts.

An agent answers with the tool `ANSWER_TOOL`; of one that never calls it the reply itself is read,
in the same way.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from crmbench.core.answer import ID, MONTHS, STATES, Answer
from crmbench.core.trace import TurnTrace
from crmbench.language.number_words import TENS, UNDER_TWENTY

ANSWER_TOOL = "respond"
ANSWER_ARGUMENT = "content"

_ID = re.compile(rf"(?<![A-Za-z0-9]){ID.pattern}(?![A-Za-z0-9])")
_SHORT_MONTHS = {name[:3].lower(): name for name in MONTHS} | {"sept": "September"}
_BY_MONTH = {name.lower(): name for name in MONTHS} | _SHORT_MONTHS
_MONTH = re.compile(
    rf"\b(?:({'|'.join(sorted(_BY_MONTH, key=len, reverse=True))})\b|\d{{4}}-(\d\d)\b(?!-?\d))",
    re.IGNORECASE,
)
_BY_STATE = {name.lower(): code for name, code in STATES.items()}
_CODES = frozenset(STATES.values())
_NAMES = "|".join(sorted(STATES, key=len, reverse=True))
_STATE = re.compile(rf"\b(?:((?i:{_NAMES}))|({'|'.join(sorted(_CODES))}))\b")
_THINGS = (
    "agents?|articles?|rules?|polic(?:y|ies)|violations?|issues?|products?|orders?|states?|"
    "regions?|months?|cases?|matches|match|results?|records?|answers?|one|such|data|single"
)
_NONE = re.compile(
    rf"\bnone\b|\bnobody\b|\bno\s+(?:\w+\s+){{0,2}}?(?:{_THINGS})\b|\b(?:is|are|was|were)n.t\s+any\b|"
    r"^\W*(?:null|n/?a|nothing|nil|no answer)\W*$",
    re.IGNORECASE,
)
_ARTICLES = frozenset({"a", "an", "the"})
_TOKEN = re.compile(r"\w+(?:[.,]\d+)*")
_FIGURES = {word: str(number) for number, word in enumerate((*UNDER_TWENTY, TENS[0]))}


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """Whether an answer is right."""

    ok: bool
    score: float
    """0 to 1: token F1 of a text; 0 or 1 for the exact kinds and where "None" is right."""
    why: str = ""
    """What is wrong with it."""


def given(turn: TurnTrace) -> str:
    """What the agent answered in a turn: by its last call of the answering tool, else in words."""
    for call in reversed(turn.calls):
        if call.tool == ANSWER_TOOL and call.ok:
            return str(call.arguments.get(ANSWER_ARGUMENT, ""))
    return turn.reply


def judge(answer: Answer, text: str) -> AnswerVerdict:
    """Compare what an agent answered with the right answer."""
    if answer.kind == "text" and answer.values:
        score = max(token_f1(text, value) for value in answer.values)
        missing = [fact for fact in answer.facts if not holds(text, fact)]
        if missing:
            return AnswerVerdict(False, score, f"does not hold {missing[0]!r}")
        if score >= answer.threshold:
            return AnswerVerdict(True, score)
        why = f"token F1 {score:.2f} is below {answer.threshold:.2f}"
        return AnswerVerdict(False, score, why)
    got = read(answer, text)
    if not answer.values:
        return _judge_none(got, text)
    wanted = {_short(value) for value in answer.values}
    if got == wanted:
        return AnswerVerdict(True, 1.0)
    listed = ", ".join(sorted(got)[:5]) or ("None" if says_none(text) else f"no {answer.kind}")
    return AnswerVerdict(False, 0.0, f"answered {listed}, not {answer.said}")


def _judge_none(got: frozenset[str], text: str) -> AnswerVerdict:
    if got:
        return AnswerVerdict(False, 0.0, f"answered {', '.join(sorted(got)[:5])}, not None")
    if says_none(text):
        return AnswerVerdict(True, 1.0)
    return AnswerVerdict(False, 0.0, "does not say that there is none")


def says_none(text: str) -> bool:
    """Whether a text says that nothing fits."""
    return _NONE.search(text) is not None


def read(answer: Answer, text: str) -> frozenset[str]:
    """The values of the answer's kind that a text names, in one form; no set for texts."""
    if answer.kind == "id":
        found = (_short(match) for match in _ID.findall(text))
        named = (i for i in found if any(c.isdigit() for c in i))
        return frozenset(i for i in named if i.startswith(answer.prefix))
    if answer.kind == "month":
        return _months(text)
    return _states(text) if answer.kind == "state" else frozenset()


def _short(value: str) -> str:
    """An 18-character id in the 15 characters that tell it from all others; the rest as it is."""
    return value[:15] if len(value) == 18 and _ID.fullmatch(value) else value


def _months(text: str) -> frozenset[str]:
    whole = text.strip(" \t\r\n.\"'`*").lower()
    if whole in _BY_MONTH:
        return frozenset({_BY_MONTH[whole]})
    found = set()
    for match in _MONTH.finditer(text):
        word, number = match.groups()
        # In lower case "may", "mar" and the like are seldom months.
        if word and word[0].isupper():
            found.add(_BY_MONTH[word.lower()])
        elif number and 1 <= int(number) <= 12:
            found.add(MONTHS[int(number) - 1])
    return frozenset(found)


def _states(text: str) -> frozenset[str]:
    whole = text.strip(" \t\r\n.\"'`*")
    if whole.upper() in _CODES:
        return frozenset({whole.upper()})
    return frozenset(
        _BY_STATE[name.lower()] if name else code for name, code in _STATE.findall(text)
    )


def holds(text: str, fact: str) -> bool:
    """Whether the words of a fact stand in a text, one behind the other.

    Numbers up to twenty may be figures or words; hyphens and a plural's ending do not count, and
    the last word may be longer ("scan" is held by "scanned").
    """
    wanted = rf"\b{re.escape(' '.join(_words(fact)))}(?:n?e?d|ning|ing|es)?\b"
    return re.search(wanted, " ".join(_words(text))) is not None


def _words(text: str) -> list[str]:
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
