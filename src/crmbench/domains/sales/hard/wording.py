"""How the handbook and the notes say things, and how both are read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache

from crmbench.authoring.handbook import Condition, Phrasebook
from crmbench.authoring.handbook.rulebook import Op
from crmbench.core.answer import MONTHS
from crmbench.domains.sales.hard.handbook.duplicate_words import (
    CHOICES,
    DUPLICATE_CONDITIONS,
    DUPLICATE_QUESTIONS,
    DUPLICATE_RULES,
    DUPLICATE_TERMS,
)
from crmbench.errors import HarnessError

_DATE = r"\d{1,2} [A-Z][a-z]+ \d{4}"
_NAME = r"[^\W\d_][^\d,.;:]*?"
_COND = r"[^.;]+?"


def long_date(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


@lru_cache(maxsize=4096)
def read_date(text: str) -> date:
    day, month, year = text.split()
    return date(int(year), MONTHS.index(month) + 1, int(day))


def money(value: float) -> str:
    return f"${value:,.0f}"


def amount_of(figure: str) -> float:
    """The number in a figure: 4.5 of "4.5 %", 250000 of "$250,000"."""
    return float(figure.lstrip("$").split()[0].replace(",", ""))


# --- conditions -----------------------------------------------------------------------------------

OTHER_WORDS: Mapping[str, Sequence[str]] = {
    "public body": ("civic client", "municipal house", "crown customer"),
    "long-standing": ("veteran", "heritage client", "client of the first hour"),
    "large account": ("key house", "flagship", "pillar client"),
    "slow payer": ("tardy account", "late settler", "laggard"),
}
"""What clients of a kind are called too; a handbook says one of these of each kind."""
NOUNS: Mapping[str, str] = {
    **{name: name for name in OTHER_WORDS},
    "long-standing": "long-standing client",
}
"""A kind of client as a noun."""


KIND_OF: Mapping[str, str] = {
    **{name: name for name in OTHER_WORDS},
    "some public": "public body",
    "some slow": "slow payer",
}
"""Attribute of a condition that speaks of a kind of client, to that kind."""


def _other_wording(attribute: str, word: str) -> str:
    return f"{'one of them' if attribute.startswith('some ') else 'the client'} is a {word}"


def _other_words(attribute: str) -> tuple[str, ...]:
    return tuple(_other_wording(attribute, word) for word in OTHER_WORDS[KIND_OF[attribute]])


CONDITIONS: Mapping[tuple[str, Op], Sequence[str]] = {
    ("industry", "is"): ("the client is in the {} trade", "the client's industry is {}"),
    ("country", "is"): ("the client's address is in {}", "the client sits in {}"),
    ("product", "is"): ("the contract is for {}", "the product sold is {}"),
    ("value", "at least"): ("the old contract is worth {} a year or more",),
    ("value", "below"): ("the old contract is worth less than {} a year",),
    ("public body", "is"): ("the client is a public body", *_other_words("public body")),
    ("long-standing", "is"): ("the client is long-standing", *_other_words("long-standing")),
    ("large account", "is"): ("the client is a large account", *_other_words("large account")),
    ("slow payer", "is"): ("the client is a slow payer", *_other_words("slow payer")),
    ("payment stop", "is"): ("the client is under a payment stop",),
    ("dispute", "is"): ("the client has an open dispute",),
    ("changed hands", "is"): ("the client has changed hands",),
    ("buyer public", "is"): (
        "the client was taken over by a public body",
        "a public body has taken the client over",
    ),
    ("group stop", "is"): (
        "another client of its group is under a payment stop",
        "there is a payment stop elsewhere in its group",
    ),
    ("group hold", "is"): (
        "another client of its group is on hold",
        "somebody else in its group is on hold",
    ),
    ("close reminders", "is"): (
        "two of its reminders of the last 365 days lie 30 days or less apart",
        "it got two reminders 30 days or less apart in the last 365 days",
    ),
    **{
        (name, "is"): (*wordings, *(_other_words(name) if name in KIND_OF else ()))
        for name, wordings in DUPLICATE_CONDITIONS.items()
    },
}
"""Attribute and comparison to their wordings; a gap takes the value."""
AND = " and at the same time "


def say_condition(condition: Condition, choice: int, word: str = "") -> str:
    """The condition in the first of its wordings (an even choice) or in another one.

    Args:
        word: What this handbook calls clients of the condition's kind too.
    """
    wordings = CONDITIONS[condition.attribute, condition.op]
    if word:
        wordings = (wordings[0], _other_wording(condition.attribute, word))
    value = money(condition.value) if condition.attribute == "value" else condition.value
    return wordings[choice % len(wordings)].format(value)


@lru_cache(maxsize=4096)
def read_conditions(text: str) -> tuple[Condition, ...]:
    """What `say_condition` said of each, joined by `AND`."""
    return tuple(_read_condition(part) for part in text.split(AND))


def _read_condition(text: str) -> Condition:
    for (attribute, op), wordings in CONDITIONS.items():
        for wording in wordings:
            head, gap, tail = wording.partition("{}")
            if not gap and text == wording:
                return Condition(attribute)
            if gap and text.startswith(head) and text.endswith(tail):
                value = text[len(head) : len(text) - len(tail)]
                if attribute == "value":
                    return Condition(attribute, amount_of(value), op)
                return Condition(attribute, value)
    raise HarnessError(f"no condition reads '{text}'")


# --- the handbook ---------------------------------------------------------------------------------

TERMS = (
    "renewal",
    "follow-up contract",
    "prolongation",
    "second term",
    "continuation",
    "successor agreement",
    "re-signing",
)
"""What a renewal is called. A handbook says, term by term, that one is another."""

RULES: Mapping[str, Sequence[str]] = {
    "uplift": (
        "Where {cond}, the uplift on a {term} is {figure}.",
        "If {cond}, the yearly value goes up by {figure} with a {term}.",
        "A {term} costs {figure} more than before wherever {cond}.",
        "We ask {figure} on top for a {term} as soon as {cond}.",
        "For clients of whom this is true, a {term} is dearer by {figure}: {cond}.",
        "Provided that {cond}, a {term} adds {figure} to the price.",
    ),
    "uplift, general": (
        "The uplift on a {term} is {figure}.",
        "With a {term}, the yearly value goes up by {figure}.",
    ),
    "ceiling": (
        "Where {cond}, the uplift on a {term} is capped at {figure}.",
        "If {cond}, what a {term} adds stays at {figure} or below.",
        "No more than {figure} may be added by a {term} as soon as {cond}.",
    ),
    "ceiling, general": (
        "What a {term} adds has no ceiling unless a provision of this handbook sets one.",
    ),
    "lead time": (
        "Where {cond}, a {term} is to be signed {figure} before the old contract ends.",
        "If {cond}, both names are put under a {term} {figure} before the old one runs out.",
        "As soon as {cond}, a {term} is concluded {figure} ahead of the old contract's last day.",
        "The signature under a {term} is due {figure} before the end, provided that {cond}.",
    ),
    "lead time, general": (
        "A {term} is to be signed {figure} before the old contract ends.",
        "The signature under a {term} is due {figure} before the end of the old contract.",
    ),
    "desk": (
        "Where {cond}, a {term} belongs to {figure}.",
        "If {cond}, {figure} takes over a {term}.",
        "Provided that {cond}, {figure} looks after a {term}.",
        "A {term} is the business of {figure} as soon as {cond}.",
    ),
    "desk, general": ("A {term} belongs to whoever owns the client.",),
    "hold": (
        "Where {cond}, a {term} is put on hold.",
        "No {term} is prepared where {cond}: it has to wait.",
        "As soon as {cond}, a {term} is kept back.",
    ),
    "release": (
        "Where {cond}, a {term} goes ahead.",
        "A {term} is not kept waiting where {cond}.",
        "Provided that {cond}, nothing stands in the way of a {term}.",
    ),
    "release, general": (
        "A {term} goes ahead unless a provision of this handbook puts it on hold.",
    ),
    "delay": (
        "Where {cond}, a {term} is put off to {figure} after the old contract ends at most.",
        "If {cond}, nobody puts a {term} off to more than {figure} after the old contract ends.",
        "As soon as {cond}, a {term} may wait {figure} beyond the old contract's end, no longer.",
    ),
    "delay, general": ("A {term} is put off to {figure} after the old contract ends at most.",),
    "reduction": (
        "Where {cond}, a {term} costs at most {figure} less than the old contract.",
        "If {cond}, no more than {figure} is taken off for a {term}.",
        "A {term} comes down by {figure} at most as soon as {cond}.",
    ),
    "reduction, general": ("A {term} costs at most {figure} less than the old contract.",),
    "chance": (
        "Where {cond}, a {term} stands at {figure} at most.",
        "If {cond}, nobody puts the chance of a {term} above {figure}.",
        "As soon as {cond}, {figure} is the most that a {term} is given.",
    ),
    "chance, general": ("A {term} stands at {figure} at most.",),
    "keeper": (
        "Where {cond}, a {term} that is handed over goes to {figure}.",
        "Whoever hands on a {term} hands it to {figure} if {cond}.",
        "As soon as {cond}, it is {figure} who gets a {term} that somebody gives away.",
    ),
    "keeper, general": ("A {term} that is handed over goes to whoever is named.",),
    "frozen": (
        "Where {cond}, nothing that is asked for on a {term} is done.",
        "If {cond}, a {term} is left as it is, whatever is asked.",
        "As soon as {cond}, hands off a {term}.",
    ),
    "open": (
        "Where {cond}, a {term} is worked on as asked.",
        "What is asked for on a {term} is done if {cond}.",
    ),
    "open, general": (
        "What is asked for on a {term} is done unless a provision of this handbook forbids it.",
    ),
    "word": (
        "What some teams call a {word} is a {known}.",
        "A {word} is but another name for a {known}.",
        "We have come to say {word} for {known}; the two are one.",
    ),
    "public body": ("A client is a public body when public owners hold {figure} of it or more.",),
    "long-standing": (
        (
            "A client is long-standing when, on the day on which the old contract ends, its record "
            "in the CRM is {figure} old or older."
        ),
    ),
    "large account": (
        (
            "A client is a large account when the Active contracts of its whole group come to "
            "{figure} a year or more."
        ),
    ),
    "slow payer": (
        (
            "A client is a slow payer when it was sent {figure} in the last 365 days, those "
            "withdrawn not counted."
        ),
    ),
    "changed hands": (
        (
            "A client has changed hands when another client took it over {figure} ago or later, "
            "has neither given it up nor sold it on, and Legal has not noted its consent since."
        ),
    ),
    "team": ("{department}: {people}.",),
    "move": (
        "{person} moves from {department} to {joins} on {date}.",
        "On {date}, {person} changes over from {department} to {joins}.",
    ),
    "absence": (
        (
            "{person} is away from {date} to {until}, both days included; what is to be signed on "
            "these days and is {person}'s goes to {deputy}."
        ),
    ),
}
"""What a provision can say. Those without a condition are general."""

CHANGES: Mapping[str, Sequence[str]] = {
    "value": (
        "From {date} on, {target} is to be read with {new} in place of {old}.",
        "{target} reads henceforth, as of {date}: {new}, not {old}.",
        "In {target}, {old} gives way to {new} on {date}.",
        "Starting {date}, {new} stands where {target} has {old}.",
        "{date} brings {new} instead of {old} to {target}.",
        "We have settled on {new}, no longer {old}, in {target}, beginning {date}.",
        "{target} goes from {old} to {new} on {date}.",
        "On {date}, {new} takes the place of {old} in {target}.",
        "{date} is the day on which {old} in {target} turns into {new}.",
        "Read {new} for {old} in {target} as of {date}.",
        "With effect from {date}, {target} says {new} and no longer {old}.",
        "It is agreed that {target} has {new}, where it had {old}, from {date} on.",
    ),
    "repeal": (
        "{target} is repealed as of {date}.",
        "As of {date}, {target} no longer applies.",
        "{target} is struck out with effect from {date}.",
        "{target} lapses on {date}.",
        "Nobody goes by {target} any more from {date} on.",
        "We part with {target} on {date}.",
        "{target} is withdrawn with effect from {date}.",
        "As of {date}, {target} is a thing of the past.",
        "Nothing follows from {target} any longer, starting {date}.",
        "We take {target} back as of {date}.",
        "{target} is to be disregarded from {date} on.",
        "{date} puts an end to {target}.",
        "Starting {date}, work as if {target} were not there.",
    ),
    "except": (
        "From {date} on, {target} does not apply where {cond}.",
        "As of {date}, {target} leaves out the cases in which {cond}.",
        "{target} is silent, from {date} on, wherever {cond}.",
        "With effect from {date}, {target} spares those of whom this is true: {cond}.",
        "Do not go by {target}, beginning {date}, once {cond}.",
        "As of {date}, {target} has nothing to say on the cases in which {cond}.",
        "{target} stops short, from {date} on, of the cases in which {cond}.",
        "Leave {target} aside as of {date} whenever {cond}.",
        "Starting {date}, nobody is held to {target} if {cond}.",
        "With effect from {date}, {target} is for other cases than those in which {cond}.",
    ),
    "extend": (
        "From {date} on, {target} applies also where {cond}.",
        "As of {date}, {target} takes in the cases in which {cond}.",
        "{target} holds just as well, from {date} on, wherever {cond}.",
        "Go by {target}, beginning {date}, once {cond}, too.",
        "{target} reaches further from {date} on: to the cases in which {cond}.",
        "Starting {date}, {target} speaks of the cases in which {cond} as well.",
        "Treat the cases in which {cond} by {target}, too, as of {date}.",
        "With effect from {date}, {target} is opened to the cases in which {cond}.",
    ),
}
"""What an amendment can say."""

SHIFT_QUESTIONS: Mapping[str, str] = {
    "delay": "how far to put off",
    "reduction": "how much to take off",
    "chance": "the highest chance",
    "keeper": "handing over",
    "frozen": "leaving as it is",
    "open": "doing as asked",
}
"""How the questions are named that a shift asks."""
QUESTIONS: Mapping[str, str] = {
    "uplift": "what is added",
    "ceiling": "the ceiling",
    "lead time": "the day of signing",
    "desk": "who is in charge",
    "hold": "waiting",
    "release": "going ahead",
    **SHIFT_QUESTIONS,
    **DUPLICATE_QUESTIONS,
}
"""How a provision's question is named when the provision is spoken of by what it says."""
YES_NO: Mapping[str, tuple[str, str]] = {
    "hold": ("hold", "release"),
    "frozen": ("frozen", "open"),
    "apart": ("apart", "together"),
    **{mark: (mark, f"{mark} not") for mark in ("tax", "register", "renamed", "phone")},
}
"""Subject that is answered by yes or no, to the kinds of provision that say so."""
DESCRIBED = (
    "the rule on {question} for the case that {case}",
    "what is laid down on {question} if {case}",
    "our line on {question} where {case}",
)
_TITLE = (
    r"(?:Circular \d+/\d{4}|Letter to all teams of \d+ \w+ \d{4}"
    r"|Minutes of the sales round of \d+ \w+ \d{4}|Answers to questions from the field \d+"
    r"|Note from the back office, \d+ \w+ \d{4}"
    r"|Changes to earlier articles, \d+ \w+ \d{4}|[A-Z][^:;.\n]*?: [^:;.\n]+?)"
)
"""A title: "Circular 19/2024", "Ceilings: slow payer"; not "HB-412"."""


