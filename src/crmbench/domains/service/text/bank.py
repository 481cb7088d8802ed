"""The phrase bank: who says what at which stage of a conversation, with and without a broken rule.

A pool is a tuple of phrasings, of which a conversation takes one. A script is the course of one
kind of conversation: the pools of its stages, with the words of at most one broken rule already in
their place, so that composing only has to pick and to fill in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from crmbench.domains.service.text.library import read
from crmbench.domains.service.text.model import RuleRef, Temper
from crmbench.errors import HarnessError

Pool = tuple[str, ...]
_SLOT = re.compile(r"\{(\w+)\}")
_MOVE_FILES = ("moves_service", "moves_remedies", "moves_account")


@dataclass(frozen=True, slots=True)
class Line:
    """What the agent says and what the customer answers; no answers when nothing is asked."""

    says: Pool
    answers: Pool


@dataclass(frozen=True, slots=True)
class Script:
    """The agent's side of a conversation, stage by stage.

    Attributes:
        opens: What is said first.
        asks: What is asked, in order.
        acts: What is done about the problem.
        closes: What ends the last message.
        draws: The values to draw for the slots, by name.
    """

    opens: tuple[Pool, ...]
    asks: tuple[Line, ...]
    acts: tuple[Line, ...]
    closes: tuple[Pool, ...]
    draws: tuple[tuple[str, Pool], ...]

    @property
    def answered(self) -> bool:
        """Whether anything is asked that the customer answers."""
        return any(ask.answers for ask in self.asks)


@dataclass(frozen=True, slots=True)
class Topic:
    """What a customer can write about, with the answers that suit it."""

    subjects: Pool
    problems: Pool
    answers: Pool


@dataclass(frozen=True, slots=True)
class IssueWords:
    """The customers' words for one issue."""

    topics: tuple[Topic, ...]
    opening: dict[Temper, Pool]
    details: Pool
    wants: Pool
    replies: Pool


@dataclass(frozen=True, slots=True)
class Manner:
    """How an agent greets, thanks and takes leave."""

    hello: Pool
    thanks: Pool
    wrap: Pool
    sign: Pool
    chat_hello: Pool
    chat_ack: Pool
    chat_more: Pool
    chat_bye: Pool


@dataclass(frozen=True, slots=True)
class SpeechBank:
    """What people say whatever the issue is."""

    hello: Pool
    hello_again: Pool
    opening: dict[Temper, Pool]
    signoff: Pool
    chaser: Pool
    answer_opening: Pool
    thanks: dict[Temper, Pool]
    noted: Pool
    chat_hello: Pool
    chat_react: dict[Temper, Pool]
    chat_followup: Pool
    manners: tuple[Manner, ...]
    chat_from_mail: Pool
    to_chat: Pool
    after_chat: Pool


@cache
def people() -> SpeechBank:
    """The pools that do not depend on the issue."""
    data = read("people")
    customer = data["customer"]

    def pool(name: str) -> Pool:
        return tuple(customer[name] if name in customer else data[name])

    def by_temper(name: str) -> dict[Temper, Pool]:
        return {temper: tuple(texts) for temper, texts in customer[name].items()}

    return SpeechBank(
        hello=pool("hello"),
        hello_again=pool("hello_again"),
        opening=by_temper("opening"),
        signoff=pool("signoff"),
        chaser=pool("chaser"),
        answer_opening=pool("answer_opening"),
        thanks=by_temper("thanks"),
        noted=pool("noted"),
        chat_hello=pool("chat_hello"),
        chat_react=by_temper("chat_react"),
        chat_followup=pool("chat_followup"),
        manners=tuple(Manner(**{k: tuple(v) for k, v in row.items()}) for row in data["agents"]),
        chat_from_mail=pool("chat_from_mail"),
        to_chat=pool("to_chat"),
        after_chat=pool("after_chat"),
    )


@cache
def _moves() -> dict[str, Any]:
    moves = {name: move for file in _MOVE_FILES for name, move in read(file).items()}
    return moves | {"answer": {"keep": ["{answer}"], "breaks": {}}}


@cache
def _plans() -> dict[str, Any]:
    plans: dict[str, Any] = read("plans")
    return plans


@cache
def _problems() -> dict[str, Any]:
    problems: dict[str, Any] = read("problems")
    return problems


