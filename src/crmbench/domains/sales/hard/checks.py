"""What an audit asks of hard sales tasks: is the truth in the stored rows, and within budget?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any
from zlib import crc32

from crmbench.core.task import Task
from crmbench.domains.sales.hard.agents.careful import list_calls, merge_calls, shift_calls
from crmbench.domains.sales.hard.agents.sessions import sessions_of
from crmbench.domains.sales.hard.desk import Desk
from crmbench.domains.sales.hard.duplicates import outcome
from crmbench.domains.sales.hard.handbook.readings import HANDBOOK as HANDBOOK_WAYS
from crmbench.domains.sales.hard.handbook.readings import MERGE as MERGE_WAYS
from crmbench.domains.sales.hard.handbook.readings import RULED_OUT, house_rules, open_ways
from crmbench.domains.sales.hard.merge_reader import MergeReader
from crmbench.domains.sales.hard.reader import ListReader
from crmbench.domains.sales.hard.speech import hear
from crmbench.domains.sales.hard.wording import HANDBOOK

Tables = Mapping[str, Sequence[Mapping[str, Any]]]
Writes = dict[str, dict[str, Any]]
ROOM = 1.05
"""The least that is allowed, as a multiple of the calls that the careful agent makes on a list."""
TWO_TRUTHS, IRRELEVANCE, BUDGET = "two truths", "irrelevance", "budget"
NECESSITY, WAYS, PREPARED = "necessity", "readings", "prepared"
LEFT_OUT = 12
"""Articles of a task that are left out, one at a time."""


def problems(task: Task, tables: Tables, today: date) -> Mapping[str, Sequence[str]]:
    """For each check what is wrong with a task; nothing where it is right.

    Args:
        tables: The rows of the task's world, the handbook among them.
        today: The day of that world.
    """
    checks: Mapping[str, Callable[[Task, Tables, date], Mapping[str, Sequence[str]]]] = {
        "worklist": _list_problems,
        "review": _list_problems,
        "shift": _shift_problems,
        "merge": _merge_problems,
    }
    return checks[task.tag("mechanism") or ""](task, tables, today)


def _gold(task: Task, key: str = "opportunity_id") -> Writes:
    """What the gold writes, by record: the last value of each field."""
    writes: Writes = {}
    for turn in task.gold.turns:
        for call in turn.calls:
            fields = {k: v for k, v in call.arguments.items() if k != key}
            writes.setdefault(call.arguments[key], {}).update(fields)
    return writes


def _differences(gold: Writes, read: Writes) -> list[str]:
    return [
        f"{key}: the gold writes {gold.get(key)}, the stored rows say {read.get(key)}"
        for key in sorted(gold.keys() | read.keys())
        if gold.get(key) != read.get(key)
    ]


# --- lists ----------------------------------------------------------------------------------------


def _list_problems(task: Task, tables: Tables, today: date) -> Mapping[str, Sequence[str]]:
    gold = _gold(task)
    read = _read(task, tables, today)
    # The reader of an abridged handbook: only articles that say something on renewals.
    needed = [row for row in tables["Article"] if HANDBOOK.read(row["text"])]
    short = _read(task, {**tables, "Article": needed}, today)
    careful = list_calls(tables, today, sessions_of(task, tables))
    asked = (task, {**tables, "Article": needed}, today)
    return {
        TWO_TRUTHS: _differences(gold, read),
        IRRELEVANCE: _differences(read, short),
        NECESSITY: _idle(*asked),
        WAYS: _open_alternatives(task)
        + open_ways(
            HANDBOOK_WAYS,
            lambda: ListReader(tables, today),
            lambda reader: _asked_about(task, reader),
            house_rules(),
        ),
        BUDGET: _careful(task, gold, careful.writes, careful.calls) + _notebook(task, careful.kept),
        **({} if task.tag("mechanism") == "worklist" else {PREPARED: _unexplained(*asked)}),
    }


def _idle(task: Task, tables: Tables, today: date) -> list[str]:
    """The articles that are said to decide a renewal, and without which a reader finds something
    else than what the gold says that it would then be.
    """
    found = []
    for article, said in _chosen(task).items():
        kept = [row for row in tables["Article"] if row["number"] != article]
        read = _read(task, {**tables, "Article": kept}, today)
        for key, changed in said.items():
            fields = changed.get(f"Opportunity/{key}", {})
            if read.get(key, {}) != fields:
                found.append(
                    f"{key}: without {article} the gold would write {fields}, and a reader finds "
                    f"{read.get(key, {})}"
                )
    return found


Outcome = Mapping[str, Mapping[str, Any]]


def _chosen(task: Task) -> dict[str, dict[str, Outcome]]:
    """Some of the articles that are said to decide alone: item to what it would be without."""
    said: dict[str, dict[str, Outcome]] = {}
    for item in task.gold.items:
        for other in item.alternatives:
            name = other.without[0]
            if len(other.without) == 1 and name not in RULED_OUT:
                said.setdefault(name, {})[item.key] = other.outcome
    chosen = sorted(said, key=lambda name: crc32(f"{task.task_id} {name}".encode()))[:LEFT_OUT]
    return {name: said[name] for name in chosen}


def _unexplained(task: Task, tables: Tables, today: date) -> list[str]:
    """The prepared renewals that are wrong, and are not what a reader without the articles that
    the gold names finds: a figure from nowhere, which would tell of itself that it is wrong.
    """
    found = []
    wrong = _gold(task)
    for item in task.gold.items:
        if item.key not in wrong:
            continue
        missed = next((o.without for o in item.alternatives if not o.outcome), None)
        if missed is None or missed[0] in RULED_OUT:
            found.append(f"{item.key}: no missed article explains what stands there")
            continue
        kept = [row for row in tables["Article"] if row["number"] not in missed]
        if item.key in _read(task, {**tables, "Article": kept}, today):
            found.append(f"{item.key}: a reader without {' and '.join(missed)} changes it")
    return found


def _open_alternatives(task: Task) -> list[str]:
    """The ways to read an item otherwise that no words of the house rules rule out."""
    ways = {
        name for item in task.gold.items for other in item.alternatives for name in other.without
    }
    return [
        f"'{way}' is ruled out by no house rule"
        for way in sorted(ways & {*RULED_OUT})
        if RULED_OUT[way] not in house_rules()
    ]


def _careful(task: Task, gold: Writes, played: Writes, calls: int) -> list[str]:
    """Whether the careful agent reaches the gold, and well within the calls allowed."""
    limit = task.budget or task.call_limit or 0
    over = [f"the careful agent makes {calls} of {limit} calls"] if calls * ROOM > limit else []
    return over + [f"the careful agent fails: {text}" for text in _differences(gold, played)]


def _notebook(task: Task, kept: int) -> list[str]:
    """Whether the careful agent's notes fit between its sessions."""
    holds = task.notebook or 0
    return [f"the careful agent keeps {kept} of {holds} characters"] if kept > holds else []


