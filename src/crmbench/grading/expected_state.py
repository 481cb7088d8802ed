"""The final state that an imported conversation expects, against the one that came about.

Arc's card names a field `final_expected_state` and no form for it. Two forms are read:

* records by table and id, ``{"Client": {"c-1": {"status": "Active"}, "c-2": null}}``: each has to
  be there with those values, and null has to be gone. An id that no record has stands for one
  that was created with those values, since a created record gets an id of its own;
* what our own files hold: ``{"created": {"Client": [{…}]}, "updated": {"Client": {"c-1": {…}}},
  "deleted": {"Client": ["c-2"]}}``.

Values that are not named are not compared, nor are records: the state says what has to hold, not
all that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from crmbench.core.journal import Effect
from crmbench.core.schema import Row, Schema
from crmbench.core.task import Task
from crmbench.grading.state import values_equal

Rows = dict[str, dict[str, Row]]
_PARTS = ("created", "updated", "deleted")


def has_expected_state(task: Task) -> bool:
    """Whether the task is graded by a final state that its file holds."""
    by_calls = task.gold.grading == "tool_match" and task.gold.criteria != "all_turns"
    return by_calls and bool(task.final_state)


def state_problems(schema: Schema, task: Task, effect: Effect) -> tuple[str, ...]:
    """Where the state after `effect` is not the one that the task's file expects, in words.

    Args:
        effect: All that the episode changed.
    """
    there, created = _state(schema, task, effect)
    wanted, new, gone = _wanted(task.final_state)
    ids: dict[str, str] = {}
    unknown = {
        (table, key)
        for table, records in wanted.items()
        for key, fields in records.items()
        if fields is not None and key not in there.get(table, {})
    }
    for table, key in sorted(unknown):
        new.setdefault(table, []).append(dict(wanted[table].pop(key) or {}, **{_ID: key}))
    problems = list(_created_problems(schema, created, new, ids))
    for table, records in wanted.items():
        for key, fields in records.items():
            if fields is None:
                gone.setdefault(table, []).append(key)
            else:
                row = there[table][key]
                problems += _field_problems(schema, table, key, row, fields, ids)
    for table, keys in gone.items():
        problems += [f"{table} {key} should be gone" for key in keys if key in there.get(table, {})]
    return tuple(problems)


_ID = "\0id"
"""Under which the id that a file gives to a created record is kept beside its values."""


_FORMS = {"created": "a list", "updated": "an object", "deleted": "a list"}


def expected_state_fault(schema: Schema, state: Mapping[str, Any]) -> tuple[str, str] | None:
    """Where a stored state is of neither form: the place in it, and what was expected."""
    parted = bool(state) and set(state) <= set(_PARTS)
    sections: Iterable[tuple[str, Any]] = state.items() if parted else [("", state)]
    for part, tables in sections:
        if not isinstance(tables, Mapping):
            return part, "an object from table to records"
        prefix = f"{part}." if part else ""
        for table, records in tables.items():
            if table not in schema.tables:
                return f"{prefix}{table}", "one of " + ", ".join(schema.tables)
            form = _FORMS.get(part, "an object")
            if not isinstance(records, list if form == "a list" else dict):
                return f"{prefix}{table}", form
            named = _named_fields(records)
            strange = next((n for n in named if n not in schema[table].columns), None)
            if strange is not None:
                return f"{prefix}{table}", f"fields of {table}; it has no '{strange}'"
    return None


def _named_fields(records: Any) -> Iterator[str]:
    for fields in records.values() if isinstance(records, Mapping) else records:
        if isinstance(fields, Mapping):
            yield from fields


def _state(schema: Schema, task: Task, effect: Effect) -> tuple[Rows, Rows]:
    """All rows that the file's own seed and the effect leave, and those of them that are new."""
    there: Rows = {
        table: {key: {schema[table].key: key, **row} for key, row in rows.items()}
        for table, rows in task.seed_data.items()
    }
    created: Rows = {}
    for change in effect:
        rows = there.setdefault(change.table, {})
        if change.after is None:
            rows.pop(change.key, None)
            continue
        rows[change.key] = change.after
        if change.before is None:
            created.setdefault(change.table, {})[change.key] = change.after
    return there, created


def _wanted(
    state: Mapping[str, Any],
) -> tuple[dict[str, dict[str, Any]], dict[str, list[Any]], dict[str, list[str]]]:
    """Records by id, records that are to be new, and ids that are to be gone."""
    if not set(state) <= set(_PARTS):
        return {table: dict(records) for table, records in state.items()}, {}, {}
    updated = {table: dict(records) for table, records in state.get("updated", {}).items()}
    created = {table: list(rows) for table, rows in state.get("created", {}).items()}
    return updated, created, {t: list(keys) for t, keys in state.get("deleted", {}).items()}


def _created_problems(
    schema: Schema, created: Rows, new: Mapping[str, Sequence[Row]], ids: dict[str, str]
) -> Iterator[str]:
    """What is missing among the new records; notes in `ids` which record each id stands for."""
    for table in _parents_first(schema, new):
        left = dict(created.get(table, {}))
        for expected in new[table]:
            fields = {name: value for name, value in expected.items() if name != _ID}
            best, fewest = "", None
            for key, row in left.items():
                wrong = list(_field_problems(schema, table, key, row, fields, ids))
                if fewest is None or len(wrong) < len(fewest):
                    best, fewest = key, wrong
            if fewest is None:
                yield f"{table} {_shown(fields)} was not created"
                continue
            left.pop(best)
            ids[str(expected.get(_ID, best))] = best
            yield from fewest


def _parents_first(schema: Schema, tables: Mapping[str, object]) -> list[str]:
    order = list(schema.tables)
    return sorted(tables, key=order.index)


def _field_problems(
    schema: Schema,
    table: str,
    key: str,
    row: Row,
    fields: Mapping[str, Any],
    ids: Mapping[str, str],
) -> Iterator[str]:
    info = schema[table]
    for name, value in fields.items():
        if name == info.key:
            continue
        meant = ids.get(value, value) if isinstance(value, str) else value
        if not values_equal(info.compare[name], meant, row.get(name)):
            yield f"{table} {key}.{name}: expected {value!r} in the end, got {row.get(name)!r}"


def _shown(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in list(fields.items())[:3]) or "record"
