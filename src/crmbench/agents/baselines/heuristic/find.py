"""Which records are meant: by name, by what tells them apart, or as the one spoken of before."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from crmbench.agents.baselines.heuristic.filters import narrowed, take_amount
from crmbench.agents.baselines.heuristic.org import OrgReader, Record, full_name, latest
from crmbench.agents.baselines.heuristic.parse import QUOTE_STATES, ParsedUtterance, name_of
from crmbench.agents.baselines.heuristic.values import money

DEAL = re.compile(r"\b(?:deals?|opportunit(?:y|ies)|business)\b", re.IGNORECASE)
QUOTE = re.compile(r"\bquotes?\b|\bdraft\b", re.IGNORECASE)
_LAST = re.compile(r"\b(?:latest|last|newest|most recent|current)\b", re.IGNORECASE)


class AskError(Exception):
    """The user must say more before anything can be done; the text is the question."""


@dataclass
class RecordFocus:
    """The record of each kind that was spoken of last."""

    ids: dict[str, str] = field(default_factory=dict)
    last: str = "opportunity"
    """The kind that was changed or asked about last."""

    def set(self, kind: str, record: Record) -> Record:
        """Speak of a record, and of those that it belongs to."""
        self.ids[kind] = str(record.get(f"{kind}_id"))
        self.last = kind
        for other in ("client", "opportunity"):
            if kind != other and record.get(f"{other}_id"):
                self.ids[other] = str(record[f"{other}_id"])
        return record


class RecordFinder:
    """Finds the records that one utterance is about."""

    def __init__(self, parsed: ParsedUtterance, org: OrgReader, focus: RecordFocus) -> None:
        self.parsed, self.org, self.focus = parsed, org, focus

    def client(self) -> Record | None:
        """The client named, the employer of the person named, or the one spoken of.

        Raises:
            AskError: A detail is missing, which the user is asked for.
        """
        parsed = self.parsed
        if parsed.clients:
            return self.focus.set("client", parsed.clients[0])
        if parsed.deals:
            return self.org.get("client", parsed.deals[0].get("client_id"))
        employers = {str(c.get("client_id")) for c in parsed.contacts}
        if len(employers) > 1 and self.focus.ids.get("client") in employers:
            employers = {self.focus.ids["client"]}
        if len(employers) == 1:
            return self.org.get("client", employers.pop())
        if len(employers) > 1:
            raise AskError(
                "Which client does that person work for? There are several of that name."
            )
        return self.org.get("client", self.focus.ids.get("client"))

    def deal(self) -> Record | None:
        """The deal meant, or None where no deal is.

        Raises:
            AskError: What was said fits several.
        """
        parsed = self.parsed
        if parsed.deals:
            return self._chosen([d for d in parsed.deals if name_of(d) == name_of(parsed.deals[0])])
        current = self.org.get("opportunity", self.focus.ids.get("opportunity"))
        named = bool(parsed.clients or parsed.contacts)
        described = parsed.products or parsed.says(r"biggest|largest|\bopen\b")
        if not named and not described:
            return current
        if named and not described and not DEAL.search(parsed.text) and current is not None:
            client = self.client()
            if client is not None and client["client_id"] == current.get("client_id"):
                return current
        return self._chosen(self._pool(), current)

    def _pool(self) -> list[Record]:
        client = self.client() if self.parsed.clients or self.parsed.contacts else None
        if client is not None:
            return self.org.of("opportunity", client_id=client.get("client_id"))
        deals = self.org.all("opportunity")
        near = [d for d in deals if d.get("client_id") == self.focus.ids.get("client")]
        return near if near and narrowed(near, self.parsed, strict=True) else deals

    def _chosen(self, pool: list[Record], current: Record | None = None) -> Record | None:
        left = narrowed(pool, self.parsed)
        if len(left) > 1 and current is not None and current in left:
            left = [current]
        if len(left) > 1:
            raise AskError(
                "Which deal do you mean? I see these:\n" + "\n".join(map(told, left[:8]))
            )
        if not left:
            return None
        take_amount(self.parsed, left)
        return self.focus.set("opportunity", left[0])

    def quote(self, deal: Record | None) -> Record | None:
        """The quote meant: by version, status or amount, as the latest, or as the one spoken of."""
        parsed = self.parsed
        pool = self.org.of("quote", opportunity_id=deal["opportunity_id"]) if deal else []
        for version in parsed.values.versions[:1]:
            return self._quote([q for q in pool if q.get("version") == version])
        for status in QUOTE_STATES:
            described = rf"\b{status}\b[- ]?(?:quote|one)|(?:marked|status|is) {status}\b"
            fits = [q for q in pool if q.get("status") == status]
            if fits and parsed.says(described):
                return self._quote([latest(fits) or fits[0]])
        if _LAST.search(parsed.text) and (found := latest(pool)):
            return self._quote([found])
        priced = [q for q in pool if q.get("amount") in parsed.values.amounts]
        if len(pool) > 1 and len(priced) == 1:
            parsed.values.amounts.remove(priced[0]["amount"])
            return self._quote(priced)
        held = self.org.get("quote", self.focus.ids.get("quote"))
        if held is not None and (deal is None or held in pool):
            return self._quote([held])
        return self._quote(pool)

    def _quote(self, pool: list[Record]) -> Record | None:
        if len(pool) > 1:
            names = ", ".join(f"{q.get('version')} ({q.get('status')})" for q in pool)
            raise AskError(f"Which quote do you mean: {names}?")
        return self.focus.set("quote", pool[0]) if pool else None

    def contract(self) -> Record | None:
        """The contract of the deal or client meant, the running one first."""
        parsed = self.parsed
        client = self.client()
        pool = self.org.of("contract", client_id=client["client_id"]) if client else []
        if DEAL.search(parsed.text) or parsed.deals:
            deal = self.deal()
            linked = [c for c in pool if deal and c.get("opportunity_id") == deal["opportunity_id"]]
            pool = linked or pool
        running = [c for c in pool if c.get("status") == "Active"]
        held = [c for c in pool if c["contract_id"] == self.focus.ids.get("contract")]
        chosen = held if held and not parsed.clients else running or pool
        return self.focus.set("contract", chosen[-1]) if chosen else None

    def contact(self) -> Record | None:
        """The person named, or meant by title, or the one spoken of.

        Raises:
            AskError: People of that name work for several clients.
        """
        parsed = self.parsed
        pool = parsed.contacts
        if len(pool) > 1:
            clients = {c["client_id"] for c in parsed.clients} or {self.focus.ids.get("client")}
            pool = [c for c in pool if c.get("client_id") in clients] or pool
        if len({full_name(c) for c in pool[:2]}) == 1 and len(pool) > 1:
            raise AskError(f"Which {full_name(pool[0])} do you mean, at which client?")
        if pool:
            return self.focus.set("contact", pool[0])
        return self.titled() or self.org.get("contact", self.focus.ids.get("contact"))

    def titled(self) -> Record | None:
        """The contact of the client meant whose title was said."""
        client = self.client()
        people = self.org.of("contact", client_id=client["client_id"]) if client else []
        low = self.parsed.text.casefold()
        fits = [c for c in people if c.get("title") and str(c["title"]).casefold() in low]
        return self.focus.set("contact", fits[0]) if len(fits) == 1 else None


def told(deal: Record) -> str:
    """A deal in a line."""
    return f"{deal.get('name')}: {money(deal.get('amount'))}, {deal.get('stage')}"
