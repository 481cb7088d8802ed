"""Writing the e-mails and the chat of a case.

All messages are first picked as templates and filled in at one go, because filling costs the same
for one long text as for a short one, and a large org has a hundred thousand cases.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import date
from functools import cache
from zlib import crc32

from crmbench.domains.service.text.bank import (
    IssueWords,
    Manner,
    Pool,
    Script,
    is_soft,
    issue_words,
    people,
    scripts,
)
from crmbench.domains.service.text.model import CaseFacts, CaseText, ChatLine, Email

_CUT = "\x1e"
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_STREETS = (
    *("Alder Street", "Birch Lane", "Canyon Road", "Dover Avenue", "Elm Street", "Foxglove Drive"),
    *("Grant Avenue", "Hillcrest Road", "Juniper Court", "Lincoln Street", "Mill Road"),
)
FULL_SHARE_DAYS = 30
SLOW_REPLY_MINUTES = 240


def day_in_words(day: str) -> str:
    """``2026-03-02`` as ``March 2, 2026``."""
    return f"{_MONTHS[int(day[5:7]) - 1]} {int(day[8:10])}, {day[:4]}"


@cache
def _manner(agent_first: str) -> Manner:
    """An agent's manner stays the same from case to case."""
    manners = people().manners
    return manners[crc32(agent_first.encode()) % len(manners)]


