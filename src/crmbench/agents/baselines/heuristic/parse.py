"""What was said, taken apart: the names of records, and the values in what is left."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date

from crmbench.agents.baselines.heuristic.org import OrgReader, Record, full_name
from crmbench.agents.baselines.heuristic.values import Values, read_values
from crmbench.language.legal_forms import without_legal_forms

STAGES = ("Prospecting", "Qualification", "Proposal", "Negotiation", "Closed-Won", "Closed-Lost")
QUOTE_STATES = ("Draft", "Sent", "Approved", "Rejected", "Canceled")


@dataclass
class ParsedUtterance:
    """What was said, taken apart."""

    said: str
    """All of it."""
    values: Values
    clients: list[Record] = field(default_factory=list)
    contacts: list[Record] = field(default_factory=list)
    deals: list[Record] = field(default_factory=list)
    """Those whose whole name was said."""
    companies: list[Record] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    products: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What is left without names and values."""
        return self.values.text

    def says(self, pattern: str) -> bool:
        """Whether a pattern is in what was said, names aside, in any case."""
        return re.search(pattern, self.text, re.IGNORECASE) is not None


def parse(said: str, org: OrgReader, today: date) -> ParsedUtterance:
    """Find the names of records, longest first, then read the values in what is left."""
    parsed = ParsedUtterance(said, Values(said))
    kept = re.sub(r"\S+@\S+|\S+\.\w{3,4}\b", lambda m: "\0" * len(m[0]), said)
    parsed.deals, kept = _named(kept, org.all("opportunity"), name_of)
    parsed.clients, kept = _named(kept, org.all("client"), name_of)
    parsed.companies, kept = _named(kept, org.all("company"), name_of)
    if not parsed.clients and not parsed.deals:
        parsed.clients, kept = _named(
            kept, org.all("client"), lambda c: without_legal_forms(name_of(c))
        )
    parsed.contacts, kept = _named(kept, org.all("contact"), full_name)
    owners = sorted(
        {str(r.get("owner") or "") for k in ("client", "opportunity") for r in org.all(k)}
    )
    found, kept = _named(kept, [{"name": owner} for owner in owners], name_of)
    parsed.owners = [name_of(owner) for owner in found]
    products = sorted({product(deal) for deal in org.all("opportunity")})
    found, kept = _named(kept, [{"name": name} for name in products], name_of)
    parsed.products = [name_of(owner) for owner in found]
    masked = "".join(a if b == "\0" else b for a, b in zip(said, kept, strict=True))
    parsed.values = read_values(masked, today)
    return parsed


def name_of(record: Record) -> str:
    """A record's name; empty if it has none."""
    return str(record.get("name") or "")


def product(deal: Record) -> str:
    """What a deal is about: its name after the client's."""
    return name_of(deal).partition(" - ")[2]


def _named(
    text: str, records: Iterable[Record], name: Callable[[Record], str]
) -> tuple[list[Record], str]:
    """The records whose name is in a text, in the order said, and the text without the names."""
    low = text.casefold()
    if len(low) != len(text):
        low = text.lower() if len(text.lower()) == len(text) else text
    places: list[tuple[int, Record]] = []
    for record in sorted(records, key=lambda r: -len(name(r))):
        wanted = name(record).casefold()
        start = low.find(wanted) if len(wanted) > 2 else -1
        before = [at for at, other in places if name(other).casefold() == wanted]
        if before:
            places.append((before[0], record))
        elif start >= 0 and _whole(low, start, start + len(wanted)):
            places.append((start, record))
            blank = " " * len(wanted)
            low = low[:start] + blank + low[start + len(wanted) :]
            text = text[:start] + blank + text[start + len(wanted) :]
    return [record for _, record in sorted(places, key=lambda place: place[0])], text


def _whole(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())
