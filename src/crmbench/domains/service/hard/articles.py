"""The handbook: articles and monthly desk notices rendered from a rulebook, among many others."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from importlib import resources

import yaml

from crmbench.core.answer import STATES
from crmbench.domains.service.hard.grammar import Writer
from crmbench.domains.service.hard.rulebook import Disruption, Rates, Rulebook

FIRST_NOTICE = date(2023, 4, 1)
LAST_NOTICE = date(2026, 3, 1)
STATE_NAMES = {code: name for name, code in STATES.items()}


@dataclass(frozen=True)
class Article:
    """One article of the handbook."""

    title: str
    summary: str
    text: str
    status: str
    published: date


def day_words(day: date) -> str:
    """A day as the handbook and the letters write it: ``4 March 2025``."""
    return f"{day.day} {day:%B %Y}"


def states_words(states: tuple[str, ...]) -> str:
    return " and ".join(STATE_NAMES[state] for state in states)


def handbook(book: Rulebook, seed: int, news: Mapping[date, Sequence[str]]) -> list[Article]:
    """All that the org's own handbook says, in the order of publication.

    Args:
        news: By month what else its notice tells.
    """
    rng = random.Random(f"crmbench hard handbook {seed}")
    writer = Writer(rng)
    routing = _written("routing")
    core = _written("handbook")
    merging = _written("duplicates")
    found = [*core, *routing, *merging, *_rates(book), *_notices(book, writer, news)]
    return sorted(found, key=lambda a: (a.published, a.title))


def written(file: str) -> list[str]:
    """The titles of the articles of a data file."""
    return [article.title for article in _written(file)]


def _written(file: str, **values: str) -> Iterator[Article]:
    """The articles of a data file, which never change."""
    folder = resources.files("crmbench.domains.service.hard") / "data"
    for row in yaml.safe_load((folder / f"{file}.yaml").read_text(encoding="utf-8")):
        text = "\n\n".join(row["paragraphs"])
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        yield Article(row["title"], row["summary"], text, "Online", date(2022, 1, 10))


def _rates(book: Rulebook) -> Iterator[Article]:
    for number, rates in enumerate(book.rates):
        after = book.rates[number + 1].start if number + 1 < len(book.rates) else None
        yield _rate_article(rates, after)
    last = book.rates[-1]
    steps = tuple((least, share + 3) for least, share in last.steps)
    proposal = Rates(date(2025, 1, 1), steps, last.cap + 25)
    text = (
        "Proposal, not decided. Would hold for orders placed from 1 January 2025 on.\n\n"
        f"{_table(proposal)}"
    )
    yield Article(
        "Late delivery rates (proposal)",
        "Table for discussion.",
        text,
        "Draft",
        date(2024, 11, 20),
    )


def _rate_article(rates: Rates, after: date | None) -> Article:
    until = "" if after is None else f" to {day_words(after - timedelta(days=1))}"
    span = f"For orders placed from {day_words(rates.start)}{until or ' on'}."
    return Article(
        f"Late delivery rates ({rates.start:%Y-%m})",
        "Percentages by working days late.",
        f"{span}\n\n{_table(rates)}",
        "Online" if after is None else "Archived",
        max(rates.start - timedelta(days=12), date(2022, 1, 11)),
    )


def _table(rates: Rates) -> str:
    rows = []
    first = rates.steps[0][0]
    if first > 1:
        rows.append(f"Up to {first - 1} working day{'s' * (first > 2)} late: nothing.")
    for number, (least, share) in enumerate(rates.steps):
        if number + 1 < len(rates.steps):
            most = rates.steps[number + 1][0] - 1
            days = f"{least} to {most}" if most > least else f"{least}"
            rows.append(f"{days} working days late: {share} percent.")
        else:
            rows.append(f"{least} or more working days late: {share} percent.")
    return "\n".join([*rows, f"A line gets at most ${rates.cap}."])


def _notices(
    book: Rulebook, writer: Writer, news: Mapping[date, Sequence[str]]
) -> Iterator[Article]:
    month = FIRST_NOTICE
    while month <= LAST_NOTICE:
        after = (month + timedelta(days=32)).replace(day=1)
        items = [*_hindered(book, month, after, writer)]
        items += news.get(month, ())
        items += [writer.write("notice_filler", n=str(writer.rng.randrange(2, 9))) for _ in "123"]
        writer.rng.shuffle(items)
        text = "\n\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))
        yield Article(
            f"Desk notice {month:%Y-%m}",
            "What changes, and what to know this month.",
            text,
            "Online",
            month,
        )
        month = after


def _hindered(book: Rulebook, month: date, after: date, writer: Writer) -> Iterator[str]:
    """The disruptions that begin in the month, as they were first announced."""
    for each in book.disruptions:
        if month <= each.first < after:
            yield writer.write("notice_hindered", **_values(each))


def _values(each: Disruption) -> dict[str, str]:
    return {
        "carrier": each.carrier,
        "states": states_words(each.states),
        "first": day_words(each.first),
        "last": day_words(each.announced),
        "why": each.why,
    }
