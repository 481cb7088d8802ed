"""What the prose of the service org is made of: issues, articles, questions and conversations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Channel = Literal["email", "chat", "both"]
Temper = Literal["calm", "annoyed", "friendly"]
Check = Literal["say", "avoid", "limit", "order", "none"]
RuleRef = tuple[str, str]
"""An article's key and the id of one of its rules."""


@dataclass(frozen=True)
class Issue:
    """A reason for which customers write.

    Attributes:
        key: Stable name in code, for example ``late_delivery``.
        name: The Name that the org shows, for example ``Late Delivery``.
        description: One sentence for Description__c.
    """

    key: str
    name: str
    description: str


@dataclass(frozen=True)
class ArticleRule:
    """One numbered rule of an article.

    Attributes:
        id: Stable name within the article.
        text: The sentence as the article prints it.
        check: How the rule shows in a conversation: ``say`` (the agent must say or ask it),
            ``avoid`` (the agent must not), ``limit`` (a number must fit), ``order`` (one thing
            must come before another), ``none`` (it does not show).
    """

    id: str
    text: str
    check: Check = "none"


@dataclass(frozen=True)
class Article:
    """A knowledge article.

    Attributes:
        key: Stable name in code.
        title: Title of the org's record.
        url_name: UrlName, unique.
        summary: One sentence.
        answer: FAQ_Answer__c: prose and numbered rules, 120 to 300 words.
        issue_keys: The issues whose conversations the article governs; empty for an article
            that only informs.
        rules: The numbered rules in order.
    """

    key: str
    title: str
    url_name: str
    summary: str
    answer: str
    issue_keys: tuple[str, ...]
    rules: tuple[ArticleRule, ...]


@dataclass(frozen=True)
class ArticleQuestion:
    """A question that one article answers.

    Attributes:
        article_key: The article in which the answer stands.
        phrasings: At least five ways to ask it.
        answer: The short answer.
        facts: The words or figures that an answer must contain.
    """

    article_key: str
    phrasings: tuple[str, ...]
    answer: str
    facts: tuple[str, ...]


@dataclass(frozen=True)
class CaseFacts:
    """What is known of a case before its words are written.

    Attributes:
        customer_first: First name of the customer.
        customer_last: Last name of the customer.
        agent_first: First name of the agent who handles the case.
        product: The product's name, a singular noun phrase without an article.
        issue: Key of the issue.
        order_date: Day of the order, ``YYYY-MM-DD``.
        opened: When the case was opened, ISO text that begins with ``YYYY-MM-DD``.
        violated: The rule that the agent breaks, one of `violable(issue)`, or None.
        channel: Where the conversation takes place.
        temper: The customer's mood.
        reply_minutes: How long the agent usually takes to answer an e-mail, at least 1.
    """

    customer_first: str
    customer_last: str
    agent_first: str
    product: str
    issue: str
    order_date: str
    opened: str
    violated: RuleRef | None = None
    channel: Channel = "email"
    temper: Temper = "calm"
    reply_minutes: int = 120


class Email(NamedTuple):
    """One e-mail of a case; `minutes_after_open` counts from the opening of the case."""

    from_customer: bool
    subject: str
    body: str
    minutes_after_open: int


class ChatLine(NamedTuple):
    """One line of a chat; `minutes_after_open` counts from the opening of the case."""

    from_customer: bool
    minutes_after_open: int
    text: str


class CaseText(NamedTuple):
    """All words of a case.

    Attributes:
        subject: Subject of the case.
        description: What the customer reported, as the case's Description keeps it.
        emails: In order of time; empty when the channel is ``chat``.
        chat: In order of time; empty when the channel is ``email``.
        opened: The day on which the case was opened, ``YYYY-MM-DD``.
    """

    subject: str
    description: str
    emails: tuple[Email, ...]
    chat: tuple[ChatLine, ...]
    opened: str

    @property
    def last_minute(self) -> int:
        """Minutes from the opening of the case to its last message."""
        moments = [email.minutes_after_open for email in self.emails[-1:]]
        moments += [line.minutes_after_open for line in self.chat[-1:]]
        return max(moments, default=0)
