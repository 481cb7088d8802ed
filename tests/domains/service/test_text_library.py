"""The issues, articles and questions of the service org."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from crmbench.domains.service.text import (
    ARTICLES,
    ISSUES,
    QA,
    Article,
    applicable,
    article,
    violable,
)
from crmbench.errors import HarnessError


def _words(text: str) -> str:
    return " ".join(text.split()).lower()


def test_counts_are_those_of_the_org() -> None:
    assert len(ISSUES) == 10
    assert len(ARTICLES) == 45
    assert len(QA) >= 140


def test_names_are_unique() -> None:
    for names in (
        [issue.key for issue in ISSUES],
        [issue.name for issue in ISSUES],
        [found.key for found in ARTICLES],
        [found.title for found in ARTICLES],
        [found.url_name for found in ARTICLES],
    ):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("found", ARTICLES, ids=lambda found: found.key)
def test_article_is_prose_of_the_agreed_length_with_numbered_rules(found: Article) -> None:
    assert 120 <= len(found.answer.split()) <= 300
    assert len(found.rules) >= 5
    for number, rule in enumerate(found.rules, 1):
        assert f"\n{number}. {rule.text}" in found.answer
    assert len({rule.id for rule in found.rules}) == len(found.rules)
    assert "  " not in found.answer
    assert "{" not in found.answer


@pytest.mark.parametrize("found", ARTICLES, ids=lambda found: found.key)
def test_only_articles_with_a_scope_have_visible_rules(found: Article) -> None:
    visible = [rule for rule in found.rules if rule.check != "none"]
    assert bool(visible) == bool(found.issue_keys)
    for issue in ISSUES:
        assert (f"'{issue.name}'" in found.answer) == (issue.key in found.issue_keys)


def test_every_question_is_answered_by_its_article() -> None:
    for question in QA:
        text = _words(article(question.article_key).answer)
        for fact in question.facts:
            assert fact.lower() in text, (question.article_key, fact)
            assert fact.lower() in question.answer.lower(), (question.article_key, fact)
        assert question.facts


def test_every_question_has_distinct_phrasings() -> None:
    for question in QA:
        assert len(set(question.phrasings)) >= 5
        assert all(text[0].isupper() and text[-1] in ".?" for text in question.phrasings)
    openings = Counter(text for question in QA for text in question.phrasings)
    assert max(openings.values()) == 1


def test_every_article_is_asked_about() -> None:
    asked = Counter(question.article_key for question in QA)
    assert set(asked) == {found.key for found in ARTICLES}
    assert max(asked.values()) <= 5


def test_every_issue_has_several_articles_that_can_be_broken() -> None:
    for issue in ISSUES:
        assert len({key for key, _ in violable(issue.key)}) >= 3
        assert {found.key for found in applicable(issue.key)} == {
            key for key, _ in violable(issue.key)
        }


def test_no_article_dominates_the_violations() -> None:
    share: defaultdict[str, float] = defaultdict(float)
    for issue in ISSUES:
        refs = violable(issue.key)
        for key, _ in refs:
            share[key] += 1 / len(refs) / len(ISSUES)
    assert max(share.values()) < 0.07


def test_unknown_article_is_refused() -> None:
    with pytest.raises(HarnessError, match="no article 'nothing'"):
        article("nothing")
