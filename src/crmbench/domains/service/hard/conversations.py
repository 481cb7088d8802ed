"""Who wrote what to whom in a case, in order, before it becomes records."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from crmbench.domains.service.hard.grammar import Writer


@dataclass(frozen=True)
class Message:
    """A letter: what one side wrote at a moment."""

    moment: datetime
    store: bool
    body: str


@dataclass
class Conversation:
    """The letters and comments of one case, and the voice they are written in."""

    rng: random.Random
    writer: Writer
    customer: str
    agent: str
    moment: datetime
    values: dict[str, str]
    messages: list[Message] = field(default_factory=list)
    comments: list[tuple[datetime, str, bool | str]] = field(default_factory=list)
    """Moment, text, and whether Dispatch wrote it, or the name of who did."""

    def say(self, rule: str, **values: str) -> str:
        """One sentence of the grammar."""
        who = self.writer.write("person")
        who = who[0].lower() + who[1:]
        given = {"who": who, "whoC": who[0].upper() + who[1:], **self.values, **values}
        return self.writer.write(rule, **given)

    def pause(self, low: int, high: int) -> None:
        """Let so many hours pass."""
        self.moment += timedelta(minutes=self.rng.randrange(60 * low, 60 * high))

    def customer_writes(self, sentences: Sequence[str], fillers: int = 1) -> None:
        """A letter of the customer, told sentences among others."""
        body = self._mixed(sentences, "c_filler", fillers)
        name = self.rng.choice((self.customer, self.customer.split()[0]))
        text = f"{self.say('hello')}\n\n{body}\n\n{self.say('bye')}\n{name}".replace(
            "\n\n\n", "\n\n"
        )
        self.messages.append(Message(self.moment, False, text))

    def agent_writes(self, sentences: Sequence[str], fillers: int = 1) -> None:
        """A letter of the agent."""
        body = self._mixed(sentences, "a_filler", fillers)
        first = self.customer.split()[0]
        hello = self.say("a_hello", first=first)
        bye = self.say("a_bye", agent=self.agent)
        self.messages.append(Message(self.moment, True, f"{hello}\n\n{body}\n\n{bye}"))

    def comment(self, text: str, dispatch: bool | str) -> None:
        self.comments.append((self.moment, text, dispatch))

    def _mixed(self, sentences: Sequence[str], rule: str, fillers: int) -> str:
        """The sentences in their order, with others at chance places."""
        parts = [self._with_aside(text, f"{rule[0]}_tail", 0.85) for text in sentences]
        for _ in range(fillers):
            filler = self._with_aside(self.say(rule), f"{rule[0]}_tail", 0.4)
            parts.insert(self.rng.randrange(len(parts) + 1), filler)
        return " ".join(parts)

    def _with_aside(self, text: str, rule: str, share: float) -> str:
        """A text, now and then with an aside in brackets before its last stop."""
        if self.rng.random() > share:
            return text
        aside = self.say(rule)
        first = aside if aside.startswith("I ") else aside[0].lower() + aside[1:]
        if text[-1] not in ".!?":
            return f"{text} ({first})"
        return f"{text[:-1]} ({first}){text[-1]}"
