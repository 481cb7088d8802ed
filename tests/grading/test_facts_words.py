"""Names, ids, choices, booleans, lists and phrases, written by hand as people write them."""

from __future__ import annotations

import pytest

from crmbench.core.fact import Fact
from crmbench.grading.facts import conveys, mentions

STATUSES = ("Active", "Prospect", "Inactive")
STAGES = ("Prospecting", "Qualification", "Proposal", "Negotiation", "Closed-Won", "Closed-Lost")
QUOTES = ("Draft", "Sent", "Approved", "Rejected", "Canceled")
ACTIVE = Fact("choice", "Active", "status", options=STATUSES)
SENT = Fact("choice", "Sent", "status", options=QUOTES)
DRAFT = Fact("choice", "Draft", "status", options=QUOTES)
WON = Fact("choice", "Closed-Won", "stage", options=STAGES)
PROPOSAL = Fact("choice", "Proposal", "stage", options=STAGES)
CANCELED = Fact("choice", "Canceled", "status", options=QUOTES)
TRADERS = Fact("name", "Northwind Traders", "client")
LEE = Fact("name", "Jordan Lee", "contact")
OBRIEN = Fact("name", "O'Brien & Söhne GmbH", "client")
UUID = Fact("id", "3f2b8c1e-7a54-4c1d-9a31-0d8b7e6f5a21", "opportunity")
CASE = Fact("id", "500Ws0000042abcIAE", "case")
OVERDUE = Fact("boolean", True, "overdue", rivals=("on time",))
NOT_OVERDUE = Fact("boolean", False, "overdue", rivals=("on time",))
CLIENTS = ("Northwind Traders", "Verde Foods", "Alpine Optics", "Cedar & Stone Architects")
TWO = Fact("list", CLIENTS[:2], "clients", options=CLIENTS, only=True)
LOOSE = Fact("list", CLIENTS[:2], "clients", options=CLIENTS)
NONE = Fact("list", (), "open quotes", options=("Q-1", "Q-2"), only=True)
PHONE = Fact("text", "+1 555 010 2030", "phone")
EMAIL = Fact("text", "jordan.lee@northwind.example", "email")
NOTE = Fact("text", "prefers calls after lunch", "note")

