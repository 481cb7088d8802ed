"""From what the grammar recognised to the syntax tree, with the checks that one token decides."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from crmbench.salesforce.soql import ast
from crmbench.salesforce.soql.errors import MALFORMED, SoqlError

RELATIVE_DATES = frozenset(
    f"{which}_{unit}"
    for which in ("last", "this", "next")
    for unit in ("week", "month", "quarter", "year", "fiscal_quarter", "fiscal_year")
) | {"yesterday", "today", "tomorrow", "last_90_days", "next_90_days"}

RESERVED_ALIASES = frozenset({"first", "last", "group", "order", "for", "update", "all"})

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
FIRST_YEAR, LAST_YEAR = 1700, 4000

Children = list[Any]


class Builder:
    """One method for each rule of the grammar; each is handed the rule's children."""

    code = MALFORMED

    def __init__(self, text: str = "") -> None:
        self.text = text

    # --- names and values ---------------------------------------------------------------------

    def path(self, children: Children) -> ast.FieldPath:
        return ast.FieldPath(tuple(map(str, children)), children[0].start_pos)

    def alias(self, children: Children) -> Any:
        """A field's alias.

        Raises:
            SoqlError: The query says something that is not allowed there.
        """
        token = children[0]
        if token.lower() in RESERVED_ALIASES:
            raise self.unexpected(token)
        return token

    def call(self, children: Children) -> ast.Call:
        name, *arguments = children
        given = tuple(a for a in arguments if a is not None)
        return ast.Call(str(name), given, name.start_pos, name.end_pos)

    def literal(self, children: Children) -> ast.LiteralValue:
        return self.value(children)

    def value(self, children: Children) -> ast.LiteralValue:
        token = children[0]
        kind = token.type
        if kind == "STRING":
            return self._string(token)
        if kind == "NAME":
            return self._word(token)
        if kind == "RELATIVE":
            name, number = str(token).split(":")
            return ast.LiteralValue("range", name.strip().lower(), token.start_pos, int(number))
        if kind in ("DATE", "DATETIME", "TIME"):
            self._check_date(token, kind)
        names: dict[str, ast.ValueKind] = {"INTEGER": "number", "BIND": "bind"}
        return ast.LiteralValue(names.get(kind, kind.lower()), str(token), token.start_pos)

    def count(self, children: Children) -> ast.LiteralValue:
        return self.value(children)

    def value_list(self, children: Children) -> tuple[ast.LiteralValue, ...]:
        if not isinstance(children[0], ast.LiteralValue):
            return (self.value(children),)
        return tuple(children)

    def _word(self, token: Any) -> ast.LiteralValue:
        word = token.lower()
        if word in ("true", "false"):
            return ast.LiteralValue("boolean", word, token.start_pos)
        if word in RELATIVE_DATES:
            return ast.LiteralValue("range", word, token.start_pos)
        raise self.unexpected(token)

    def _string(self, token: Any) -> ast.LiteralValue:
        plain: list[str] = []
        pattern: list[str | None] = []
        body = token[1:-1]
        at = 0
        for found in ESCAPE.finditer(body):
            self._plain(body[at : found.start()], plain, pattern)
            self._escaped(found.group(1), token, plain, pattern)
            at = found.end()
        self._plain(body[at:], plain, pattern)
        text = "".join(plain)
        if UNSTORABLE.search(text):
            # No database keeps them: a query with one could not be sent.
            raise self.error("Invalid string literal: illegal character", token.start_pos)
        return ast.LiteralValue("string", text, token.start_pos, 0, tuple(pattern))

    @staticmethod
    def _plain(piece: str, plain: list[str], pattern: list[str | None]) -> None:
        plain.append(piece)
        for part in re.split("([%_])", piece):
            if part:
                pattern.append({"%": None, "_": ""}.get(part, part))

    def _escaped(self, code: str, token: Any, plain: list[str], pattern: list[str | None]) -> None:
        if code in ("_", "%"):
            # Outside LIKE these are not escapes; the backslash is kept so that a check can see it.
            plain.append("\\" + code)
            pattern.append(code)
            return
        if code[0] == "u" and len(code) == 5:
            character = chr(int(code[1:], 16))
        elif code.lower() in ESCAPES:
            character = ESCAPES[code.lower()]
        else:
            raise self.error(
                f"Invalid string literal {token}. Illegal character sequence '\\{code}' in "
                "string literal.",
                token.start_pos,
            )
        plain.append(character)
        pattern.append(character)

    def _check_date(self, token: Any, kind: str) -> None:
        # Python reads what XML Schema calls a dateTime, except for the 24th hour, as Salesforce.
        text = f"2000-01-01T{token}" if kind == "TIME" else str(token)
        if kind != "DATE":
            text = re.sub(r"\.(\d{1,6})\d*", r".\1", text.upper())
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise self.error(f"Invalid {kind.lower()}: {token}", token.start_pos) from None
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            raise self.error(f"Invalid {kind.lower()}: {token}", token.start_pos)

    # --- the field list -----------------------------------------------------------------------

    def field(self, children: Children) -> ast.Field:
        expr, alias = children
        return ast.Field(expr, None if alias is None else str(alias), expr.pos)

    def subquery(self, children: Children) -> Any:
        return children[0]

    def path_list(self, children: Children) -> tuple[ast.FieldPath, ...]:
        return tuple(children)

    def when(self, children: Children) -> ast.When:
        _, name, fields = children[0], children[1], children[-1]
        return ast.When(str(name), fields, name.start_pos)

    def else_(self, children: Children) -> tuple[ast.FieldPath, ...]:
        fields: tuple[ast.FieldPath, ...] = children[-1]
        return fields

    def typeof(self, children: Children) -> ast.TypeOf:
        whens = tuple(c for c in children if isinstance(c, ast.When))
        otherwise = next((c for c in children if isinstance(c, tuple)), ())
        return ast.TypeOf(children[1], whens, otherwise, children[0].start_pos)

    def select_list(self, children: Children) -> tuple[Any, ...]:
        return tuple(children)

    def from_item(self, children: Children) -> ast.FromItem:
        alias = children[-1]
        return ast.FromItem(children[0], None if alias is None else str(alias))

    def from_list(self, children: Children) -> tuple[ast.FromItem, ...]:
        return tuple(children)

    # --- conditions ---------------------------------------------------------------------------

    def where(self, children: Children) -> Any:
        return children[-1]

    having = where

    def nested(self, children: Children) -> Any:
        return children[0]

    def conjunction(self, children: Children) -> ast.Logic:
        return ast.Logic("and", tuple(children[::2]), children[1].start_pos)

    def disjunction(self, children: Children) -> ast.Logic:
        return ast.Logic("or", tuple(children[::2]), children[1].start_pos)

    def negation(self, children: Children) -> ast.Logic:
        return ast.Logic("not", (children[1],), children[0].start_pos)

    def compare(self, children: Children) -> ast.Compare:
        """A comparison.

        Raises:
            SoqlError: The query says something that is not allowed there.
        """
        left, token, value = children
        op = token.lower()
        if op == "like":
            if value.kind not in ("string", "bind"):
                raise self.unexpected_at(value.pos)
        elif value.kind == "string":
            self._no_wildcard_escapes(value)
        return ast.Compare(left, "!=" if op == "<>" else op, value, left.pos)

    def among(self, children: Children) -> ast.Among:
        left, token, values = children
        for value in values:
            self._no_wildcard_escapes(value)
        return ast.Among(left, values, token.type == "NOT_IN", False, left.pos)

    def multi(self, children: Children) -> ast.Among:
        """INCLUDES or EXCLUDES.

        Raises:
            SoqlError: The query says something that is not allowed there.
        """
        left, token, values = children
        for value in values:
            if value.kind not in ("string", "bind"):
                raise self.unexpected_at(value.pos)
        return ast.Among(left, values, token.type == "EXCLUDES", True, left.pos)

    def semi_join(self, children: Children) -> ast.SemiJoin:
        left, token, query = children
        return ast.SemiJoin(left, query, token.type == "NOT_IN", left.pos)

    def _no_wildcard_escapes(self, value: ast.LiteralValue) -> None:
        if value.kind != "string":
            return
        for code in ("\\_", "\\%"):
            if code in value.text and code[1] in value.pattern:
                raise self.error(
                    f"Invalid string literal '{value.text}'. Illegal character sequence '{code}' "
                    "in string literal.",
                    value.pos,
                )

    # --- the other clauses --------------------------------------------------------------------

    def scope(self, children: Children) -> str:
        return str(children[1])

    def with_mode(self, children: Children) -> ast.With:
        return ast.With("mode", children[1].lower(), children[0].start_pos)

    def category_one(self, children: Children) -> Any:
        return children[0]

    category_many = category_one

    def with_category(self, children: Children) -> ast.With:
        """WITH DATA CATEGORY.

        Raises:
            SoqlError: The query says something that is not allowed there.
        """
        groups = [child for child in children[2:] if child.type == "NAME"]
        for index, group in enumerate(groups):
            if group.lower() in {g.lower() for g in groups[:index]}:
                raise self.error(
                    f"data category group '{group}' is used more than once", group.start_pos
                )
        if len(groups) > 3:
            raise self.error(
                "at most three data category conditions are allowed", groups[3].start_pos
            )
        return ast.With("category", "DATA CATEGORY", children[0].start_pos)

    def setting(self, children: Children) -> Any:
        """A setting of WITH.

        Raises:
            SoqlError: The query says something that is not allowed there.
        """
        if children[1] != "=":
            raise self.unexpected(children[1])
        return children[0]

    def with_visibility(self, children: Children) -> ast.With:
        return ast.With("visibility", str(children[1]), children[0].start_pos)

    def with_filter(self, children: Children) -> ast.With:
        return ast.With("filter", children[1].left.text, children[0].start_pos)

    def group_plain(self, children: Children) -> ast.Grouping:
        return self._group("plain", children)

    def group_rollup(self, children: Children) -> ast.Grouping:
        return self._group("rollup", children)

    def group_cube(self, children: Children) -> ast.Grouping:
        return self._group("cube", children)

    @staticmethod
    def _group(kind: Any, children: Children) -> ast.Grouping:
        token, *exprs, having = children
        return ast.Grouping(kind, tuple(exprs), having, token.start_pos)

    def order_item(self, children: Children) -> ast.OrderItem:
        expr, direction, nulls = children
        return ast.OrderItem(
            expr,
            direction is not None and direction.type == "DESC",
            nulls is not None and nulls.type == "NULLS_LAST",
            expr.pos,
        )

    def order(self, children: Children) -> tuple[ast.OrderItem, ...]:
        return tuple(children[1:])

    def limit(self, children: Children) -> ast.LiteralValue:
        value: ast.LiteralValue = children[1]
        return value

    offset = limit

    def tail(self, children: Children) -> Any:
        return children[0]

    def query(self, children: Children) -> ast.Query:
        """A whole query.

        Raises:
            SoqlError: The query says something that is not allowed there.
        """
        select, fields, _, froms, scope, where, with_, group, order, limit, offset = children[:11]
        tail: list[str] = []
        for token in children[11:]:
            words = " ".join(token.upper().split())
            if words.split()[0:2] in [t.split()[0:2] for t in tail]:
                raise self.unexpected(token)
            tail.append(words)
        return ast.Query(
            fields, froms, scope, where, with_, group, order or (), limit, offset, tuple(tail),
            select.start_pos,
        )  # fmt: skip

    def start(self, children: Children) -> ast.Query:
        query: ast.Query = children[0]
        return query

    # --- errors -------------------------------------------------------------------------------

    def error(self, detail: str, offset: int) -> SoqlError:
        return SoqlError(self.code, detail, text=self.text, offset=offset)

    def unexpected(self, token: Any) -> SoqlError:
        return self.error(f"unexpected token: '{token}'", token.start_pos)

    def unexpected_at(self, offset: int) -> SoqlError:
        word = re.match(r"'(?:[^'\\]|\\.)*'|[^\s,()]+", self.text[offset:])
        return self.error(f"unexpected token: '{word.group() if word else ''}'", offset)
