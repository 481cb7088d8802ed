"""Interim matcher."""
from __future__ import annotations
import re
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any


from crmbench.core.score.facts.types import Fact, Verdict


def _forms(f: Fact) -> list[str]:
    v = f.value
    if f.kind == "money":
        return [f"{v:,.2f}", f"{v:,.0f}", f"{v:.0f}", f"{v:g}"]
    if f.kind == "date":
        d = date.fromisoformat(v)
        return [v, f"{d:%B} {d.day}", f"{d.day} {d:%B}"]
    return [str(v), *f.aliases]


def mentions(reply: str, fact: Fact) -> Verdict:
    ok = any(re.search(r"(?<![\w.,])" + re.escape(x.casefold()) + r"(?![\w]|[.,]\d)", reply.casefold()) for x in _forms(fact))
    return Verdict(ok, "" if ok else "not said")


conveys = mentions


def realise(fact: Fact, rng: Any = None, style: str = "") -> str:
    v = fact.value
    shown = f"${v:,.2f}" if fact.kind == "money" else f"{v}%" if fact.kind == "percent" else str(v)
    return f"The {fact.label or fact.kind} is {shown}."


def refuses(reply: str, reasons: Any = ()) -> Verdict:
    ok = bool(re.search(r"could not|can't|cannot|not able|unable|refus", reply.casefold()))
    if ok and reasons:
        ok = any(r.casefold() in reply.casefold() for r in reasons)
    return Verdict(ok, "" if ok else "no refusal")


def asks(reply: str, about: Any = ()) -> bool:
    return "?" in reply and (not about or any(a.casefold() in reply.casefold() for a in about))