def _read(task: Task, tables: Tables, today: date) -> Writes:
    """What a reader of the stored rows changes of the renewals that are asked about."""
    found = _asked_about(task, ListReader(tables, today))
    return {key: fields for key, fields in found.items() if fields}


def _asked_about(task: Task, reader: ListReader) -> Writes:
    """What a reader gives for the renewals that are asked about."""
    return reader.changes(item.key for item in task.gold.items)


# --- shifts ---------------------------------------------------------------------------------------


def _shift_problems(task: Task, tables: Tables, today: date) -> Mapping[str, Sequence[str]]:
    words = [turn.utterance for turn in task.turns]
    needed = [row for row in tables["Article"] if HANDBOOK.read(row["text"])]
    read = _heard(ListReader(tables, today), words)
    short = _heard(ListReader({**tables, "Article": needed}, today), words)
    played, calls = shift_calls(tables, today, words)
    gold = [
        {
            call.arguments["opportunity_id"]: {
                k: v for k, v in call.arguments.items() if k != "opportunity_id"
            }
            for call in turn.calls
        }
        for turn in task.gold.turns
    ]
    limit = task.budget or 0
    over = [f"the careful agent makes {calls} of {limit} calls"] if calls * ROOM > limit else []
    return {
        TWO_TRUTHS: _by_turn(gold, read),
        IRRELEVANCE: _by_turn(read, short),
        NECESSITY: _idle_in_shift(task, {**tables, "Article": needed}, today, read),
        WAYS: open_ways(
            HANDBOOK_WAYS,
            lambda: ListReader(tables, today),
            lambda reader: _heard(reader, words),
            house_rules(),
        ),
        BUDGET: over + [f"the careful agent fails: {text}" for text in _by_turn(gold, played)],
    }


