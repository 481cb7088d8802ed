"""How the messages of a shift are worded, and how they are read back."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from crmbench.authoring.handbook import Phrasebook
from crmbench.authoring.handbook.days import long_date, read_date
from crmbench.domains.sales.hard.conditions import amount_of, money
from crmbench.domains.sales.hard.desk import Message, topic_of
from crmbench.errors import HarnessError

WORDS: Mapping[str, Sequence[str]] = {
    "off": (
        "{client}: please put the renewal off to {day}.",
        "They cannot sign yet. Move the close date of {client}'s renewal to {day}.",
    ),
    "price": (
        "{client} takes the renewal at {amount}; please enter it.",
        "We settled on {amount} with {client}. Put that into the renewal.",
    ),
    "hand": (
        "Give {client}'s renewal to {person}, please.",
        "{person} takes over the renewal of {client}.",
    ),
    "chance": (
        "Put {client}'s renewal at {percent} percent.",
        "I would say {percent} percent for {client} by now, please set that.",
    ),
    "undo": (
        "Undo all that was changed on {client}'s renewal since {since}.",
        "Put {client}'s renewal back to how it stood before {since}.",
    ),
    "order odds": (
        ("From now on: when a renewal of a client in {country} is put off, also set it to "
        "{percent} percent."),
    ),
    "order limit": (
        ("From now on no renewal in the {industry} trade is put off beyond {day}. Where a later "
        "day is asked for, make it that one."),
    ),
    "order round": (
        "From now on prices for clients in {country} are entered rounded down to full hundreds.",
    ),
    "order stay": (
        "From now on a renewal that stands at {amount} or more stays with its owner, whoever asks.",
    ),
    "order desk": (
        ("From now on, when somebody has a renewal for {product} set to 70 percent or more, give "
        "it to {person} as well."),
    ),
    "order pair": (
        ("Keep {client} and {other} together from now on: when one renewal is put off, the other "
        "gets the same day."),
    ),
    "order stop": (
        ("From now on nothing is done that is asked for on the renewal of a client under a "
        "payment stop, unless I ask for it in person."),
    ),
    "order dispute": (
        ("From now on no renewal of a client with an open dispute is set above {percent} "
        "percent. Where more is asked for, make it that."),
    ),
    "order bought": (
        ("From now on, whenever something is done that was asked for on the renewal of a client "
        "that was taken over, give it to {person} as well."),
    ),
    "forget": ("Forget what I said about {topic}.", "About {topic}: that no longer holds."),
    "spare": (
        "What I said about {topic} does not go for {client}.",
        "{client} is left out of what I said about {topic}.",
    ),
    "change percent": ("On {topic}: make that {figure} percent from now on.",),
    "change day": ("On {topic}: make that {figure} from now on.",),
    "deadline": (
        "If no mail of {client} has come by {until}, put their renewal at {percent} percent then.",
    ),
    "away": (
        "I am away until {until}. Up to then {person} speaks for me, in all but prices.",
    ),
    "mail": (
        "We are still talking about the renewal in-house and will be in touch.",
        "Thank you for the papers. We would like to sign in December if that suits you.",
        "Could you hold the price of last year? We would sign at once.",
    ),
    "chat": (
        "{client} liked the visit, by the way.",
        "I am sure that {client} will send word soon.",
        "{client} asked for the catalogue; I have sent it.",
    ),
}  # fmt: skip
"""Kind of message to its wordings."""

_DATE = r"\d{1,2} [A-Z][a-z]+ \d{4}"
_TIME = rf"{_DATE}, \d\d:\d\d"
_FIRM = r"[A-Z][^.:;]*?"
_PERSON = r"[A-Z][\w'’-]+ [A-Z][\w'’-]+"
_TOPIC = (
    r"(?:renewals put off in \w+|the last day in the \w+ trade|prices in \w+"
    r"|renewals that stay with their owner|who gets [\w ]+?|keeping [^.:]+? together"
    r"|clients under a payment stop|clients with an open dispute|clients that were taken over"
    r"|the deadline for [^.:]+?)"
)
"""What orders are called: "prices in Norway", "who gets Yard Cameras"; not "prices"."""

BOOK = Phrasebook(
    WORDS,
    {
        "client": _FIRM, "other": _FIRM, "person": _PERSON, "day": _DATE, "until": _TIME,
        "since": _TIME, "amount": r"\$[\d,]+", "percent": r"\d+", "country": r"\w+",
        "industry": r"\w+", "product": r"[\w ]+?", "topic": _TOPIC, "figure": rf"(?:\d+|{_DATE})",
    },
)  # fmt: skip


def moment(at: datetime) -> str:
    return f"{long_date(at.date())}, {at:%H:%M}"


def read_moment(text: str) -> datetime:
    day, _, clock = text.rpartition(", ")
    hour, minute = clock.split(":")
    return datetime.combine(read_date(day), datetime.min.time()).replace(
        hour=int(hour), minute=int(minute)
    )


def say(message: Message, role: str, rng: random.Random) -> str:
    """The message as the desk gets it: when, who, and the words."""
    gaps = {name: _said(name, value) for name, value in message.gaps.items()}
    kind = message.kind
    if kind == "change":
        kind = f"change {message.gaps['gap']}"
        gaps.pop("gap")
    text = BOOK.say(kind, rng, **gaps)
    return f"[{message.at:%A}, {moment(message.at)}] {message.sender} ({role}): {text}"


def _said(name: str, value: Any) -> str:
    if isinstance(value, datetime):
        return moment(value)
    if name == "amount":
        return money(value)
    if name in ("day", "figure") and isinstance(value, str):
        return long_date(datetime.fromisoformat(value).date())
    return str(value)


def hear(text: str) -> Message:
    """The message that these words are.

    Raises:
        HarnessError: They are none, or more than one.
    """
    head, _, words = text.partition("): ")
    stamp, _, person = head.partition("] ")
    at = read_moment(stamp.partition(", ")[2])
    sender = person.rpartition(" (")[0]
    said = BOOK.read(words)
    if len(said) != 1:
        raise HarnessError(f"{len(said)} things are said in '{words}'")
    kind, gaps = said[0].kind, {n: _heard(n, v) for n, v in said[0].gaps.items()}
    if kind.startswith("change "):
        gaps["gap"] = kind.removeprefix("change ")
        gaps["figure"] = _heard(gaps["gap"], said[0].gaps["figure"])
        kind = "change"
    return Message(at, sender, kind, gaps)


def _heard(name: str, text: str) -> Any:
    if name in ("until", "since"):
        return read_moment(text)
    if name == "amount":
        return amount_of(text)
    if name == "percent":
        return int(text)
    return read_date(text).isoformat() if name == "day" else text


__all__ = ["BOOK", "WORDS", "hear", "say", "topic_of"]
