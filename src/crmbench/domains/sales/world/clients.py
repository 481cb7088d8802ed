"""Clients and their contacts: who Alderpoint sells to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crmbench.domains.sales.world.banks import City, Country, Name, slug
from crmbench.domains.sales.world.draw import FACTORS, Weighted
from crmbench.domains.sales.world.setting import SHARES, Setting

Row = dict[str, Any]

CLIENTS = 56
"""In a full block."""
FAMILIES = (3, 2, 3, 2)
"""How many clients share a leading word, group by group."""
_STATUS_SHARES = {"Inactive": 0.12, "Prospect": 0.25}
_HISTORY = {"Active": (-1500, -220), "Prospect": (-400, -40), "Inactive": (-1600, -600)}
_MISSING = {"phone": 6, "address": 5}
"""How many clients of a full block lack what."""
_LOCAL_PARTS = ("info", "info", "office", "contact", "hello", "purchasing", "mail")
_LETTERS = "HTBKRWEDNPLXMAGSVYCJF" * 2
_SIZES = tuple(round(factor**0.8, 3) for factor in FACTORS)


@dataclass(slots=True)
class Person:
    """A contact, for those who write about them."""

    first: str
    full: str
    title: str
    key: str


@dataclass(slots=True)
class Firm:
    """A client, with what its records share."""

    row: Row
    short: str
    """The name without its legal form."""
    slug: str
    """The name as it is in file names."""
    domain: str
    city: str
    country: Country
    born: int
    """Day on which it was entered."""
    size: float
    """What its deals' amounts are multiplied by."""
    owner: int
    """Index in the sales team."""
    people: list[Person] = field(default_factory=list)


def make_firms(setting: Setting) -> list[Firm]:
    """The clients of a block, oldest first."""
    dice, calendar = setting.dice, setting.calendar
    born = sorted(
        (calendar.working[dice.between(*_HISTORY[status])], status) for status in _statuses(setting)
    )
    names = _names(setting, len(born))
    firms = [
        _firm(setting, name, trade, city, status, day)
        for (day, status), (name, trade, city) in zip(born, names, strict=True)
    ]
    for column, count in _MISSING.items():
        for firm in dice.sample(firms, int(count * setting.fraction)):
            firm.row[column] = None
    return firms


def _statuses(setting: Setting) -> list[str]:
    count = max(1, round(CLIENTS * setting.fraction))
    rare = [s for s, share in _STATUS_SHARES.items() for _ in range(round(share * count))]
    return rare + ["Active"] * (count - len(rare))


def _names(setting: Setting, count: int) -> list[tuple[str, str, City]]:
    """Names, trades and cities in random order; who shares a leading word is elsewhere in both."""
    dice, bank, cities = setting.dice, setting.bank, setting.region.cities
    leads = dice.sample(bank.leads, count)
    names: dict[str, tuple[str, str, City]] = {}
    for size in FAMILIES if setting.fraction == 1 else ():
        lead = leads.pop()
        trades = dice.sample(bank.trade_names, size)
        for trade, city in zip(trades, dice.sample(cities, size), strict=True):
            name = f"{lead} {dice.pick(bank.trades[trade])}"
            names[name] = name, trade, city
    while len(names) < count:
        trade = dice.pick(setting.spec.industries if dice.chance(0.55) else bank.trade_names)
        lead = setting.person()[1].text if dice.chance(0.08) else leads.pop()
        name = f"{lead} {dice.pick(bank.trades[trade])}"
        if name not in names:
            names[name] = name, trade, dice.pick(cities)
    return dice.sample(tuple(names.values()), count)


def _firm(setting: Setting, name: str, trade: str, city: City, status: str, day: int) -> Firm:
    dice, bank = setting.dice, setting.bank
    country = bank.countries[city.country]
    short = setting.apart(name)
    code = slug(short)
    domain = f"{code.lower()}.example"
    owner = dice.pick_weighted(SHARES)
    row = {
        "client_id": next(setting.ids),
        "name": f"{short} {dice.pick(country.legal)}" if dice.chance(0.2) else short,
        "industry": trade,
        "email": f"{dice.pick(_LOCAL_PARTS)}@{domain}",
        "phone": _phone(setting, country),
        "address": _address(setting, city, country),
        "status": status,
        "created_date": setting.calendar.text[day],
        "owner": setting.owners[owner],
    }
    return Firm(row, short, code, domain, city.name, country, day, dice.pick(_SIZES), owner)


