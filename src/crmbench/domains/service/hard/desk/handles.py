"""What a change calls the memo that it changes.

Most of those on which an answer hangs speak of it by a day, by its condition or by a name that
another memo gives it: whoever looks for numbers alone does not find them. Those on which nothing
hangs speak of it by its number or by its own name.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import timedelta

from crmbench.authoring.handbook import Condition
from crmbench.domains.service.hard.desk.content import Content
from crmbench.domains.service.hard.desk.drawing import Draft, Handle, Judge, Memos, Taken
from crmbench.domains.service.hard.desk.words import data, subjects
from crmbench.salesforce.sosl.words import words_of

DECIDING: Mapping[Handle, int] = {
    "number": 1, "name": 6, "day": 6, "first": 8, "condition": 8, "content": 500,
}  # fmt: skip
IDLE: Mapping[Handle, int] = {"number": 3, "name": 1}
HIDDEN = 5
"""How many of those on which an answer hangs speak neither by number nor by an own name, at least,
if there are so many."""
ALIASED = 0.7
"""The share of names that another memo gives, of those by which a change speaks."""
IDLE_NAMES = 0.3
"""The share of other memos that have a name though nobody uses it."""

KEPT = 40
"""Nicknames that are kept for those who need one."""


class Namer:
    """Settles what the changes of one mechanism call what they change.

    Args:
        seed: Of all chance.
        of: The mechanism.
        memos: Its drafts; those that give names are added.
        judge: The right answers by a rulebook; none: nothing hangs on any memo.
        nicknames: That memos can be called by; those that are used are taken out.
        taken: By what memos are told from each other.
    """

    def __init__(
        self,
        seed: str,
        of: str,
        memos: Memos,
        judge: Judge | None,
        nicknames: list[str],
        taken: Taken,
    ) -> None:
        self.rng = random.Random(f"{seed} {of} handles")
        self.of, self.memos, self.judge = of, memos, judge
        self.nicknames, self.taken = nicknames, taken
        self.by_key = {draft.key: draft for draft in memos.drafts}
        self.changes = [draft for draft in memos.drafts if draft.amendment]
        self.moved = {
            d.amendment.target
            for d in self.changes
            if d.amendment and d.amendment.change == "since"
        }

    def settle(self) -> None:
        deciding = self._deciding()
        for draft in self.changes:
            assert draft.amendment is not None
            target = self.by_key[draft.amendment.target]
            weights = DECIDING if draft.key in deciding else IDLE
            known = {h: n for h, n in weights.items() if self._fits(h, target, draft)}
            (draft.calls,) = self.rng.choices(list(known), list(known.values()))
            if draft.calls == "name" and not target.nickname:
                target.nickname = self.nicknames.pop()
        self._give_names(deciding)
        self._hide([draft for draft in self.changes if draft.key in deciding])

    def _deciding(self) -> set[str]:
        """The changes without each of which some answer is another."""
        if self.judge is None:
            return {draft.key for draft in self.changes if self.rng.random() < 0.5}
        book = self.memos.book()
        with book.noting() as bearing:
            now = self.judge(book)
        return {
            draft.key
            for draft in self.changes
            if draft.key in bearing and self.judge(book.without(draft.key)) != now
        }

    def _hide(self, deciding: list[Draft]) -> None:
        """Where too few are found by no number and no name of their own, more go by a day."""
        aliased = {draft.names for draft in self.memos.drafts if draft.names}
        seen = [
            draft
            for draft in deciding
            if draft.calls == "number"
            or (draft.calls == "name" and draft.amendment and draft.amendment.target not in aliased)
        ]
        for draft in seen[: max(0, HIDDEN - len(deciding) + len(seen))]:
            draft.calls = "day"

    def _fits(self, handle: Handle, target: Draft, draft: Draft) -> bool:
        """Whether it tells that memo from all others."""
        if handle == "content":
            return self._tells(target) and not _gives_away(draft)
        if handle == "first":
            putting_off = target.amendment is not None and target.amendment.change == "since"
            return not putting_off and target.key not in self.moved
        if handle == "condition":
            return target.provision is not None and len(target.provision.when) > 1
        if handle == "name":
            return bool(target.nickname or self.nicknames)
        return True

    def _tells(self, target: Draft) -> bool:
        """Whether no other memo lays down the same, or the same for some of its cases."""
        if not can_tell(target, self.by_key):
            return False
        (kinds, subject, when), _ = laid_down(target, self.by_key)
        return not any(
            own[:2] == (kinds, subject) and (own[2] <= when or when <= own[2])
            for draft in self.memos.drafts
            if draft is not target and can_tell(draft, self.by_key)
            for own, _ in (laid_down(draft, self.by_key),)
        )

    def _give_names(self, deciding: set[str]) -> None:
        """Some are named by another memo, and not by themselves; others are named for nothing."""
        for draft in list(self.memos.drafts):
            if not (draft.provision or draft.amendment):
                continue
            users = [
                d
                for d in self.changes
                if d.calls == "name" and d.amendment and d.amendment.target == draft.key
            ]
            if not users:
                if len(self.nicknames) > KEPT and self.rng.random() < IDLE_NAMES:
                    draft.nickname = self.nicknames.pop()
            elif any(d.key in deciding for d in users) and self.rng.random() < ALIASED:
                for user in users:
                    if user.key not in deciding:
                        user.calls = "number"
                self._name(draft, [user for user in users if user.calls == "name"])

    def _name(self, draft: Draft, users: list[Draft]) -> None:
        """Another memo gives it the name, before the first one that uses it; if there is a day."""
        last = min(user.published for user in users) - timedelta(days=1)
        span = max(1, (last - draft.published).days)
        day = self.taken.day(
            draft.published, draft.published + timedelta(days=1 + self.rng.randrange(span))
        )
        if day is None:
            return
        if day > last:
            self.taken.written.discard(day)
            return
        key = f"{self.of} name of {draft.key}"
        calls: Handle = "day" if self.rng.random() < 0.5 else "number"
        self.memos.drafts.append(
            Draft(key, day, names=draft.key, nickname=draft.nickname, calls=calls)
        )


def can_tell(draft: Draft, by_key: Mapping[str, Draft]) -> bool:
    """Whether others can speak of it by conditions: its own, or those of what it changes."""
    made = draft.amendment
    if made is None:
        return draft.provision is not None
    target = by_key[made.target]
    return _has_conditions(draft) or _has_conditions(target)


def _has_conditions(draft: Draft) -> bool:
    made = draft.amendment
    return draft.provision is not None or (made is not None and bool(made.unless or made.also))


def laid_down(draft: Draft, by_key: Mapping[str, Draft]) -> tuple[Content, list[Condition]]:
    """What a memo lays down, with its conditions in their order."""
    made = draft.amendment
    if made is None:
        assert draft.provision is not None
        order = list(draft.provision.when)
        return (("rule",), draft.subject, frozenset(order)), order
    own = made.unless or made.also
    if own:
        return ((made.change,), draft.subject, frozenset({own})), [own]
    (kinds, subject, when), order = laid_down(by_key[made.target], by_key)
    return ((made.change, *kinds), subject, when), order


def _gives_away(draft: Draft) -> bool:
    """Whether a change gives a figure by whose words those look who look for the question."""
    made = draft.amendment
    if made is None or made.change != "value":
        return False
    looked_for = {word for term in subjects()[draft.subject].look for word in words_of(term)}
    return not looked_for.isdisjoint(words_of(made.value))


def all_nicknames(seed: str, *, more: bool = False) -> list[str]:
    """The words that memos may be called by, in an order of the seed's: the last is used first.

    Args:
        more: With those for orgs that have more memos than the published ones.
    """
    rng = random.Random(f"{seed} nicknames")
    found = list(data()["nicknames"])
    rng.shuffle(found)
    if not more:
        return found
    spare = list(data()["more_nicknames"])
    rng.shuffle(spare)
    return spare + found
