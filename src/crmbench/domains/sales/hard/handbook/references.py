"""How articles hang on each other: how deep a change is, and how it names what it changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crmbench.authoring.handbook import Amendment, Provision, Rulebook


def depths(book: Rulebook) -> Mapping[str, int]:
    """How far above a provision each article stands that changes another one: 1 for a change of a
    provision, 2 for a change of that change.
    """
    targets = {amendment.article: amendment.target for amendment in book.amendments}

    def depth(article: str) -> int:
        return 1 + depth(targets[article]) if article in targets else 0

    return {article: depth(article) for article in targets}


def unnumbered(book: Rulebook, articles: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The articles that name what they change by its title or by what it says, not by number.

    Who searches for numbers alone never meets them.
    """
    texts = {str(row["number"]): str(row["text"]) for row in articles}
    return frozenset(
        amendment.article
        for amendment in book.amendments
        if amendment.target not in texts[amendment.article]
    )


def by_subject(book: Rulebook) -> Mapping[str, frozenset[Provision | Amendment]]:
    """Each question to all rules that bear on it: what answers it, what changes that, and so on.

    Two books in which these are alike answer it alike.
    """
    subjects = {provision.article: provision.subject for provision in book.provisions}
    targets = {amendment.article: amendment.target for amendment in book.amendments}
    found: dict[str, list[Provision | Amendment]] = {}
    for provision in book.provisions:
        found.setdefault(provision.subject, []).append(provision)
    for amendment in book.amendments:
        root = amendment.target
        while root in targets:
            root = targets[root]
        if root in subjects:
            found[subjects[root]].append(amendment)
    return {subject: frozenset(rules) for subject, rules in found.items()}


def unnamed(book: Rulebook, articles: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The articles that name what they change neither by its number nor by its title."""
    rows = {str(row["number"]): row for row in articles}
    titles = {number: str(row["title"]).casefold() for number, row in rows.items()}
    return frozenset(
        amendment.article
        for amendment in book.amendments
        if amendment.target not in rows[amendment.article]["text"]
        and titles[amendment.target] not in rows[amendment.article]["text"].casefold()
    )
