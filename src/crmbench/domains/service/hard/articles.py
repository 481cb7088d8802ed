"""The handbook: articles and monthly desk notices rendered from a rulebook, among many others."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

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


def handbook(book: Rulebook, seed: int) -> list[Article]:
    """All that the org's own handbook says, in the order of publication."""
    rng = random.Random(f"crmbench hard handbook {seed}")
    writer = Writer(rng)
    found = [*_core(book), *_rates(book), *_notices(book, writer)]
    return sorted(found, key=lambda a: (a.published, a.title))


def _core(book: Rulebook) -> Iterator[Article]:
    start = date(2022, 1, 10)

    def article(title: str, summary: str, *paragraphs: str) -> Article:
        return Article(title, summary, "\n\n".join(paragraphs), "Online", start)

    yield article(
        "Late deliveries: what the customer gets back",
        "How a credit for a late delivery is worked out, step by step.",
        "A line of an order is late if it arrived (DeliveredDate__c) after the day that was promised "
        "(PromisedDate__c). The credit is worked out for the line that the case is about, in this "
        "order.",
        "1. Count the working days late: those after the promised day, up to and including the day of "
        "arrival. What a working day is, and which days are left out, stands in articles and notices "
        "of its own.\n"
        "2. Take the percentage from the table of late delivery rates that was in force on the day on "
        "which the order was placed. Every change of rules goes by that day.\n"
        "3. If the line was sold as Clearance, change the percentage as the article on clearance goods "
        "says; then, if the customer was a Plus member, as the article on Plus says. A line to which "
        "the table gives nothing gets nothing by these either.\n"
        "4. Apply it to the price of the pieces that came late: their number times the unit price of "
        "the line. Round to the cent, half a cent up.\n"
        "5. The table names the most that a line may get. What goes beyond is cut.\n"
        "6. If what comes out is below the least amount that we book, it is nothing.",
        "See also: one credit an order; what was told to the customer; customers who decline; the "
        "third credit in a year. They go in this order of weight: a case that is to be referred is "
        "referred, whatever else holds; then the customer's own refusal; then the amount that the "
        "customer was told; then the table.",
    )
    yield article(
        "Working days",
        "Which days count when we count days.",
        "Working days are Monday to Friday, without the days in the list of holidays (Holiday). That "
        "holds in all states alike.",
        "Where a carrier is hindered, the notice of the month says where and for which days. For its "
        "parcels to customers in those states (ShippingState) those days are no working days, the "
        "first and the last day named included.",
    )
    yield article(
        "Brackenholt Plus: what members get",
        "Benefits of the paid membership.",
        "Members get free return labels, a birthday voucher and early access to the sale.",
        "For late deliveries they get half as much again: the percentage is multiplied by 1.5. It "
        "counts whether the customer was a member on the day of the order: Membership__c is Plus, "
        "MemberSince__c is that day or earlier, and MemberUntil__c is empty or that day or later.",
    )
    yield article(
        "Clearance goods",
        "What is different about lines sold as Clearance.",
        "Lines whose SaleType__c is Clearance cannot be returned for a change of mind. Defects are "
        "handled as usual.",
        "If such a line comes late, the percentage is halved.",
    )
    yield article(
        "One credit an order",
        "Several late lines of one order.",
        "An order gets one credit for lateness, however many of its lines were late. If a Late "
        "Delivery credit stands Booked on another case about the same order, and that case was opened "
        "earlier, the table gives nothing to the later case. A case that was merged into another is "
        "no other case than that one: what is booked on it counts as booked on the one that it was "
        "merged into (MasterRecordId).",
    )
    yield article(
        "What was told to the customer",
        "Amounts that we have put in writing.",
        "If one of us has told the customer in an e-mail or a chat which amount they get as a credit "
        "for the late delivery, they get at least that, even if the table gives less or nothing. The "
        "last amount that was told is the one that counts; a correction replaces what was said "
        "before, whether it is higher or lower.",
        "An amount that the customer asks for, one that is offered on a condition that was not met, "
        "and one for anything else (postage, a voucher, a refund of the price) is no such amount. If "
        "what was told is less than what is due, the customer gets what is due.",
    )
    yield article(
        "Customers who decline",
        "When no credit is wanted.",
        "If the customer says that they do not want a credit, none is due, whatever was told before. "
        "The customer's last word on it counts.",
    )
    yield article(
        "Delivery on another day at the customer's wish",
        "When the customer asked us to come later.",
        "If the customer asked us to deliver the line on a later day and we confirmed it, that day takes "
        "the place of the promised day. A wish for one line of an order says nothing of the others. The request may stand in the same case or in any other case of "
        "that customer about the order. A request that we did not confirm, or that the customer took "
        "back, changes nothing.",
    )
    yield article(
        "When the scan is wrong",
        "Deliveries that the carrier's system shows on the wrong day.",
        "The day of arrival is that of the order line. Only Dispatch (Title 'Dispatch Clerk') can "
        "correct it, by a comment on the case after asking the carrier; then the day in the comment "
        "counts. If Dispatch corrects itself, the later comment counts. What customers say about the "
        "day changes nothing, nor does a comment of anybody else.",
    )
    yield article(
        "When only a part came late",
        "Lines of several pieces.",
        "If a line has several pieces and we have confirmed to the customer that some of them came on "
        "time, the credit is on the others. What the customer says is not enough.",
    )
    yield article(
        "Small amounts",
        "What is too little to book.",
        f"The table's credit is not booked if it is less than ${book.least}. An amount that was told "
        "to the customer is, however small.",
    )
    yield article(
        "The third credit in a year",
        "Customers whose deliveries are late again and again.",
        "If a customer has had three or more Late Delivery credits Booked (BookedDate__c) in the 365 "
        "days before the day on which the case was opened (UTC), on whichever cases, but not on this "
        "one or one merged into it, the case goes to the manager: its outcome is Refer, without an "
        "amount.",
    )
    yield article(
        "Reviewing credits",
        "What a review of credits looks at, and how its outcome is recorded.",
        "A review is about the cases in which the customer reports a late delivery, whatever the "
        "issue in the case says; a case filed as Late Delivery that is about something else is left "
        "alone. Merged cases are not reviewed by themselves.",
        "What a customer has had is the sum of the Credit__c records of the case, and of the cases "
        "merged into it, that are Booked and of the type Late Delivery. Void ones and other types do "
        "not count.",
        "If that is what is due, the outcome is Correct. If it is less, the outcome is Underpaid and "
        "the amount is what is missing; if it is more, Overpaid and what is too much. Nothing else is "
        "changed on the case.",
    )


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


