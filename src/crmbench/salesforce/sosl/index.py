"""The full-text index: its tables, the triggers that keep it, and how it is asked.

For each object one index of four groups: names, e-mail addresses, telephone numbers, the rest. On
SQLite it is an FTS5 table without content, tied to the object's table by row id; on PostgreSQL a
table with a tsvector, in which the groups are the weights A to D, under a GIN index. Words are cut
by the same rule on both (see words.py), so PostgreSQL's own text parser is not used. Beside each
index stands the list of its words, in which wildcards are looked up; on PostgreSQL it may also hold
words that are in no record any more.
"""

from __future__ import annotations

from collections.abc import Iterable

from crmbench.salesforce.catalog import Catalog, ObjectInfo
from crmbench.salesforce.sosl.words import BREAK, MARKS, Choice, Expression, Term

GROUPS = ("names", "emails", "phones", "others")
SCOPES = {
    "all": GROUPS,
    "name": ("names",),
    "sidebar": ("names",),
    "email": ("emails",),
    "phone": ("phones",),
}
"""The groups that each `IN ... FIELDS` searches."""
NAMES = frozenset({"name", "firstname", "lastname", "subject", "title"})

SEPARATORS = r"[\x01-\x2f\x3a-\x60\x7b-\x7f]+"


def group_of(field: str) -> str:
    """The group of a field, by its name."""
    name = field.lower()
    if name in NAMES:
        return "names"
    if "email" in name or name.endswith("address"):
        return "emails"
    return "phones" if "phone" in name else "others"


def searchable(info: ObjectInfo) -> dict[str, list[str]]:
    """The fields of an object that are indexed, by group: all text that it holds."""
    groups: dict[str, list[str]] = {group: [] for group in GROUPS}
    for field in info.fields.values():
        if field.kind in ("string", "textarea") and field.derive is None:
            groups[group_of(field.name)].append(field.name)
    return groups


def create_index(catalog: Catalog, dialect: str, objects: Iterable[str] = ()) -> list[str]:
    """The statements that index all records there are and keep the index from then on.

    Args:
        catalog: The org's objects.
        dialect: ``sqlite`` or ``postgresql``.
        objects: Names of the objects to index; all that have text if empty.

    Returns:
        Statements to run in order, once the objects' tables exist.
    """
    wanted = [catalog.objects[name.lower()] for name in objects] or list(catalog.objects.values())
    build = _sqlite if dialect == "sqlite" else _postgresql
    statements: list[str] = [] if dialect == "sqlite" else [WORDS_FUNCTION]
    for info in wanted:
        groups = searchable(info)
        if any(groups.values()):
            statements += build(info.name, groups)
    return statements


def drop_index(catalog: Catalog, dialect: str) -> list[str]:
    """The statements that undo `create_index`."""
    statements = []
    for info in catalog.objects.values():
        names = [f"{info.name}__fts_{event}" for event in ("insert", "update", "delete")]
        if dialect == "sqlite":
            statements += [f'DROP TRIGGER IF EXISTS "{name}"' for name in names]
            statements.append(f'DROP TABLE IF EXISTS "{info.name}__fts_words"')
        else:
            statements.append(f'DROP TRIGGER IF EXISTS "{info.name}__fts" ON "{info.name}"')
            statements.append(f'DROP TABLE IF EXISTS "{info.name}__fts_words"')
        statements.append(f'DROP TABLE IF EXISTS "{info.name}__fts"')
    return statements


# --- SQLite ---------------------------------------------------------------------------------------


def _sqlite(name: str, groups: dict[str, list[str]]) -> list[str]:
    fts, words = f'"{name}__fts"', f'"{name}__fts_words"'
    columns = ", ".join(GROUPS)
    texts = {row: ", ".join(_sqlite_text(row, groups[g]) for g in GROUPS) for row in ("new", "old")}
    texts["base"] = ", ".join(_sqlite_text("base", groups[g]) for g in GROUPS)
    watched = ", ".join(f'"{field}"' for group in GROUPS for field in groups[group])
    insert = f"INSERT INTO {fts} (rowid, {columns}) VALUES (new.rowid, {texts['new']})"
    # A table without content must be told what it had indexed.
    delete = (
        f"INSERT INTO {fts} ({fts}, rowid, {columns}) VALUES ('delete', old.rowid, {texts['old']})"
    )
    rows = f'SELECT base.rowid, {texts["base"]} FROM "{name}" AS base ORDER BY base.rowid'
    trigger = f'CREATE TRIGGER "{name}__fts_'
    return [
        f"CREATE VIRTUAL TABLE {fts} USING fts5({columns}, content='', tokenize='ascii')",
        f"CREATE VIRTUAL TABLE {words} USING fts5vocab({fts}, 'row')",
        f"INSERT INTO {fts} (rowid, {columns}) {rows}",
        f'{trigger}insert" AFTER INSERT ON "{name}" BEGIN {insert}; END',
        f'{trigger}update" AFTER UPDATE OF {watched} ON "{name}" BEGIN {delete}; {insert}; END',
        f'{trigger}delete" AFTER DELETE ON "{name}" BEGIN {delete}; END',
    ]