class _Draft:
    """A case in the making: templates, and for each what kind of message it is."""

    def __init__(
        self, rng: random.Random, case: CaseFacts, script: Script, words: IssueWords
    ) -> None:
        self.rand, self.case, self.script = rng.random, case, script
        self.words, self.people = words, people()
        self.manner = _manner(case.agent_first)
        pick = self.pick
        topic = words.topics[int(self.rand() * len(words.topics))]
        self.problem, self.answer = pick(topic.problems), pick(topic.answers)
        # Greeting and signature stay the same within a thread, as people's do.
        self.agent_hello, self.agent_sign = pick(self.manner.hello), pick(self.manner.sign)
        self.customer_hello, self.customer_sign = (
            pick(self.people.hello_again),
            pick(self.people.signoff),
        )
        self.casual = self.rand() < 0.25
        self.first_hello = ""
        self.clock = 0
        self.templates = [pick(topic.subjects), self.report()]
        # For each template from the third on: is it an e-mail, is it the customer's, and when.
        self.messages: list[tuple[bool, bool, int]] = []

    def pick(self, pool: Pool) -> str:
        return pool[int(self.rand() * len(pool))]

    def sentences(self, pools: Iterable[Pool]) -> str:
        rand = self.rand
        return " ".join(filter(None, [pool[int(rand() * len(pool))] for pool in pools]))

    def report(self) -> str:
        """What the customer reports: brief or long, with or without details."""
        pick, words = self.pick, self.words
        length = self.rand()
        parts = [pick(words.opening[self.case.temper]), self.problem]
        if length > 0.3:
            parts.append(pick(words.details))
        if length > 0.65:
            another = pick(words.details)
            parts.append(another if another not in parts else "")
        parts.append(pick(words.wants))
        return " ".join(filter(None, parts[1:] if length < 0.15 else parts))

    def agent_mail(self, *paragraphs: str, wrap: bool = False) -> None:
        end = (self.pick(self.manner.wrap) if wrap else "", self.agent_sign)
        self.clock += 1 + int(self.case.reply_minutes * (0.5 + self.rand()))
        self.templates.append("\n\n".join(filter(None, (self.agent_hello, *paragraphs, *end))))
        self.messages.append((True, False, self.clock))

    def customer_mail(self, text: str, first: bool = False, unanswered: bool = False) -> None:
        """Args:
        unanswered: No agent has written yet whom the customer could greet by name.
        """
        if first:
            self.first_hello = self.pick(self.people.hello)
        hello = self.first_hello if first or unanswered else self.customer_hello
        self.templates.append(f"{hello}\n\n{text}\n\n{self.customer_sign}")
        if not first:
            self.clock += 10 + int(500 * self.rand() * self.rand())
        self.messages.append((True, True, self.clock))

    def agent_line(self, text: str) -> None:
        if text:
            slow = min(self.case.reply_minutes // 120, 3)
            self.clock += int((1.6 + slow) * self.rand())
            self.templates.append(text)
            self.messages.append((False, False, self.clock))

    def customer_line(self, text: str) -> None:
        self.clock += int(2 * self.rand())
        self.templates.append(text.removesuffix(".") if self.casual else text)
        self.messages.append((False, True, self.clock))

    def thanks(self) -> str:
        thanks = self.pick(self.people.thanks[self.case.temper])
        return thanks if self.rand() < 0.5 else f"{self.pick(self.words.replies)} {thanks}"

    # the stages by e-mail

    def mail_asks(self) -> None:
        script = self.script
        first = f"{self.pick(self.manner.thanks)} {self.sentences(script.opens)}".rstrip()
        self.agent_mail(first, self.sentences(ask.says for ask in script.asks))
        answers = self.sentences(ask.answers for ask in script.asks if ask.answers)
        self.customer_mail(f"{self.pick(self.people.answer_opening)} {answers}".lstrip())

    def mail_acts(self) -> None:
        script = self.script
        acts, half = tuple(act.says for act in script.acts), (len(script.acts) + 1) // 2
        blocks = [self.sentences(acts[:half]), self.sentences(acts[half:])]
        if not script.answered:
            opening = (script.opens, tuple(ask.says for ask in script.asks))
            first = [self.pick(self.manner.thanks), *map(self.sentences, opening)]
            blocks.insert(0, " ".join(filter(None, first)))
        self.agent_mail(*blocks, self.sentences(script.closes), wrap=not script.closes)

    # the stages by chat

    def chat_asks(self, acknowledged: bool = False) -> None:
        """Args:
        acknowledged: The agent has just spoken; thanking for what nobody said would sound odd.
        """
        script, pick = self.script, self.pick
        ack = pick(self.manner.chat_ack)
        opens = self.sentences(script.opens)
        self.agent_line(opens if acknowledged else f"{ack} {opens}".rstrip())
        for ask in script.asks:
            self.agent_line(pick(ask.says))
            if ask.answers:
                self.customer_line(pick(ask.answers))

    def chat_acts(self, closes: tuple[Pool, ...]) -> None:
        for act in self.script.acts:
            text = self.pick(act.says)
            self.agent_line(text)
            if act.answers:
                self.customer_line(self.pick(act.answers))
            elif text and self.rand() < 0.3:
                self.customer_line(self.pick(self.people.chat_react[self.case.temper]))
        self.agent_line(self.pick(self.manner.chat_more))
        self.customer_line(self.thanks())
        self.agent_line(f"{self.sentences(closes)} {self.pick(self.manner.chat_bye)}".lstrip())

    # the channels

    def by_mail(self) -> None:
        self.customer_mail(self.templates[1], first=True)
        slow = self.case.temper == "annoyed" and self.case.reply_minutes >= SLOW_REPLY_MINUTES
        chased = slow and self.rand() < 0.5
        if chased:
            self.clock += self.case.reply_minutes // 3
            self.customer_mail(self.pick(self.people.chaser), unanswered=True)
        if self.script.answered:
            self.mail_asks()
        self.mail_acts()
        if not chased and self.rand() < 0.6:
            self.customer_mail(self.thanks())

    def by_chat(self) -> None:
        self.agent_line(self.pick(self.manner.chat_hello))
        self.customer_line(f"{self.pick(self.people.chat_hello)} {self.problem}".lstrip())
        if self.rand() < 0.6:
            self.customer_line(self.pick(self.words.details))
        self.customer_line(self.pick(self.words.wants))
        self.chat_asks()
        self.chat_acts(self.script.closes)

    def by_both(self) -> None:
        self.customer_mail(self.templates[1], first=True)
        asked = self.script.answered and self.rand() < 0.4
        if asked:
            self.mail_asks()
        else:
            self.agent_mail(self.pick(self.manner.thanks), self.pick(self.people.to_chat))
        self.clock += 10 + int(400 * self.rand() * self.rand())
        self.agent_line(self.pick(self.manner.chat_hello))
        self.customer_line(self.pick(self.people.chat_followup))
        self.agent_line(self.pick(self.people.chat_from_mail))
        if not asked:
            self.chat_asks(acknowledged=True)
        self.chat_acts(())
        after, closes = self.pick(self.people.after_chat), self.sentences(self.script.closes)
        self.agent_mail(f"{after} {closes}".rstrip(), wrap=not closes)
        if self.rand() < 0.4:
            self.customer_mail(self.pick(self.people.noted))


def _share(case: CaseFacts, drawn: str) -> str:
    """The share of the price that the age of the order gives, or the other one."""
    age = date.fromisoformat(case.opened[:10]) - date.fromisoformat(case.order_date)
    return "100" if (age.days <= FULL_SHARE_DAYS) == (drawn == "own") else "70"


def _values(rng: random.Random, case: CaseFacts, script: Script, answer: str) -> dict[str, str]:
    rand = rng.random
    values = {name: pool[int(rand() * len(pool))] for name, pool in script.draws}
    if "share" in values:
        values["share"] = _share(case, values["share"])
    digits = f"{int(rand() * 1e16):016d}"
    values |= {
        "first": case.customer_first,
        "last": case.customer_last,
        "agent": case.agent_first,
        "product": case.product,
        "order_date": day_in_words(case.order_date),
        "answer": answer,
        "last4": digits[-4:],
        "card": f"4{digits[:3]} {digits[3:7]} {digits[7:11]} {digits[-4:]}",
        "part": f"{'BCDFHKM'[int(digits[0]) % 7]}{digits[1]}-{digits[2:5]}",
        "serial": f"{digits[5]}{'ACEHKLPT'[int(digits[6]) % 8]}{digits[7:11]}",
        "street": f"{int(digits[4:7]) + 3} {_STREETS[int(digits[8:10]) % len(_STREETS)]}",
    }
    return values


def _finish(draft: _Draft, values: dict[str, str]) -> CaseText:
    subject, description, *texts = _CUT.join(draft.templates).format_map(values).split(_CUT)
    emails: list[Email] = []
    chat: list[ChatLine] = []
    for (is_email, from_customer, minutes), text in zip(draft.messages, texts, strict=True):
        if is_email:
            line = f"Re: {subject}" if emails else subject
            emails.append(Email(from_customer, line, text, minutes))
        else:
            chat.append(ChatLine(from_customer, minutes, text))
    return CaseText(subject, description, tuple(emails), tuple(chat), draft.case.opened[:10])


def compose_case(rng: random.Random, case: CaseFacts) -> CaseText:
    """Write the subject, description and conversation of a case.

    The agent keeps every visible rule of the articles that govern the issue but `case.violated`.

    Args:
        rng: The only source of chance.
        case: What the words must agree with.

    Raises:
        HarnessError: `case.violated` is not one of `violable(case.issue)`.
    """
    rand = rng.random
    variants = scripts(case.issue, case.violated)
    script = variants[int(rand() * len(variants))]
    draft = _Draft(rng, case, script, issue_words(case.issue, is_soft(case.product)))
    if case.channel == "email":
        draft.by_mail()
    elif case.channel == "chat":
        draft.by_chat()
    else:
        draft.by_both()
    return _finish(draft, _values(rng, case, script, draft.answer))
