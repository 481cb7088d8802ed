"""Money, numbers, percentages, counts and dates, written by hand as people write them."""

from __future__ import annotations

import pytest

from crmbench.core.fact import Fact
from crmbench.grading.facts import conveys, mentions
from crmbench.language.reading import read

AMOUNT = Fact("money", 125000.0, "amount")
MILLION = Fact("money", 1250000.0, "total")
CENTS = Fact("money", 48375.5, "pipeline")
EUROS = Fact("money", 125000.0, "value", unit="EUR")

SAID = [
    (AMOUNT, "$125,000.00"),
    (AMOUNT, "$125,000"),
    (AMOUNT, "125000"),
    (AMOUNT, "125,000"),
    (AMOUNT, "125k"),
    (AMOUNT, "$125K."),
    (AMOUNT, "It is worth 125k USD."),
    (AMOUNT, "USD 125,000"),
    (AMOUNT, "US$125,000"),
    (AMOUNT, "125,000 dollars"),
    (AMOUNT, "125 thousand dollars"),
    (AMOUNT, "one hundred twenty-five thousand dollars"),
    (AMOUNT, "One hundred and twenty-five thousand dollars."),
    (AMOUNT, "125 000 USD"),
    (AMOUNT, "$125\u00a0000"),
    (AMOUNT, "125'000"),
    (AMOUNT, "$0.125M"),
    (AMOUNT, "The amount is **$125,000.00**."),
    (AMOUNT, "Amount: `125000.0`"),
    (AMOUNT, '{"amount": 125000.0}'),
    (AMOUNT, "| Field | Value |\n|---|---|\n| Amount | $125,000 |"),
    (AMOUNT, "| Amount | $125,000 |"),
    (AMOUNT, "- Amount - $125,000"),
    (AMOUNT, "* **Amount:** $125,000"),
    (AMOUNT, "It's $125,000, not $152,000."),
    (AMOUNT, "It's not $100,000 but $125,000."),
    (AMOUNT, "The amount went from $100k to $125k."),
    (AMOUNT, "I raised it from $100,000 to $125,000."),
    (AMOUNT, "$100k → $125k"),
    (AMOUNT, "It was $100k; it's now $125k."),
    (AMOUNT, "~~$100,000~~ $125,000"),
    (AMOUNT, "| Field | Before | After |\n|---|---|---|\n| Amount | $100k | $125k |"),
    (AMOUNT, "The amount is now $125,000 (previously $100,000)."),
    (AMOUNT, "The amount is $125,000 - would you like me to change it?"),
    (AMOUNT, "The amount is $125,000, anything else?"),
    (AMOUNT, "How much is it worth? $125,000."),
    (AMOUNT, "There are no drafts left; the quote stands at $125,000."),
    (AMOUNT, "I have not changed anything. The amount is $125,000."),
    (AMOUNT, "No, it's $125,000."),
    (AMOUNT, "No changes were made to the amount: $125,000."),
    (AMOUNT, "Not only is it large, at $125,000 it's our largest."),
    (AMOUNT, "If you look at the record, it is $125,000."),
    (AMOUNT, "That's $125,000 in total, with no discount."),
    (AMOUNT, "I can confirm the amount of $125,000."),
    (AMOUNT, "Two quotes ($50,000 and $75,000) add up to $125,000."),
    (AMOUNT, "Deal worth $125,000; closes 2026-05-03; 60%."),
    (AMOUNT, "Here's what I found.\n\nThe deal is in Proposal.\n\nIts value: $125,000."),
    (AMOUNT, "The amount, which hasn't changed since March, is $125,000."),
    (AMOUNT, "It isn't closed yet and is worth $125,000."),
    (MILLION, "$1.25M"),
    (MILLION, "1.25 million"),
    (MILLION, "1.25 million dollars"),
    (MILLION, "$1.25mm"),
    (MILLION, "$1,250,000"),
    (MILLION, "$1,250k"),
    (Fact("money", 2e9, "revenue"), "$2bn"),
    (Fact("money", 1e6, "revenue"), "a million dollars"),
    (CENTS, "$48,375.50"),
    (CENTS, "48375.5"),
    (CENTS, "$48.3755k"),
    (CENTS, "48 375,50 USD"),
    (Fact("money", 1234.567, "share"), "$1,234.57"),
    (EUROS, "€125,000"),
    (EUROS, "125 000 EUR"),
    (EUROS, "125.000,00 €"),
    (EUROS, "125,000 euros"),
    (EUROS, "125k"),
    (Fact("money", -500.0, "change"), "-$500"),
    (Fact("money", 100000.0, "previous amount"), "It went from $100k to $125k."),
    (Fact("money", 100000.0, "old amount"), "The amount was changed from $100,000 to $125,000."),
    (Fact("money", 50000.0, "approval limit"), "You may approve up to $50,000."),
    (Fact("number", 42, "score"), "The score is 42."),
    (Fact("number", 42, "score"), "forty-two"),
    (Fact("number", 3.25, "average"), "3.25"),
    (Fact("number", 1234, "id count"), "1,234"),
    (Fact("number", 10 / 3, "average"), "3.33"),
    (Fact("number", 10 / 3, "average"), "3.3333"),
    (Fact("number", 0.5, "rate"), "0.5"),
    (Fact("number", -3, "change"), "-3"),
    (Fact("number", 12, "term"), "a 12-month term"),
    (Fact("percent", 15, "discount"), "15%"),
    (Fact("percent", 15, "discount"), "15 %"),
    (Fact("percent", 15, "discount"), "15.0%"),
    (Fact("percent", 15, "discount"), "15 percent"),
    (Fact("percent", 15, "discount"), "fifteen percent"),
    (Fact("percent", 15, "discount"), "15 per cent off"),
    (Fact("percent", 15, "discount"), "a 15%-discount"),
    (Fact("percent", 12.5, "discount"), "12.5%"),
    (Fact("percent", 60, "probability"), "Probability: 60"),
    (Fact("percent", 60, "probability"), "probability of 60"),
    (Fact("percent", 100 / 3, "win rate"), "33.3%"),
    (Fact("percent", 100 / 3, "win rate"), "33.33 %"),
    (Fact("percent", 20, "maximum discount"), "up to 20%"),
    (Fact("count", 3, "quotes"), "3"),
    (Fact("count", 3, "quotes"), "3."),
    (Fact("count", 3, "quotes"), "three"),
    (Fact("count", 3, "quotes"), "Three quotes."),
    (Fact("count", 3, "quotes"), "I found 3 quotes:\n1. A\n2. B\n3. C"),
    (Fact("count", 3, "quotes"), "There are three of them."),
    (Fact("count", 3, "quotes"), "Total: 3"),
    (Fact("count", 3, "draft quotes"), "We have 3 open draft quotes and 5 sent ones."),
    (Fact("count", 3, "quotes"), "2 contacts and 3 quotes"),
    (Fact("count", 12, "deals"), "a dozen deals"),
    (Fact("count", 1, "contract"), "There is one contract."),
    (Fact("count", 1, "contract"), "Just 1."),
    (Fact("count", 0, "open deals"), "There are no open deals."),
    (Fact("count", 0, "open deals"), "None."),
    (Fact("count", 0, "open deals"), "0"),
    (Fact("count", 0, "open deals"), "zero open deals"),
    (Fact("count", 0, "open deals"), "They don't have any open deals."),
    (Fact("count", 1204, "records"), "1,204 records"),
]

