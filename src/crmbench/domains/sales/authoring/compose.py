"""A whole conversation: the heart that a family writes, follow-up turns, and what it comes to."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crmbench.authoring.family import NoCandidate
from crmbench.authoring.phrasing import PhrasingHistory
from crmbench.core.fact import Fact
from crmbench.core.journal import Effect
from crmbench.core.sandbox import Sandbox
from crmbench.core.task import Criteria, Gold, GoldCall, GoldTurn, Path, Task
from crmbench.core.world import Backend
from crmbench.domains.sales.authoring.builder import ConversationBuilder
from crmbench.domains.sales.authoring.family import SalesFamily, check_rules
from crmbench.domains.sales.authoring.follow_ups import add_follow_ups
from crmbench.domains.sales.authoring.org import SalesOrg
from crmbench.domains.sales.domain import SALES
from crmbench.domains.sales.phrases import VOICES, Wording, load_bank
from crmbench.domains.sales.schema import SCHEMA

LENGTHS: Mapping[str, tuple[int, int]] = {"simple": (1, 3), "medium": (4, 6), "complex": (7, 10)}
"""Turns of each level of complexity, fewest and most."""
CHATTER = 0.08
"""Share of turns beside which something irrelevant is said."""


@dataclass(frozen=True)
class Order:
    """What is to be written."""

    task_id: str
    family: SalesFamily
    second: SalesFamily | None
    """A family whose heart comes later in a long conversation."""
    complexity: str
    seed: str
    canary: str


def compose(order: Order, org: SalesOrg, backend: Backend, history: PhrasingHistory) -> Task:
    """Write a conversation.

    Raises:
        NoCandidate: The world has no records for it, or the follow-ups run out.
    """
    rng = random.Random(order.seed)
    speaker = _speaker(org, order.family, rng)
    fewest, most = LENGTHS[order.complexity]
    voice = rng.choice(VOICES)
    wording = Wording(load_bank(org.pool), voice, org.today, speaker.split()[0], rng, history)
    with Sandbox(SALES, SALES.world(org.name), backend, seed=order.task_id) as sandbox:
        builder = ConversationBuilder(org, sandbox, wording, speaker, rng)
        builder.chatter_share = CHATTER
        order.family.write(builder)
        wanted = max(rng.randint(fewest, most), builder.length)
        if builder.length > most:
            raise NoCandidate
        if order.second is not None and order.second.by_manager not in (None, builder.by_manager):
            raise NoCandidate
        if order.second is not None and wanted - builder.length >= 4:
            add_follow_ups(builder, builder.length + (wanted - builder.length) // 3)
            first = builder.length
            order.second.write(builder)
        else:
            first = 0
        add_follow_ups(builder, min(max(wanted, builder.length), most))
        if not fewest <= builder.length <= most:
            raise NoCandidate
        task = _task(order, builder, voice)
        return _chained(task, order.family, order.second, first) if order.second and first else task


def _chained(task: Task, first: SalesFamily, second: SalesFamily, end: int) -> Task:
    """A conversation with two families' hearts as a chain of two segments, each reported apart.

    Args:
        end: The last turn of the first segment, from 1.
    """
    last = len(task.turns)
    summaries = [
        {
            "segment_number": number,
            "workflow_category": family.category,
            "expected_outcome": family.about,
            "turn_range": {"start": start, "end": stop},
        }
        for number, (family, start, stop) in enumerate(
            ((first, 1, end), (second, end + 1, last)), start=1
        )
    ]
    return replace(
        task,
        segments=(end, last),
        chain_id=f"{first.name}+{second.name}",
        carried={"cumulative_context": {"segment_summaries": summaries}},
    )


def _speaker(org: SalesOrg, family: SalesFamily, rng: random.Random) -> str:
    if family.by_manager or (family.by_manager is None and rng.random() < 0.12):
        return org.manager
    return rng.choice(org.owners[1:])


def _task(order: Order, builder: ConversationBuilder, voice: str) -> Task:
    written = builder.written
    check_rules(written.rules)
    role = "sales manager" if builder.by_manager else "sales representative"
    effect = written.recorder.effect()
    gold = tuple(_guarded(builder, written.gold, bool(effect)))
    return Task(
        task_id=order.task_id,
        domain="sales",
        world=builder.org.name,
        turns=tuple(written.turns),
        gold=Gold(
            turns=gold,
            criteria=_criteria(builder.rng, gold, effect),
            paths=(_other_path(gold), *builder.other_paths),
            canary=order.canary,
        ),
        family=order.family.name,
        category=order.family.category,
        complexity=order.complexity,
        persona=f"{builder.speaker}, {role}",
        tags=(*sorted(written.tags), f"voice_{voice}"),
        success_note=order.family.about,
        shown_slice=_slice(builder),
        final_state=_final_state(effect),
    )


def _guarded(
    builder: ConversationBuilder, turns: Sequence[GoldTurn], writes: bool
) -> list[GoldTurn]:
    """Where nothing is written, reciting the whole CRM must not pass: a client that nobody asked
    about may not be named (SAY-3).
    """
    guarded = list(turns)
    if writes or any(turn.forbidden for turn in turns):
        return guarded
    about = {key for table, key in builder.records if table == "Client"}
    others = [c for c in builder.org.clients if c["client_id"] not in about]
    stranger = builder.rng.choice(others)
    place = next((i for i, turn in enumerate(guarded) if turn.facts), 0)
    forbidden = (Fact("text", stranger["email"], "another client's e-mail"),)
    guarded[place] = replace(guarded[place], forbidden=forbidden)
    return guarded


def _criteria(rng: random.Random, turns: Sequence[GoldTurn], effect: Effect) -> Criteria:
    """Mostly both; the final state alone only where it says everything."""
    only_writes = effect and not any(turn.facts or not turn.expect_success for turn in turns)
    if only_writes and rng.random() < 0.5:
        return "final_state"
    return "all_turns" if rng.random() < 0.2 else "both"


def _other_path(turns: Sequence[GoldTurn]) -> Path:
    """The same work in other calls: fields under `updates`, a cancellation by its status, and a
    look at what is there that nobody needs.
    """
    paths = [tuple(map(_other_call, turn.calls)) for turn in turns]
    place = next((i for i, turn in enumerate(turns) if turn.expect_success), None)
    if place is not None:
        paths[place] = (*paths[place], GoldCall("summarize_counts", {}))
    note = "fields given under updates, quotes canceled by status, one look more than needed"
    return Path(tuple(paths), note)


def _other_call(call: GoldCall) -> GoldCall:
    if call.tool == "cancel_quote":
        return GoldCall("modify_quote", {**call.arguments, "updates": {"status": "Canceled"}})
    if call.tool.startswith("modify_"):
        key = f"{call.tool.removeprefix('modify_')}_id"
        fields = {name: value for name, value in call.arguments.items() if name != key}
        return GoldCall(call.tool, {key: call.arguments[key], "updates": fields})
    return call


def _slice(builder: ConversationBuilder) -> dict[str, dict[str, dict[str, Any]]]:
    """The records that the conversation is about, as they were, for readers of the file."""
    clients = [key for table, key in builder.records if table == "Client"]
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    org = builder.org
    for table in ("Client", "Contact", "Opportunity", "Contract"):
        _put(rows, table, [r for r in org.tables[table] if r["client_id"] in clients])
    deals = set(rows.get("Opportunity", {}))
    _put(rows, "Quote", [r for r in org.quotes if r["opportunity_id"] in deals])
    known = {key for by_key in rows.values() for key in by_key}
    for table in ("Document", "Note"):
        _put(rows, table, [r for r in org.tables[table] if r["entity_id"] in known])
    return rows


def _put(rows: dict[str, dict[str, dict[str, Any]]], table: str, found: Sequence[Any]) -> None:
    info = SCHEMA[table]
    if found:
        rows[table] = {
            row[info.key]: {
                n: v for n, v in info.public(row).items() if n != info.key and v is not None
            }
            for row in found
        }


def _final_state(effect: Effect) -> dict[str, Any]:
    """What is created, updated and deleted in the end, by table and id."""
    state: dict[str, Any] = {"created": {}, "updated": {}, "deleted": {}}
    for change in effect:
        info = SCHEMA[change.table]
        if change.after is None:
            state["deleted"].setdefault(change.table, []).append(change.key)
        elif change.before is None:
            fields = {n: change.after[n] for n in info.columns if n not in info.assigned}
            fields = {n: v for n, v in fields.items() if v is not None}
            state["created"].setdefault(change.table, []).append(fields)
        else:
            new = {n: v for n, v in change.after.items() if v != change.before[n]}
            state["updated"].setdefault(change.table, {})[change.key] = new
    return state
