"""Whole replies in the prose of models, right and wrong, written by hand."""

from __future__ import annotations

import pytest

from crmbench.core.fact import Fact
from crmbench.grading.facts import conveys

STAGES = ("Prospecting", "Qualification", "Proposal", "Negotiation", "Closed-Won", "Closed-Lost")
QUOTES = ("Draft", "Sent", "Approved", "Rejected", "Canceled")
STATUSES = ("Active", "Prospect", "Inactive")

RIGHT = [
    (
        Fact("money", 125000, "amount"),
        (
            "The **Northwind Traders – Warehouse Suite** opportunity is currently "
            "in the **Proposal** stage and is valued at **$125,000.00**."
        ),
    ),
    (
        Fact("choice", "Proposal", "stage", options=STAGES),
        (
            "The **Northwind Traders – Warehouse Suite** opportunity is currently "
            "in the **Proposal** stage and is valued at **$125,000.00**."
        ),
    ),
    (
        Fact("money", 151250, "two-site quote"),
        (
            "Here's a comparison of the two draft quotes:\n\n| | v1 | v2 "
            "|\n|---|---|---|\n| Name | Warehouse Suite | Warehouse Suite, two sites "
            "|\n| Amount | $143,750.00 | $151,250.00 |\n\nThe two-site quote is "
            "**$7,500.00** more expensive."
        ),
    ),
    (
        Fact("money", 7500, "difference"),
        (
            "Here's a comparison of the two draft quotes:\n\n| | v1 | v2 "
            "|\n|---|---|---|\n| Amount | $143,750.00 | $151,250.00 |\n\nThe two-site "
            "quote is **$7,500.00** more expensive."
        ),
    ),
    (
        Fact("money", 7500, "difference"),
        "The two-site version costs $7,500 more than the single-site one.",
    ),
    (
        Fact("money", 7500, "difference"),
        "It's $7,500 higher ($151,250 vs $143,750).",
    ),
    (
        Fact("money", 7500, "difference"),
        "$151,250 \N{MINUS SIGN} $143,750 = $7,500",
    ),
    (
        Fact("money", 254500, "open pipeline"),
        (
            "Maya's open pipeline adds up to $254,500 across three deals:\n- "
            "Warehouse Suite: $125,000\n- Support Renewal: $38,500\n- Analytics: "
            "$91,000"
        ),
    ),
    (
        Fact("count", 3, "open deals"),
        "Maya's open pipeline adds up to $254,500 across three deals.",
    ),
    (
        Fact("count", 3, "open deals"),
        "Maya has 3 deals open, 1 of them in Negotiation.",
    ),
    (
        Fact("count", 2, "drafts"),
        ("Good morning! Verde Foods has two draft quotes open: v1 ($143,750) and v2 ($151,250)."),
    ),
    (
        Fact("count", 2, "drafts"),
        "There are **2** draft quotes.",
    ),
    (
        Fact("name", "Alpine Optics", "client"),
        (
            "Jordan Lee, the CFO, works at Alpine Optics (not to be confused with "
            "the Jordan Lee at another client)."
        ),
    ),
    (
        Fact("name", "Kestrel Integrations", "partner"),
        ("The consulting partner is **Kestrel Integrations**; your contact there is Ines Moreau."),
    ),
    (
        Fact("name", "Ines Moreau", "person"),
        ("The consulting partner is **Kestrel Integrations**; your contact there is Ines Moreau."),
    ),
    (
        Fact("count", 2, "quotes"),
        "amount of the latest quote = 63\u202f218 USD\n2 (quotes)",
    ),
    (
        Fact("date", "2025-02-28", "valid until"),
        "Both drafts are now valid until **February 28, 2025**.",
    ),
    (
        Fact("date", "2025-02-28", "valid until"),
        "I've extended both drafts from February 10 to February 28, 2025.",
    ),
    (
        Fact("date", "2025-02-28", "valid until", today="2025-01-15"),
        "They both now run out on Feb 28.",
    ),
    (
        Fact("percent", 30, "probability"),
        "The probability is set at 30%.",
    ),
    (
        Fact("percent", 30, "probability"),
        "Its win probability is 30.",
    ),
    (
        Fact("count", 1, "contracts"),
        "You now have one contract with Verde Foods.",
    ),
    (
        Fact("count", 1, "contracts"),
        ("Verde Foods has exactly 1 contract on file, and it's the one we just created."),
    ),
    (
        Fact("count", 1, "contracts"),
        "Just the one contract.",
    ),
    (
        Fact("name", "Northwind Traders - Warehouse Suite", "deal"),
        "The largest is Northwind Traders - Warehouse Suite at $125,000.",
    ),
    (
        Fact("name", "Northwind Traders - Warehouse Suite", "deal"),
        "That would be **Northwind Traders – Warehouse Suite** ($125,000).",
    ),
    (
        Fact("name", "Northwind Traders - Warehouse Suite", "deal"),
        "The largest would be the Northwind Traders - Warehouse Suite deal.",
    ),
    (
        Fact("money", 125000, "amount"),
        "That would be $125,000.",
    ),
    (
        Fact("money", 125000, "amount"),
        ("That comes out to $125,000.00 (8% more than the last quote of $115,740.74)."),
    ),
    (
        Fact("money", 125000, "amount"),
        "8 % on top of $115,740.74 makes $125,000.",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "I've marked the quote as Sent.",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "Done - quote v2 is now marked **Sent** (it was Draft before).",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "Quote v2: Sent\nQuote v1: Rejected",
    ),
    (
        Fact("choice", "Active", "status", options=STATUSES),
        "The client Cedar & Stone was Inactive; I have set it to Active.",
    ),
    (
        Fact("choice", "Active", "status", options=STATUSES),
        ("Cedar & Stone is no longer Inactive - it's been reactivated and is Active."),
    ),
    (
        Fact("choice", "Negotiation", "stage", options=STAGES),
        "Moved to Negotiation. Previously it was in Proposal.",
    ),
    (
        Fact("choice", "Negotiation", "stage", options=STAGES),
        'The stage has been updated from "Proposal" to "Negotiation".',
    ),
    (
        Fact("choice", "Negotiation", "stage", options=STAGES),
        "Stage: Proposal → **Negotiation**",
    ),
    (
        Fact("choice", "Closed-Lost", "stage", options=STAGES),
        ("I can't delete a deal with quotes, so I marked it as Closed-Lost instead."),
    ),
    (
        Fact("money", 130000, "amount"),
        "I've changed the amount to $130,000 as you asked (it was $125,000).",
    ),
    (
        Fact("money", 130000, "amount"),
        "The amount should now read $130,000.",
    ),
    (
        Fact("money", 130000, "amount"),
        "Amount updated: $125,000 → $130,000.",
    ),
    (
        Fact("money", 130000, "amount"),
        ("You're right, my mistake - the amount is $130,000, not $125,000 as I said."),
    ),
    (
        Fact("money", 130000, "amount"),
        ("I wasn't able to find a note about it, but the record itself says $130,000."),
    ),
    (
        Fact("money", 130000, "amount"),
        "The note mentions $125,000, but the record itself says $130,000.",
    ),
    (
        Fact("money", 130000, "amount"),
        "Unfortunately there is no discount on it: it's the full $130,000.",
    ),
    (
        Fact("money", 130000, "amount"),
        "There's no quote yet, but the deal amount is $130,000.",
    ),
    (
        Fact("money", 130000, "amount"),
        "The deal hasn't closed yet; amount $130,000, close date 2026-04-30.",
    ),
    (
        Fact("money", 130000, "amount"),
        "Without the discount the amount is $130,000.",
    ),
    (
        Fact("money", 130000, "amount"),
        "If I add both quotes, I get $130,000.",
    ),
    (
        Fact("money", 130000, "amount"),
        ("Since you asked: the deal could close soon, and its amount is $130,000."),
    ),
    (
        Fact("name", "Dana Reed", "owner"),
        "The owner is Dana Reed, who took over from Tom Becker.",
    ),
    (
        Fact("name", "Dana Reed", "owner"),
        "I've reassigned it from Tom Becker to Dana Reed.",
    ),
    (
        Fact("name", "Dana Reed", "owner"),
        "It's owned by Dana Reed (Tom Becker no longer works on it).",
    ),
    (
        Fact("name", "Dana Reed", "owner"),
        "Dana Reed isn't in today, but she is the owner.",
    ),
    (
        Fact("name", "Dana Reed", "owner"),
        "Should I contact her? The owner is Dana Reed.",
    ),
    (
        Fact("name", "Dana Reed", "owner"),
        "The owner is Dana Reed - do you want me to email her?",
    ),
    (
        Fact("name", "Dana Reed", "owner"),
        "The owner is Dana Reed. Do you want me to email Dana Reed?",
    ),
    (
        Fact("count", 0, "overdue deals"),
        "You have no overdue deals at the moment.",
    ),
    (
        Fact("count", 0, "overdue deals"),
        "Good news: nothing is overdue.",
    ),
    (
        Fact("count", 0, "overdue deals"),
        "There are currently 0 overdue deals.",
    ),
    (
        Fact("list", ("Q-1", "Q-2"), "quotes", item="text"),
        "1. Q-1 ($5k)\n2. Q-2 ($6k)",
    ),
    (
        Fact("date", "2026-05-03", "close date"),
        "It closes on Sunday, 3 May 2026.",
    ),
    (
        Fact("date", "2026-05-03", "close date"),
        "Close date: 3 May 2026 (moved from 28 April 2026).",
    ),
    (
        Fact("date", "2026-05-03", "close date"),
        "The close date has been pushed back a week, to May 3, 2026.",
    ),
    (
        Fact("date", "2026-05-03", "close date"),
        "Close date\n2026-05-03",
    ),
    (
        Fact("money", 1250000, "amount"),
        "about the total: it's $1.25 million",
    ),
    (
        Fact("count", 12, "clients"),
        "We have 12 clients in total; 4 of those are inactive.",
    ),
    (
        Fact("count", 12, "clients"),
        "12 (8 active, 4 inactive)",
    ),
    (
        Fact("count", 8, "active clients"),
        "12 clients in total, 8 active and 4 inactive",
    ),
    (
        Fact("count", 8, "active clients"),
        "Of 12 clients, 8 are active.",
    ),
    (
        Fact("count", 8, "active clients"),
        "8 of 12 clients are active",
    ),
]