def _phone(setting: Setting, country: Country) -> str:
    return f"{country.phone}{int(setting.dice.random() * 9800) + 100:04}"


def _address(setting: Setting, city: City, country: Country) -> str:
    dice = setting.dice
    digits = str(int(dice.random() * 9e8) + 100_000_000)
    first = int(dice.random() * 20)
    return country.address.format(
        street=dice.pick(country.streets),
        number=int(dice.random() * 148) + 1,
        postcode=country.postcode.format(digits, _LETTERS[first:]),
        city=city.name,
    )


# --- contacts -------------------------------------------------------------------------------------

NAMESAKES = 6
"""Pairs of contacts of one full name at different clients."""
SECRETIVE = 8
"""Contacts whose details are not to be passed on."""
_CROWD = Weighted((1, 2, 3, 4, 5), (42, 36, 14, 6, 2))
_ROLES = Weighted(("buyer", "user", "leader", "expert", "money"), (30, 28, 16, 16, 10))
_WITHOUT_CONTACTS = 3
"""Prospects of which only the firm is known."""


def make_contacts(setting: Setting, firms: list[Firm]) -> list[Row]:
    """The contacts of a block, client by client; each is also listed among its firm's people."""
    dice = setting.dice
    alone = setting.share(_WITHOUT_CONTACTS) if len(firms) > _WITHOUT_CONTACTS else 0
    prospects = [firm for firm in firms if firm.row["status"] == "Prospect"]
    skipped = {id(firm) for firm in prospects[:alone]}
    seats = [
        firm for firm in firms if id(firm) not in skipped for _ in range(dice.pick_weighted(_CROWD))
    ]
    names = _people(setting, seats)
    secret = set(dice.sample(range(len(seats)), setting.share(SECRETIVE)))
    return [
        _contact(setting, firm, first, last, i in secret)
        for i, (firm, (first, last)) in enumerate(zip(seats, names, strict=True))
    ]


def _people(setting: Setting, seats: list[Firm]) -> list[tuple[Name, Name]]:
    """A name for each seat: all different but for the namesakes."""
    taken = {*setting.owners}
    names = []
    for _ in seats:
        first, last = setting.person()
        while f"{first.text} {last.text}" in taken:
            first, last = setting.person()
        taken.add(f"{first.text} {last.text}")
        names.append((first, last))
    if len(seats) > 4 * NAMESAKES:
        order = setting.dice.sample(range(len(seats)), len(seats))
        pairs = [(order[i], order[-1 - i]) for i in range(len(order) // 2)]
        apart = [(a, b) for a, b in pairs if seats[a] is not seats[b]]
        for one, other in apart[:NAMESAKES]:
            names[other] = names[one]
    return names


def _contact(setting: Setting, firm: Firm, first: Name, last: Name, secret: bool) -> Row:
    dice, notes = setting.dice, setting.bank.notes["contact"]
    chance = dice.random
    title = dice.pick(setting.bank.titles[dice.pick_weighted(_ROLES)])
    while any(person.title == title for person in firm.people):
        title = dice.pick(setting.bank.titles[dice.pick_weighted(_ROLES)])
    key = next(setting.ids)
    firm.people.append(Person(first.text, f"{first.text} {last.text}", title, key))
    has_email, has_phone = secret or chance() < 0.96, secret or chance() < 0.86
    note = dice.pick(notes["field"]) if chance() < 0.3 else None
    return {
        "contact_id": key,
        "first_name": first.text,
        "last_name": last.text,
        "title": title,
        "email": f"{first.mail}.{last.mail}@{firm.domain}" if has_email else None,
        "phone": _phone(setting, firm.country) if has_phone else None,
        "client_id": firm.row["client_id"],
        "notes": dice.pick(notes["secret"]) if secret else note,
    }
