"""The records as the tools show them, listed once and kept until something is written."""

from __future__ import annotations

from typing import Any

from crmbench.agents.protocol import Session
from crmbench.core.episode import ToolResult

Record = dict[str, Any]

_PAGE = 500
_MOST = 2000
"""Records of a kind that are looked at; in a larger org the rest stays unseen."""


class OrgReader:
    """Reads and writes through a session's tools; a refused or missing tool gives no records."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tools = {str(tool.get("name")) for tool in session.tools}
        self._kept: dict[str, list[Record]] = {}

    def has(self, tool: str) -> bool:
        """Whether there is a tool of that name."""
        return tool in self._tools

    def all(self, kind: str) -> list[Record]:
        """Every record of a kind, such as ``client``, in the order in which the CRM lists them."""
        if kind not in self._kept:
            self._kept[kind] = self._listed(kind)
        return self._kept[kind]

    def get(self, kind: str, key: Any) -> Record | None:
        """The record with this id, or None."""
        return next((r for r in self.all(kind) if r.get(f"{kind}_id") == key), None)

    def of(self, kind: str, **fields: Any) -> list[Record]:
        """The records whose fields have these values."""
        return [r for r in self.all(kind) if all(r.get(k) == v for k, v in fields.items())]

    def call(self, tool: str, arguments: Record) -> ToolResult:
        """Run a tool that writes, and forget what was listed of the kind that it ends in."""
        result = self._session.call_now(tool, arguments)
        self._kept.pop(tool.rpartition("_")[2], None)
        return result

    def _listed(self, kind: str) -> list[Record]:
        """All that have an id, page by page."""
        found: list[Record] = []
        tool, key, offset = f"{kind}_search", f"{kind}_id", 0
        while tool in self._tools and offset < _MOST:
            page = {"limit": _PAGE, "offset": offset}
            result = self._session.call_now(tool, page)
            records = result.value.get("records") if result.ok and _is_map(result.value) else None
            if not isinstance(records, list) or not records:
                break
            found += [record for record in records if isinstance(record, dict) and record.get(key)]
            offset += _PAGE
            if len(records) < _PAGE:
                break
        return found


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def is_open(deal: Record) -> bool:
    """Whether a deal is neither won nor lost."""
    return not str(deal.get("stage", "")).startswith("Closed")


def latest(quotes: list[Record]) -> Record | None:
    """The quote of the highest version, or None if there is none."""
    return max(quotes, key=version, default=None)


def version(quote: Record) -> int:
    """The number in a quote's version."""
    digits = "".join(c for c in str(quote.get("version") or "") if c.isdecimal() and c.isascii())
    return int(digits[:6]) if digits else 0


def full_name(contact: Record) -> str:
    """First and last name of a contact."""
    return f"{contact.get('first_name') or ''} {contact.get('last_name') or ''}".strip()