def _described() -> str:
    """A pattern of what `DESCRIBED` says."""
    question = f"(?:{'|'.join(QUESTIONS.values())})"
    return "|".join(
        f"[{d[0]}{d[0].upper()}]{d[1:]}".format(question=question, case="[^.;]+?")
        for d in DESCRIBED
    )


OTHER_SUBJECTS: Mapping[str, tuple[str, str]] = {
    "discount on a first order": ("the discount on a first order is {figure}", "%"),
    "deposit": ("the deposit on new business is {figure}", "%"),
    "invoice term": ("invoices fall due after {figure}", "days"),
    "delivery notice": ("a delivery is announced {figure} ahead", "days"),
    "sample quota": ("samples may be kept for {figure}", "days"),
    "rebate": ("the rebate for early payment is {figure}", "%"),
    "cancellation fee": ("the fee for a canceled visit is {figure} of the order", "%"),
    "quote review": ("a quote is looked at again after {figure}", "days"),
    "uplift of list prices": ("the list price of new business goes up by {figure}", "%"),
    "warranty": ("the warranty is extended by {figure}", "days"),
    "follow-up visit": ("a follow-up visit is made after {figure}", "days"),
    "dearer parts": ("spare parts are dearer by {figure}", "%"),
    "second opinion": ("a second opinion is due {figure} before the work", "days"),
    "prolonged lease": ("a lease of devices is prolonged by {figure}", "days"),
}
"""Questions that no renewal asks: how they are answered, and in what unit."""