UNSAID = [
    (AMOUNT, ""),
    (AMOUNT, "$12,500"),
    (AMOUNT, "$1,250,000"),
    (AMOUNT, "$125"),
    (AMOUNT, "$125,001"),
    (AMOUNT, "$125,000.50"),
    (AMOUNT, "$1125,000"),
    (AMOUNT, "1,125,000"),
    (AMOUNT, "125,000,000"),
    (AMOUNT, "125.000"),
    (AMOUNT, "€125,000"),
    (AMOUNT, "125,000 EUR"),
    (AMOUNT, "C$125,000"),
    (AMOUNT, "£125k"),
    (AMOUNT, "125,000%"),
    (AMOUNT, "125 million"),
    (AMOUNT, "Q-125000"),
    (AMOUNT, "opp125000"),
    (AMOUNT, "125000-22"),
    (AMOUNT, "ref 125000/7"),
    (AMOUNT, "v125000"),
    (AMOUNT, "#125000"),
    (AMOUNT, "about $125,000"),
    (AMOUNT, "around 125k"),
    (AMOUNT, "roughly $125,000"),
    (AMOUNT, "approx. $125,000"),
    (AMOUNT, "~$125k"),
    (AMOUNT, "≈ $125,000"),
    (AMOUNT, "more than $125,000"),
    (AMOUNT, "over $125,000"),
    (AMOUNT, "at least $125,000"),
    (AMOUNT, "up to $125,000"),
    (AMOUNT, "just under $125,000"),
    (AMOUNT, "$125k+"),
    (AMOUNT, "$125k-ish"),
    (AMOUNT, "$125,000 or so"),
    (AMOUNT, "$125,000 or more"),
    (AMOUNT, "between $100,000 and $125,000"),
    (AMOUNT, "$100,000-$125,000"),
    (AMOUNT, "$125k - $150k"),
    (AMOUNT, "$125,000 to $150,000"),
    (AMOUNT, "either $125,000 or $130,000"),
    (AMOUNT, "$125,000 or $130,000"),
    (AMOUNT, "$130,000 or $125,000"),
    (AMOUNT, "It's not $125,000."),
    (AMOUNT, "It isn't $125,000."),
    (AMOUNT, "It is no longer $125,000."),
    (AMOUNT, "The amount isn’t $125,000."),
    (AMOUNT, "It is neither $125,000 nor $130,000."),
    (AMOUNT, "$125,000 is wrong."),
    (AMOUNT, "$125,000 is not the amount."),
    (AMOUNT, "$125,000? No."),
    (AMOUNT, "$130,000 rather than $125,000"),
    (AMOUNT, "$130,000 instead of $125,000"),
    (AMOUNT, "Instead of $125,000, it is $130,000."),
    (AMOUNT, "I can't confirm that it is $125,000."),
    (AMOUNT, "I don't think it is $125,000."),
    (AMOUNT, "It's not true that the amount is $125,000."),
    (AMOUNT, "Is it $125,000?"),
    (AMOUNT, "Should I set the amount to $125,000?"),
    (AMOUNT, "Did you mean $125,000?"),
    (AMOUNT, "I could set it to $125,000."),
    (AMOUNT, "I can change it to $125,000 if you like."),
    (AMOUNT, "If it were $125,000, we would need approval."),
    (AMOUNT, "It might be $125,000."),
    (AMOUNT, "Perhaps $125,000."),
    (AMOUNT, "It's probably $125,000."),
    (AMOUNT, "I think it's $125,000."),
    (AMOUNT, "$125,000, I think."),
    (AMOUNT, "The amount changed from $125,000 to $150,000."),
    (AMOUNT, "It went from $125k to $150k."),
    (AMOUNT, "$125k -> $150k"),
    (AMOUNT, "$125k → $150k"),
    (AMOUNT, "The amount was $125,000 and is now $150,000."),
    (AMOUNT, "It was $125,000. It is now $150,000."),
    (AMOUNT, "It used to be $125,000."),
    (AMOUNT, "Previously $125,000, now $150,000."),
    (AMOUNT, "The old amount was $125,000."),
    (AMOUNT, "It's $150,000, up from $125,000."),
    (AMOUNT, "$150,000 (was $125,000)"),
    (AMOUNT, "$150,000 (formerly $125,000)"),
    (AMOUNT, "The original amount of $125,000 was raised to $150,000."),
    (AMOUNT, "$125,000 has been replaced by $150,000."),
    (AMOUNT, "~~$125,000~~ $150,000"),
    (AMOUNT, "| Field | Before | After |\n|---|---|---|\n| Amount | $125k | $150k |"),
    (AMOUNT, "I looked it up for you."),
    (CENTS, "$48,375"),
    (CENTS, "$48,375.05"),
    (CENTS, "$48,376"),
    (MILLION, "$1.3M"),
    (MILLION, "$1.25k"),
    (MILLION, "1.25"),
    (EUROS, "$125,000"),
    (Fact("number", 42, "score"), "420"),
    (Fact("number", 42, "score"), "4.2"),
    (Fact("number", 42, "score"), "42%"),
    (Fact("number", 42, "score"), "the 42nd"),
    (Fact("number", 42, "score"), "$42"),
    (Fact("number", 10 / 3, "average"), "3.3"),
    (Fact("number", 10 / 3, "average"), "3.34"),
    (Fact("number", 10, "score"), "10.5"),
    (Fact("percent", 15, "discount"), "1.5%"),
    (Fact("percent", 15, "discount"), "115%"),
    (Fact("percent", 15, "discount"), "15"),
    (Fact("percent", 15, "discount"), "$15"),
    (Fact("percent", 15, "discount"), "50 percent"),
    (Fact("percent", 15, "discount"), "less than 15%"),
    (Fact("percent", 15, "discount"), "10-15%"),
    (Fact("percent", 15, "discount"), "10 to 15 percent"),
    (Fact("percent", 15, "discount"), "It was raised from 15% to 20%."),
    (Fact("count", 3, "quotes"), "v3"),
    (Fact("count", 3, "quotes"), "Q3"),
    (Fact("count", 3, "quotes"), "version 3"),
    (Fact("count", 3, "quotes"), "3rd"),
    (Fact("count", 3, "quotes"), "#3"),
    (Fact("count", 3, "quotes"), "3%"),
    (Fact("count", 3, "quotes"), "$3"),
    (Fact("count", 3, "quotes"), "at 3:30"),
    (Fact("count", 3, "quotes"), "at 3 pm"),
    (Fact("count", 3, "quotes"), "on 2026-03-03"),
    (Fact("count", 3, "quotes"), "on March 3"),
    (Fact("count", 3, "quotes"), "3.5"),
    (Fact("count", 3, "quotes"), "13"),
    (Fact("count", 3, "quotes"), "3,000"),
    (Fact("count", 3, "quotes"), "3 or 4"),
    (Fact("count", 3, "quotes"), "3-4 quotes"),
    (Fact("count", 3, "quotes"), "three to five"),
    (Fact("count", 3, "quotes"), "at least three"),
    (Fact("count", 3, "quotes"), "thirty-three"),
    (Fact("count", 3, "quotes"), "I found 3 contacts and 5 quotes."),
    (Fact("count", 3, "quotes"), "1. A\n2. B\n3. C"),
    (Fact("count", 3, "quotes"), "several quotes"),
    (Fact("count", 3, "quotes"), "call +1 555 010 3333"),
    (Fact("count", 1, "contract"), "That one has expired."),
    (Fact("count", 1, "contract"), "I checked them one by one."),
    (Fact("count", 2, "contract"), "a couple of contracts"),
    (Fact("count", 0, "open deals"), "There are 3 open deals."),
    (Fact("count", 0, "open deals"), "No problem, I looked: 4 open deals."),
    (Fact("count", 0, "open deals"), "10"),
]

