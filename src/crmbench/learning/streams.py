"""Streams: in what order tasks come, and on which a learner is tried without learning from them.

All follow from the tasks and a seed. A stream is blocks of tasks that are learnt from, and probes:
tasks that are played with the learner frozen, after each block or at the end.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from crmbench.authoring.rule_change import RuleChange
from crmbench.core.domain import Domain
from crmbench.core.task import Gold, Task
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError

STREAMS = ("shuffled", "blocked", "drift", "drift-unwritten", "compositional", "split")
LEAST = 4
"""Tasks that a part of a stream needs at least, so that it can say anything."""


@dataclass(frozen=True)
class Item:
    """A task in a stream."""

    task: Task
    policy: str | None = None
    """The house rules on that day; None: the domain's."""


@dataclass(frozen=True)
class StreamBlock:
    """Tasks that are learnt from, one after the other."""

    name: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class ProbeGroup:
    """Tasks that a frozen learner is tried on."""

    name: str
    """In a blocked stream that of the block whose families they are of."""
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Schedule:
    """A stream for one seed."""

    blocks: tuple[StreamBlock, ...]
    probes: tuple[ProbeGroup, ...] = ()
    every_block: bool = False
    """Whether the probes are played after each block, not only after the last."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task once, those that are learnt from first."""
        parts = [block.items for block in self.blocks] + [group.items for group in self.probes]
        return tuple(item.task for items in parts for item in items)


@dataclass(frozen=True)
class StreamOptions:
    """How a stream is made."""

    name: str = "shuffled"
    blocks: int = 4
    """Blocks of families, of a blocked stream."""
    probes: int = 4
    """Tasks that each block of a blocked stream gives to its probes."""


def family_of(task: Task) -> str:
    """What intervals are clustered by; a task without a family stands alone."""
    return task.family or task.task_id


def make_schedule(options: StreamOptions, tasks: Sequence[Task], seed: int) -> Schedule:
    """The stream of some tasks for a seed; the order in which they are handed in says nothing.

    Raises:
        InputError: There is no such stream, or the tasks are too few or not of the kind for it.
    """
    if options.name not in _MAKERS:
        raise InputError(
            f"there is no stream '{options.name}'", field="--stream", expected=", ".join(STREAMS)
        )
    rng = random.Random(f"{options.name}/{seed}")
    ordered = sorted(tasks, key=lambda task: task.task_id)
    return _MAKERS[options.name](ordered, rng, options)


def _shuffled(tasks: list[Task], rng: random.Random, options: StreamOptions) -> Schedule:
    del options
    rng.shuffle(tasks)
    return Schedule((StreamBlock("all", _items(tasks)),))


def _items(tasks: Iterable[Task], policy: str | None = None) -> tuple[Item, ...]:
    return tuple(Item(task, policy) for task in tasks)


def _families(tasks: Iterable[Task], rng: random.Random) -> list[str]:
    names = sorted({family_of(task) for task in tasks})
    rng.shuffle(names)
    return names


