"""The prose of the service org: knowledge articles, questions about them, and conversations.

The org belongs to Brackenholt, an invented retailer of home, outdoor and sports goods. Some of its
articles govern how agents talk to customers; in a conversation written by `compose_case` the agent
keeps all of their visible rules, or breaks exactly the one that the facts name. `check_text` finds
broken rules from the words alone, without knowing how they were composed.
"""

from crmbench.domains.service.text.check import check_text
from crmbench.domains.service.text.compose import compose_case
from crmbench.domains.service.text.library import (
    ARTICLES,
    ISSUES,
    QA,
    applicable,
    article,
    violable,
)
from crmbench.domains.service.text.model import (
    Article,
    ArticleQuestion,
    ArticleRule,
    CaseFacts,
    CaseText,
    Channel,
    ChatLine,
    Check,
    Email,
    Issue,
    RuleRef,
    Temper,
)

STORE = "Brackenholt"
"""Name of the retailer that the articles and conversations speak of."""

__all__ = [
    "ARTICLES",
    "ISSUES",
    "QA",
    "STORE",
    "Article",
    "ArticleQuestion",
    "ArticleRule",
    "CaseFacts",
    "CaseText",
    "Channel",
    "ChatLine",
    "Check",
    "Email",
    "Issue",
    "RuleRef",
    "Temper",
    "applicable",
    "article",
    "check_text",
    "compose_case",
    "violable",
]