SAID = [
    (ACTIVE, "Active"),
    (ACTIVE, "active"),
    (ACTIVE, "Status: Active"),
    (ACTIVE, "The client is **Active**."),
    (ACTIVE, "The client's status is currently `Active`."),
    (ACTIVE, "Not only is it Active, it is one of our best clients."),
    (ACTIVE, "Active? Yes."),
    (ACTIVE, "Yes, it's Active."),
    (ACTIVE, "It's Active, not Inactive."),
    (ACTIVE, "It's not Inactive but Active."),
    (ACTIVE, "They are not a Prospect any more; they are Active now."),
    (ACTIVE, "The status changed from Prospect to Active."),
    (ACTIVE, "Prospect → Active"),
    (ACTIVE, "The client used to be a Prospect and is now Active."),
    (ACTIVE, "| Status | Active |"),
    (ACTIVE, '{"status": "Active"}'),
    (ACTIVE, "Sure! I had a look.\n\nThe status is Active.\n\nAnything else I can help with?"),
    (ACTIVE, "I found no problems: the client is Active."),
    (ACTIVE, "There's no doubt that the client is Active."),
    (ACTIVE, "I haven't changed anything, and the client is still Active."),
    (SENT, "There are no drafts left; the quote is Sent."),
    (SENT, "The quote is Sent. The earlier version was Rejected."),
    (SENT, "v2 is Sent; the other one, v1, is Rejected."),
    (SENT, "The quote was sent to the client."),
    (SENT, "It isn't a draft any more - it is Sent."),
    (SENT, "Instead of Draft it is Sent."),
    (SENT, "| Version | Status |\n|---|---|\n| v1 | Rejected |\n| v2 | Sent |"),
    (DRAFT, "It's still a draft. I haven't sent it."),
    (WON, "Closed-Won"),
    (WON, "closed won"),
    (WON, "Closed/Won"),
    (WON, "Closed (Won)"),
    (WON, "The deal is Closed – Won."),
    (WON, "It was moved from Negotiation to Closed-Won."),
    (WON, "It moved to Closed-Won from Negotiation."),
    (PROPOSAL, "The deal is in the Proposal stage."),
    (PROPOSAL, "It has reached proposal; negotiation comes next."),
    (CANCELED, "The quote has been cancelled."),
    (Fact("choice", "Proposal", "previous stage", options=STAGES), "It was Proposal before."),
    (TRADERS, "Northwind Traders"),
    (TRADERS, "northwind traders"),
    (TRADERS, "NORTHWIND TRADERS"),
    (TRADERS, "Northwind Traders, Inc."),
    (TRADERS, "Northwind Traders Ltd"),
    (TRADERS, "It's for Northwind Traders' CFO."),
    (TRADERS, "Northwind Traders’s deal"),
    (TRADERS, "**Northwind Traders**"),
    (TRADERS, "“Northwind Traders”"),
    (TRADERS, "Northwind\u00a0Traders"),
    (TRADERS, "The client is Northwind Traders, not Northwind Shipping."),
    (TRADERS, "- Northwind Traders: $125,000"),
    (TRADERS, "[Northwind Traders](crm/123)"),
    (Fact("name", "Northwind Traders Inc.", "client"), "Northwind Traders"),
    (Fact("name", "Acme", "client", aliases=("Acme Corporation of Ohio",)), "Acme Corp"),
    (LEE, "Jordan Lee"),
    (LEE, "Lee, Jordan"),
    (LEE, "Jordan Lee's number"),
    (LEE, "Ms. Jordan Lee"),
    (Fact("name", "Jordan Lee", "contact", aliases=("Jordan",)), "Jordan will call."),
    (Fact("name", "Zoë Müller-Çelik", "owner"), "Zoe Muller-Celik"),
    (Fact("name", "Zoë Müller-Çelik", "owner"), "Zoë Müller‑Çelik"),
    (OBRIEN, "O’Brien and Söhne"),
    (OBRIEN, "OBrien & Sohne GmbH"),
    (OBRIEN, "O'Brien + Söhne"),
    (Fact("name", "Verde Foods - Warehouse Suite", "deal"), "Verde Foods – Warehouse Suite"),
    (Fact("name", "J. P. Moreau", "person"), "JP Moreau's team; J.P. Moreau"),
    (UUID, "3f2b8c1e-7a54-4c1d-9a31-0d8b7e6f5a21"),
    (UUID, "ID `3F2B8C1E-7A54-4C1D-9A31-0D8B7E6F5A21`."),
    (UUID, "(3f2b8c1e-7a54-4c1d-9a31-0d8b7e6f5a21)"),
    (CASE, "500Ws0000042abcIAE"),
    (CASE, "Case: 500Ws0000042abcIAE, opened in May"),
    (OVERDUE, "Yes."),
    (OVERDUE, "Yes, it is overdue."),
    (OVERDUE, "It's overdue."),
    (OVERDUE, "Overdue: yes"),
    (OVERDUE, "| Overdue | Yes |"),
    (OVERDUE, '{"overdue": true}'),
    (OVERDUE, "Overdue? Yes."),
    (OVERDUE, "It is not on time."),
    (OVERDUE, "Correct, it's overdue by two days."),
    (NOT_OVERDUE, "No."),
    (NOT_OVERDUE, "No, it isn't overdue."),
    (NOT_OVERDUE, "It is not overdue."),
    (NOT_OVERDUE, "Overdue: no"),
    (NOT_OVERDUE, "| Overdue | No |"),
    (NOT_OVERDUE, '{"overdue": false}'),
    (NOT_OVERDUE, "It's on time."),
    (NOT_OVERDUE, "No - it is no longer overdue."),
    (TWO, "Northwind Traders and Verde Foods"),
    (TWO, "- Verde Foods\n- Northwind Traders"),
    (TWO, "Verde Foods, Northwind Traders. Alpine Optics is not among them."),
    (TWO, "All except Alpine Optics: Northwind Traders, Verde Foods."),
    (TWO, "Northwind Traders and Verde Foods; Alpine Optics has not paid."),
    (TWO, "Northwind Traders and Verde Foods, but not Alpine Optics"),
    (
        TWO,
        "Northwind Traders, Verde Foods (excluding Alpine Optics and Cedar & Stone Architects)",
    ),
    (LOOSE, "Northwind Traders, Verde Foods, Alpine Optics"),
    (NONE, "None."),
    (NONE, "There are no open quotes."),
    (NONE, "There aren't any open quotes."),
    (NONE, "I couldn't find any open quotes."),
    (NONE, "No open quotes were found."),
    (Fact("list", (Fact("money", 5000.0), Fact("count", 2)), "figures"), "2 quotes, $5k"),
    (Fact("list", ("v1", "v2"), "versions", item="text"), "v1 and v2"),
    (PHONE, "+1 555 010 2030"),
    (PHONE, "+1 (555) 010-2030"),
    (PHONE, "+1-555-010-2030"),
    (PHONE, "15550102030"),
    (EMAIL, "jordan.lee@northwind.example"),
    (EMAIL, "Jordan.Lee@Northwind.example."),
    (EMAIL, "[mail](mailto:jordan.lee@northwind.example)"),
    (NOTE, "Prefers calls, after lunch."),
    (NOTE, "The note says: “prefers calls after lunch”"),
    (NOTE, "Jordan prefers  calls\nafter lunch"),
]

