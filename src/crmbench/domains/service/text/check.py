"""Finding broken rules in the words of a conversation.

This is the second way to the ground truth of policy violations. It knows nothing of the phrase bank
and of how a conversation was composed: it reads the agent's sentences in order of time and looks in
them for what each rule demands or forbids.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from crmbench.domains.service.text.library import violable
from crmbench.domains.service.text.model import CaseText, RuleRef

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: number for number, word in enumerate(_WORDS, 1)}
_DAY_NAMES = r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bthe \d+(?:st|nd|rd|th)\b"
_SENTENCE = re.compile(r"(?<=[.!?])(?<![ap]\.m\.)\s+|\n+")


@dataclass(frozen=True)
class CaseReading:
    """The agent's words as one text in order of time, and what the customer says of dates."""

    agent: str
    customer: str
    opened: str

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The agent's sentences in order."""
        return tuple(filter(None, _SENTENCE.split(self.agent)))

    def has(self, pattern: str) -> bool:
        """Whether the agent's words match anywhere."""
        return re.search(pattern, self.agent) is not None

    def any_sentence(self, *patterns: str) -> bool:
        """Whether one sentence matches all the patterns."""
        return self.first(*patterns) is not None

    def first(self, *patterns: str) -> int | None:
        """The number of the first sentence that matches all the patterns."""
        for number, sentence in enumerate(self.sentences):
            if all(re.search(pattern, sentence) for pattern in patterns):
                return number
        return None

    def numbers(self, pattern: str, *, beside: str = "", without: str = "$^") -> list[int | None]:
        """The numbers that the pattern's group finds in sentences that match `beside`."""
        return [
            _number(found)
            for sentence in self.sentences
            if re.search(beside, sentence) and not re.search(without, sentence)
            for found in re.findall(pattern, sentence)
        ]


def _number(word: str) -> int | None:
    return int(word) if word.isdigit() else _NUMBERS.get(word)


def _comes_after(late: int | None, early: int | None) -> bool:
    """Whether what should come first is missing, or comes after the other thing."""
    return early is None or (late is not None and late < early)


def _asks_name_and_date_late(text: CaseReading) -> bool:
    asks = text.first(r"\bname\b", r"\b(?:date|when|day)\b", r"\border|\bplace")
    finds = text.first(
        r"(?:found|looked up|pulled up|located).*\border\b|\border\b.*in front of me"
    )
    return _comes_after(finds, asks)


def _asks_photo_late(text: CaseReading) -> bool:
    asks = text.first(r"\b(?:photo|picture)s?\b", r"\?$|please|reply with")
    remedy = text.first(r"\breplace|\brefund|\bcredit\b|prepaid|(?:goes|going|sent) out|on its way")
    return _comes_after(remedy, asks)


def _ships_before_address(text: CaseReading) -> bool:
    asks = text.first(r"delivery address|deliver to", r"\?$|tell me|let me know|like to know")
    ships = text.first(r"(?:goes|going|sent) out\b|on its way|\bsent\b.*\bpart\b")
    return _comes_after(ships, asks)


def _refund_before_replacement(text: CaseReading) -> bool:
    refund, other = re.search(r"\brefund", text.agent), re.search(r"\breplac", text.agent)
    return refund is not None and (other is None or refund.start() < other.start())


def _looks_before_identity(text: CaseReading) -> bool:
    asks = text.first(r"\bfull name\b")
    looks = text.first(r"\baccount\b", r"looked into|a look at|gone through|in front of me")
    return _comes_after(looks, asks)


def _wrong_share(text: CaseReading) -> bool:
    found = re.search(r"\b([a-z]{3})[a-z]* (\d{1,2}), (\d{4})", text.customer)
    if found is None:
        return False
    month, day, year = found.groups()
    ordered = date(int(year), _MONTHS.index(month) + 1, int(day))
    age = (date.fromisoformat(text.opened) - ordered).days
    return text.numbers(r"(\d+) percent") != [100 if age <= 30 else 70]


def _two_windows_missing(text: CaseReading) -> bool:
    halves = re.findall(r"\b\d{1,2}(?::\d\d)? ([ap])\.m\.", text.agent)
    return sorted(halves) != ["a", "p"]


def _percent_without_store_credit(text: CaseReading) -> bool:
    return any("percent" in s and "store credit" not in s for s in text.sentences)


_BLAMED = r"\b(?:carrier|warehouse|bank|payment service|colleagues?)\b"
_BLAME = r"\b(?:fault|mistake|blame|careless|mess|forgot|hopeless|caused|entirely)\b"