MAY = Fact("date", "2026-05-03", "close date", today="2026-03-02")
BARE = Fact("date", "2026-05-03", "close date")

DATES_SAID = [
    (BARE, "2026-05-03"),
    (BARE, "2026-05-03T09:30:00Z"),
    (BARE, "2026-05-03T09:30:00.000+0000."),
    (BARE, "2026/05/03"),
    (BARE, "May 3, 2026"),
    (BARE, "May 3rd, 2026"),
    (BARE, "may 3rd 2026"),
    (BARE, "3 May 2026"),
    (BARE, "3rd May 2026"),
    (BARE, "the 3rd of May, 2026"),
    (BARE, "May the 3rd, 2026"),
    (BARE, "Sunday, May 3, 2026"),
    (BARE, "Sun, 3 May 2026"),
    (BARE, "03-May-2026"),
    (BARE, "05/03/2026"),
    (BARE, "5/3/2026"),
    (BARE, "5/3/26"),
    (BARE, "03.05.2026"),
    (BARE, "**May 3, 2026**"),
    (BARE, "| Close date | 2026-05-03 |"),
    (BARE, '{"close_date": "2026-05-03"}'),
    (BARE, "It closes on May 3, 2026; the amount is $125k."),
    (BARE, "The deal closes on May 3, 2026, not on May 8."),
    (BARE, "It was moved from May 1, 2026 to May 3, 2026."),
    (BARE, "The contract runs from May 3, 2026 to May 2, 2027."),
    (BARE, "valid until May 3, 2026"),
    (Fact("date", "2026-05-25", "due"), "25/05/2026"),
    (Fact("date", "2026-09-05", "due"), "Sept. 5, 2026"),
    (Fact("date", "2026-12-24", "due"), "24 Dec 2026"),
    (MAY, "May 3"),
    (MAY, "May 3rd"),
    (MAY, "on the 3rd of May"),
    (MAY, "3 May"),
    (Fact("date", "2026-03-03", "due", today="2026-03-02"), "tomorrow"),
    (Fact("date", "2026-03-02", "due", today="2026-03-02"), "It is due today."),
    (Fact("date", "2026-05", "month"), "May 2026"),
    (Fact("date", "2026-05", "month"), "2026-05"),
]