UNSAID = [
    (ACTIVE, ""),
    (ACTIVE, "Inactive"),
    (ACTIVE, "not Active"),
    (ACTIVE, "The client isn't Active."),
    (ACTIVE, "The client isn’t active."),
    (ACTIVE, "It is no longer Active."),
    (ACTIVE, "They stopped being Active."),
    (ACTIVE, "Active? No."),
    (ACTIVE, "Is it Active?"),
    (ACTIVE, "Do you want me to set it to Active?"),
    (ACTIVE, "non-Active"),
    (ACTIVE, "It is neither Active nor Inactive."),
    (ACTIVE, "Active or Inactive"),
    (ACTIVE, "Active/Prospect"),
    (ACTIVE, "The status is Active. The status is Prospect."),
    (ACTIVE, "Prospect, Active, Inactive"),
    (ACTIVE, "It changed from Active to Inactive."),
    (ACTIVE, "Active → Inactive"),
    (ACTIVE, "It was Active and is now Inactive."),
    (ACTIVE, "It's Inactive rather than Active."),
    (ACTIVE, "It might be Active."),
    (ACTIVE, "It seems to be Active."),
    (ACTIVE, "I could make it Active."),
    (ACTIVE, "If it were Active, I could help."),
    (ACTIVE, "~~Active~~ Inactive"),
    (ACTIVE, "I couldn't verify that it is Active."),
    (ACTIVE, "It's hyperactive."),
    (ACTIVE, "Active is wrong."),
    (ACTIVE, "No client is Active Systems Ltd."),
    (SENT, "It is a Draft. I sent you the link."),
    (SENT, "Status: Draft (not Sent)"),
    (SENT, "It hasn't been sent."),
    (SENT, "Sent? Not yet."),
    (DRAFT, "It's not Draft, Sent, or Approved."),
    (WON, "Closed-Lost"),
    (WON, "Closed"),
    (WON, "Won"),
    (WON, "Closed-Won or Closed-Lost"),
    (WON, "It moved from Closed-Won back to Negotiation."),
    (PROPOSAL, "The proposal is at the stage Negotiation."),
    (PROPOSAL, "Prospecting"),
    (TRADERS, "Northwind"),
    (TRADERS, "Northwind Trading"),
    (TRADERS, "Northwind Trader"),
    (TRADERS, "Northwind Tradersson"),
    (TRADERS, "Northwind Shipping"),
    (TRADERS, "Northwind Traders Europe"),
    (TRADERS, "Northwind Traders International Ltd"),
    (TRADERS, "not Northwind Traders"),
    (TRADERS, "Do you mean Northwind Traders?"),
    (TRADERS, "Either Northwind Traders or Northwind Shipping."),
    (TRADERS, "Northwind Shipping instead of Northwind Traders"),
    (TRADERS, "office@northwind-traders.example"),
    (TRADERS, "It might be Northwind Traders."),
    (LEE, "Jordan"),
    (LEE, "Lee"),
    (LEE, "Jordan Leeson"),
    (LEE, "Jordan Lee-Smith"),
    (LEE, "Jordan. Lee will call."),
    (LEE, "jordan.lee@northwind.example"),
    (LEE, "Dana Reed, not Jordan Lee"),
    (LEE, "The owner was changed from Jordan Lee to Dana Reed."),
    (UUID, "3f2b8c1e-7a54-4c1d-9a31-0d8b7e6f5a22"),
    (UUID, "3f2b8c1e-7a54-4c1d-9a31"),
    (UUID, "x3f2b8c1e-7a54-4c1d-9a31-0d8b7e6f5a21"),
    (UUID, "3f2b8c1e-7a54-4c1d-9a31-0d8b7e6f5a210"),
    (CASE, "500Ws0000042abcIAF"),
    (CASE, "500ws0000042abciae"),
    (CASE, "500Ws0000042abcIAE7"),
    (OVERDUE, "No."),
    (OVERDUE, "It isn't overdue."),
    (OVERDUE, "Is it overdue?"),
    (OVERDUE, "It might be overdue."),
    (OVERDUE, "It's on time."),
    (OVERDUE, "Overdue: no"),
    (OVERDUE, "I looked at the invoice."),
    (OVERDUE, "It is overdue. It is not overdue."),
    (NOT_OVERDUE, "Yes."),
    (NOT_OVERDUE, "Yes, it's overdue."),
    (NOT_OVERDUE, "It's overdue."),
    (TWO, "Northwind Traders"),
    (TWO, "Northwind Traders and Alpine Optics"),
    (TWO, "Northwind Traders, Verde Foods, Alpine Optics"),
    (TWO, "Northwind Traders, Verde Foods, Alpine Optics, Cedar & Stone Architects"),
    (TWO, "Northwind Traders, not Verde Foods"),
    (LOOSE, "Northwind Traders"),
    (NONE, "Q-1"),
    (NONE, "The open quotes are Q-1 and Q-2."),
    (NONE, "I looked into the open quotes."),
    (NONE, "There are no contracts, and I have listed the quote Q-1."),
    (PHONE, "+1 555 010 2031"),
    (PHONE, "555 010 2030"),
    (PHONE, "+1 555 010 20301"),
    (EMAIL, "lee@northwind.example"),
    (EMAIL, "mary.jordan.lee@northwind.example"),
    (EMAIL, "jordan.lee@northwind.example.org"),
    (NOTE, "prefers calls before lunch"),
    (NOTE, "It does not say that he prefers calls after lunch"),
]


