"""``crmbench soql``: ask a service org, or check which queries parse."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from crmbench.cli import options as o
from crmbench.language.counts import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STANDARD_INPUT = "-"
INVALID_LINE = "INVALID_LINE"
MAX_CELL = 60
"""Characters of a value that a table shows."""
PIPE_WIDTH = 1_000


def soql(
    query: Annotated[
        str | None, typer.Argument(help="The query, in quotes; or a SOSL search (FIND …).")
    ] = None,
    world: Annotated[
        str | None, typer.Option("--world", help="The org to ask; the default one if left out.")
    ] = None,
    output: Annotated[
        Literal["table", "json"], typer.Option("--format", help="How to print the records.")
    ] = "table",
    as_json: o.AsJson = False,
    check: Annotated[
        str | None,
        typer.Option(
            "--check",
            help="Only say which queries parse, whatever objects they name: a file with one JSON "
            "string a line, '-' for standard input. One JSON object a line comes out.",
        ),
    ] = None,
) -> None:
    """Ask the service org a SOQL query, or check which queries parse.

    The org is generated in memory and nothing is kept. A query that is refused ends with exit
    code 2; with --check the exit code is 0 whatever the queries are like.

    Examples:

      crmbench soql "SELECT Status, COUNT(Id) cases FROM Case GROUP BY Status"

      crmbench soql "SELECT Id, Subject FROM Case WHERE CreatedDate = LAST_N_DAYS:30" --json

      crmbench soql "FIND {warranty} RETURNING Knowledge__kav(Id, Title)"

      crmbench soql --check queries.jsonl
    """
    from crmbench.errors import InputError

    if (query is None) == (check is None):
        raise InputError(
            "nothing to do" if query is None else "a query and --check at once",
            expected="a query in quotes, or --check FILE",
        )
    if check is not None:
        _check(check)
    elif query is not None:
        _ask(query, world, as_json or output == "json")


# --- asking ---------------------------------------------------------------------------------------


def _ask(query: str, world: str | None, as_json: bool) -> None:
    from crmbench.cli.console import if_interrupted, print_json
    from crmbench.domains.service.console import ask
    from crmbench.errors import InputError, ToolError

    try:
        with if_interrupted("a query keeps nothing"):
            result = ask(query, world)
    except ToolError as refused:
        raise InputError(refused.text) from refused
    if as_json:
        print_json(result)
    else:
        _print_table(result)


def _print_table(result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from crmbench.cli.console import say

    records = result.get("records", result.get("searchRecords", []))
    if records:
        rows = [dict(_cells(record)) for record in records]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        table = Table(box=None, header_style="bold", pad_edge=False)
        for name in columns:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*(Text(row.get(name, "")) for name in columns))
        # What reads a pipe has no lines to break.
        Console(width=None if sys.stdout.isatty() else PIPE_WIDTH).print(table)
    total = result.get("totalSize", len(records))
    say(counted(total, "record"))


def _cells(record: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The values of a record by column; a parent's under its path, a child query's as a count."""
    for name, value in record.items():
        if name == "attributes":
            if not prefix:
                yield "type", str(value["type"])
        elif isinstance(value, dict) and "totalSize" in value:
            yield prefix + name, f"({counted(value['totalSize'], 'record')})"
        elif isinstance(value, dict):
            yield from _cells(value, f"{prefix}{name}.")
        else:
            text = "" if value is None else " ".join(str(value).split())
            yield prefix + name, text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


# --- checking -------------------------------------------------------------------------------------


def _check(file: str) -> None:
    import orjson

    for line in _lines(file):
        sys.stdout.write(orjson.dumps(_verdict(line)).decode() + "\n")


def _lines(file: str) -> Iterable[bytes]:
    from crmbench.errors import InputError

    if file == STANDARD_INPUT:
        return sys.stdin.buffer
    try:
        return Path(file).read_bytes().splitlines()
    except OSError as error:
        raise InputError(error.strerror or str(error), file=file) from error


def _verdict(line: bytes) -> dict[str, Any]:
    """Whether the query of one line parses, and if not, why and where."""
    import orjson

    from crmbench.salesforce.soql.parser import check

    try:
        text = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _invalid(f"the line is not JSON: {error}")
    if not isinstance(text, str):
        return _invalid(f"the line holds {_JSON_NAMES[type(text)]} where a JSON string should be")
    result = check(text)
    if result.ok:
        return {"ok": True}
    place = result.position
    position = place and {"row": place.row, "column": place.column, "offset": place.offset}
    return {"ok": False, "code": result.code, "message": result.message, "position": position}


_JSON_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    type(None): "null",
}


def _invalid(message: str) -> dict[str, Any]:
    return {"ok": False, "code": INVALID_LINE, "message": message, "position": None}


def register(app: typer.Typer) -> None:
    app.command("soql")(soql)