DATES_UNSAID = [
    (BARE, "May 3"),
    (BARE, "May 2026"),
    (BARE, "2026-05-30"),
    (BARE, "2026-05-31"),
    (BARE, "2026-03-05"),
    (BARE, "2025-05-03"),
    (BARE, "2027-05-03"),
    (BARE, "May 13, 2026"),
    (BARE, "May 30, 2026"),
    (BARE, "June 3, 2026"),
    (BARE, "03/05/2026"),
    (BARE, "05.03.2026"),
    (BARE, "not May 3, 2026"),
    (BARE, "It isn't Sunday, May 3, 2026."),
    (BARE, "around May 3, 2026"),
    (BARE, "May 3, 2026 or May 4, 2026"),
    (BARE, "It was moved from May 3, 2026 to May 10, 2026."),
    (BARE, "It's now May 10, 2026 (previously May 3, 2026)."),
    (BARE, "Should I set it to May 3, 2026?"),
    (BARE, "INV-2026-05-03"),
    (BARE, "2026-05-03-17"),
    (MAY, "May 3, 2025"),
    (MAY, "May 4"),
    (MAY, "tomorrow"),
    (Fact("date", "2028-05-03", "end", today="2026-03-02"), "May 3"),
    (Fact("date", "2026-05", "month"), "June 2026"),
    (Fact("date", "2026-05", "month"), "May 2025"),
]


