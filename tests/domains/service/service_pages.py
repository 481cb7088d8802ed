"""The parts of docs/service.md that follow from the code: the test holds the page to them.

``python -m tests.service.service_pages`` writes them into the page again.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from typer.testing import CliRunner

from crmbench.cli import app
from crmbench.core.clock import WorldClock
from crmbench.core.schema import Row
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.tool import Param, Tool
from crmbench.domains.service.org import ServiceOrg, open_org
from crmbench.domains.service.schema import METADATA, OBJECTS, SCHEMA
from crmbench.domains.service.tools import TASK_TOOLS, WRITE_TOOLS, general
from crmbench.domains.service.world import ServiceWorld, generate
from crmbench.errors import CrmbenchError

PAGE = Path(__file__).parents[3] / "docs" / "service.md"
ADDED = "CaseComment"
"""The object that the published benchmark does not have."""
PUBLISHED = {
    "User": 152,
    "Account": 201,
    "Contact": 208,
    "Issue__c": 10,
    "Knowledge__kav": 45,
    "Product2": 501,
    "PricebookEntry": 22_000,
    "Order": 2_069,
    "OrderItem": 7_100,
    "Case": 977,
    "CaseHistory__c": 2_983,
    "EmailMessage": 3_241,
    "LiveChatTranscript": 774,
}
"""Row counts of the published org, of the objects for which there is one."""
ARTICLE_IDS = {"guiding": "ka0Hs000080000BIAQ", "goodwill": "ka0Hs0000800002IAA"}
KEPT, BROKEN, CHAT = "500Hs0000t0005kIAA", "500Hs0000t0001sIAA", "500Hs0000t000CeIAI"
MINUTES = re.compile(r"^\((?:\d+)m\) ", re.MULTILINE)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


@cache
def world() -> ServiceWorld:
    return generate()


@cache
def rows() -> Mapping[str, list[Row]]:
    """All rows of the default org."""
    found: dict[str, list[Row]] = {name: [] for name in OBJECTS}
    for name, chunk in world().stream():
        found[name] += chunk
    return found


def record(name: str, key: str) -> Row:
    (found,) = (row for row in rows()[name] if row["Id"] == key)
    return found


def related(name: str, field: str, key: str) -> list[Row]:
    return [row for row in rows()[name] if row[field] == key]


# --- tables ---------------------------------------------------------------------------------------


def diagram() -> str:
    """The schema in Mermaid's language."""
    lines = ["```mermaid", "erDiagram"]
    for table in METADATA.sorted_tables:
        for column in table.columns:
            for key in column.foreign_keys:
                one = "|o" if column.nullable else "||"
                lines.append(f"    {key.column.table.name} {one}--o{{ {table.name} : {column.name}")
    for name in OBJECTS:
        lines.append(f"    {name} {{")
        lines += [f"        {_attribute(column)}" for column in METADATA.tables[name].columns]
        lines.append("    }")
    return "\n".join([*lines, "```"])


def _attribute(column: sa.Column[Any]) -> str:
    kind = column.info.get("type", "string")
    mark = " PK" if column.primary_key else " FK" if column.foreign_keys else ""
    return f"{kind} {column.name}{mark}"


def counts() -> str:
    """Rows of the default org beside the published ones."""
    lines = ["| object | published | default org |", "|---|---:|---:|"]
    for name in OBJECTS:
        published = f"{PUBLISHED[name]:,}" if name in PUBLISHED else "no" if name == ADDED else "–"
        lines.append(f"| {name} | {published} | {len(rows()[name]):,} |")
    total = sum(map(len, rows().values()))
    return "\n".join([*lines, f"| all | | {total:,} |"])


def tools() -> str:
    """Every tool with its arguments; those that need not be given stand in brackets."""
    lines = ["| tool | arguments | does | what for |", "|---|---|---|---|"]
    for each in (*TASK_TOOLS, *general.QUERIES, *WRITE_TOOLS, *general.ENDING):
        arguments = ", ".join(map(_argument, each.params)) or "none"
        lines.append(f"| `{each.name}` | {arguments} | {_does(each)} | {_purpose(each)} |")
    return "\n".join(lines)


def _argument(param: Param) -> str:
    return param.name if param.required else f"[{param.name}]"


def _does(each: Tool) -> str:
    if each in general.ENDING:
        return "answers"
    return "writes" if each.writes else "reads"


