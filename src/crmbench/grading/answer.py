"""Answers: whether the one thing that was asked for is what the agent answered.

Ids, months and states are compared exactly, as sets: all of them and no other. Of a text the key
facts decide; its token F1 is a figure beside it. Where nothing fits the question the right answer
is "None": the whole content must say so, and name no candidate. A denied, guessed or alternative
answer is none.

An agent answers with the tool `ANSWER_TOOL`; the last submission of a turn counts. The reply is
read as the answer too: it may add a runner-up, not another winner. Of an agent that submits
nothing the reply alone is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from crmbench.core.answer import Answer
from crmbench.core.trace import TurnTrace
from crmbench.grading.answer_rivals import beside_others, clause_of
from crmbench.grading.answer_texts import holds, read_text_answer, token_f1
from crmbench.grading.answer_values import Named, named, short, without_known
from crmbench.grading.directory import NO_DIRECTORY, Directory
from crmbench.language.finding import SAID, Finding, Said, not_said, unsure
from crmbench.language.reading import Reading, read
from crmbench.language.stance import stance

__all__ = [
    "AnswerVerdict",
    "given",
    "holds",
    "judge",
    "read_reply",
    "says_none",
    "submitted",
    "token_f1",
]

ANSWER_TOOL = "respond"
ANSWER_ARGUMENT = "content"

_THINGS = (
    "agents?|articles?|rules?|polic(?:y|ies)|violations?|breach(?:es)?|issues?|products?|orders?|"
    "states?|regions?|months?|cases?|match(?:es)?|results?|records?|answers?|such|data|single|item"
)
_NONE = re.compile(
    rf"\bnone\b|\bnobody\b|\bno[ -]one\b|\bnothing\b|\bnot (?:a|one|any|even)\b|"
    rf"\bno\s+(?!other\b)(?:[\w'-]+\s+){{0,3}}?(?:{_THINGS})\b|\b(?:is|are|was|were)n.t\s+any\b|"
    rf"\b(?:0|zero)\s+(?:{_THINGS})\b|\bnot (?:applicable|broken|breached|violated)\b|"
    r"\b(?:ca|could|did|do|does)n't (?:find|see|match|name|identify|fit)\b|"
    r"\b(?:could|did|can) ?not (?:find|name|identify|match|determine|work out)\b|"
    r"\b(?:wasn't|was not) able to\b|\bunable to\b|\bno answer\b|"
    r"\b(?:list|result|end|set) is empty\b|"
    r"\ball (?:the |of the )?\w+ (?:were|was|are) (?:kept|followed)|\bkept to (?:all|every|the)\b|"
    r"\bin order\b|\b(?:ca|could)n't (?:say|tell|work out|answer)\b|\bordered no\b|"
    r"^\W*(?:null|n/?a|nil|no|zero|0)\W*$",
    re.IGNORECASE,
)
_NONE_FIRST = re.compile(
    r"^\W*(?:answer\W+|so\W+|i'm afraid,?\s+|sorry,?\s+|the answer is\W+|result\W+)?"
    r"(?:none|nobody|no[ -]one|nothing|no|nil|null|n/?a|zero|0|not|there\s+(?:is|are|was|were)"
    r"(?:\s+no(?:ne|body)?|n't|\s+not)|all\s+\w+\s+(?:were|was)\s+kept)\b",
    re.IGNORECASE,
)
_WAVERS = re.compile(
    r"\b(?:but|though|although|however|except|nearest|closest|probably|perhaps|maybe|would be|"
    r"might|likely|guess|if you want|unless|other than|or)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """Whether an answer is right."""

    said: Said
    score: float
    """0 to 1: token F1 of a text; 0 or 1 for the exact kinds and where "None" is right."""
    why: str = ""
    """What is wrong with it, or may be."""

    @property
    def ok(self) -> bool:
        """It is right, without a doubt."""
        return self.said is Said.SAID


def submitted(turn: TurnTrace) -> str | None:
    """What the agent submitted in a turn, by its last call of the answering tool; None: nothing."""
    for call in reversed(turn.calls):
        if call.tool == ANSWER_TOOL and call.ok:
            return str(call.arguments.get(ANSWER_ARGUMENT, ""))
    return None


def given(turn: TurnTrace) -> str:
    """What the agent answered in a turn: what it submitted, else its reply."""
    content = submitted(turn)
    return turn.reply if content is None else content


def judge(answer: Answer, text: str, directory: Directory = NO_DIRECTORY) -> AnswerVerdict:
    """Compare what an agent answered with the right answer.

    Args:
        directory: The names of the world's records, so that a candidate's name is seen as well.
    """
    finding = _judge(answer, text, directory)
    if answer.kind == "text" and answer.values:
        score = max(token_f1(text, value) for value in answer.values)
    else:
        score = float(finding.ok)
    return AnswerVerdict(finding.said, score, finding.why)


def _judge(answer: Answer, text: str, directory: Directory) -> Finding:
    if answer.kind == "text" and answer.values:
        return read_text_answer(answer, text)
    reading = read(text)
    found = named(answer, reading, directory)
    if not answer.values:
        return _judge_none(found, reading)
    wanted = {short(value) for value in answer.values}
    said = {each.value for each in found if not _refused(reading, each)}
    listed = ", ".join(sorted({each.value for each in found})[:5])
    listed = listed or ("None" if says_none(text) else f"no {answer.kind}")
    if said - wanted or not wanted <= said:
        return not_said(f"answered {listed}, not {answer.said}")
    if _NONE_FIRST.search(text) and not _NAMED_BROKEN.search(text):
        return not_said(f"answered None beside {answer.said}")
    if {each.value for each in found} != wanted:
        return unsure(f"it names {listed}")
    doubt = _NONE.search(_NAMED_BROKEN.sub("", text))
    return unsure(f"it also says {doubt[0]!r}") if doubt else SAID


_NAMED_BROKEN = re.compile(
    r"^\W*not (?:kept|followed|respected|observed|complied with)(?: (?:is|was))?\W*:?\s",
    re.IGNORECASE,
)
"""An article that was not kept is named so: "Not kept: ka0…"."""


def _refused(reading: Reading, each: Named) -> bool:
    return stance(reading, each.start, each.end) not in {"", "old"}


_VALUE = re.compile(r"[\w:.+-]*\d[\w:.+-]*")
RECITAL = 100
"""Values from which on a text recites records: whatever it holds, it does not answer None."""


def _recites(reading: Reading) -> bool:
    values = _VALUE.finditer(reading.text)
    return next(islice(values, RECITAL - 1, None), None) is not None


def _judge_none(found: list[Named], reading: Reading) -> Finding:
    if _recites(reading):
        return not_said(_RECITED)
    if found:
        listed = ", ".join(sorted({each.value for each in found})[:5])
        return not_said(f"answered {listed}, not None")
    denial = _NONE.search(reading.low)
    if denial is None:
        return not_said("does not say that there is none")
    if _NONE_FIRST.search(reading.low) and not _WAVERS.search(reading.low):
        return SAID
    first = re.split(r"[.;!\n]", reading.low, maxsplit=1)[0]
    if not _NONE.search(first) and re.search(r"\b(?:is|was|are|were)\b", first):
        return not_said("it answers something, and None only beside it")
    return unsure("it may not say that there is none")


def says_none(text: str) -> bool:
    """Whether a text says somewhere that nothing fits."""
    return _NONE.search(text) is not None


def read_reply(
    answer: Answer,
    reply: str,
    directory: Directory = NO_DIRECTORY,
    known: str = "",
    settled: bool = False,
) -> Finding:
    """Whether a reply says what was rightly submitted beside it.

    Args:
        known: What the user said: a candidate in the same words tells nothing.
        settled: The right answer was submitted: only what gives it to another speaks against it.
    """
    if not reply.strip():
        return not_said("the reply is empty")
    if answer.kind == "text" and answer.values:
        return read_text_answer(answer, reply)
    reading = read(reply)
    everything = named(answer, reading, directory)
    found = without_known(everything, reading, known)
    if not answer.values:
        return _reply_none(found, reading)
    wanted = {short(value) for value in answer.values}
    own = [each for each in everything if each.value in wanted]
    said = [each for each in own if not _refused(reading, each)]
    others = [each for each in found if each.value not in wanted and not _refused(reading, each)]
    if not {each.value for each in said} >= wanted:
        return _not_given(own, others, reading, answer)
    if others:
        return beside_others(reading, said, others, settled)
    if said and all(_SECOND.search(clause_of(reading, each)) for each in said):
        return not_said(f"the reply puts {answer.said} second")
    if len(said) < len(own) and not settled:
        return unsure(f"{answer.said} is both said and denied")
    doubt = _UNABLE.search(reading.low) or (
        _NO_BREACH.search(reading.low) if answer.prefix == "ka0" else None
    )
    return unsure(f"it also says {doubt[0]!r}") if doubt else SAID


_SECOND = re.compile(r"\brunner-?up\b|\b(?:comes?|is|came|was|in) (?:the )?second\b")
_UNABLE = re.compile(
    r"\b(?:could|can|did)(?:n't| ?not) (?:find|name|identify|match|determine|work out|say|tell)\b|"
    r"\b(?:wasn't|was not) able to\b|\bunable to\b|^\W*none\b|"
    r"\bnobody\b(?! (?:has|have|was|is) (?:yet )?(?:been )?(?:e-?mailed|told|notified|informed|"
    r"contacted|called))(?![^.;!?\n]*\b(?:more|better|sooner|less|fewer|as|\w{3,}er than)\b)"
)


_NO_BREACH = re.compile(
    r"\bno (?:breach|violation)\b(?! (?:of|in|against) (?:any|the|an)? ?other)|"
    r"\b(?:conversation|case|agent) (?:is|was) (?:fine|in order|clean)\b"
)
_RECITED = "it recites records, and does not say that there is none"


def _reply_none(found: list[Named], reading: Reading) -> Finding:
    if _recites(reading):
        return not_said(_RECITED)
    said = [each for each in found if not _refused(reading, each)]
    if said and not _NONE.search(reading.low):
        return not_said(f"it names {reading.text[said[0].start : said[0].end]!r}")
    if found:
        return unsure(f"it names {reading.text[found[0].start : found[0].end]!r}")
    if _NONE.search(reading.low) is None:
        return unsure("it does not plainly say that there is none")
    return SAID


def _not_given(own: list[Named], others: list[Named], reading: Reading, answer: Answer) -> Finding:
    if own and any(reading.low[: each.start].endswith("than ") for each in own):
        return unsure(f"the reply compares with {answer.said}")
    if own:
        return not_said(f"the reply does not stand by {answer.said}")
    if others:
        name = reading.text[others[0].start : others[0].end]
        return not_said(f"the reply names {name!r}, not {answer.said}")
    if _NONE.search(reading.low):
        beside = re.search(
            r"\b(?:nothing|none|nobody|no \w+) (?:else|of the (?:rest|others?))\b", reading.low
        )
        return (unsure if beside else not_said)("the reply says that there is none")
    return unsure(f"the reply does not name {answer.said}")
