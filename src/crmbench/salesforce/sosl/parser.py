"""Text to syntax tree, and the check of a search that needs no org."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from crmbench.salesforce.soql import ast as soql
from crmbench.salesforce.soql.builder import Builder
from crmbench.salesforce.soql.errors import SoqlError
from crmbench.salesforce.soql.parser import (
    GRAMMAR_FILE,
    MAX_CHARACTERS,
    CheckResult,
    Grammar,
    check_nesting,
)
from crmbench.salesforce.soql.rules import calls, check_query
from crmbench.salesforce.sosl import ast
from crmbench.salesforce.sosl.words import MALFORMED_SEARCH, parse_words

HARMLESS = frozenset({"highlight", "snippet", "spell_correction", "user_mode", "system_mode",
                      "security_enforced"})  # fmt: skip
MAX_OBJECTS = 20

Children = list[Any]


class SearchBuilder(Builder):
    """The rules of SOSL beside those of SOQL."""

    code = MALFORMED_SEARCH

    def contents(self, children: Children) -> tuple[soql.Field, ...]:
        return tuple(children)

    def content(self, children: Children) -> Children:
        """The text of a search group.

        Raises:
            SoqlError: The search text cannot be read.
        """
        if children[2] is not None and children[2] != "=":
            raise self.unexpected(children[2])
        return children

    def target(self, children: Children) -> ast.ReturnedObject:
        name, content = children
        start = name.start_pos
        item = soql.FromItem(soql.FieldPath((str(name),), start), None)
        if content is None:
            fields = (soql.Field(soql.FieldPath(("Id",), start), None, start),)
            return ast.ReturnedObject(_query(fields, item, None, (), None, None, None), False)
        fields, view, _, _, where, order, limit, offset = content
        scope = None if view is None else "LISTVIEW"
        query = _query(fields, item, where, order or (), limit, offset, scope)
        return ast.ReturnedObject(query, limit is not None)

    def returning(self, children: Children) -> tuple[ast.ReturnedObject, ...]:
        return tuple(children[1:])

    def with_word(self, children: Children) -> ast.WithClause:
        name = children[1]
        return ast.WithClause(str(name), children[0].start_pos, name.lower() in HARMLESS)

    def search_with(self, children: Children) -> ast.WithClause:
        found: soql.With = children[0]
        return ast.WithClause(found.text, found.pos, found.text.lower() in HARMLESS)

    def search_tail(self, children: Children) -> Any:
        return children[0]

    def search(self, children: Children) -> ast.Search:
        _, token, group, targets, *rest = children
        withs = tuple(c for c in rest if isinstance(c, ast.WithClause))
        limit = next((c for c in rest if isinstance(c, soql.LiteralValue)), None)
        fields = "all" if group is None else group.split()[1].lower()
        bound = token.type == "BIND"
        return ast.Search(
            str(token) if bound else _search_text(token), token.start_pos, fields,
            targets or (), withs, limit, bound,
        )  # fmt: skip


def _query(
    fields: tuple[soql.Field, ...],
    item: soql.FromItem,
    where: soql.Condition | None,
    order: tuple[soql.OrderItem, ...],
    limit: soql.LiteralValue | None,
    offset: soql.LiteralValue | None,
    scope: str | None,
) -> soql.Query:
    return soql.Query(
        fields, (item,), scope, where, None, None, order, limit, offset, (), item.path.pos
    )


def _search_text(token: Any) -> str:
    text = str(token)[1:-1]
    # In quotes, as Apex has it, a quote of the search itself is escaped once more.
    return text.replace("\\'", "'").replace('\\"', '"') if token.type == "STRING" else text


@cache
def _grammar() -> Grammar:
    files = [Path(__file__).with_name("grammar.lark"), GRAMMAR_FILE]
    return Grammar(files, "search", SearchBuilder())


@lru_cache(maxsize=512)
def parse(text: str) -> ast.Search:
    """Parse one SOSL search.

    Raises:
        SoqlError: Salesforce would refuse it, whatever objects the org has.
    """
    if len(text) > MAX_CHARACTERS:
        raise SoqlError(
            MALFORMED_SEARCH, f"SOSL statements cannot be longer than {MAX_CHARACTERS} characters."
        )
    check_nesting(text)
    search: ast.Search = _grammar().parse(text)
    if not search.bound:
        parse_words(search.words)
    if len(search.targets) > MAX_OBJECTS:
        raise SoqlError(MALFORMED_SEARCH, f"at most {MAX_OBJECTS} objects can be returned")
    for target in search.targets:
        check_query(target.query, text)
        _no_groups(target.query, text)
    return search


def _no_groups(query: soql.Query, text: str) -> None:
    for field in query.fields:
        if isinstance(field, soql.Field):
            for call in calls(field.expr):
                if call.is_aggregate:
                    raise SoqlError(
                        MALFORMED_SEARCH,
                        "aggregate functions are not allowed in a search",
                        text=text,
                        offset=call.pos,
                    )


def check(text: str) -> CheckResult:
    """Whether `text` is a SOSL search, whatever objects and fields it names."""
    try:
        parse(text)
    except SoqlError as error:
        return CheckResult(False, error.code, error.message, error.position)
    return CheckResult(True)
