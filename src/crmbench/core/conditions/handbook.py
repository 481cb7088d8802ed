"""The house rules as articles that must be found, instead of standing in the prompt."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import log
from typing import Any

from crmbench.core.arguments import TEXT
from crmbench.core.conditions.base import Condition, with_tools
from crmbench.core.tool import Param, Tool, Toolbox
from crmbench.errors import InputError, ToolError

_RULE = re.compile(r"^- \*\*(?P<name>[A-Z]+-\d+)\*\* (?P<text>.*(?:\n  .*)*)", re.MULTILINE)
"""A rule: a bullet that begins with its id in bold, and its indented lines."""
RULE_EXAMPLES = (
    ("- **DEAL-1** A new deal is named so.\n  It starts there.\n", True),
    ("- A bullet without an id.\n", False),
)
_SECTION = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
_WORD = re.compile(r"[a-z0-9]+")
FOUND = 5
"""Articles that a search names at most."""
TITLE_WORDS = 8


@dataclass(frozen=True)
class Article:
    """A rule as an article."""

    title: str
    section: str
    text: str


def articles_of(policy: str) -> tuple[Article, ...]:
    """The rules of a policy, each an article."""
    sections = [(match.start(), match["title"]) for match in _SECTION.finditer(policy)]
    found = []
    for match in _RULE.finditer(policy):
        section = next((t for at, t in reversed(sections) if at < match.start()), "General")
        text = " ".join(match["text"].split())
        words = text.split()
        opening = " ".join(words[:TITLE_WORDS]).rstrip(".,:;") + (
            " …" if len(words) > TITLE_WORDS else ""
        )
        found.append(Article(f"{match['name']}: {opening}", section, text))
    return tuple(found)


class Handbook(Condition):
    """Every rule is an article; the prompt keeps what stands before the first one.

    Raises:
        InputError: The domain has a handbook of its own.
    """

    def __init__(self) -> None:
        super().__init__()
        self._articles: tuple[Article, ...] = ()

    def policy(self, policy: str) -> str:
        self._articles = articles_of(policy)
        head = policy[: policy.find("\n## ")].strip() if "\n## " in policy else policy
        return f"{head}\n\nThe rules stand in the handbook, an article each."

    def told(self) -> str:
        sections = ", ".join(dict.fromkeys(article.section for article in self._articles))
        return (
            f"The handbook has {len(self._articles)} articles under these heads: {sections}. "
            "handbook_search finds them by words, handbook_titles lists them all, "
            "handbook_open shows "
            "one. Every rule holds, whether you have read it or not."
        )

    def tools(self, toolbox: Toolbox) -> Toolbox:
        """The domain's tools and those of the handbook.

        Raises:
            InputError: The domain has a handbook already.
        """
        if "handbook_search" in toolbox.by_name:
            raise InputError(
                "these conversations have a handbook already", expected="no condition 'handbook'"
            )
        query = Param("query", TEXT, True, "words to look for")
        title = Param("title", TEXT, True, "its title, or the id that the title begins with")
        return with_tools(
            toolbox,
            Tool(
                "handbook_search",
                f"Find articles of the handbook by words; gives at most {FOUND}, the best first.",
                False,
                (query,),
                self._search,
            ),
            Tool("handbook_open", "Show an article of the handbook.", False, (title,), self._open),
            Tool(
                "handbook_titles",
                "List the titles of all articles of the handbook.",
                False,
                (),
                self._titles,
            ),
        )

    def _search(self, handle: Any, query: str) -> dict[str, Any]:
        del handle
        ranked = rank(self._articles, query)[:FOUND]
        return {"articles": [{"title": a.title, "section": a.section} for a in ranked]}

    def _open(self, handle: Any, title: str) -> dict[str, str]:
        del handle
        wanted = title.strip().casefold()
        for article in self._articles:
            whole = article.title.casefold()
            if wanted in (whole, whole.partition(":")[0]):
                return {"title": article.title, "section": article.section, "text": article.text}
        raise ToolError(f"The handbook has no article '{title[:80]}'.", "not_found")

    def _titles(self, handle: Any) -> dict[str, Any]:
        del handle
        return {"titles": [article.title for article in self._articles]}


def rank(articles: tuple[Article, ...], query: str) -> list[Article]:
    """The articles that share a word with the query, by the rarity of the words they share."""
    words = [_words(f"{a.title} {a.section} {a.text}") for a in articles]
    spread = Counter(word for each in words for word in each)
    scores = []
    for place, each in enumerate(words):
        shared = each & _words(query)
        score = sum(log(1 + len(articles) / spread[word]) for word in shared)
        if score:
            scores.append((-score, place))
    return [articles[place] for _, place in sorted(scores)]


def _words(text: str) -> set[str]:
    # A plural s is dropped, so that "quotes" finds "quote".
    return {word.removesuffix("s") for word in _WORD.findall(text.casefold())}
