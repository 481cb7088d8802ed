"""Text to syntax tree, and the check of a query that needs no org."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from crmbench.salesforce.soql import ast
from crmbench.salesforce.soql.builder import Builder
from crmbench.salesforce.soql.errors import MALFORMED, Position, SoqlError
from crmbench.salesforce.soql.rules import check_query

GRAMMAR_FILE = Path(__file__).with_name("grammar.lark")
MAX_CHARACTERS = 100_000
MAX_NESTING = 150
"""How deep parentheses may go; what Salesforce takes is less."""

WORD = re.compile(r"'(?:[^'\\]|\\.)*'|\w+|[<>!]=|\S", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether a query parses, and if not, why and where."""

    ok: bool
    code: str | None = None
    message: str | None = None
    position: Position | None = None


class Grammar:
    """The parser of one grammar, whose builder is told which text it reads.

    Args:
        files: The files of the grammar, read one after the other.
        start: The rule that a text must fit.
        builder: An object with a method for each rule; `Builder` or a subclass.
    """

    def __init__(self, files: list[Path], start: str, builder: Builder) -> None:
        # Lark takes a tenth of a second to load and to build the tables: not before it is needed.
        import lark

        self.builder = builder
        self.refusals: tuple[type[Exception], ...] = (lark.exceptions.UnexpectedInput,)
        self._lark = lark.Lark(
            "\n".join(file.read_text(encoding="utf-8") for file in files),
            start=start,
            parser="lalr",
            lexer="contextual",
            maybe_placeholders=True,
            transformer=builder,
        )
        self._parse: Callable[[str], Any] = self._lark.parse

    def parse(self, text: str) -> Any:
        """What the builder makes of `text`.

        Raises:
            SoqlError: The grammar refuses it.
        """
        self.builder.text = text
        try:
            return self._parse(text)
        except self.refusals as refusal:
            raise syntax_error(text, refusal, self.builder.code) from None


def syntax_error(text: str, refusal: Any, code: str = MALFORMED) -> SoqlError:
    """The error for the place at which the grammar could not go on."""
    offset = getattr(refusal, "pos_in_stream", None)
    token = getattr(refusal, "token", None)
    if token is not None and token.type == "$END":
        end = len(text.rstrip())
        return SoqlError(code, "unexpected token: '<EOF>'", text=text, offset=end)
    if offset is None or offset < 0:
        offset = token.start_pos if token is not None else 0
    if token is None and text[offset] == "'":
        detail = "mismatched character '<EOF>' expecting '''"
        return SoqlError(code, detail, text=text, offset=len(text))
    if getattr(refusal, "expected", None) == {"INTEGER", "BIND"} or (
        getattr(refusal, "allowed", None) == {"INTEGER", "BIND", "WS"}
    ):
        return SoqlError(
            code, f"expecting a colon, found '{text[offset]}'", text=text, offset=offset
        )
    word = WORD.match(text, offset)
    found = word.group() if word else text[offset]
    if token is None and not re.match(r"[\w(),.:=<>'+*-]", found):
        position = SoqlError(code, "", text=text, offset=offset).position
        row, column = (position.row, position.column) if position else (1, 1)
        detail = f"line {row}:{column - 1} no viable alternative at character '{found[0]}'"
        return SoqlError(code, detail, text=text, offset=offset)
    return SoqlError(code, f"unexpected token: '{found}'", text=text, offset=offset)


@cache
def _grammar() -> Grammar:
    return Grammar([GRAMMAR_FILE], "start", Builder())


def check_nesting(text: str) -> None:
    """Refuse parentheses so deep that no reader of trees could follow them.

    Raises:
        SoqlError: It is nested too deeply.
    """
    depth = 0
    for character in text:
        if character == "(":
            depth += 1
            if depth > MAX_NESTING:
                raise SoqlError(MALFORMED, "the query is nested too deeply")
        elif character == ")":
            depth -= 1


@lru_cache(maxsize=512)
def parse(text: str) -> ast.Query:
    """Parse one SOQL query.

    Args:
        text: The query. Names of objects and fields are not looked up.

    Raises:
        SoqlError: Salesforce would refuse it, whatever objects the org has.
    """
    if len(text) > MAX_CHARACTERS:
        raise SoqlError(
            MALFORMED, f"SOQL statements cannot be longer than {MAX_CHARACTERS} characters."
        )
    check_nesting(text)
    query: ast.Query = _grammar().parse(text)
    check_query(query, text)
    return query


def check(text: str) -> CheckResult:
    """Whether `text` is a SOQL query, whatever objects and fields it names."""
    try:
        parse(text)
    except SoqlError as error:
        return CheckResult(False, error.code, error.message, error.position)
    return CheckResult(True)