def _purpose(each: Tool) -> str:
    """The first sentence of the tool's description, without examples."""
    sentence = re.split(r"(?<=\.) |, such as|; ", each.description)[0]
    return sentence.rstrip(".")


# --- samples --------------------------------------------------------------------------------------


def _block(*parts: str) -> str:
    return "\n".join(["```text", *"\n\n".join(parts).splitlines(), "```"])


def article(name: str) -> str:
    row = record("Knowledge__kav", ARTICLE_IDS[name])
    head = f"{row['Title']}   ({row['Id']})\n{row['Summary']}"
    return _block(head, str(row["FAQ_Answer__c"]).strip())


def thread(case_id: str) -> str:
    mails = related("EmailMessage", "ParentId", case_id)
    return _block(
        *(
            f"{m['MessageDate'][:16].replace('T', ' ')}  from {m['FromAddress']}\n"
            f"Subject: {m['Subject']}\n\n{m['TextBody']}"
            for m in mails
        )
    )


def chat(case_id: str) -> str:
    (found,) = related("LiveChatTranscript", "CaseId", case_id)
    return _block(str(found["Body"]))


def case(case_id: str) -> str:
    """A case, and under it what happened to it."""
    row = record("Case", case_id)
    fields = "\n".join(f"{name}: {value}" for name, value in row.items())
    history = "\n".join(
        f"{h['CreatedDate'][:19].replace('T', ' ')}  {h['Field__c']}"
        + (f"  {h['OldValue__c'] or 'nobody'} to {h['NewValue__c']}" if h["NewValue__c"] else "")
        for h in related("CaseHistory__c", "CaseId__c", case_id)
    )
    return _block(fields, history)


PARTS: Mapping[str, Callable[[], str]] = {
    "diagram": diagram,
    "counts": counts,
    "tools": tools,
    "article: guiding": lambda: article("guiding"),
    "article: goodwill": lambda: article("goodwill"),
    "thread: kept": lambda: thread(KEPT),
    "thread: broken": lambda: thread(BROKEN),
    "chat": lambda: chat(CHAT),
    "case": lambda: case(CHAT),
}


def part_pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {re.escape(name)} -->\n)(.*?)(\n<!-- end -->)", re.DOTALL)


# --- the query languages --------------------------------------------------------------------------


@cache
def org() -> ServiceOrg:
    """The default org, loaded."""
    database = SqliteBackend(SCHEMA).acquire(world())
    database.start(WorldClock(world().now, world().name))
    return open_org(database)


def asked(query: str) -> dict[str, Any]:
    """What the default org answers.

    Raises:
        SoqlError: The query is refused.
    """
    language = org().sosl if query.startswith("FIND") else org().soql
    return language.run(query, org().database.connection.execute, world().now).as_json()


# --- the command line -----------------------------------------------------------------------------


def replayed(block: str) -> str:
    """The block of a console with what its commands print now."""
    shown: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for command, printed in _commands(block):
            words = shlex.split(command)
            shown.append(f"$ {command}")
            if words[0] == "cat":
                (Path(folder) / words[1]).write_text(printed, encoding="utf-8")
                shown += printed.splitlines()
            else:
                shown += _output(words[1:], Path(folder))
    return "\n".join(shown) + "\n"


def _commands(block: str) -> list[tuple[str, str]]:
    """Each command of a console with what stands under it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, printed) for command, _, printed in (part.partition("\n") for part in parts)]


def _output(words: list[str], folder: Path) -> list[str]:
    words = [str(folder / word) if (folder / word).is_file() else word for word in words]
    result = CliRunner().invoke(app, words)
    output = result.output
    if isinstance(result.exception, CrmbenchError):
        output += f"error: {result.exception}\n"
    elif result.exception is not None:
        raise result.exception
    return [line.rstrip() for line in output.splitlines()]


def rewritten(page: str) -> str:
    """The page with all parts and consoles as they are now."""
    for name, make in PARTS.items():
        text = make()
        found = part_pattern(name).search(page)
        if found is None:
            raise SystemExit(f"docs/service.md has no part named '{name}'")
        page = f"{page[: found.start(2)]}{text}{page[found.end(2) :]}"
    for block in CONSOLE.findall(page):
        if block.startswith("$ "):
            page = page.replace(block, replayed(block))
    return page


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