IN_FORCE = ("In force from {date}.", "Comes into force on {date}.", "Applies from {date}.")

_FIGURE = (
    r"(?:\d+(?:\.\d)? %|\d+ (?:days|years)|\$[\d,]+|\d+ reminders or more"
    rf"|{CHOICES}"
    r"|[^\W\d_][\w'’-]+(?: [^\W\d_][\w'’-]+){1,2})"
)
"""A figure as provisions give it: "4.5 %", "30 days", "$250,000", "Ines Vermeer"; not "4.5"."""

_TERM = f"(?:{'|'.join((*TERMS, *DUPLICATE_TERMS))})"
_WORDS = [word for words in OTHER_WORDS.values() for word in words]
_ANY_TERM = f"(?:{'|'.join((*TERMS, *DUPLICATE_TERMS, *_WORDS, *NOUNS.values()))})"

HANDBOOK = Phrasebook(
    {**RULES, **DUPLICATE_RULES, **CHANGES, "since": IN_FORCE},
    {
        "cond": _COND,
        "figure": _FIGURE,
        "old": _FIGURE,
        "new": _FIGURE,
        "date": _DATE,
        "until": _DATE,
        "person": _NAME,
        "deputy": _NAME,
        "department": "(?:Accounts|Legal|Sales|the desks)",
        "joins": "(?:Accounts|Legal|Sales|the desks)",
        "people": r"[^.:]+",
        "term": _TERM,
        "word": _ANY_TERM,
        "known": _ANY_TERM,
        "target": rf"(?:HB-\d{{3}}|{_described()}|{_TITLE})",
    },
)


def read_described(text: str) -> tuple[str, tuple[Condition, ...]] | None:
    """Of what provision such words speak: the kind of question, and its conditions."""
    for pattern in DESCRIBED:
        head, _, rest = pattern.partition("{question}")
        middle, _, _ = rest.partition("{case}")
        told = text[:1].lower() + text[1:]
        if not told.startswith(head):
            continue
        question, found, case = told[len(head) :].partition(middle)
        kind = next((k for k, words in QUESTIONS.items() if words == question), "")
        if found and kind:
            return kind, read_conditions(case)
    return None
