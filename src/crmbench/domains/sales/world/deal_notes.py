"""What the notes on a deal say: its story in order of time, and what has become stale since."""

from __future__ import annotations

from typing import Any, NamedTuple

from crmbench.domains.sales.world.banks import Sentences
from crmbench.domains.sales.world.calendar import MONTHS
from crmbench.domains.sales.world.deals import Deal
from crmbench.domains.sales.world.draw import round_figure
from crmbench.domains.sales.world.setting import REPS, Setting

Facts = dict[str, Any]
"""What a sentence's braces are filled with."""

QUOTAS = {"stale": 11, "against": 6, "wish": 5}
"""In a full block: open deals with a note that the record has overtaken; with two notes that cannot
both be true; with a note about a discount that nobody approved."""
_YOUNGEST = {"stale": -25, "against": -12, "wish": -2}
"""A deal younger than this has had no time for it."""
_STALE_KINDS = ("amount", "month", "contact", "amount", "owner", "chance", "month")
_FOLLOWED = 0.45
"""How many notes on something that happened have a second sentence."""
_UNEVENTFUL = ("waiting", "internal")
_BY_COLLEAGUE = 0.12
_SCRIPTS = {
    "Prospecting": ("first", "internal", "waiting"),
    "Qualification": ("first", "discovery", "internal", "waiting"),
    "Proposal": ("first", "discovery", "demo", "pricing", "objection", "waiting"),
    "Negotiation": (
        *("first", "discovery", "demo", "trial", "pricing", "objection"),
        *("procurement", "nearly", "waiting"),
    ),
    "Closed-Won": ("discovery", "demo", "trial", "pricing", "procurement", "nearly"),
    "Closed-Lost": ("first", "discovery", "demo", "objection", "pricing", "waiting"),
}
"""Events that may happen up to a stage, in the order in which they do."""


class DealNote(NamedTuple):
    """A note before it has its time."""

    day: int
    text: str
    author: str


