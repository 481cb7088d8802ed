"""Turns that a careful reader would stumble over, found in conversations by their records.

Each function gives the places where it finds its fault: the id of the task, and the turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from crmbench.core.fact import Fact
from crmbench.core.task import GoldCall, GoldTurn, Task
from crmbench.domains.sales.tools import TOOLBOX

Place = tuple[str, int]
Finder = Callable[[Task], Iterator[int]]

_BARE = re.compile(r"\b(?:the|teh|that|taht|this) (?:deal|opp|oppty|opportunity)\b", re.IGNORECASE)

_OPENER = r"(?:i see|i understand|understood|very well)"
_DOUBLED = re.compile(
    rf"^(\w+ \w+(?: \w+)?)\b.{{0,6}}\1\b|^{_OPENER}[^a-z]{{0,9}}(?:thank you[^a-z]+)?{_OPENER}\b"
)
""""With that done, with that done ..." and "Understood. I see ..."; not "I see. Then ..."."""


def writes(call: GoldCall) -> bool:
    return TOOLBOX.get(call.tool).writes


def only_asks(turn: GoldTurn) -> bool:
    return bool(turn.facts) and turn.expect_success and not any(map(writes, turn.calls))


def _deals_of(turn: GoldTurn, deal_of: Mapping[str, str]) -> set[str]:
    """The deals that a turn works on or looks into; searches over a client's deals are none."""
    found = set()
    for call in turn.calls:
        if call.tool in ("opportunity_search", "client_search", "contact_search"):
            continue
        for value in call.arguments.values():
            if isinstance(value, str) and value in deal_of:
                found.add(deal_of[value])
    return found


def _records(task: Task) -> dict[str, str]:
    """Deals, quotes and their deal, as far as the task's slice shows them."""
    shown: Mapping[str, Mapping[str, Any]] = task.shown_slice
    found = {key: key for key in shown.get("Opportunity", {})}
    for key, row in shown.get("Quote", {}).items():
        found[key] = str(row["opportunity_id"])
    return found


def _names(task: Task) -> dict[str, tuple[str, ...]]:
    """What names a deal: its own name, its product, its client."""
    clients = {k: str(row["name"]) for k, row in task.shown_slice.get("Client", {}).items()}
    return {
        key: (str(row["name"]).rpartition(" - ")[2], clients.get(str(row["client_id"]), "?"))
        for key, row in task.shown_slice.get("Opportunity", {}).items()
    }


def bare_references(task: Task) -> Iterator[int]:
    """ "The deal" where another one was worked on before, or after a turn about something else."""
    deal_of, names = _records(task), _names(task)
    seen: set[str] = set()
    before: set[str] = set()
    for number, turn in enumerate(task.gold.turns):
        said = task.turns[number].utterance.casefold()
        now = _deals_of(turn, deal_of)
        made = any("{{turn_" in str(call.arguments) for call in turn.calls)
        for deal in now if len(now) == 1 and seen and not made else ():
            named = any(name.casefold() in said for name in names[deal])
            described = named or "'s company" in said or "{{turn" in str(turn.calls)
            if _BARE.search(said) and not described and deal in seen and deal not in before:
                yield number + 1
        # Looking up what the turn made keeps the conversation where it is.
        before = now or before if made else now
        seen |= now


def _facts(turn: GoldTurn) -> set[tuple[str, Any]]:
    return {
        (fact.label if fact.kind in ("count", "number") else fact.kind, str(fact.value))
        for fact in turn.facts
    }


def repeated_questions(task: Task) -> Iterator[int]:
    """A question all of whose answers an earlier turn has given."""
    told: set[tuple[str, Any]] = set()
    for number, turn in enumerate(task.gold.turns, 1):
        if only_asks(turn) and _facts(turn) <= told:
            yield number
        told |= _facts(turn)


