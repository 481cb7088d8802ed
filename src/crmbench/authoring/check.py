"""Whether a domain keeps what crmbench relies on: ask this first, then ``crmbench audit``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing

import orjson

from crmbench.authoring.dataset import Dataset
from crmbench.authoring.domain import AuthoredDomain, TaskSet
from crmbench.core.sandbox import Sandbox
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.world import WorldSource
from crmbench.errors import CrmbenchError, HarnessError

MIN_DESCRIPTION = 10
"""Characters with which a tool can be described at the least."""


def check_domain(domain: AuthoredDomain, *, seed: int = 42, size: int | None = None) -> None:
    """Check a domain's schema, tools, policy, worlds and generators.

    Args:
        domain: What is checked.
        seed: With which each of its sets is made, twice.
        size: How many tasks are made of each; the full set if None.

    Raises:
        HarnessError: It names all that is wrong.
    """
    found = [
        *_tables(domain),
        *_tools(domain),
        *(problem for name in domain.worlds for problem in _world(domain, name)),
        *(problem for each in domain.task_sets for problem in _task_set(domain, each, seed, size)),
    ]
    if domain.default_world not in domain.worlds:
        found += _world(domain, domain.default_world)
    if not domain.policy.strip():
        found.append("the policy is empty: agents are told nothing of the house rules")
    if found:
        listed = "\n".join(f"- {problem}" for problem in found)
        raise HarnessError(f"the domain '{domain.name}' is not right:\n{listed}")


def _tables(domain: AuthoredDomain) -> Iterator[str]:
    if not domain.schema.tables:
        yield "it has no table"
    for name, info in domain.schema.tables.items():
        # An id that the scorer compared would fail every right agent: ids differ between runs.
        if info.key not in info.assigned:
            yield f"table {name}: the key {info.key} needs info={{'assigned': True}}"


def _tools(domain: AuthoredDomain) -> Iterator[str]:
    tools = domain.toolbox.by_name
    if not tools:
        yield "it has no tool"
    if tools and not any(tool.writes for tool in tools.values()):
        yield "none of its tools writes (@tool(writes=True)), so no task can change the org"
    for name, tool in tools.items():
        if len(tool.description) < MIN_DESCRIPTION:
            yield f"tool {name}: its description says nothing: {tool.description!r}"


def _world(domain: AuthoredDomain, name: str) -> Iterator[str]:
    try:
        first, second = domain.world(name), domain.world(name)
        if first.name != name:
            yield f"world {name}: calls itself '{first.name}'"
        if first.now.tzinfo is None:
            yield f"world {name}: `now` has no time zone; it must be UTC"
        if (first.now, _rows(first)) != (second.now, _rows(second)):
            yield f"world {name}: made twice, it has other rows; draw from a generator with a seed"
            return
        with closing(SqliteBackend(domain.schema)) as backend:
            with Sandbox(domain, first, backend) as sandbox:
                digest = sandbox.digest()
            with Sandbox(domain, first, backend) as again:
                if again.digest() != digest:
                    yield f"world {name}: a second episode does not begin as the first did"
    except CrmbenchError as error:
        yield f"world {name}: {error}"


def _rows(world: WorldSource) -> bytes:
    hasher = hashlib.sha256()
    for table, rows in world.stream():
        for row in rows:
            hasher.update(orjson.dumps([table, row], option=orjson.OPT_SORT_KEYS))
    return hasher.digest()


def _task_set(
    domain: AuthoredDomain, task_set: TaskSet, seed: int, size: int | None
) -> Iterator[str]:
    label = f"the set of {', '.join(task_set.splits)}"
    try:
        make = task_set.load()
        one, two = (make(seed) if size is None else make(seed, size) for _ in range(2))
    except CrmbenchError as error:
        yield f"{label}: cannot be made: {error}"
        return
    if one != two:
        yield f"{label}: made twice from seed {seed}, it has other tasks"
    yield from (f"{label}: {problem}" for problem in _dataset(domain, task_set, one))


def _dataset(domain: AuthoredDomain, task_set: TaskSet, made: Dataset) -> Iterator[str]:
    if tuple(made.splits) != task_set.splits:
        yield f"its splits are {', '.join(made.splits)}, which is not what the domain says"
    listed = [task for tasks in made.splits.values() for task in tasks]
    by_id = {task.task_id: task for task in listed}
    if any(by_id[task.task_id] != task for task in listed):
        yield "two tasks have one id"
    for task in made.tasks:
        if task.domain != domain.name:
            yield f"{task.task_id}: its domain is '{task.domain}'"
        if task.world not in domain.worlds:
            yield f"{task.task_id}: its world '{task.world}' is not in the domain's `worlds`"
        if task.gold.canary != made.canary:
            yield f"{task.task_id}: it lacks the set's canary"
        if task.family not in made.about:
            yield f"{task.task_id}: the set does not say what the family '{task.family}' tests"