class Storyteller:
    """Writes the notes of a block's deals.

    Args:
        setting: Of the block.
        rivals: Names of competitors.
    """

    def __init__(self, setting: Setting, rivals: list[str]) -> None:
        self.setting = setting
        self.rng = setting.rng
        self.bank = setting.bank.notes
        self.rivals = rivals
        self.first_names = [name.split()[0] for name in setting.owners]
        self.decks: dict[str, list[str]] = {}
        """Endings that are still to be used, by stage."""
        self.left = {extra: setting.share(quota) for extra, quota in QUOTAS.items()}

    def tell(self, deal: Deal) -> list[DealNote]:
        """The deal's notes, in no particular order."""
        if deal.profile.untouched:
            return []
        fewest, most = deal.profile.notes
        count = fewest + int(self.rng.random() ** 3 * (most - fewest + 1))
        extra = self._next_extra(deal) if deal.is_open else None
        entries = [self._approval(deal)] if deal.discount else []
        if count or extra:
            facts = self._facts(deal)
            entries += self._story(deal, facts, count)
            if extra == "stale":
                kind = _STALE_KINDS[self.left[extra] % len(_STALE_KINDS)]
                entries += self._stale(deal, facts, kind)
            elif extra == "against":
                entries += self._against(deal, facts)
            elif extra == "wish":
                entries.append(self._wish(deal, facts))
        return entries

    def _next_extra(self, deal: Deal) -> str | None:
        """What the deal gets beside its story, as long as some of it is left to give."""
        for extra, left in self.left.items():
            fits = extra != "wish" or (deal.quotes and not deal.discount)
            if left and fits and deal.born < _YOUNGEST[extra]:
                self.left[extra] = left - 1
                return extra
        return None

    def _facts(self, deal: Deal) -> Facts:
        rng, owner = self.rng, deal.owner
        # Any of the team but the owner; a rep rather than the manager.
        colleague = (owner + rng.between(1, REPS)) % (REPS + 1) or owner % REPS + 1
        return {
            "contact": deal.person.full,
            "first": deal.person.first,
            "title": deal.person.title,
            "client": deal.firm.short,
            "product": deal.product.name,
            "city": deal.firm.city,
            "rep": self.first_names[owner],
            "rival": rng.pick(self.rivals),
            "colleague": self.first_names[colleague],
            "author": self.setting.owners[owner],
            "other": self.setting.owners[colleague],
            "count": rng.between(6, 90) * 2,
            "sites": rng.between(3, 9),
            "weeks": rng.between(2, 8),
        }

    # --- the story --------------------------------------------------------------------------------

    def _story(self, deal: Deal, facts: Facts, count: int) -> list[DealNote]:
        if not count:
            return []
        rng, stage, last = self.rng, deal.row["stage"], deal.last_day
        script = _SCRIPTS[stage]
        events = sorted(rng.sample(range(len(script)), count - (not deal.is_open)))
        days = sorted(rng.between(deal.born + 1, last) for _ in events)
        entries = []
        for event, day in zip(events, days, strict=True):
            text = self._sentence(deal, facts, self.setting.bank.deal[script[event]], day)
            if script[event] not in _UNEVENTFUL and rng.random() < _FOLLOWED:
                text += " " + rng.pick(self.setting.bank.deal["follow"].plain)
            entries.append(self._entry(facts, text, day))
        if not deal.is_open:
            entries.append(self._entry(facts, self._closing(deal, facts, stage), last))
        return entries

    def _closing(self, deal: Deal, facts: Facts, stage: str) -> str:
        """How it ended: each sentence once before any is used again."""
        deck = self.decks.setdefault(stage, [])
        if not deck:
            sentences = self.setting.bank.closed["won" if stage == "Closed-Won" else "lost"]
            deck += self.rng.sample(sentences.plain, len(sentences.plain))
            if deal.quotes:
                facts["version"] = deal.quotes[-1][1]["version"]
                return self.rng.pick(sentences.quoting or sentences.plain)
        return deck.pop()

    def _sentence(self, deal: Deal, facts: Facts, sentences: Sentences, day: int) -> str:
        """One that speaks of the latest quote only where there is one that has left the house."""
        if not sentences.quoting:
            return self.rng.pick(sentences.plain)
        known = [row for made, row in deal.quotes if made <= day and row["status"] != "Draft"]
        if not known:
            return self.rng.pick(sentences.plain)
        facts["version"] = known[-1]["version"]
        facts["quoted"] = f"${known[-1]['amount']:,.0f}"
        return self.rng.pick(sentences.every)

    def _entry(self, facts: Facts, text: str, day: int) -> DealNote:
        """By the deal's owner, but for some by the colleague; nobody writes their own name."""
        by_colleague = "{rep}" in text or self.rng.random() < _BY_COLLEAGUE
        if "{colleague}" in text:
            by_colleague = False
            text = text.replace("{rep} follows", "I follow").replace("{rep}", "I")
        author = facts["other"] if by_colleague else facts["author"]
        return DealNote(day, text.format_map(facts), author)

    # --- what tasks look for ----------------------------------------------------------------------

    def _stale(self, deal: Deal, facts: Facts, kind: str) -> list[DealNote]:
        """A note from the deal's first days that says what no longer holds."""
        sentences = self.bank["stale"]
        facts.update(self._overtaken(deal))
        day = self.rng.between(deal.born + 1, deal.born + 12)
        entries = [self._entry(facts, self.rng.pick(sentences[kind]), day)]
        if kind == "contact":
            later = self.rng.between(day + 3, -1)
            entries.append(self._entry(facts, self.rng.pick(sentences["moved_on"]), later))
        return entries

    def _overtaken(self, deal: Deal) -> Facts:
        """Values that the deal does not have."""
        rng, setting = self.rng, self.setting
        amount = deal.row["amount"] * rng.pick((0.6, 0.7, 0.8, 1.25, 1.4))
        month = (int(deal.row["close_date"][5:7]) - 1 - rng.between(1, 4)) % 12
        others = [name for name in setting.owners[1:] if name != deal.row["owner"]]
        chances = [p for p in range(15, 95, 5) if abs(p - deal.row["probability"]) >= 10]
        known = {person.full for person in deal.firm.people}
        first, last = setting.person()
        while f"{first.text} {last.text}" in known:
            first, last = setting.person()
        return {
            "old_amount": f"${round_figure(rng, amount):,.0f}",
            "old_month": MONTHS[month],
            "old_rep": rng.pick(others),
            "old_chance": rng.pick(chances),
            "old_contact": f"{first.text} {last.text}",
            "old_title": rng.pick(setting.bank.titles["buyer"]),
        }

    def _against(self, deal: Deal, facts: Facts) -> list[DealNote]:
        """Two notes by two people, of which at most one is true."""
        earlier, later = self.rng.pick(self.bank["against"]["pairs"])
        day = self.rng.between(deal.born + 1, -9)
        return [
            DealNote(day, earlier.format_map(facts), facts["author"]),
            DealNote(day + self.rng.between(1, 7), later.format_map(facts), facts["other"]),
        ]

    def _wish(self, deal: Deal, facts: Facts) -> DealNote:
        facts["percent"] = self.rng.between(12, 24)
        text: str = self.rng.pick(self.bank["discount"]["asked"])
        day = self.rng.between(max(deal.born + 1, -40), -1)
        return DealNote(day, text.format_map(facts), facts["author"])

    def _approval(self, deal: Deal) -> DealNote:
        """The manager's leave, given before the last quote where there is one."""
        text: str = self.bank["discount"]["approved"]
        until = deal.quotes[-1][0] if deal.quotes else -1
        day = self.rng.between(deal.born + 1, until)
        return DealNote(day, text.format(percent=deal.discount), self.setting.owners[0])