_BROKEN: dict[RuleRef, Callable[[CaseReading], bool]] = {
    ("locating_an_order", "ask_date_and_name"): _asks_name_and_date_late,
    ("locating_an_order", "no_card_number"): lambda t: t.any_sentence(r"card", r"number|digits"),
    ("delivery_estimates", "range_not_day"): lambda t: t.has(_DAY_NAMES),
    ("delivery_estimates", "offer_alerts"): lambda t: not t.has(r"\balerts\b"),
    ("goodwill_credit", "at_most_ten_percent"): lambda t: any(
        (n or 99) > 10 for n in t.numbers(r"(\w+) percent")
    ),
    ("goodwill_credit", "store_credit_only"): _percent_without_store_credit,
    ("apology_and_blame", "apologize"): lambda t: not t.has(r"\bsorry\b|\bapolog"),
    ("apology_and_blame", "blame_nobody"): lambda t: t.any_sentence(_BLAMED, _BLAME),
    ("photo_evidence", "photo_before_remedy"): _asks_photo_late,
    ("photo_evidence", "at_most_two"): lambda t: t.has(
        r"(?:three|four|five|six|half a dozen|\d) (?:photo|picture)s"
    ),
    ("return_labels", "prepaid"): lambda t: t.has(r"\bpostage\b") or not t.has(r"\bprepaid\b"),
    ("return_labels", "twenty_one_days"): lambda t: (
        t.numbers(r"(\w+) days", without=r"\bcase\b|business") != [21]
    ),
    ("confirming_address", "confirm_before_shipping"): _ships_before_address,
    ("confirming_address", "no_street"): lambda t: t.any_sentence(
        r"address|deliver", r"\b\d+ \w+ (?:street|lane|road|avenue|drive|court)\b"
    ),
    ("replacement_first", "before_refund"): _refund_before_replacement,
    ("replacement_first", "same_model"): lambda t: t.any_sentence(
        r"\breplac", r"newer|another|larger|different|similar"
    ),
    ("safe_use", "stop_using"): lambda t: (
        not t.has(r"(?:not|not to|n't|stop) us(?:e|ing)\b|\bunused\b")
    ),
    ("safe_use", "no_own_repair"): lambda t: t.has(
        r"strong glue|glue it|bend it|have a drill|duct tape|saw off|cut off"
    ),
    ("spare_parts", "ask_part_number"): lambda t: not t.has(r"\bpart number\b"),
    ("spare_parts", "free_of_charge"): lambda t: t.has(r"\$\d"),
    ("closing_summary", "summarize"): lambda t: not t.has(r"\bto sum up\b|\bin short\b"),
    ("closing_summary", "open_seven_days"): lambda t: (
        t.numbers(r"(\w+) (?:more )?days", beside=r"\bcase\b") != [7]
    ),
    ("manual_guidance", "name_the_page"): lambda t: not t.has(r"\bpage \d"),
    ("manual_guidance", "no_outside_sources"): lambda t: t.has(
        r"manufacturer|video sites|forums|another store|internet"
    ),
    ("video_calls", "two_windows"): _two_windows_missing,
    ("video_calls", "item_at_hand"): lambda t: (
        not t.has(r"within reach|next to|beside you|at hand")
    ),
    ("serial_numbers", "ask_serial"): lambda t: not t.has(r"\bserial number\b"),
    ("serial_numbers", "no_opening"): lambda t: t.has(
        r"unscrew|open the housing|undo the seam|take it apart|\bpry\b"
    ),
    ("warranty_assessment", "ten_business_days"): lambda t: (
        t.numbers(r"(\w+) business days") != [10]
    ),
    ("warranty_assessment", "no_promised_outcome"): lambda t: t.has(
        r"will be approved|\bi promise|definitely|is certain|\bguarantee"
    ),
    ("return_window", "share_by_age"): _wrong_share,
    ("refund_route", "original_method"): lambda t: t.has(
        r"as a check|another card|gift card|bank account"
    ),
    ("refund_route", "five_business_days"): lambda t: t.numbers(r"(\w+) business days") != [5],
    ("identity_check", "name_and_last_order"): _looks_before_identity,
    ("identity_check", "no_password"): lambda t: t.has(
        r"(?:your|current|the) password|one-time code|code to your phone"
    ),
    ("account_privacy", "last_four_only"): lambda t: t.has(r"\d{4} \d{4}"),
    ("account_privacy", "ask_other_users"): lambda t: (
        not t.any_sentence(
            r"(?:any|some)(?:body|one) else|only person|anyone in your home", r"\?$|tell me"
        )
    ),
    ("sending_links", "address_on_file"): lambda t: (
        not t.has(r"\bon file\b")
        or t.any_sentence(
            r"\blink\b", r"text message|another e-mail|work address|friend|social media"
        )
    ),
    ("sending_links", "forty_eight_hours"): lambda t: t.numbers(r"(\w+) hours") != [48],
    ("consent_and_ratings", "no_sign_up"): lambda t: t.any_sentence(
        r"newsletter|heather club", r"signed|made|are now|adding|enrolled"
    ),
    ("consent_and_ratings", "no_asked_score"): lambda t: t.has(
        r"five stars|\bten\b.*survey|survey.*\bten\b|top score"
    ),
}


def _reading(case_text: CaseText) -> CaseReading:
    mails = [(e.minutes_after_open, e.from_customer, e.body) for e in case_text.emails]
    lines = [(c.minutes_after_open, c.from_customer, c.text) for c in case_text.chat]
    messages = sorted(mails + lines, key=lambda message: message[0])
    agent = "\n".join(text for _, from_customer, text in messages if not from_customer)
    customer = "\n".join(text for _, from_customer, text in messages if from_customer)
    return CaseReading(agent.lower(), customer.lower(), case_text.opened)


def check_text(case_text: CaseText, issue_key: str) -> tuple[RuleRef, ...]:
    """The visible rules of the issue's articles that the agent's words break.

    Args:
        case_text: The conversation; a case with e-mails and a chat is read in order of time.
        issue_key: The issue, which decides which articles govern the conversation.
    """
    reading = _reading(case_text)
    return tuple(ref for ref in violable(issue_key) if _BROKEN[ref](reading))
