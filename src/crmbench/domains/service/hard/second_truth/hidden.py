"""Links that are found by no number: what changes a memo, and calls it by something else.

Whoever reads a rule and looks for its number alone takes it as it stands. A link counts as hidden
if it speaks of its target by a day, by its condition, or by a name that another memo has given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from crmbench.core.schema import Row
from crmbench.core.task import Task
from crmbench.domains.service.hard.desk.words import subjects
from crmbench.domains.service.hard.second_truth.desk import (
    Page,
    handles_of,
    kind_of,
    read_page,
    title_of,
)

LEAST: Mapping[str, int] = {"routing": 5, "duplicates": 4, "census": 3}
"""How many hidden links at least decide an item of a task of the published level."""


@dataclass(frozen=True)
class Link:
    """One memo that changes another."""

    title: str
    target: str
    kind: str
    """What it calls the other by: "number", "name", "day", "first", "condition", or "alias" for a
    name that another memo gives.
    """

    @property
    def hidden(self) -> bool:
        return self.kind not in ("number", "name")


def links(articles: Sequence[Row], mechanism: str) -> list[Link]:
    """The changes of rules that a mechanism asks about, and of what changes these."""
    pages = [read_page(row) for row in articles if row["PublishStatus"] != "Draft"]
    found = list(_links(pages))
    mine = {s.key for s in subjects().values() if s.of == mechanism}
    known = {page.title for page in pages if any(p.subject in mine for p in page.provisions)}
    while True:
        more = {link.title for link in found if link.target in known} - known
        if not more:
            return [link for link in found if link.title in known]
        known |= more


def _links(pages: Sequence[Page]) -> Iterator[Link]:
    known = handles_of(pages)
    given = {nickname for page in pages for _, nickname in page.names}
    for page in pages:
        for _, handle in page.changes:
            kind, said = kind_of(handle)
            yield Link(
                page.title,
                title_of(handle, known),
                "alias" if kind == "name" and said in given else kind,
            )


def problems(task: Task, articles: Sequence[Row]) -> list[str]:
    """The hidden links on which no item of a published task hangs; and if too few do."""
    if task.tag("level") != "L3":
        return []
    mechanism = task.tag("mechanism") or ""
    hidden = [link.title for link in links(articles, mechanism) if link.hidden]
    decided = {rule for item in task.gold.items for rule in item.rules}
    found = [f"no item hangs on {title}" for title in hidden if title not in decided]
    deciding = len(hidden) - len(found)
    if deciding < LEAST[mechanism]:
        found.append(f"{deciding} hidden links decide an item, not {LEAST[mechanism]}")
    return found