def _notices(book: Rulebook, writer: Writer) -> Iterator[Article]:
    month = FIRST_NOTICE
    while month <= LAST_NOTICE:
        after = (month + timedelta(days=32)).replace(day=1)
        items = [*_changes(book, month, writer), *_hindered(book, month, after, writer)]
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


def _changes(book: Rulebook, month: date, writer: Writer) -> Iterator[str]:
    """The changes of rules that take force in the month."""
    del writer
    on = f"orders placed from {day_words(month)} on"
    if month == book.saturdays_from:
        yield (
            f"Express parcels of {on} are carried on Saturdays. For them a Saturday that is no holiday "
            "is a working day when lateness is counted."
        )
    if month == book.freight_from:
        yield (
            f"Freight lines (Method__c) of {on} may get up to ${book.freight_cap} for lateness, "
            "whatever most the table names."
        )
    if month == book.plus_from:
        yield (
            f"Plus: for {on}, members get {book.plus_points} percentage points more for a late delivery "
            "instead of half as much again."
        )
    if month == book.clearance_from:
        yield f"Clearance lines of {on} get nothing for lateness, no longer half."


def _hindered(book: Rulebook, month: date, after: date, writer: Writer) -> Iterator[str]:
    """The disruptions that begin in the month, and what is taken back of those of the last one."""
    for each in book.disruptions:
        if month <= each.first < after:
            yield writer.write("notice_hindered", **_values(each))
        before = (month - timedelta(days=1)).replace(day=1)
        if before <= each.first < month and each.announced != each.last:
            yield writer.write("notice_taken_back", **_values(each))


def _values(each: Disruption) -> dict[str, str]:
    return {
        "carrier": each.carrier,
        "states": states_words(each.states),
        "first": day_words(each.first),
        "last": day_words(each.announced),
        "real": day_words(each.last),
        "why": each.why,
    }