def dictated_answers(task: Task) -> Iterator[int]:
    """A question for a name, text or amount that the user has said in an earlier turn."""
    said = ""
    for turn, gold in zip(task.turns, task.gold.turns, strict=True):
        if only_asks(gold) and any(_is_in(fact, said) for fact in gold.facts):
            yield turn.turn_id
        said += f" {turn.utterance}" + (
            f" {turn.clarification.answer}" if turn.clarification else ""
        )


def _is_in(fact: Fact, said: str) -> bool:
    if fact.kind == "money":
        return f"${fact.value:,.0f}" in said or f"{fact.value:,.0f} dollars" in said
    return (
        fact.kind in ("text", "name")
        and re.search(rf"\b{re.escape(fact.value)}\b", said) is not None
    )


def asked_by_its_answer(task: Task) -> Iterator[int]:
    """A question of which the user is the answer."""
    speaker = task.persona.partition(",")[0]
    for number, turn in enumerate(task.gold.turns, 1):
        if only_asks(turn) and any(fact.value == speaker for fact in turn.facts):
            yield number


_SET_ONCE = {
    "amount": ("modify_opportunity",),
    "phone": ("modify_client", "modify_contact"),
    "close_date": ("modify_opportunity",),
    "title": ("modify_contact",),
    "owner": ("modify_opportunity",),
}


def set_twice(task: Task) -> Iterator[int]:
    """A field that gets another value than a turn before the last gave it, out of the blue."""
    last: dict[tuple[str, str], tuple[int, Any]] = {}
    for number, turn in enumerate(task.gold.turns, 1):
        for call in turn.calls:
            for field, tools in _SET_ONCE.items():
                if call.tool in tools and field in call.arguments and turn.expect_success:
                    key = next(v for k, v in call.arguments.items() if k.endswith("_id"))
                    earlier = last.get((str(key), field))
                    if earlier and earlier[0] < number - 1 and earlier[1] != call.arguments[field]:
                        yield number
                    last[str(key), field] = (number, call.arguments[field])


def absurd_amounts(task: Task) -> Iterator[int]:
    """Millions for a deal of thousands (other than three zeros too many), where the CRM refuses."""
    shown = task.shown_slice.get("Opportunity", {})
    for number, turn in enumerate(task.gold.turns, 1):
        for call in turn.calls:
            amount = call.arguments.get("amount")
            row = shown.get(str(call.arguments.get("opportunity_id")))
            if call.tool == "modify_opportunity" and row and isinstance(amount, int | float):
                times = amount / row["amount"]
                if times > 8 and not 800 <= times <= 1250:
                    yield number


def foreign_numbers(task: Task) -> Iterator[int]:
    """A phone number of another country than that of the numbers the CRM has for the client."""
    known = [
        str(row["phone"])
        for table in ("Client", "Contact")
        for row in task.shown_slice.get(table, {}).values()
        if row.get("phone")
    ]
    countries = {number.split()[0] for number in known}
    for number, turn in enumerate(task.gold.turns, 1):
        for call in turn.calls:
            phone = call.arguments.get("phone")
            if writes(call) and phone and countries and str(phone).split()[0] not in countries:
                yield number


def doubled_words(task: Task) -> Iterator[int]:
    """An opener said twice: "With that done, with that done"."""
    for turn in task.turns:
        if _DOUBLED.search(turn.utterance.replace("\n", " ")[:70].casefold()):
            yield turn.turn_id


FINDERS: dict[str, Finder] = {
    finder.__name__: finder
    for finder in (
        bare_references,
        repeated_questions,
        dictated_answers,
        asked_by_its_answer,
        set_twice,
        absurd_amounts,
        foreign_numbers,
        doubled_words,
    )
}


def faults(tasks: Sequence[Task]) -> dict[str, list[Place]]:
    """All faults of some conversations, by what they are."""
    return {
        name: [(task.task_id, turn) for task in tasks for turn in finder(task)]
        for name, finder in FINDERS.items()
    }