@pytest.mark.parametrize(("fact", "reply"), SAID)
def test_said(fact: Fact, reply: str) -> None:
    assert conveys(reply, fact).ok


@pytest.mark.parametrize(("fact", "reply"), UNSAID)
def test_not_said(fact: Fact, reply: str) -> None:
    verdict = conveys(reply, fact)
    assert not verdict.ok
    assert verdict.why


@pytest.mark.parametrize(
    ("fact", "reply"),
    [
        (TRADERS, "It's not Northwind Traders."),
        (TRADERS, "Do you mean Northwind Traders?"),
        (TRADERS, "Northwind Traders Europe"),
        (TRADERS, "~~Northwind Traders~~"),
        (LEE, "I can't say anything about Jordan Lee."),
        (PHONE, "his number isn't +1 555 0102030"),
        (EMAIL, "not jordan.lee@northwind.example"),
        (UUID, "not 3f2b8c1e-7a54-4c1d-9a31-0d8b7e6f5a21"),
        (TWO, "Verde Foods maybe"),
        (OVERDUE, "It's overdue."),
        (ACTIVE, "no longer active"),
    ],
)
def test_what_must_not_be_said_is_given_away_by_any_mention(fact: Fact, reply: str) -> None:
    assert mentions(reply, fact).ok


@pytest.mark.parametrize(
    ("fact", "reply"),
    [
        (TRADERS, "Northwind Trading"),
        (LEE, "Jordan"),
        (PHONE, "+1 555 010 2031"),
        (TWO, "Alpine Optics"),
        (OVERDUE, "It isn't overdue."),
        (ACTIVE, "Inactive"),
    ],
)
def test_another_value_gives_nothing_away(fact: Fact, reply: str) -> None:
    assert not mentions(reply, fact).ok


def test_a_rival_name_must_not_be_given_as_well() -> None:
    fact = Fact("name", "Jordan Lee", "contact", rivals=("Dana Reed", "Jordan Lee-Smith"))
    assert conveys("Jordan Lee", fact).ok
    assert conveys("Jordan Lee, not Dana Reed", fact).ok
    assert not conveys("Jordan Lee and Dana Reed", fact).ok
    assert not conveys("Jordan Lee. Dana Reed might know more. Dana Reed does.", fact).ok


def test_a_name_within_a_rival_is_not_the_name() -> None:
    fact = Fact("name", "Alpine Optics", "client", rivals=("Alpine Optics Berlin",))
    assert conveys("Alpine Optics", fact).ok
    assert not conveys("Alpine Optics Berlin", fact).ok


def test_options_next_to_the_subject_decide() -> None:
    table = "| Quote | Status |\n|---|---|\n| v1 | Rejected |\n| v2 | Sent |"
    assert conveys(table, Fact("choice", "Sent", "status", options=QUOTES, subject="v2")).ok
    assert not conveys(table, Fact("choice", "Sent", "status", options=QUOTES, subject="v1")).ok


@pytest.mark.parametrize(
    "fact",
    [
        Fact("money", 125000.0, "amount", rivals=(1.0, 2.0), unit="EUR"),
        Fact("choice", "Sent", options=QUOTES, subject="v2"),
        Fact("list", (Fact("name", "A B", aliases=("A",)), "C"), only=True, options=("D",)),
        Fact("date", "2026-05-03", today="2026-03-02"),
        Fact("boolean", False, "overdue"),
    ],
)
def test_json_round_trip(fact: Fact) -> None:
    import json

    data = json.loads(json.dumps(fact.to_json()))
    assert Fact.from_json(data) == fact
    assert hash(Fact.from_json(data)) == hash(fact)


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "colour", "value": "red"},
        {"kind": "money", "value": "125000"},
        {"kind": "count", "value": 2.5},
        {"kind": "boolean", "value": "yes"},
        {"kind": "name", "value": " "},
        {"kind": "money", "value": True},
    ],
)
def test_what_is_no_fact(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"fact"):
        Fact.from_json(data)


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(TypeError):
        Fact.from_json({"kind": "name", "value": "A", "colour": "red"})