def _sqlite_text(row: str, fields: list[str]) -> str:
    if not fields:
        return "''"
    text = f" || ' {BREAK} ' || ".join(f"""coalesce({row}."{field}", '')""" for field in fields)
    for mark in MARKS:
        if mark != BREAK:
            text = f"replace({text}, '{mark}', ' ')"
    return text


def fts5_query(expression: Expression, scope: str) -> str:
    """An expression in the language of FTS5."""
    text = _fts5(expression)
    return text if scope == "all" else f"{{{' '.join(SCOPES[scope])}}} : ({text})"


def _fts5(expression: Expression) -> str:
    if isinstance(expression, Term):
        words = [word.rstrip("*") for word in expression.words]
        star = " *" if expression.words[-1].endswith("*") else ""
        return f'"{" ".join(words)}"{star}'
    if isinstance(expression, Choice):
        return " OR ".join(map(_fts5, expression.terms))
    left, right = _fts5(expression.left), _fts5(expression.right)
    return f"({left}) {expression.op.upper()} ({right})"


# --- PostgreSQL -----------------------------------------------------------------------------------

WORDS_FUNCTION = f"""
CREATE OR REPLACE FUNCTION crm_words(content text, weight "char") RETURNS tsvector
LANGUAGE sql IMMUTABLE AS $body$
  SELECT setweight(coalesce(string_agg(
    '''' || word || ''':' || least(place, 16383), ' '), '')::tsvector, weight)
  FROM regexp_split_to_table(
    translate(lower(content COLLATE "C"), '{MARKS[:-1]}', '{" " * (len(MARKS) - 1)}') COLLATE "C",
    '{SEPARATORS}') WITH ORDINALITY AS words(word, place)
  WHERE word <> '' AND octet_length(word) < 2000
$body$
"""


def _postgresql(name: str, groups: dict[str, list[str]]) -> list[str]:
    fts, words = f'"{name}__fts"', f'"{name}__fts_words"'
    watched = ", ".join(f'"{field}"' for group in GROUPS for field in groups[group])
    new, base = (_postgresql_vector(row, groups) for row in ("new", "base"))
    function = f'"{name}__fts_write"()'
    events = f"INSERT OR DELETE OR UPDATE OF {watched}"
    action = f"FOR EACH ROW EXECUTE FUNCTION {function}"
    return [
        f'CREATE TABLE {fts} (id text COLLATE "C" PRIMARY KEY, vector tsvector NOT NULL)',
        f'INSERT INTO {fts} (id, vector) SELECT base."Id", {base} FROM "{name}" AS base',
        f'CREATE INDEX "{name}__fts_vectors" ON {fts} USING gin (vector)',
        f'CREATE TABLE {words} (term text COLLATE "C" PRIMARY KEY)',
        f"INSERT INTO {words} SELECT DISTINCT unnest(tsvector_to_array(vector)) FROM {fts}",
        f"""
CREATE OR REPLACE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
  written tsvector;
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM {fts} WHERE id = old."Id";
    RETURN old;
  END IF;
  written := {new};
  INSERT INTO {fts} (id, vector) VALUES (new."Id", written)
    ON CONFLICT (id) DO UPDATE SET vector = excluded.vector;
  INSERT INTO {words} SELECT unnest(tsvector_to_array(written)) ON CONFLICT DO NOTHING;
  RETURN new;
END
$body$
""",
        f'CREATE TRIGGER "{name}__fts" AFTER {events} ON "{name}" {action}',
    ]


def _postgresql_vector(row: str, groups: dict[str, list[str]]) -> str:
    vectors = []
    for group, weight in zip(GROUPS, "ABCD", strict=True):
        fields = [f"""coalesce({row}."{field}", '')""" for field in groups[group]]
        # The break before each group keeps a phrase from running over from the group before it.
        joined = f" || ' {BREAK} ' || ".join(["''", *fields])
        vectors.append(f"crm_words({joined}, '{weight}')")
    return " || ".join(vectors)


def tsquery(expression: Expression, scope: str) -> str:
    """An expression in the language of tsquery."""
    weights = "".join(w for g, w in zip(GROUPS, "ABCD", strict=True) if g in SCOPES[scope])
    return _tsquery(expression, "" if scope == "all" else weights)


def _tsquery(expression: Expression, weights: str) -> str:
    if isinstance(expression, Term):
        words = []
        for word in expression.words:
            marks = ("*" if word.endswith("*") else "") + weights
            words.append(f"'{word.rstrip('*')}'{':' if marks else ''}{marks}")
        return f"({' <-> '.join(words)})"
    if isinstance(expression, Choice):
        return f"({' | '.join(_tsquery(term, weights) for term in expression.terms)})"
    left, right = _tsquery(expression.left, weights), _tsquery(expression.right, weights)
    joint = {"and": "&", "or": "|", "not": "& !"}[expression.op]
    return f"({left} {joint} {right})"
