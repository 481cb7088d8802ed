"""What a search of the handbook finds, on both databases, against a plain reading of all texts."""

from __future__ import annotations

import re
from typing import Any

import pytest

from crmbench.core.sandbox import Sandbox
from crmbench.domains.sales.hard.domain import SALES_HARD

ODD = {
    "number": "HB-1",
    "title": "Die STRASSE der GRÖSSE",
    "issued": "2026-01-01",
    "text": "Large_Orders at 5 % count twice on Hauptstraße, says O'Neill's 19/2024.",
}


def plain(text: str) -> list[str]:
    """Words in small letters, without the plural's ending."""
    words = re.findall(r"\w+(?:[-'’.,/]\w+)*", text.casefold())
    return [word[:-1] if len(word) > 3 and word[-1] == "s" else word for word in words]


def found(articles: list[dict[str, Any]], *needles: str) -> list[str]:
    """The numbers of the articles in which every needle stands, its words side by side."""
    wanted = [f" {' '.join(plain(needle))} " for needle in needles]
    return [
        row["number"]
        for row in articles
        if all(
            any(w in f" {' '.join(plain(row[name]))} " for name in ("number", "title", "text"))
            for w in wanted
        )
    ]


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_a_search_finds_what_a_reading_of_all_articles_finds(backend: str) -> None:
    with Sandbox.open(SALES_HARD, "worklist-L1-7-04", backend) as box:
        box.database.insert("Article", ODD)

        def call(tool: str, **arguments: Any) -> Any:
            answer = box.call(tool, arguments)
            assert answer.ok, answer.error
            return answer.result

        pages = range(1, call("handbook_list")["pages"] + 1)
        numbers = [a["number"] for p in pages for a in call("handbook_list", page=p)["articles"]]
        articles = [call("handbook_open", number=number) for number in numbers]
        assert len(articles) > 100
        searches: list[tuple[str, ...]] = [
            ("strasse",),
            ("STRASSE", "hauptstraße"),
            ("grösse",),
            ("größe", "die"),
            ("large_orders",),
            ("largexorders",),
            ("5", "twice"),
            ("o'neill's", "19/2024"),
            ("count twice on",),
            ("twice count",),
            ("renewal", "renewals"),
            ("nowhere",),
        ]
        for row in articles[::8]:
            words = [*row["title"].split(), *row["text"].split()]
            words = [word for word in words if re.search(r"\w", word) and '"' not in word]
            searches += [(words[0],), (words[-1], words[0]), (" ".join(words[-3:]), words[1])]
            searches.append((row["number"].lower(), *words[4:8]))
        hits = 0
        for needles in searches:
            asked = " ".join(f'"{needle}"' if " " in needle else needle for needle in needles)
            first = call("handbook_search", words=asked)
            there = found(articles, *needles)
            assert first["total_count"] == len(there), needles
            assert [a["number"] for a in first["articles"]] == there[:10], needles
            hits += bool(there)
        assert hits > 40
        assert found(articles, "strasse") == ["HB-1"]
