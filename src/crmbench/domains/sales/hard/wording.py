"""How the handbook and the notes say things, and how both are read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crmbench.authoring.handbook import Phrasebook
from crmbench.domains.sales.hard.conditions import CASE, FIGURE, NOUNS, OTHER_WORDS
from crmbench.domains.sales.hard.handbook.duplicate_words import DUPLICATE_RULES, DUPLICATE_TERMS
from crmbench.domains.sales.hard.handbook.spoken import SPOKEN_OF

_DATE = r"\d{1,2} [A-Z][a-z]+ \d{4}"
_NAME = r"[^\W\d_][^\d,.;:]*?"


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

_TITLE = (
    r"(?:Circular \d+/\d{4}|Letter to all teams of \d+ \w+ \d{4}"
    r"|Minutes of the sales round of \d+ \w+ \d{4}|Answers to questions from the field \d+/\d{4}"
    r"|Note from the back office, \d+ \w+ \d{4}"
    r"|Changes to earlier articles, \d+ \w+ \d{4}|[A-Z][^:;.\n]*?: [^:;.\n]+?)"
)
"""A title: "Circular 19/2024", "Ceilings: slow payer"; not "HB-412"."""


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

_TERM = f"(?:{'|'.join((*TERMS, *DUPLICATE_TERMS))})"
_WORDS = [word for words in OTHER_WORDS.values() for word in words]
_ANY_TERM = f"(?:{'|'.join((*TERMS, *DUPLICATE_TERMS, *_WORDS, *NOUNS.values()))})"

HANDBOOK = Phrasebook(
    {**RULES, **DUPLICATE_RULES, **CHANGES, "since": IN_FORCE},
    {
        "cond": CASE,
        "figure": FIGURE,
        "old": FIGURE,
        "new": FIGURE,
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
        "target": rf"(?:HB-\d{{3,4}}|{SPOKEN_OF}|{_TITLE})",
    },
)
