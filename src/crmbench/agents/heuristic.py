"""Rules and regular expressions: what can be had without a model.

It reads what a model would read (the user's words, the tools' results) and knows nothing of how
tasks are made. It is the floor beside the trivial agents: a model that does no better has
understood nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from crmbench.agents.protocol import Session, SimpleFactory

_MONEY = re.compile(r"(?:\$|USD\s?|€)?\s?(\d[\d,]*(?:\.\d+)?)\s?(k|m|million|thousand)?\b", re.I)
_PERCENT = re.compile(r"(\d{1,2})\s?(?:%|percent)")
_ISO = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_MONTH = re.compile(
    r"\b(?:(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s+)?(" + "|".join(_MONTHS) + r")[a-z]*\.?"
    r"(?:\s+(\d{1,2})(?:st|nd|rd|th)?\b)?(?:,?\s+(\d{4}))?",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_FILE = re.compile(r"\b[\w-]+\.(?:pdf|docx?|pptx?|xlsx|csv|txt|key|exe|zip)\b", re.IGNORECASE)
_STAGES = ("Prospecting", "Qualification", "Proposal", "Negotiation", "Closed-Won", "Closed-Lost")
_QUOTE_STATES = ("Draft", "Sent", "Approved", "Rejected", "Canceled")
_CHANGING = re.compile(
    r"\b(move|set|change|update|mark|put|make|raise|lower|push|extend|switch|bump|cancel)\b", re.I
)


@dataclass
class Memory:
    """What the conversation has been about."""

    ids: dict[str, str] = field(default_factory=dict)
    """The record of each kind that was named last."""
    records: list[dict[str, Any]] = field(default_factory=list)
    """What there is to recite."""


class Heuristic:
    """Finds the record whose words fit best, changes what a keyword says, recites what it found."""

    def __init__(self) -> None:
        self._memory = Memory()

    async def turn(self, session: Session, utterance: str) -> str:
        today = date.fromisoformat(session.view.today)
        await self._look_up(session, utterance)
        if file := _FILE.search(utterance):
            return await self._upload(session, file[0])
        if re.search(r"\bnote\b", utterance, re.I) and self._memory.ids:
            return await self._note(session, utterance)
        if _CHANGING.search(utterance) and self._memory.ids:
            return await self._change(session, utterance, today)
        return self._recite()

    async def _look_up(self, session: Session, utterance: str) -> None:
        """Rank all records of the kinds that are named by the words they share with the user's."""
        names = await _names(session)
        heard = _words(utterance)
        for kind, (search, key) in _wanted(utterance):
            records = await _all_records(session, search)
            ranked = sorted(records, key=lambda r: -_overlap(heard, _about(r, names)))
            if ranked and _overlap(heard, _about(ranked[0], names)) >= _ENOUGH[kind]:
                self._memory.records = ranked[:1]
                self._memory.ids[key] = ranked[0][key]
                return

    async def _change(self, session: Session, utterance: str, today: date) -> str:
        changes = _changes(utterance, today)
        for kind, (_, key) in _KINDS.items():
            named = kind in utterance.casefold() or kind == "opportunity"
            if key in self._memory.ids and named:
                entity = key.removesuffix("_id")
                fields = {k: v for k, v in changes.items() if k in _FIELDS[entity]}
                if "cancel" in utterance.casefold() and entity == "quote":
                    fields = {"status": "Canceled"}
                if not fields:
                    continue
                arguments = {key: self._memory.ids[key], **fields}
                result = await session.call(f"modify_{entity}", arguments)
                if not result.ok:
                    return f"I could not do that: {result.value}"
                self._memory.records = [result.value]
                return "Done. " + self._recite()
        return "Could you tell me which record and which field you mean?"

    async def _upload(self, session: Session, name: str) -> str:
        for entity in ("Quote", "Contract", "Opportunity", "Client"):
            key = f"{entity.lower()}_id"
            if key in self._memory.ids:
                arguments = {
                    "entity_type": entity,
                    "entity_id": self._memory.ids[key],
                    "file_name": name,
                }
                result = await session.call("upload_document", arguments)
                return "Uploaded." if result.ok else f"I could not upload it: {result.value}"
        return "Which record should it go to?"

    async def _note(self, session: Session, utterance: str) -> str:
        for entity in ("Quote", "Contract", "Opportunity", "Contact", "Client"):
            key = f"{entity.lower()}_id"
            if key in self._memory.ids:
                arguments = {
                    "entity_type": entity,
                    "entity_id": self._memory.ids[key],
                    "content": utterance.strip(),
                }
                result = await session.call("add_note", arguments)
                return "Noted." if result.ok else f"I could not write it: {result.value}"
        return "Which record should the note go to?"

    def _recite(self) -> str:
        if not self._memory.records:
            return "I found nothing that fits."
        first = self._memory.records[0]
        lines = [f"{name}: {_shown(value)}" for name, value in first.items() if value is not None]
        return f"{len(self._memory.records)} found.\n" + "\n".join(lines)


