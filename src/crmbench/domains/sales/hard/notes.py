"""Notes on clients and contracts: what departments put on record, and what others say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crmbench.authoring.handbook import Phrasebook

DEPARTMENT: Mapping[str, str] = {
    "stop": "Accounts",
    "lift": "Accounts",
    "reminder": "Accounts",
    "same reminder": "Accounts",
    "stop moved": "Accounts",
    "dispute moved": "Legal",
    "extract void": "Legal",
    "reminder withdrawn": "Accounts",
    "ownership": "Legal",
    "takeover": "Legal",
    "given up": "Legal",
    "consent": "Legal",
    "dispute": "Legal",
    "dispute over": "Legal",
    "tax": "Accounts",
    "tax moved": "Accounts",
    "confirmed": "Accounts",
    "register": "Legal",
    "register moved": "Legal",
    "renamed": "Legal",
}
"""Whose word counts, by kind of note."""

SAYINGS: Mapping[str, Sequence[str]] = {
    "stop": (
        "Payment stop set on {date}; open items from the spring.",
        "As of {date} this account is under a payment stop.",
    ),
    "lift": (
        "Payment stop lifted on {date}, everything is paid.",
        "The stop on this account ended on {date}.",
    ),
    "reminder": (
        "Reminder {ref} sent on {date}.",
        "Sent reminder {ref} on {date}, invoice 30 days overdue.",
    ),
    "same reminder": (
        "{ref} and {other} are one reminder; the letter went out once.",
        "Counted twice by mistake: {other} is {ref}.",
    ),
    "stop moved": (
        "The payment stop noted here was meant for {name}, not for this client.",
        "Wrong account: our payment stop belongs on {name} and not here.",
    ),
    "dispute moved": (
        "File {ref} was noted here by mistake; it is a dispute with {name} and nobody else.",
        "Dispute {ref} belongs to {name}, not here.",
    ),
    "extract void": (
        "The register extract of {date} was of another firm; disregard it.",
        "Not theirs: the extract dated {date} must not be used.",
    ),
    "reminder withdrawn": (
        "Reminder {ref} withdrawn on {date}: the invoice had been paid in time.",
        "We take back {ref} ({date}); our mistake.",
    ),
    "ownership": (
        "Ownership per register extract of {date}: public owners {share} %, private {rest} %.",
        "Register extract of {date}: {share} % in public hands, {rest} % private.",
    ),
    "takeover": (
        "Took over {name} on {date}; merger filing seen.",
        "On {date} this client acquired {name}, all shares.",
        "Since {date}, {name} belongs to them wholly.",
        "Bought {name}; closing was on {date}.",
        "{date}: became sole owner of {name}, deed seen.",
        "The purchase of {name} went through on {date}, papers seen.",
    ),
    "given up": (
        "Had to give up {name} again on {date} (competition authority).",
        "{name} was sold on to its founders on {date}; no longer part of the group.",
        "Parted with {name} on {date}.",
        "{date}: let go of {name}, all shares, to outside investors.",
    ),
    "consent": (
        "Consent to the change of owner given on {date}.",
        "Change of owner reviewed; we agree as of {date}.",
    ),
    "dispute": (
        "Dispute {ref} opened on {date} about a delivery.",
        "{date}: the client contests an invoice in court, our file {ref}.",
    ),
    "dispute over": (
        "Dispute {ref} closed on {date}.",
        "{date}: file {ref} settled, nothing left open.",
    ),
    "tax": (
        "Tax number on the invoice of {date}: {tax}.",
        "Their tax number as of {date} is {tax}.",
    ),
    "tax moved": (
        "Noted here by mistake: {name} has the tax number {tax}.",
        "Wrong account; it is {name} whose tax number is {tax}.",
    ),
    "register": (
        "Register entry {entry}, seen on {date}.",
        "On {date} we looked them up: entry {entry}.",
    ),
    "register moved": (
        "Noted here by mistake: {name} has the entry {entry}.",
        "Not theirs; it is {name} whose entry is {entry}.",
    ),
    "renamed": (
        "Has traded under this name since {date}; was {name} before.",
        "Known as {name} until {date}.",
    ),
    "confirmed": ("Address, phone and e-mail confirmed on {date}.",),
}
"""Kind to wordings."""

HEARSAY: Mapping[str, Sequence[str]] = {
    "lift": (
        "Their bookkeeper says all is paid and Accounts will lift the stop, so we are fine.",
        "Payment stop is off the table, got it by phone from the client.",
    ),
    "stop": ("Heard that Accounts might put a payment stop on them again.",),
    "reminder": ("Reminded them of the open invoice on the phone again.",),
    "ownership": (
        "They say the city holds most of the shares by now; practically a public body.",
        "Basically private these days, the county is selling out.",
    ),
    "takeover": ("Rumour at the fair: a bigger player has bought them.",),
    "consent": ("Legal is fine with the new owner, I was told over lunch.",),
    "dispute over": ("The quarrel over the delivery is settled, their manager says.",),
    "dispute": ("They grumble about the last delivery and talk of lawyers.",),
}
"""What representatives write about the same things; it decides nothing."""

CHATTER = (
    "Good call today; wants the new catalogue in print.",
    "New assistant at the front desk, ask for the buyer by name.",
    "Prefers visits on Tuesdays, before ten.",
    "Sent the minutes of the last meeting.",
    "Asked for references in the region.",
    "Parking at the gate is closed until the works are done.",
    "Interested in training for two more people.",
    "They move their stock-taking to the autumn.",
)

NOTES = Phrasebook(
    SAYINGS,
    {
        "date": r"\d{1,2} [A-Z][a-z]+ \d{4}",
        "ref": r"[A-Z]-\d{4}",
        "share": r"\d+",
        "rest": r"\d+",
        "name": r"[^;()]+?",
        "other": r"[A-Z]-\d{4}",
        "tax": r"[A-Z]{2}[\d .]*\d",
        "entry": r"[A-Z]{2}-\d{5}",
    },
)

__all__ = ["CHATTER", "DEPARTMENT", "HEARSAY", "NOTES", "SAYINGS"]