WRONG = [
    (
        Fact("money", 125000, "amount"),
        "I'd suggest $125,000, but the record says $130,000.",
    ),
    (
        Fact("money", 125000, "amount"),
        "The note says it should be $125,000, but that is outdated.",
    ),
    (
        Fact("choice", "Proposal", "stage", options=STAGES),
        'The deal "Proposal Automation Suite" is in Negotiation.',
    ),
    (
        Fact("name", "Alpine Optics", "client"),
        "Jordan Lee works at Northwind Traders, and not at Alpine Optics.",
    ),
    (
        Fact("name", "Alpine Optics", "client"),
        "I'm not sure whether Jordan Lee works at Alpine Optics.",
    ),
    (
        Fact("count", 2, "drafts"),
        "Verde Foods has 3 draft quotes, 2 of which expire soon.",
    ),
    (
        Fact("date", "2026-05-03", "close date"),
        "It was going to close on May 3, 2026 but was moved to June 1, 2026.",
    ),
    (
        Fact("money", 125000, "amount"),
        "It isn't $125,000 any more; it's $130,000.",
    ),
    (
        Fact("money", 125000, "amount"),
        "The amount used to be $125,000.",
    ),
    (
        Fact("choice", "Active", "status", options=STATUSES),
        "The client was Active until last week.",
    ),
    (
        Fact("choice", "Active", "status", options=STATUSES),
        "I can't tell you if the client is Active.",
    ),
    (
        Fact("choice", "Active", "status", options=STATUSES),
        "The client is far from Active.",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "The quote still has to be Sent.",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "The quote is yet to be Sent.",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "I will mark it as Sent once you confirm.",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "I'd mark it as Sent if you agree.",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "The quote failed to be marked as Sent.",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "It cannot be Sent.",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "Possible statuses: Draft, Sent, Approved, Rejected, Canceled.",
    ),
    (
        Fact("choice", "Sent", "status", options=QUOTES),
        "The quote is Draft, Sent, Approved, Rejected and Canceled.",
    ),
    (
        Fact("money", 125000, "amount"),
        "I tried to set it to $125,000, but the CRM refused.",
    ),
    (
        Fact("money", 125000, "amount"),
        "The CRM rejected $125,000.",
    ),
]


@pytest.mark.parametrize(("fact", "reply"), RIGHT)
def test_right(fact: Fact, reply: str) -> None:
    assert conveys(reply, fact).ok


@pytest.mark.parametrize(("fact", "reply"), WRONG)
def test_wrong(fact: Fact, reply: str) -> None:
    assert not conveys(reply, fact).ok
