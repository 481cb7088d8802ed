"""Questions to a service desk: a period, the figures of that period, and the best of them."""

from __future__ import annotations

import re
from typing import Any

from crmbench.agents.baselines.heuristic.dates import COUNT, count
from crmbench.agents.protocol import Session

_PAST = re.compile(rf"\b(?:last|past) (?:{COUNT} )?(?P<u>day|week|month|quarter)s?\b", re.I)
_NAMED = re.compile(
    r"\b(?P<p>Q[1-4]|january|february|march|april|may|june|july|august|september|october|november"
    r"|december|spring|summer|autumn|fall|winter)(?: of)? (?P<y>20\d\d)\b",
    re.IGNORECASE,
)
_MORE_THAN = re.compile(rf"(?P<w>more than|over|at least) {COUNT} cases", re.IGNORECASE)
_LEAST = r"\b(?:least|fewest|lowest|fastest|quickest|shortest|smallest)\b"
_LONGEST = 200
"""Characters of a text that is looked for."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def at_desk(session: Session, utterance: str) -> str | None:
    """Submit and tell the answer, or None where no rule fits or the tools are missing."""
    says = _Says(utterance)
    if says(r"\btransfer|\bpass(?:es|ed|ing)? on|\bhand(?:s|ed|ing)? over"):
        found = _transfers(session, utterance, says(_LEAST))
    elif says(r"\bstate\b|\bstates\b|\bregion"):
        found = _states(session, utterance, says(_LEAST))
    elif says(r"\bcase\b|\bcases\b|\bagent|\border"):
        return None
    else:
        found = _from_articles(session, utterance)
    if found is None:
        return None
    session.call_now("respond", {"content": found})
    return found


class _Says:
    def __init__(self, text: str) -> None:
        self._text = text

    def __call__(self, pattern: str) -> bool:
        return re.search(pattern, self._text, re.IGNORECASE) is not None


def _value(session: Session, tool: str, **arguments: Any) -> Any:
    """What a tool returns, or None where it is refused."""
    result = session.call_now(tool, arguments)
    return result.value if result.ok else None


def _period(session: Session, said: str) -> dict[str, str] | None:
    """The start and end of the period that was said."""
    if named := _NAMED.search(said):
        found = _value(session, "get_period", period_name=named["p"], year=int(named["y"]))
        if isinstance(found, dict) and {"start_date", "end_date"} <= set(found):
            return {key: str(found[key]) for key in ("start_date", "end_date")}
        return None
    past = _PAST.search(said)
    if past is None:
        return None
    start = _value(
        session,
        "get_start_date",
        end_date=session.view.today,
        period=past["u"].casefold(),
        interval_count=count(past["n"] or "one"),
    )
    return {"start_date": start, "end_date": session.view.today} if start else None


def _transfers(session: Session, said: str, least: bool) -> str | None:
    """The agent with most or fewest transfers among those with enough cases."""
    period = _period(session, said)
    limit = _MORE_THAN.search(said)
    if period is None or limit is None:
        return None
    number = count(limit["n"]) - (limit["w"].casefold() == "at least")
    handled = _value(session, "get_agent_handled_cases_by_period", **period)
    agents = _value(
        session,
        "get_qualified_agent_ids_by_case_count",
        agent_handled_cases=handled,
        n_cases=number,
    )
    if agents == []:
        return "None"
    tool = "get_agent_transferred_cases_by_period"
    return _best(session, _value(session, tool, **period, qualified_agent_ids=agents), least)


def _states(session: Session, said: str, least: bool) -> str | None:
    """The state whose closed cases of the period took longest or least."""
    period = _period(session, said)
    if period is None:
        return None
    cases = _value(session, "get_cases", **period, statuses=["Closed"])
    times = _value(session, "calculate_region_average_closure_times", cases=cases)
    return _best(session, times, least)


def _best(session: Session, figures: Any, least: bool) -> str | None:
    if not isinstance(figures, dict) or not figures:
        return None
    tool = "find_id_with_min_value" if least else "find_id_with_max_value"
    found = _value(session, tool, values_by_id=figures)
    if isinstance(found, list):
        found = found[0] if found else None
    return None if found is None else str(found)


def _from_articles(session: Session, said: str) -> str | None:
    """The sentence of the first article found that shares most words with the question."""
    found = _value(session, "search_knowledge_articles", search_term=said[:_LONGEST])
    articles = found if isinstance(found, list) else []
    texts = [
        str(article.get("FAQ_Answer__c") or "")
        for article in articles
        if isinstance(article, dict) and article.get("PublishStatus") == "Online"
    ]
    if not texts:
        return None
    asked = _words(said)
    sentences = [s for s in _SENTENCE.split(texts[0]) if s]
    return max(sentences, key=lambda s: len(asked & _words(s)), default=None)


def _words(text: str) -> set[str]:
    """The numbers and longer words, without the s of a plural; short words tell little."""
    found = re.findall(r"[a-z0-9]+", text.casefold())
    return {word.removesuffix("s") for word in found if len(word) > 3 or word.isdigit()}
