"""Clients and their contacts: who Alderpoint sells to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from crmbench.domains.sales.world.banks import City, Country, PersonName, slug
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
    rng, calendar = setting.rng, setting.calendar
    born = sorted(
        (calendar.working[rng.between(*_HISTORY[status])], status) for status in _statuses(setting)
    )
    names = _names(setting, len(born))
    firms = [
        _firm(setting, name, trade, city, status, day)
        for (day, status), (name, trade, city) in zip(born, names, strict=True)
    ]
    for column, count in _MISSING.items():
        for firm in rng.sample(firms, int(count * setting.fraction)):
            firm.row[column] = None
    return firms


def _statuses(setting: Setting) -> list[str]:
    count = max(1, round(CLIENTS * setting.fraction))
    rare = [s for s, share in _STATUS_SHARES.items() for _ in range(round(share * count))]
    return rare + ["Active"] * (count - len(rare))


def _names(setting: Setting, count: int) -> list[tuple[str, str, City]]:
    """Names, trades and cities in random order; who shares a leading word is elsewhere in both."""
    rng, bank, cities = setting.rng, setting.bank, setting.region.cities
    leads = rng.sample(bank.leads, count)
    names: dict[str, tuple[str, str, City]] = {}
    for size in FAMILIES if setting.fraction == 1 else ():
        lead = leads.pop()
        trades = rng.sample(bank.trade_names, size)
        for trade, city in zip(trades, rng.sample(cities, size), strict=True):
            name = f"{lead} {rng.pick(bank.trades[trade])}"
            names[name] = name, trade, city
    while len(names) < count:
        trade = rng.pick(setting.spec.industries if rng.chance(0.55) else bank.trade_names)
        lead = setting.person()[1].text if rng.chance(0.08) else leads.pop()
        name = f"{lead} {rng.pick(bank.trades[trade])}"
        if name not in names:
            names[name] = name, trade, rng.pick(cities)
    return rng.sample(tuple(names.values()), count)


def _firm(setting: Setting, name: str, trade: str, city: City, status: str, day: int) -> Firm:
    rng, bank = setting.rng, setting.bank
    country = bank.countries[city.country]
    short = setting.apart(name)
    code = slug(short)
    domain = f"{code.lower()}.example"
    owner = rng.pick_weighted(SHARES)
    row = {
        "client_id": next(setting.ids),
        "name": f"{short} {rng.pick(country.legal)}" if rng.chance(0.2) else short,
        "industry": trade,
        "email": f"{rng.pick(_LOCAL_PARTS)}@{domain}",
        "phone": _phone(setting, country),
        "address": _address(setting, city, country),
        "status": status,
        "created_date": setting.calendar.text[day],
        "owner": setting.owners[owner],
    }
    return Firm(row, short, code, domain, city.name, country, day, rng.pick(_SIZES), owner)


def _phone(setting: Setting, country: Country) -> str:
    return f"{country.phone}{int(setting.rng.random() * 9800) + 100:04}"


def _address(setting: Setting, city: City, country: Country) -> str:
    rng = setting.rng
    digits = str(int(rng.random() * 9e8) + 100_000_000)
    first = int(rng.random() * 20)
    return country.address.format(
        street=rng.pick(country.streets),
        number=int(rng.random() * 148) + 1,
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
    rng = setting.rng
    alone = setting.share(_WITHOUT_CONTACTS) if len(firms) > _WITHOUT_CONTACTS else 0
    prospects = [firm for firm in firms if firm.row["status"] == "Prospect"]
    skipped = {id(firm) for firm in prospects[:alone]}
    seats = [
        firm for firm in firms if id(firm) not in skipped for _ in range(rng.pick_weighted(_CROWD))
    ]
    names = _people(setting, seats)
    secret = set(rng.sample(range(len(seats)), setting.share(SECRETIVE)))
    return [
        _contact(setting, firm, first, last, i in secret)
        for i, (firm, (first, last)) in enumerate(zip(seats, names, strict=True))
    ]


def _people(setting: Setting, seats: list[Firm]) -> list[tuple[PersonName, PersonName]]:
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
        order = setting.rng.sample(range(len(seats)), len(seats))
        pairs = [(order[i], order[-1 - i]) for i in range(len(order) // 2)]
        apart = [(a, b) for a, b in pairs if seats[a] is not seats[b]]
        for one, other in apart[:NAMESAKES]:
            names[other] = names[one]
    return names


def _contact(
    setting: Setting, firm: Firm, first: PersonName, last: PersonName, secret: bool
) -> Row:
    rng, notes = setting.rng, setting.bank.notes["contact"]
    chance = rng.random
    title = rng.pick(setting.bank.titles[rng.pick_weighted(_ROLES)])
    while any(person.title == title for person in firm.people):
        title = rng.pick(setting.bank.titles[rng.pick_weighted(_ROLES)])
    key = next(setting.ids)
    firm.people.append(Person(first.text, f"{first.text} {last.text}", title, key))
    has_email, has_phone = secret or chance() < 0.96, secret or chance() < 0.86
    note = rng.pick(notes["field"]) if chance() < 0.3 else None
    return {
        "contact_id": key,
        "first_name": first.text,
        "last_name": last.text,
        "title": title,
        "email": f"{first.mail}.{last.mail}@{firm.domain}" if has_email else None,
        "phone": _phone(setting, firm.country) if has_phone else None,
        "client_id": firm.row["client_id"],
        "notes": rng.pick(notes["secret"]) if secret else note,
    }