@pytest.mark.parametrize(("fact", "reply"), SAID + DATES_SAID)
def test_said(fact: Fact, reply: str) -> None:
    assert conveys(reply, fact).ok
    assert mentions(reply, fact).ok or fact.value == 0


@pytest.mark.parametrize(("fact", "reply"), UNSAID + DATES_UNSAID)
def test_not_said(fact: Fact, reply: str) -> None:
    verdict = conveys(reply, fact)
    assert not verdict.ok
    assert verdict.why


@pytest.mark.parametrize(
    ("fact", "reply"),
    [
        (AMOUNT, "I can't tell you whether it is $125,000."),
        (AMOUNT, "~~125k~~"),
        (AMOUNT, "about 125 thousand"),
        (AMOUNT, "Is it $125,000?"),
        (AMOUNT, "more than 125000"),
        (MAY, "not May 3"),
        (Fact("percent", 15, "discount"), "up to 15%"),
        (Fact("count", 3, "quotes"), "3 or 4"),
    ],
)
def test_what_must_not_be_said_is_given_away_by_any_mention(fact: Fact, reply: str) -> None:
    assert mentions(reply, fact).ok


@pytest.mark.parametrize(
    ("fact", "reply"),
    [
        (AMOUNT, "€125,000"),
        (AMOUNT, "$1,250,000"),
        (AMOUNT, "Q-125000"),
        (MAY, "May 13"),
        (Fact("percent", 15, "discount"), "1.5%"),
        (Fact("count", 3, "quotes"), "v3"),
    ],
)
def test_another_value_gives_nothing_away(fact: Fact, reply: str) -> None:
    assert not mentions(reply, fact).ok


def test_the_day_may_come_with_the_call() -> None:
    assert not conveys("May 3", BARE).ok
    assert conveys("May 3", BARE, today="2026-03-02").ok
    assert conveys("tomorrow", BARE, today="2026-05-02").ok


def test_a_rival_amount_must_not_be_asserted_as_well() -> None:
    fact = Fact("money", 125000.0, "amount", rivals=(100000.0,))
    assert conveys("It is $125,000.", fact).ok
    assert conveys("It went from $100,000 to $125,000.", fact).ok
    assert conveys("It is $125,000, not $100,000.", fact).ok
    assert conveys("It is $125,000. The record says $100,000.", fact).why == (
        "100000.0 is said as well"
    )


def test_values_next_to_the_subject_decide() -> None:
    fact = Fact("money", 125000.0, "amount", subject="Northwind Traders")
    assert conveys("Northwind Traders: $125,000; Alpine Optics: $54,000", fact).ok
    assert not conveys("Northwind Traders: $54,000; Alpine Optics: $125,000", fact).ok
    assert not conveys("| Northwind Traders | $54,000 |\n| Alpine Optics | $125,000 |", fact).ok
    assert conveys("You asked about Northwind Traders. It is worth $125,000.", fact).ok


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0. Neither is on hold.", [0]),
        ("2. Both are on hold.", [2]),
        ("1. A quote\n2. A contract", []),
        ("Done:\n1. A quote of 30\n2. A contract", [30]),
    ],
)
def test_a_list_begins_at_1(text: str, numbers: list[int]) -> None:
    assert [number.value for number in read(text).numbers] == numbers
