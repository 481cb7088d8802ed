"""What of a run's episodes is listed: words, facets, cost and order, all of it in the address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from crmbench.report.views.lines import EpisodeLine
from crmbench.web.runs import FACETS

PAGE = 100
"""Episodes of a page."""
SORTS = {
    "": "as played",
    "turns": "turns",
    "calls": "calls",
    "cost": "cost",
    "seconds": "time",
    "task_id": "task",
}


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """What is listed, and in which order."""

    words: str = ""
    chosen: tuple[tuple[str, str], ...] = ()
    """Facet and value; all of them must hold."""
    cost_from: float | None = None
    cost_to: float | None = None
    sort: str = ""
    falling: bool = False
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> EpisodeFilter:
        """The filter of an address; what it does not understand is left out."""
        sort = query.get("sort", "")
        falling, sort = sort.startswith("-"), sort.removeprefix("-")
        return cls(
            query.get("q", "").strip(),
            tuple((facet, query[facet]) for facet in FACETS if query.get(facet)),
            _number(query.get("cost_from")),
            _number(query.get("cost_to")),
            sort if sort in SORTS else "",
            falling,
            max(1, int(_number(query.get("page")) or 1)),
        )

    @property
    def any(self) -> bool:
        """Whether it leaves anything out."""
        costs = self.cost_from is not None or self.cost_to is not None
        return bool(self.words or self.chosen) or costs

    def value(self, facet: str) -> str:
        """What is chosen under a facet; empty if nothing."""
        return dict(self.chosen).get(facet, "")

    def query(self, **changes: str | int | None) -> str:
        """The address's query, with some of it otherwise; a filter that changes begins anew."""
        values: dict[str, str] = {"q": self.words, **dict(self.chosen)}
        for name in ("cost_from", "cost_to"):
            bound = getattr(self, name)
            values[name] = "" if bound is None else f"{bound:g}"
        values["sort"] = ("-" if self.falling else "") + self.sort if self.sort else ""
        values["page"] = str(self.page) if self.page > 1 and not changes else ""
        values.update({name: "" if v is None else str(v) for name, v in changes.items()})
        if values["page"] == "1":
            values["page"] = ""
        kept = {name: value for name, value in values.items() if value}
        return f"?{urlencode(kept)}" if kept else ""

    def sorted_by(self, name: str) -> str:
        """The query that sorts by a column, falling first, then rising."""
        again = self.sort == name and self.falling
        return self.query(sort=name if again else f"-{name}")

    def of_all(self, lines: Sequence[EpisodeLine]) -> list[EpisodeLine]:
        """Those of some episodes that are listed, in order."""
        found = list(self._matching(lines))
        if self.sort:
            found.sort(key=self._key, reverse=self.falling)
        return found

    def _matching(self, lines: Sequence[EpisodeLine]) -> Iterator[EpisodeLine]:
        words = self.words.lower().split()
        low, high = self.cost_from, self.cost_to
        for line in lines:
            if any(value not in line.values(facet) for facet, value in self.chosen):
                continue
            if low is not None and (line.cost is None or line.cost < low):
                continue
            if high is not None and (line.cost is None or line.cost > high):
                continue
            if all(word in line.text for word in words):
                yield line

    def _key(self, line: EpisodeLine) -> tuple[float | str, int]:
        value = getattr(line, self.sort)
        return (-1.0 if value is None else value), line.number


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None