def _shown(value: Any) -> str:
    return f"${value:,.2f}" if isinstance(value, float) else str(value)


_FIELDS = {
    "opportunity": ("stage", "amount", "probability", "close_date"),
    "quote": ("status", "amount", "valid_until"),
    "contract": ("status", "value", "end_date"),
    "contact": ("email", "title"),
    "client": ("status", "email"),
}


_ENOUGH = {"quote": 2, "contract": 1, "contact": 2, "opportunity": 2, "client": 1}
"""Words that a record must share with what was said to be the one that is meant."""
_KINDS = {
    "quote": ("quote_search", "quote_id"),
    "contract": ("contract_search", "contract_id"),
    "contact": ("contact_search", "contact_id"),
    "opportunity": ("opportunity_search", "opportunity_id"),
    "client": ("client_search", "client_id"),
}
_COMMON = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "what",
        "which",
        "from",
        "have",
        "has",
        "can",
        "you",
        "please",
        "now",
        "then",
        "our",
        "its",
        "deal",
        "quote",
        "client",
        "contact",
        "contract",
        "note",
        "add",
        "put",
        "get",
        "new",
        "all",
        "any",
        "how",
        "who",
        "when",
        "are",
        "was",
        "will",
        "not",
    ]
)


def _wanted(utterance: str) -> list[tuple[str, tuple[str, str]]]:
    """The kinds of records to look among, those that are named first."""
    text = utterance.casefold().replace("deal", "opportunity")
    order = sorted(_KINDS, key=lambda kind: kind not in text)
    return [(kind, _KINDS[kind]) for kind in order]


def _words(text: str) -> set[str]:
    words = re.findall(r"[\w$.,-]*\w", text.casefold())
    return {w.removesuffix("'s").strip(".,$-") for w in words if len(w) > 2} - _COMMON


def _overlap(heard: set[str], about: str) -> int:
    return len(heard & _words(about))


def _about(record: dict[str, Any], names: dict[str, str]) -> str:
    """A record's text, with the names of those that it belongs to."""
    shown = [str(v) for k, v in record.items() if v is not None and not k.endswith("_id")]
    return " ".join(
        [*shown, *(names.get(str(v), "") for k, v in record.items() if k.endswith("_id"))]
    )


async def _names(session: Session) -> dict[str, str]:
    """The names of clients and opportunities by id."""
    clients = await _all_records(session, "client_search")
    deals = await _all_records(session, "opportunity_search")
    found = {r["client_id"]: r["name"] for r in clients}
    return found | {r["opportunity_id"]: r["name"] for r in deals}


async def _all_records(session: Session, search: str) -> list[dict[str, Any]]:
    if search not in {tool["name"] for tool in session.tools}:
        return []
    result = await session.call(search, {"limit": 500})
    return list(result.value["records"]) if result.ok else []


def _changes(utterance: str, today: date) -> dict[str, Any]:
    """Every field that the words seem to set."""
    changes: dict[str, Any] = {}
    text = utterance.casefold().replace("closed won", "closed-won").replace("lost", "closed-lost")
    for stage in _STAGES:
        if stage.casefold() in text:
            changes["stage"] = stage
    for status in (*_QUOTE_STATES, "Active", "Inactive", "Prospect", "Pending", "Expired"):
        if re.search(rf"\b{status}\b", text, re.I):
            changes["status"] = status
    if percent := _PERCENT.search(text):
        changes["probability"] = int(percent[1])
    if email := _EMAIL.search(utterance):
        changes["email"] = email[0]
    if day := _date(utterance, today):
        changes |= dict.fromkeys(("close_date", "valid_until", "end_date"), day)
    if (amount := _amount(utterance)) is not None:
        changes["amount"] = changes["value"] = amount
    return changes


def _amount(utterance: str) -> float | None:
    """The first number that is money: with a sign, a unit, or large enough."""
    for match in _MONEY.finditer(_ISO.sub(" ", utterance)):
        number = float(match[1].replace(",", "") or 0)
        unit = (match[2] or "").casefold()
        number *= {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}.get(unit, 1)
        signed = match[0].lstrip()[:1] in "$€" or unit or "," in match[1]
        if signed or number >= 3000:
            return number
    return None


def _date(utterance: str, today: date) -> str | None:
    if iso := _ISO.search(utterance):
        return iso[1]
    if "tomorrow" in utterance.casefold():
        return (today + timedelta(days=1)).isoformat()
    for match in _DAY_MONTH.finditer(utterance):
        day = match[1] or match[3]
        if day is None:
            continue
        month = _MONTHS.index(match[2][:3].casefold()) + 1
        year = int(match[4] or today.year)
        try:
            found = date(year, month, int(day))
        except ValueError:
            continue
        if match[4] is None and found < today:
            found = found.replace(year=year + 1)
        return found.isoformat()
    return None


HEURISTIC = SimpleFactory("heuristic", lambda _view, _seed: Heuristic())
