"""Deals as a whole: new ones, copies, and those that are won or lost.

What a rule of the house adds on other records, such as canceling quotes, is not done.
"""

from __future__ import annotations

import re
from datetime import timedelta

from crmbench.agents.baselines.heuristic.find import AskError
from crmbench.agents.baselines.heuristic.org import OrgReader, Record, is_open, latest
from crmbench.agents.baselines.heuristic.parse import STAGES
from crmbench.agents.baselines.heuristic.turn import RefusedError, TurnContext
from crmbench.agents.baselines.heuristic.values import money

_DAYS_TO_CLOSE = 90
_REASON = (
    r"\bbecause|\breason|\bsince\b|\bdue to|\bas they|\bafter\b|\bthey\b|\btheir\b|\bbudget"
    r"|\bpric|\bcompetit|\bsupplier|\bproject|\bcancel|\bcheaper|\bwent with|\bchose"
)


def new_deal(turn: TurnContext) -> str | None:
    """Enter a deal by DEAL-1 and DEAL-2, for a client that may get one.

    Raises:
        AskError: A detail is missing, which the user is asked for.
        RefusedError: The CRM or a house rule does not allow it.
    """
    client = turn.find.client()
    if client is None:
        raise AskError("Which client is the deal for?")
    if client.get("status") == "Inactive":
        raise RefusedError("the client is Inactive and gets no new deal (CLIENT-3)")
    product = _product(turn)
    if product is None:
        raise AskError("What is the deal about, and what is its amount?")
    if not turn.parsed.values.amounts:
        raise AskError("What is the amount of the deal?")
    made = turn.write(
        "create_new_opportunity",
        name=f"{client.get('name')} - {product}",
        client_id=client["client_id"],
        amount=turn.parsed.values.amounts[-1],
        **_usual(turn, client),
    )
    turn.focus.set("opportunity", made)
    return f"The deal is entered.\nName: {made.get('name')}\nAmount: {money(made.get('amount'))}"


def _usual(turn: TurnContext, client: Record) -> Record:
    """The stage, probability, owner and close date of a new deal, said or by rule."""
    values = turn.parsed.values
    stage = next((s for s in STAGES if turn.says(rf"\b{s}\b")), STAGES[0])
    chance = round(values.percents[-1]) if values.percents else turn.conversation.chances.get(stage)
    closes = values.dates[-1] if values.dates else turn.today + timedelta(days=_DAYS_TO_CLOSE)
    owner = turn.parsed.owners[-1] if turn.parsed.owners else client.get("owner")
    return {
        "stage": stage,
        "probability": chance,
        "owner": owner,
        "close_date": closes.isoformat(),
    }


def _product(turn: TurnContext) -> str | None:
    """What is sold, in the words of which the names of other deals are made."""
    said = turn.parsed.said
    firsts, rests = _product_words(turn.org)
    for first in firsts:
        at = said.casefold().find(first.casefold())
        if at < 0:
            continue
        after = said[at + len(first) :].lstrip()
        rest = next((r for r in rests if re.match(rf"{re.escape(r)}\b", after, re.I)), "")
        return f"{first} {rest}".strip()
    return None


def _product_words(org: OrgReader) -> tuple[list[str], list[str]]:
    """The products that deals are named after and what follows them, longest first.

    A name is "<client> - <Product Words> <rest>": the product is written with capitals.
    """
    firsts, rests = set(), set()
    for deal in org.all("opportunity"):
        named = str(deal.get("name") or "").partition(" - ")[2]
        found = re.match(r"((?:[A-Z][a-z]+ ?)+)(.*)", named)
        if found and found[1].count(" ") <= 2:
            firsts.add(found[1].strip())
            rests.add(found[2].strip())
    return _longest(firsts), _longest(rests - {""})


def _longest(words: set[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))


def copy_deal(turn: TurnContext) -> str | None:
    """Copy an open deal by DEAL-9.

    Raises:
        AskError: A detail is missing, which the user is asked for.
        RefusedError: The CRM or a house rule does not allow it.
    """
    deal = turn.find.deal()
    if deal is None:
        raise AskError("Which deal is to be copied?")
    if not is_open(deal):
        raise RefusedError("a closed deal is not copied (DEAL-9)")
    made = turn.write("clone_opportunity", opportunity_id=deal["opportunity_id"])
    fields: Record = {
        "stage": STAGES[0],
        "probability": turn.conversation.chances.get(STAGES[0], 10),
    }
    if turn.parsed.values.quoted:
        fields["name"] = turn.parsed.values.quoted[-1]
    if turn.parsed.values.amounts:
        fields["amount"] = turn.parsed.values.amounts[-1]
    if turn.parsed.values.dates:
        fields["close_date"] = turn.parsed.values.dates[-1].isoformat()
    after = turn.write("modify_opportunity", opportunity_id=made.get("opportunity_id"), **fields)
    turn.focus.set("opportunity", {**made, **after})
    return f"The deal is copied.\nName: {after.get('name')}\nAmount: {money(after.get('amount'))}"


def lose(turn: TurnContext) -> str | None:
    """Close a deal as lost by DEAL-4, once there is a reason.

    Raises:
        AskError: A detail is missing, which the user is asked for.
    """
    deal = turn.find.deal()
    if deal is None:
        raise AskError("Which deal is lost?")
    if not turn.answered and not turn.says(_REASON):
        raise AskError("Why was the deal lost?")
    turn.modify("opportunity", deal, {"stage": "Closed-Lost", "probability": 1})
    turn.note("opportunity", deal, f"Lost: {turn.parsed.said}")
    return f"{deal.get('name')} is marked Closed-Lost."


def win(turn: TurnContext) -> str | None:
    """Close a deal as won by DEAL-3, at the amount of its Approved quote.

    Raises:
        AskError: A detail is missing, which the user is asked for.
        RefusedError: The CRM or a house rule does not allow it.
    """
    deal = turn.find.deal()
    if deal is None:
        raise AskError("Which deal is won?")
    quotes = turn.org.of("quote", opportunity_id=deal["opportunity_id"])
    approved = latest([q for q in quotes if q.get("status") == "Approved"])
    if approved is None:
        raise RefusedError("it has no Approved quote (DEAL-3)")
    fields = {"stage": "Closed-Won", "probability": 99, "amount": approved.get("amount")}
    turn.modify("opportunity", deal, fields)
    return f"{deal.get('name')} is marked Closed-Won.\nAmount: {money(approved.get('amount'))}"