@cache
def _soft_words() -> re.Pattern[str]:
    plans = _plans()
    soft, hard = (plans[name].replace(" ", "|") for name in ("soft_goods", "not_soft"))
    return re.compile(rf"(?!.*\b(?:{hard})\b).*\b(?:{soft})\b")


@lru_cache(maxsize=4096)
def is_soft(product: str) -> bool:
    """Whether the product's name speaks of something sewn or worn, which cannot crack or dent."""
    return _soft_words().match(product.lower()) is not None


@cache
def issue_words(issue: str, soft: bool) -> IssueWords:
    """The customers' words for an issue with soft goods or with hard ones."""
    row, goods = _problems()[issue], "soft" if soft else "hard"
    shared = read("people")["customer"]
    details = [text for name in _plans()["plans"][issue]["details"] for text in shared[name]]
    topics = tuple(
        Topic(tuple(t["subjects"]), tuple(t["problems"]), tuple(t.get("answers", ("",))))
        for t in row["topics"]
        if t.get("goods", goods) == goods
    )
    own = (*row["details"], *row.get(f"details_{goods}", ()))
    return IssueWords(
        topics=topics,
        opening=people().opening | {t: tuple(said) for t, said in row.get("openings", {}).items()},
        details=own * 3 + tuple(details),
        wants=tuple(row["wants"]),
        replies=tuple(row["replies"]),
    )


def _forms(move: dict[str, Any], ref: RuleRef | None) -> list[dict[str, Any]]:
    key = "/".join(ref) if ref else ""
    forms: list[dict[str, Any]] = move["breaks"].get(key, [])
    return forms


def _said(move: dict[str, Any], form: dict[str, Any]) -> Line:
    says = tuple(form.get("instead", move["keep"]))
    answers = form.get("answers", move.get("answers", ()))
    return Line(says, tuple(answers) if any(says) else ())


def _draws(pools: list[Pool], changed: dict[str, list[str]]) -> tuple[tuple[str, Pool], ...]:
    """The values that the pools have slots for, in a fixed order."""
    used = {slot for pool in pools for text in pool for slot in _SLOT.findall(text)}
    values = _plans()["values"] | changed
    return tuple((name, tuple(values[name])) for name in sorted(used & set(values)))


def _script(issue: str, ref: RuleRef | None, number: int) -> Script:
    """The script of an issue in which the rule is broken in its `number`-th form."""
    plan, moves = _plans()["plans"][issue], _moves()
    stages: dict[str, list[Line]] = {}
    added: dict[str, Line] = {}
    changed: dict[str, list[str]] = {}
    for stage in ("open", "ask", "act", "close"):
        for name in plan[stage]:
            forms = _forms(moves[name], ref)
            form = forms[number % len(forms)] if forms else {}
            stages.setdefault(name, []).append(_said(moves[name], form))
            also = form.get("also", form.get(f"also_{issue}"))
            if also:
                place = form.get(f"after_{issue}", form["after"])
                added[place] = Line(tuple(also), tuple(form.get("also_answers", ())))
            changed |= form.get("values", {})
    for name, words in added.items():
        stages[name].append(words)
    said = {
        stage: [words for name in plan[stage] for words in stages[name]]
        for stage in ("open", "ask", "act", "close")
    }
    pools = [pool for lines in said.values() for li in lines for pool in (li.says, li.answers)]
    pools += [t.problems for soft in (True, False) for t in issue_words(issue, soft).topics]
    opens, closes = (tuple(line.says for line in said[stage]) for stage in ("open", "close"))
    return Script(opens, tuple(said["ask"]), tuple(said["act"]), closes, _draws(pools, changed))


@cache
def scripts(issue: str, ref: RuleRef | None) -> tuple[Script, ...]:
    """The scripts for an issue, one for each form in which the rule can be broken.

    Raises:
        HarnessError: The rule cannot be broken in a conversation about this issue.
    """
    plan, moves = _plans()["plans"][issue], _moves()
    names = [name for stage in ("open", "ask", "act", "close") for name in plan[stage]]
    count = max(len(_forms(moves[name], ref)) for name in names)
    if ref is not None and not count:
        raise HarnessError(f"the rule {'/'.join(ref)} cannot be broken in a case of '{issue}'")
    return tuple(_script(issue, ref, number) for number in range(max(count, 1)))
