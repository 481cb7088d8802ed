"""The hand-written banks of names, places, products and sentences, as they are drawn from."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import count
from typing import Any, NamedTuple

from crmbench.authoring.pools import Pool, part_of
from crmbench.domains.sales.world.draw import Weighted

_HOME_SHARE = 0.8
"""How many people at least have a name in a language of the region."""
_PUNCTUATION = bytes(c for c in range(128) if not chr(c).isalnum())
_UNFOLDED = str.maketrans({"ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "ß": "ss", "ł": "l"})


class PersonName(NamedTuple):
    """A first or last name, and how it is written in an e-mail address."""

    text: str
    mail: str


class City(NamedTuple):
    """A city and the country it lies in."""

    name: str
    country: str


class Language(NamedTuple):
    """Names that go together."""

    first: tuple[PersonName, ...]
    last: tuple[PersonName, ...]


@dataclass(frozen=True)
class Country:
    """What addresses and phone numbers of a country look like."""

    phone: str
    """What a number begins with; four digits follow."""
    postcode: str
    """A format of text of digits, {0}, and of letters, {1}."""
    address: str
    streets: tuple[str, ...]
    legal: tuple[str, ...]


@dataclass(frozen=True)
class Region:
    """Where the clients of a world are, and what their people are called."""

    cities: tuple[City, ...]
    people: Weighted[Language]
    """The languages of the people there."""


@dataclass(frozen=True)
class Product:
    """Something that is sold, and what it costs."""

    name: str
    price: float
    """Median of a deal's amount, in US dollars."""
    files: str
    """The product in file names."""


@dataclass(frozen=True)
class Sentences:
    """Some that can always be said, and those that speak of a quote."""

    plain: tuple[str, ...]
    quoting: tuple[str, ...]
    every: tuple[str, ...]


@dataclass(frozen=True)
class Directory:
    """Names of companies of one type."""

    words: tuple[str, ...]
    industries: tuple[str, ...]


@dataclass(frozen=True)
class Banks:
    """All banks."""

    regions: dict[str, Region]
    countries: dict[str, Country]
    leads: tuple[str, ...]
    company_leads: tuple[str, ...]
    trades: dict[str, tuple[str, ...]]
    trade_names: tuple[str, ...]
    directories: dict[str, Directory]
    titles: dict[str, tuple[str, ...]]
    products: dict[str, Weighted[Product]]
    """By trade: all products, with those that suit the trade more often."""
    notes: dict[str, Any]
    deal: dict[str, Sentences]
    closed: dict[str, Sentences]


def fold(text: str) -> str:
    """The text in ASCII: diacritics dropped."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text.translate(_UNFOLDED))
    return plain.encode("ascii", "ignore").decode()


def slug(text: str) -> str:
    """The letters and digits of a text, in ASCII."""
    return fold(text).encode().translate(None, _PUNCTUATION).decode()


@lru_cache(maxsize=3)
def banks(pool: Pool = "") -> Banks:
    """The banks, read once; of a pool, with its part of the names of people and firms."""
    people, places, firms, notes = map(_read, ("people", "places", "firms", "notes"))
    languages = {
        name: Language(_names(part_of(p["first"], pool)), _names(part_of(p["last"], pool)))
        for name, p in _apart(people, pool).items()
    }
    return Banks(
        regions={name: _region(r, languages) for name, r in places["regions"].items()},
        countries={name: _country(c) for name, c in places["countries"].items()},
        leads=part_of(firms["leads"], pool),
        company_leads=part_of(firms["company_leads"], pool),
        trades={trade: tuple(words) for trade, words in firms["trades"].items()},
        trade_names=tuple(firms["trades"]),
        directories={
            kind: Directory(tuple(c["words"]), tuple(c["industry"]))
            for kind, c in firms["companies"].items()
        },
        titles={role: tuple(titles) for role, titles in firms["titles"].items()},
        products=_products(firms["products"], firms["trades"]),
        notes=notes,
        deal={event: _sentences(lines) for event, lines in notes["deal"].items()},
        closed={event: _sentences(lines) for event, lines in notes["closed"].items()},
    )


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / f"{name}.toml").read_text("utf-8"))


def _apart(people: dict[str, Any], pool: Pool) -> dict[str, Any]:
    """The names by language; for a pool without those that several languages or both lists have,
    except where they come first: else one part could draw what the other has.
    """
    if not pool:
        return people
    seen: set[str] = set()
    found: dict[str, Any] = {}
    for language, lists in people.items():
        found[language] = {}
        for kind in ("first", "last"):
            found[language][kind] = [name for name in lists[kind] if fold(name).lower() not in seen]
            seen |= {fold(name).lower() for name in lists[kind]}
    return found


def _names(texts: Iterable[str]) -> tuple[PersonName, ...]:
    return tuple(PersonName(text, slug(text).lower()) for text in texts)


def _region(data: dict[str, Any], languages: dict[str, Language]) -> Region:
    cities = tuple(City(text[3:], text[:2]) for text in data["cities"])
    home = data["languages"]
    unit = sum(home.values()) / _HOME_SHARE
    abroad = (1 - _HOME_SHARE) / len(languages)
    shares = [home.get(name, 0) / unit + abroad for name in languages]
    return Region(cities, Weighted(languages.values(), shares))


def _country(data: dict[str, Any]) -> Country:
    return Country(
        data["phone"],
        _postcode(data["postcode"]),
        data["address"],
        tuple(data["streets"]),
        tuple(data["legal"]),
    )


def _postcode(pattern: str) -> str:
    """The format of a postcode, from a pattern in which 9 is a digit and A a letter."""
    counts = {"9": count(), "A": count()}
    names = {"9": 0, "A": 1}
    return "".join(f"{{{names[c]}[{next(counts[c])}]}}" if c in names else c for c in pattern)


def _products(data: dict[str, Any], trades: Iterable[str]) -> dict[str, Weighted[Product]]:
    products = [Product(name, p["price"], p["files"]) for name, p in data.items()]
    return {
        trade: Weighted(products, [4 if trade in p["trades"] else 1 for p in data.values()])
        for trade in trades
    }


def _sentences(lines: list[str]) -> Sentences:
    quoting = tuple(line for line in lines if "{version}" in line or "{quoted}" in line)
    plain = tuple(line for line in lines if line not in quoting)
    return Sentences(plain, quoting, plain + quoting)
