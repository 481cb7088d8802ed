"""What an audit asks of hard service tasks: is the truth in the stored rows, and within budget?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any
from zlib import crc32

from crmbench.core.schema import Row
from crmbench.core.task import GoldCall, Task
from crmbench.domains.service.hard import census, merging, worklist
from crmbench.domains.service.hard.desk.scout import Scout
from crmbench.domains.service.hard.desk.words import subjects
from crmbench.domains.service.hard.due import NEARBY
from crmbench.domains.service.hard.rulebook import MAP
from crmbench.domains.service.hard.second_truth import hidden
from crmbench.domains.service.hard.second_truth.census import Reader
from crmbench.domains.service.hard.second_truth.desk import read_page
from crmbench.domains.service.hard.second_truth.duplicates import DuplicateReader
from crmbench.domains.service.hard.second_truth.memos import find_kind
from crmbench.domains.service.hard.second_truth.routing import RoutingReader
from crmbench.domains.service.hard.world import Made, world_from_name

Rows = dict[str, list[Row]]
Writes = Mapping[str, tuple[Any, ...]]
"""What is done to each case: the name of the tool, and what it is given."""
ROOM = 1.1
"""The least that is allowed, as a multiple of the calls that a careful path takes."""
TWO_TRUTHS, IRRELEVANCE, BUDGET = "two truths", "irrelevance", "budget"
NECESSITY, WAYS = "necessity", "readings"
LEFT_OUT = 6
"""Memos of a task that are left out, one at a time."""
RULED_OUT: Mapping[str, Mapping[str, str]] = {
    census.MECHANISM: {
        **NEARBY,
        "holidays": "Working days are Monday to Friday, without the days in the list of holidays",
        "version": "that was in force on the day on which the order was placed",
        "sibling": "the table gives nothing to the later case",
        "told": "they get at least that, even if the table gives less or nothing",
        "declined": "If the customer says that they do not want a credit, none is due",
        "refer": "the case goes to the manager: its outcome is Refer",
        "pieces": "some of them came on time, the credit is on the others",
        "wish": "that day takes the place of the promised day",
        "dispatch": "then the day in the comment counts",
        "least": "is below the least amount that we book, it is nothing",
    },
    worklist.MECHANISM: {
        "text": "What the customer's letter reports is the issue, whatever the field says.",
        "expiry": "A skill with a date of expiry holds up to and including that day.",
        "away": "Who is away has a record (Absence__c), first and last day included;",
        "unwanted": "An agent whom the customer does not want may not, whatever is heeded.",
        "wanted": "that agent may take it, the agent does, if such a wish is heeded.",
        "former": "An agent knows a customer whose case about the same order",
        "order": "Whoever gets a case has it at once:",
    },
    merging.MECHANISM: {
        "account": "Two accounts are of one person if they have the same last name",
        "letter": "The issue is what the letter reports, whatever the field says.",
    },
}
"""For each other way to read a case the words that say that it is wrong."""


def problems(task: Task) -> Mapping[str, Sequence[str]]:
    """For each check what is wrong with a task; nothing where it is right."""
    made = world_from_name(task.world).made
    rows = made.rows
    mechanism = task.tag("mechanism") or ""
    ids = [item.key for item in task.gold.items]
    gold = writes_of([call for turn in task.gold.turns for call in turn.calls])
    read = READERS[mechanism]
    whole = read(rows, ids)
    return {
        TWO_TRUTHS: _differences(gold, whole, "the stored rows say"),
        IRRELEVANCE: _differences(
            whole, read(_without_others(rows, mechanism), ids), "without the other memos it is"
        ),
        NECESSITY: [*_idle(task, rows, whole), *hidden.problems(task, rows["Knowledge__kav"])],
        WAYS: open_ways(task, made),
        BUDGET: out_of_reach(task),
    }


def out_of_reach(task: Task) -> list[str]:
    """What a careful reader of the handbook, anew in each session, gets otherwise than the gold, or
    takes too many calls for.
    """
    made = world_from_name(task.world).made
    mechanism = task.tag("mechanism") or ""
    found: list[str] = []
    calls = 0
    for turn, gold in zip(task.turns, task.gold.turns, strict=True):
        ids = [item.key for item in task.gold.items if item.turn == turn.turn_id]
        scout = SCOUTS[mechanism](made, ids)
        scout.read()
        calls += scout.calls
        read = READERS[mechanism](_opened(made.rows, scout.opened), ids)
        found += _differences(writes_of(gold.calls), read, "what a careful reader opens says")
    return [*found, *_over(task, calls)]


def _idle(task: Task, rows: Rows, whole: Writes) -> list[str]:
    """The memos that are said to decide a case, and without which a reader decides it alike."""
    said: dict[str, list[str]] = {}
    for item in task.gold.items:
        for rule in item.rules:
            if rule.startswith("Memo "):
                said.setdefault(rule, []).append(item.key)
    read, ids = READERS[task.tag("mechanism") or ""], [item.key for item in task.gold.items]
    found = []
    for title in sorted(said, key=lambda title: crc32(f"{task.task_id} {title}".encode()))[
        :LEFT_OUT
    ]:
        kept = [row for row in rows["Knowledge__kav"] if row["Title"] != title]
        without = read({**rows, "Knowledge__kav": kept}, ids)
        found += [
            f"{key}: {title} is said to decide it, and without it nothing changes"
            for key in said[title]
            if without.get(key) == whole.get(key)
        ]
    return found


def open_ways(task: Task, made: Made) -> list[str]:
    """The ways to read a case otherwise that no words in the handbook rule out."""
    known = RULED_OUT.get(task.tag("mechanism") or "", {})
    texts = [" ".join(row["FAQ_Answer__c"].split()) for row in made.rows["Knowledge__kav"]]
    ways = {rule for item in task.gold.items for rule in item.rules if rule in known}
    ways |= census.other_readings(made, {item.key for item in task.gold.items})
    return [
        f"'{way}' is ruled out by no article"
        for way in sorted(ways)
        if not any(known[way] in text for text in texts)
    ]


def _over(task: Task, calls: int) -> list[str]:
    """Where what a careful reader takes for the handbook alone leaves no room for the records."""
    limit, needed = task.budget or task.call_limit or 0, calls + len(task.gold.items)
    if needed * ROOM > limit:
        return [f"the handbook and one call a case take {needed} of {limit} calls"]
    return []


def _differences(one: Writes, other: Writes, words: str) -> list[str]:
    return [
        f"{key}: {one.get(key)}, but {words} {other.get(key)}"
        for key in sorted(one.keys() | other.keys())
        if one.get(key) != other.get(key)
    ]


def writes_of(calls: Sequence[GoldCall]) -> Writes:
    """What the gold does to each case."""
    found: dict[str, tuple[Any, ...]] = {}
    for call in calls:
        given = call.arguments
        if call.tool == "record_credit_review":
            amount = given.get("amount")
            found[given["case_id"]] = (given["outcome"], None if amount is None else float(amount))
        elif call.tool == "assign_case":
            found[given["case_id"]] = (given["agent_id"],)
        elif call.tool == "set_case_status":
            found[given["case_id"]] = (None,)
        elif call.tool == "merge_cases":
            found |= dict.fromkeys(given["duplicate_ids"], (given["master_id"],))
        elif call.tool == "set_case_priority":
            found[given["case_id"]] = (given["priority"],)
    return found


# --- readers --------------------------------------------------------------------------------------


def _read_reviews(rows: Rows, ids: Sequence[str]) -> Writes:
    reader = Reader(rows)
    found: dict[str, tuple[Any, ...]] = {}
    for key in ids:
        if reader.is_late(key) and not reader.by_id[key]["MasterRecordId"]:
            outcome, amount = reader.review(key)
            found[key] = (outcome, None if amount is None else float(amount))
    return found


def _read_routing(rows: Rows, ids: Sequence[str]) -> Writes:
    return {key: (agent,) for key, agent in RoutingReader(rows).route(list(ids)).items()}


def _read_duplicates(rows: Rows, ids: Sequence[str]) -> Writes:
    reader = DuplicateReader(rows)
    found: dict[str, tuple[Any, ...]] = {}
    for master, (others, priority) in reader.merge(list(ids)).items():
        found |= dict.fromkeys(others, (master,))
        if priority != reader.cases[master]["Priority"]:
            found[master] = (priority,)
    return found


READERS: Mapping[str, Callable[[Rows, Sequence[str]], Writes]] = {
    census.MECHANISM: _read_reviews,
    worklist.MECHANISM: _read_routing,
    merging.MECHANISM: _read_duplicates,
}
"""For each mechanism what a reader of the stored rows makes of some cases."""


SCOUTS: Mapping[str, Callable[[Made, Sequence[str]], Scout]] = {
    # Whoever meets the name of a region looks which states are counted to it.
    census.MECHANISM: partial(census.scout, more=tuple(MAP)),
    worklist.MECHANISM: worklist.scout,
    merging.MECHANISM: merging.scout,
}
"""For each mechanism who reads up on some cases."""


# --- parts of the handbook ------------------------------------------------------------------------


def _without_others(rows: Rows, mechanism: str) -> Rows:
    """The org without the memos that rule on other mechanisms' questions."""
    others = {s.key for s in subjects().values() if s.of != mechanism}

    def speaks_of_others(article: Row) -> bool:
        page = read_page(article)
        return any(p.subject in others for p in page.provisions)

    kept = [
        row
        for row in rows["Knowledge__kav"]
        if not row["Title"].startswith("Memo ") or not speaks_of_others(row)
    ]
    return {**rows, "Knowledge__kav": kept}


def _opened(rows: Rows, known: Collection[str]) -> Rows:
    """The org with the articles alone that a careful reader opens; notices are few and dated."""
    kept = [
        row
        for row in rows["Knowledge__kav"]
        if row["Title"] in known
        or row["Title"].startswith("Desk notice")
        or find_kind("hindered", row["FAQ_Answer__c"])
    ]
    return {**rows, "Knowledge__kav": kept}
