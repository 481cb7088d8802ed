"""Does a reply ask the user for something that it needs to know?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from crmbench.language.claims import claims
from crmbench.language.reading import read
from crmbench.language.reasons import beginnings

_OFFER = re.compile(
    r"(?:anything else|something else|what else|any other|further (?:help|questions?)|"
    r"else (?:i|we) can|how (?:else )?can i help|does that help|is that (?:ok|okay|all|fine)|"
    r"sound good|happy to help|shall i (?:also|do anything)|would you like (?:me )?(?:to )?"
    r"(?:anything|something|help|see|know|more)|need anything)"
)
_REQUEST = re.compile(
    r"\b(?:please (?:\w+ly )?(?:tell|let me know|specify|confirm|provide|clarify|share|give|"
    r"indicate|choose|pick|select|say|send|advise|state|supply)|"
    r"(?:i|we)(?:'ll|'d| will| would)?(?: also| still)? (?:need|require)(?: you)? to know|"
    r"(?:i|we) (?:still )?(?:need|require|am missing|'m missing)|"
    r"(?:could|can|would|will) you (?:\w+ly )?(?:please )?(?:tell|let me know|specify|confirm|"
    r"provide|clarify|share|give|indicate|choose|say)|"
    r"let me know (?:which|what|when|who|whether|where|how|the|if)|"
    r"tell me (?:which|what|when|who|whether|where|how|the|his|her|their|its)|"
    r"(?:is|are) required[^.;!?\n]*[;,.-]+ ?once (?:i|we) (?:have|know|get)|"
    r"(?:i'd|i would) like to know|"
    r"kindly (?:specify|confirm|provide|clarify|share)|i'm missing|(?:is|are) missing)\b"
)
_ANAPHORA = re.compile(
    r"\b(?:which (?:one|of)|did you mean|do you mean|what do you mean|which do you|which would|"
    r"which should|which did you|can you (?:clarify|specify)|could you (?:clarify|specify))"
)


_CHOICE = re.compile(r"\b(?:\w+ or (?:the |with )?\w+|which|whose)\b")
_SYNONYMS = (
    ("title", "position", "function", "job", "role"),
    ("deal", "opportunit"),
    ("client", "customer", "account", "compan"),
    ("e-mail", "email", "mail address"),
    ("reason", "why", "cause"),
    ("end", "until", "expir", "how long", "term", "run"),
)


def asks(reply: str, about: Sequence[str] | str = ()) -> bool:
    """Whether a reply asks the user for something that it needs to know.

    "Anything else?" is no such question.

    Args:
        about: Words of which the question, the sentence before it or, for "which one", the whole
            reply must hold one, or a synonym; beginnings of words do. Empty: any question counts.
            A question that names the candidates ("A or B?") counts where nothing is claimed.
    """
    reading = read(reply)
    low = reading.low
    wanted = (about,) if isinstance(about, str) else tuple(about)
    for previous, start, end in _questions(reply):
        context = low if _ANAPHORA.search(low[start:end]) else low[previous:end]
        if not wanted or any(_holds(context, words) for words in wanted):
            return True
    open_ = not any(claim.weight == "certain" for claim in claims(reading))
    return open_ and any(_CHOICE.search(low, start, end) for _, start, end in _questions(reply))


@lru_cache(maxsize=512)
def _questions(reply: str) -> tuple[tuple[int, int, int], ...]:
    """Where questions are: where the sentence before begins, the question itself, and its end."""
    reading = read(reply)
    found = []
    start = previous = 0
    for end in reading.ends:
        sentence = reading.low[start:end]
        if is_question(sentence):
            found.append((previous, start, end))
        previous, start = (start, end) if sentence.strip() else (previous, end)
    return tuple(found)


def is_question(sentence: str) -> bool:
    """Whether a sentence asks for something; offers of further help do not."""
    if _OFFER.search(sentence):
        return False
    return sentence.rstrip(" \"')\n").endswith("?") or _REQUEST.search(sentence) is not None


def _holds(text: str, words: str) -> bool:
    if all(pattern.search(text) for pattern in beginnings(words)):
        return True
    return any(words in alike and any(word in text for word in alike) for alike in _SYNONYMS)