def _blocked(tasks: list[Task], rng: random.Random, options: StreamOptions) -> Schedule:
    """Whole families by blocks; some tasks of each block are probes and never learnt from."""
    names = _families(tasks, rng)
    count = min(options.blocks, len(names))
    if count < 2:
        raise InputError("a blocked stream needs two families", field="--stream")
    place = {name: number % count for number, name in enumerate(names)}
    blocks, probes = [], []
    for number in range(count):
        members = [task for task in tasks if place[family_of(task)] == number]
        rng.shuffle(members)
        held = _held_out(members, min(options.probes, len(members) // 3))
        if not held:
            raise InputError(
                f"a block of {len(members)} tasks has none to spare for probes",
                field="--stream",
                expected="more tasks, or fewer --blocks",
            )
        name = f"block {number + 1}"
        blocks.append(StreamBlock(name, _items(task for task in members if task not in held)))
        probes.append(ProbeGroup(name, _items(held)))
    return Schedule(tuple(blocks), tuple(probes), every_block=True)


def _held_out(members: Sequence[Task], count: int) -> list[Task]:
    """Tasks of families that the block has others of, where there are such."""
    often = Counter(map(family_of, members))
    ranked = sorted(members, key=lambda task: often[family_of(task)] < 2)
    return ranked[:count]


def _split(tasks: list[Task], rng: random.Random, options: StreamOptions) -> Schedule:
    """Learn on two thirds of the families and worlds; the probes are of the others."""
    del options
    families, worlds = _families(tasks, rng), sorted({task.world for task in tasks})
    rng.shuffle(worlds)
    seen = set(families[: -(-2 * len(families) // 3)])
    known = set(worlds[: -(-2 * len(worlds) // 3)])
    # A family that none of the known worlds has is not learnt from either.
    seen &= {family_of(task) for task in tasks if task.world in known}
    parts: dict[tuple[bool, bool], list[Task]] = {}
    for task in tasks:
        key = (family_of(task) in seen, task.world in known)
        parts.setdefault(key, []).append(task)
    learnt = parts.pop((True, True), [])
    if len(learnt) < LEAST or not any(not familiar for familiar, _ in parts):
        raise InputError(
            "these tasks are too few to hold families out",
            field="--stream",
            expected="a larger set",
        )
    rng.shuffle(learnt)
    names = {
        (False, True): "unseen families",
        (True, False): "unseen worlds",
        (False, False): "unseen families and worlds",
    }
    probes = [ProbeGroup(name, _items(parts[key])) for key, name in names.items() if key in parts]
    return Schedule((StreamBlock("all", _items(learnt)),), tuple(probes))


def _compositional(tasks: list[Task], rng: random.Random, options: StreamOptions) -> Schedule:
    """First requests alone, cut from conversations; then other conversations as a whole."""
    del options
    rng.shuffle(tasks)
    long = [task for task in tasks if len(task.turns) > 1]
    if len(long) < 2 * LEAST:
        raise InputError(
            "too few conversations of several turns", field="--stream", expected="a larger set"
        )
    half = len(long) // 2
    parts = [first_turn(task) for task in long[:half]]
    parts += [task for task in tasks if len(task.turns) == 1]
    rng.shuffle(parts)
    return Schedule(
        (StreamBlock("parts", _items(parts)), StreamBlock("wholes", _items(long[half:])))
    )


def first_turn(task: Task) -> Task:
    """The task that ends after its first turn."""
    gold = Gold(
        turns=task.gold.turns[:1],
        grading=task.gold.grading,
        criteria=task.gold.criteria,
        paths=tuple(replace(path, turns=path.turns[:1]) for path in task.gold.paths),
        canary=task.gold.canary,
        items=tuple(item for item in task.gold.items if item.turn == 1),
    )
    return replace(
        task,
        task_id=f"{task.task_id}~1",
        turns=task.turns[:1],
        gold=gold,
        segments=(),
        chain_id=None,
        success_note=None,
        final_state={},
        breaks=(),
    )


def _drift(tasks: list[Task], rng: random.Random, options: StreamOptions) -> Schedule:
    """A house rule changes after the first half, and the page of rules with it.

    Unwritten: the page leaves the rule's values out in both halves; only feedback tells them.
    """
    unwritten = options.name == "drift-unwritten"
    names = {task.domain for task in tasks}
    if len(names) != 1:
        raise InputError("a drift needs tasks of one domain", field="--stream")
    domain = load_domain(names.pop())
    change = _change_of(domain)
    touched = [task for task in tasks if change.touches(task)]
    others = [task for task in tasks if not change.touches(task)]
    after = {task.task_id: new for task in touched if (new := change.changed(task)) is not None}
    certain = [task for task in touched if task.task_id in after]
    if len(certain) < 2:
        raise InputError(
            f"only {len(certain)} of these tasks can follow a change of {change.rule}",
            field="--stream",
            expected="a larger set of the domain, such as sales/standard",
        )
    rng.shuffle(certain)
    rng.shuffle(others)
    half = len(certain) // 2
    # Those whose truth after the change would not be certain are played before it.
    doubtful = [task for task in touched if task.task_id not in after]
    first = [*certain[:half], *doubtful]
    second = [after[task.task_id] for task in certain[half:]]
    for task in others:
        (first if len(first) <= len(second) else second).append(task)
    rng.shuffle(first)
    rng.shuffle(second)
    early, late = _pages(domain, change, unwritten)
    return Schedule(
        (StreamBlock("before", _items(first, early)), StreamBlock("after", _items(second, late)))
    )


def _change_of(domain: Domain) -> RuleChange:
    changes: tuple[RuleChange, ...] = getattr(domain, "rule_changes", ())
    if not changes:
        raise InputError(
            f"the domain '{domain.name}' has no rule that can change",
            field="--stream",
            expected="tasks of sales, or another stream",
        )
    return changes[0]


def _pages(domain: Domain, change: RuleChange, unwritten: bool) -> tuple[str | None, str]:
    if unwritten:
        page = change.page(domain.policy, change.unwritten)
        return page, page
    return None, change.page(domain.policy, change.after)


_MAKERS: dict[str, Callable[[list[Task], random.Random, StreamOptions], Schedule]] = {
    "shuffled": _shuffled,
    "blocked": _blocked,
    "drift": _drift,
    "drift-unwritten": _drift,
    "compositional": _compositional,
    "split": _split,
}