def _idle_in_shift(task: Task, tables: Tables, today: date, read: Sequence[Writes]) -> list[str]:
    """The articles that are said to decide something, and without which all is done alike."""
    words = [turn.utterance for turn in task.turns]
    others = [other for item in task.gold.items for other in item.alternatives]
    named = {name for other in others for name in other.without if name.startswith("HB-")}
    chosen = sorted(named, key=lambda name: crc32(f"{task.task_id} {name}".encode()))[:LEFT_OUT]
    found = []
    for article in chosen:
        kept = [row for row in tables["Article"] if row["number"] != article]
        if _heard(ListReader({**tables, "Article": kept}, today), words) == list(read):
            found.append(f"{article} is said to decide something, and without it nothing changes")
    return found


def _by_turn(gold: Sequence[Writes], read: Sequence[Writes]) -> list[str]:
    return [
        f"turn {number}: {text}"
        for number, (right, other) in enumerate(zip(gold, read, strict=True), 1)
        for text in _differences(right, other)
    ]


def _heard(reader: ListReader, words: Sequence[str]) -> list[Writes]:
    """What changes after each message, by the stored rows and the words alone."""
    renewals = reader.renewals()
    desk = Desk(
        reader.manager,
        renewals,
        lambda client, question, day: reader.answer(
            question, reader.deals[renewals[client].key], day
        ),
    )
    return [desk.hear(hear(text)) for text in words]


# --- duplicates -----------------------------------------------------------------------------------


def _merge_problems(task: Task, tables: Tables, today: date) -> Mapping[str, Sequence[str]]:
    places = {row["client_id"]: row["address"].rpartition(", ")[2] for row in tables["Client"]}
    country = places[task.gold.items[0].key]
    gold = _gold(task, "duplicate_id")
    needed = [row for row in tables["Article"] if HANDBOOK.read(row["text"])]
    read = MergeReader(tables, today, country).merges()
    short = MergeReader({**tables, "Article": needed}, today, country).merges()
    played, calls = merge_calls(tables, today, country)
    return {
        TWO_TRUTHS: _differences(gold, read),
        IRRELEVANCE: _differences(read, short),
        NECESSITY: _idle_in_merge(task, {**tables, "Article": needed}, today, country),
        WAYS: open_ways(
            MERGE_WAYS,
            lambda: MergeReader(tables, today, country),
            lambda reader: reader.merges(),
            house_rules(),
        ),
        BUDGET: _careful(task, gold, played, calls),
    }


def _idle_in_merge(task: Task, tables: Tables, today: date, country: str) -> list[str]:
    """The articles that are said to decide what is merged, and without which a reader merges
    otherwise than the gold says that it would then be.
    """
    rows = {row["client_id"]: row for row in tables["Client"]}
    found = []
    for article, said in _chosen(task).items():
        kept = [row for row in tables["Article"] if row["number"] != article]
        read = MergeReader({**tables, "Article": kept}, today, country).merges()
        for item in task.gold.items:
            if item.key in said:
                would = outcome(rows, read, [key for _, key in item.records])
                if would != said[item.key]:
                    found.append(
                        f"{item.key}: without {article} the gold would change {said[item.key]}, "
                        f"and a reader changes {would}"
                    )
    return found
