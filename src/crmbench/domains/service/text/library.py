"""The issues, knowledge articles and questions, read from the data files beside this module."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import yaml

from crmbench.domains.service.text.model import (
    Article,
    ArticleQuestion,
    ArticleRule,
    Issue,
    RuleRef,
)
from crmbench.errors import HarnessError

_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
ARTICLE_FILES = ("conduct_service", "conduct_remedies", "conduct_account", "orders", "goods")


def read(name: str) -> Any:
    """The content of `data/<name>.yaml`."""
    folder = resources.files("crmbench.domains.service.text") / "data"
    return yaml.load((folder / f"{name}.yaml").read_text("utf-8"), Loader=_LOADER)


def _issues() -> tuple[Issue, ...]:
    return tuple(Issue(row["key"], row["name"], row["description"]) for row in read("issues"))


ISSUES: tuple[Issue, ...] = _issues()
"""The ten reasons for which customers write."""
_ISSUE_NAMES = {issue.key: issue.name for issue in ISSUES}


def _paragraph(text: str) -> str:
    return " ".join(text.split())


def _scope(issue_keys: tuple[str, ...]) -> str:
    if not issue_keys:
        return ""
    names = " and ".join(f"'{_ISSUE_NAMES[key]}'" for key in issue_keys)
    return f"This article governs every conversation about {names}, by e-mail and by chat."


def _article(row: dict[str, Any]) -> Article:
    issue_keys = tuple(row.get("issues", ()))
    rules = tuple(
        ArticleRule(r["id"], _paragraph(r["text"]), r.get("check", "none")) for r in row["rules"]
    )
    numbered = "\n".join(f"{number}. {rule.text}" for number, rule in enumerate(rules, 1))
    opening = " ".join(filter(None, (_scope(issue_keys), _paragraph(row["intro"]))))
    closing = _paragraph(row.get("outro", ""))
    return Article(
        key=row["key"],
        title=row["title"],
        url_name=row["key"].replace("_", "-"),
        summary=_paragraph(row["summary"]),
        answer="\n\n".join(filter(None, (opening, numbered, closing))),
        issue_keys=issue_keys,
        rules=rules,
    )


def _rows() -> list[dict[str, Any]]:
    return [row for name in ARTICLE_FILES for row in read(name)]


_ROWS = _rows()
ARTICLES: tuple[Article, ...] = tuple(_article(row) for row in _ROWS)
"""The 45 knowledge articles; those with `issue_keys` govern conversations."""

_FRAMES = (
    "Could you tell me {clause}?",
    "{Direct} I could not find it in my notes.",
    "I would like to know {clause}.",
    "Please find out {clause}.",
    "I am new to the team. {Direct}",
    "Please look up {clause}.",
)
_FRAMES_FOR_CUSTOMERS = (
    "A customer has asked me {clause}. What is the right answer?",
    "I have a customer on the line who wants to know {clause}. What do I say?",
)
_FRAMES_FOR_COLLEAGUES = (
    "A colleague has asked me {clause}, and I was not sure.",
    "Before I go on with a case I need to know {clause}.",
)


def _phrasings(row: dict[str, Any], number: int, internal: bool) -> tuple[str, ...]:
    """The direct forms, and four openings that rotate with the question's number."""
    direct = [_paragraph(text) for text in row["ask"]]
    frames = (*_FRAMES, *(_FRAMES_FOR_COLLEAGUES if internal else _FRAMES_FOR_CUSTOMERS))
    framed = [
        frames[(number * 3 + step) % len(frames)].format(clause=row["clause"], Direct=direct[0])
        for step in range(4)
    ]
    return (*direct, *framed)


def _questions() -> tuple[ArticleQuestion, ...]:
    pairs = [(row, question) for row in _ROWS for question in row["questions"]]
    return tuple(
        ArticleQuestion(
            article_key=row["key"],
            phrasings=_phrasings(question, number, "issues" in row),
            answer=_paragraph(question["answer"]),
            facts=tuple(question["facts"]),
        )
        for number, (row, question) in enumerate(pairs)
    )


QA: tuple[ArticleQuestion, ...] = _questions()
"""Questions whose answer stands in one article."""


@cache
def article(key: str) -> Article:
    """The article with this key.

    Raises:
        HarnessError: There is none.
    """
    for candidate in ARTICLES:
        if candidate.key == key:
            return candidate
    raise HarnessError(f"there is no article '{key}'")


@cache
def applicable(issue_key: str) -> tuple[Article, ...]:
    """The articles that govern conversations about this issue."""
    return tuple(found for found in ARTICLES if issue_key in found.issue_keys)


@cache
def violable(issue_key: str) -> tuple[RuleRef, ...]:
    """The rules that an agent can visibly break in a conversation about this issue."""
    return tuple(
        (found.key, rule.id)
        for found in applicable(issue_key)
        for rule in found.rules
        if rule.check != "none"
    )
