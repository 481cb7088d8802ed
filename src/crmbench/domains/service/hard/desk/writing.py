"""Memos in words: every draft becomes an article with a number."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

from crmbench.authoring.handbook.days import long_date
from crmbench.domains.service.hard.desk.content import say_content
from crmbench.domains.service.hard.desk.drawing import Draft, Handle
from crmbench.domains.service.hard.desk.handles import laid_down
from crmbench.domains.service.hard.desk.words import (
    data,
    phrasebook,
    say_conditions,
    say_rule,
    starts_large,
    subjects,
)


class MemoWriter:
    """Writes what drafts say.

    Args:
        drafts: All of them, since they speak of each other.
        numbers: The number of each by its key.
    """

    def __init__(self, drafts: Iterable[Draft], numbers: Mapping[str, int]) -> None:
        self.drafts = {draft.key: draft for draft in drafts}
        self.named = {draft.names for draft in self.drafts.values() if draft.names}
        self.numbers = numbers

    def write(self, draft: Draft, rng: random.Random) -> str:
        """The paragraph of a draft."""
        say = phrasebook().say
        if draft.word:
            return say("word", rng, word=draft.word[0], known=draft.word[1])
        if draft.names:
            target = self._plain_handle(draft.names, draft.calls)
            rule = rng.choice(data()["rules"])
            said = say("named", rng, target=target, nick=draft.nickname, rule=rule)
            return starts_large(said)
        parts = [self._rule(draft, rng) if draft.provision else self._change(draft, rng)]
        if draft.provision:
            parts.append(say("starts", rng, date=long_date(draft.provision.since)))
        if draft.nickname and draft.key not in self.named:
            rule = rng.choice(data()["rules"])
            parts.append(say("called", rng, nick=draft.nickname, rule=rule))
        return " ".join(parts)

    def _rule(self, draft: Draft, rng: random.Random) -> str:
        rule = draft.provision
        assert rule is not None
        condition = self._condition(draft)
        return say_rule(subjects()[draft.subject], condition, rule.value, draft.term, rng)

    def _condition(self, draft: Draft) -> str:
        """The conditions of a rule in words, the same ones wherever they are repeated."""
        rule = draft.provision
        assert rule is not None
        return say_conditions(rule.when, random.Random(f"{draft.key} condition"))

    def _change(self, draft: Draft, rng: random.Random) -> str:
        made = draft.amendment
        assert made is not None
        gaps = {"date": long_date(made.since)}
        condition = made.unless or made.also
        if condition:
            gaps["cond"] = say_conditions([condition], rng)
        if made.change == "value":
            gaps["new"] = made.value
        elif made.change == "since":
            gaps["new_day"] = long_date(made.value)
        gaps["target"] = self._handle(draft, made.target, rng)
        return starts_large(phrasebook().say(made.change, rng, **gaps))

    def _handle(self, draft: Draft, target: str, rng: random.Random) -> str:
        if draft.calls == "name":
            return f"the {self.drafts[target].nickname} {rng.choice(data()['rules'])}"
        if draft.calls in ("number", "day"):
            return self._plain_handle(target, draft.calls)
        other = self.drafts[target]
        if draft.calls == "content":
            content, order = laid_down(other, self.drafts)
            return say_content(content, rng.sample(order, len(order)), rng)
        wording: str = rng.choice(data()["handles"][draft.calls])
        if draft.calls == "condition":
            return wording.format(cond=self._condition(other))
        rule = other.provision or other.amendment
        assert rule is not None
        return wording.format(day=long_date(rule.since))

    def _plain_handle(self, target: str, calls: Handle) -> str:
        if calls == "day":
            return f"the memo of {long_date(self.drafts[target].published)}"
        return f"memo {self.numbers[target]}"
