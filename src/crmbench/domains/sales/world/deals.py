"""Deals, and the quotes on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from crmbench.domains.sales.enums import CLOSED_STAGES
from crmbench.domains.sales.world.banks import Product
from crmbench.domains.sales.world.calendar import MORNING
from crmbench.domains.sales.world.clients import Firm, Person
from crmbench.domains.sales.world.deal_profiles import DealProfile, deal_plots
from crmbench.domains.sales.world.draw import FACTORS, Weighted, round_figure
from crmbench.domains.sales.world.setting import SHARES, Setting

Row = dict[str, Any]

PROBABILITY = {
    "Prospecting": 10,
    "Qualification": 25,
    "Proposal": 50,
    "Negotiation": 75,
    "Closed-Won": 99,
    "Closed-Lost": 1,
}
TWINS = 6
"""Pairs of open deals of one client for one product."""
DISCOUNTS = 11
"""Open deals with leave for a discount."""
_OVERDUE = 0.1
_OWN_CHANCE = 0.15
"""How many open deals have a probability of their own."""
_SAME_OWNER = 0.85
_ELDEST = {"Prospecting": -70, "Qualification": -120, "Proposal": -180, "Negotiation": -260}
_PHASES = (
    ("{year}", 12), ("phase 2", 7), ("pilot", 7), ("renewal", 4), ("expansion", 4),
    ("{city} site", 6), ("phase 1", 3), ("night shift", 1), ("second site", 2),
)  # fmt: skip
_SUFFIXES = Weighted(*zip(*_PHASES, strict=True))
_UNADORNED = 0.5
"""How many deals are named after client and product alone."""
_SKEW = 0.85
"""Exponent of the share of deals that the clients have, by rank."""


@dataclass(slots=True)
class Deal:
    """A deal, with what its records share."""

    row: Row
    key: str
    profile: DealProfile
    firm: Firm
    person: Person
    """Whom it is discussed with."""
    product: Product
    born: int
    close: int
    owner: int
    """Index in the sales team."""
    discount: int
    """Percent that the manager has allowed; 0 for none."""
    is_open: bool
    last_day: int
    """The last day on which anything happened."""
    quotes: list[tuple[int, Row]] = field(default_factory=list)
    """With the day of each, oldest first."""


def make_deals(setting: Setting, firms: list[Firm]) -> list[Deal]:
    """The deals of a block, in no particular order, without quotes."""
    cast = _Cast(setting, firms)
    deals = [cast.deal(profile) for profile in deal_plots(setting)]
    _allow_discounts(setting, deals)
    return deals


class _Cast:
    """Gives profiles to clients."""

    def __init__(self, setting: Setting, firms: list[Firm]) -> None:
        self.setting = setting
        ranked = setting.rng.sample([f for f in firms if f.people] or firms, len(firms))
        weight = {id(f): (rank + 1) ** -_SKEW for rank, f in enumerate(ranked)}

        def among(*statuses: str) -> Weighted[Firm]:
            fit = [f for f in ranked if f.row["status"] in statuses] or ranked
            return Weighted(fit, [weight[id(f)] for f in fit])

        self.for_open = among("Active", "Prospect")
        self.for_won = among("Active", "Inactive")
        self.for_recent = among("Active")
        self.for_lost = among("Active", "Prospect", "Inactive")
        self.names: set[str] = set()
        self.turns: dict[str, int] = {}
        self.twins = setting.share(TWINS)
        self.twin: tuple[Firm, Product] | None = None
        self.overdue = 0.0

    def deal(self, profile: DealProfile) -> Deal:
        setting = self.setting
        rng = setting.rng
        turn = self.turns[profile.name] = self.turns.get(profile.name, -1) + 1
        stage = profile.stages[turn % len(profile.stages)]
        firm, product = self._subject(profile, stage)
        born, close = self._days(profile, stage, firm)
        owner = firm.owner if rng.random() < _SAME_OWNER else rng.pick_weighted(SHARES)
        key = next(setting.ids)
        row = {
            "opportunity_id": key,
            "name": self._name(firm, product, close),
            "client_id": firm.row["client_id"],
            "stage": stage,
            "amount": _amount(setting, firm, product),
            "close_date": setting.calendar.text[close],
            "owner": setting.owners[owner],
            "probability": _probability(setting, stage),
            "notes": _remark(setting, profile, firm, product),
            "created_at": setting.calendar.text[born] + rng.pick(MORNING),
        }
        person = rng.pick(firm.people) if firm.people else Person("reception", "reception", "", "")
        is_open = stage not in CLOSED_STAGES
        last = -1 if is_open else close
        return Deal(row, key, profile, firm, person, product, born, close, owner, 0, is_open, last)

    def _subject(self, profile: DealProfile, stage: str) -> tuple[Firm, Product]:
        """The client and the product; for every other open deal of the first ones, as before."""
        is_open = stage not in CLOSED_STAGES
        if is_open and self.twin is not None:
            subject, self.twin = self.twin, None
            return subject
        if is_open:
            firms = self.for_open
        elif profile.recent:
            firms = self.for_recent
        else:
            firms = self.for_won if stage == "Closed-Won" else self.for_lost
        firm = self.setting.rng.pick_weighted(firms)
        product = self.setting.rng.pick_weighted(self.setting.bank.products[firm.row["industry"]])
        if is_open and self.twins > 0:
            self.twins -= 1
            self.twin = firm, product
        return firm, product

    def _days(self, profile: DealProfile, stage: str, firm: Firm) -> tuple[int, int]:
        """When the deal was entered, and its close date."""
        rng, calendar = self.setting.rng, self.setting.calendar
        if stage in CLOSED_STAGES:
            since = -profile.recent or -720
            until = -150 if firm.row["status"] == "Inactive" else -2
            close = calendar.working[rng.between(max(since, firm.born + 21), until)]
            born = calendar.working[rng.between(max(firm.born, close - 210), close - 15)]
            return max(born, firm.born), close
        born = calendar.working[rng.between(max(_ELDEST[stage], firm.born), profile.youngest)]
        self.overdue += _OVERDUE
        if self.overdue >= 1 and born < -30:
            self.overdue -= 1
            return born, -rng.between(1, min(45, -born - 20))
        close = rng.between(6, 210)
        return born, calendar.month_end[close] if rng.random() < 0.3 else close

    def _name(self, firm: Firm, product: Product, close: int) -> str:
        """A name that no other deal of the client has."""
        name = base = f"{firm.short} - {product.name}"
        if name in self.names or self.setting.rng.random() > _UNADORNED:
            suffix = self.setting.rng.pick_weighted(_SUFFIXES)
            if "{" in suffix:
                suffix = suffix.format(year=self.setting.calendar.text[close][:4], city=firm.city)
            name = f"{base} {suffix}"
            phase = 3
            while name in self.names:
                name = f"{base} phase {phase}"
                phase += 1
        self.names.add(name)
        return name


def _amount(setting: Setting, firm: Firm, product: Product) -> float:
    value = product.price * firm.size * setting.rng.pick(FACTORS)
    return round_figure(setting.rng, min(max(value, 900.0), 4_000_000.0))


def _probability(setting: Setting, stage: str) -> int:
    usual = PROBABILITY[stage]
    if stage in CLOSED_STAGES or setting.rng.random() > _OWN_CHANCE:
        return usual
    return min(95, max(5, usual + setting.rng.pick((-10, -5, 5, 10, 15))))


def _remark(setting: Setting, profile: DealProfile, firm: Firm, product: Product) -> str | None:
    if profile.untouched or setting.rng.random() > 0.2:
        return None
    text: str = setting.rng.pick(setting.bank.notes["deal_field"]["any"])
    return text.format(product=product.name, city=firm.city)


def _allow_discounts(setting: Setting, deals: list[Deal]) -> None:
    wanted = setting.share(DISCOUNTS)
    for deal in deals:
        if wanted and deal.is_open and deal.row["stage"] != "Prospecting":
            deal.discount = setting.rng.between(12, 24)
            wanted -= 1


# --- quotes ---------------------------------------------------------------------------------------

_VALID_DAYS = Weighted((30, 14, 45, 60), (75, 8, 9, 8))


def make_quotes(setting: Setting, deals: list[Deal]) -> list[Row]:
    """The quotes of all deals, in order of the day; each deal is given its own."""
    turns: dict[str, int] = {}
    made: list[tuple[int, Row]] = []
    for deal in deals:
        patterns = deal.profile.quotes
        turn = turns[deal.profile.name] = turns.get(deal.profile.name, -1) + 1
        statuses = patterns[turn // len(deal.profile.stages) % len(patterns)]
        if statuses:
            deal.quotes = _quotes(setting, deal, statuses)
            made += deal.quotes
    made.sort(key=itemgetter(0))
    return [row for _, row in made]


def _quotes(setting: Setting, deal: Deal, statuses: tuple[str, ...]) -> list[tuple[int, Row]]:
    count = len(statuses)
    return [
        (day, _quote(setting, deal, version, status, day, amount))
        for version, status, day, amount in zip(
            range(1, count + 1),
            statuses,
            _quote_days(setting, deal, count),
            _quote_amounts(setting, deal, statuses),
            strict=True,
        )
    ]


def _quote(setting: Setting, deal: Deal, version: int, status: str, day: int, amount: float) -> Row:
    text = setting.calendar.text[day]
    name = deal.row["name"]
    return {
        "quote_id": next(setting.ids),
        "opportunity_id": deal.key,
        "name": f"{name} v{version}",
        "version": f"v{version}",
        "amount": amount,
        "status": status,
        "valid_until": setting.calendar.text[day + setting.rng.pick_weighted(_VALID_DAYS)],
        "created_date": text,
        "quote_prefix": _prefix(name, deal.product, text[2:4]),
    }


def _prefix(name: str, product: Product, year: str) -> str:
    if name.endswith("pilot"):
        return f"PIL-{year}"
    return f"SUP-{year}" if product.name == "Support Plan" else f"ALD-{year}"


def _quote_days(setting: Setting, deal: Deal, count: int) -> list[int]:
    """Working days between the deal's first and last, the latest quote not long before the last."""
    rng = setting.rng
    earliest = max(deal.born + 2 * count, deal.last_day - 40)
    day = rng.between(min(earliest, deal.last_day), deal.last_day)
    days = [day]
    for left in range(count - 1, 0, -1):
        day -= min(rng.between(4, 24), (day - deal.born) // left)
        days.append(day)
    return [max(deal.born, setting.calendar.working[day]) for day in reversed(days)]


def _quote_amounts(setting: Setting, deal: Deal, statuses: tuple[str, ...]) -> list[float]:
    """The approved, or else the last, is near the deal's amount; earlier ones asked for more."""
    rng = setting.rng
    base = deal.row["amount"]
    if deal.is_open and rng.random() < 0.45:
        base = _rounded(base * (0.93 + 0.15 * rng.random()))
    final = statuses.index("Approved") if "Approved" in statuses else len(statuses) - 1
    least, spread = (1.006, 0.01) if deal.profile.alike else (1.03, 0.08)
    amounts = [base] * len(statuses)
    for i in range(final - 1, -1, -1):
        amounts[i] = _rounded(amounts[i + 1] * (least + spread * rng.random()))
    if deal.discount and statuses[-1] == "Draft" and not deal.profile.alike:
        amounts[-1] = _rounded(deal.row["amount"] * (1 - (deal.discount - 1) / 100))
    return amounts


def _rounded(value: float) -> float:
    step = 10 if value < 10_000 else 50 if value < 60_000 else 100
    return float(max(1, int(value / step + 0.5)) * step)
