"""``crmbench db``: leave a world's records in a PostgreSQL server, and take them away again."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Annotated

import typer

from crmbench.cli import options as o

World = Annotated[
    str, typer.Argument(help="A world of the domain, such as harbour-01 of sales or org-42.")
]
Domain = Annotated[str, typer.Option("--domain", help="sales, service or an installed one.")]
SchemaName = Annotated[
    str | None,
    typer.Option("--schema", help="The schema's name; the world's with underscores if left out."),
]

db = typer.Typer(
    help="Leave a world's records in the PostgreSQL server of DATABASE_URL, to look at with psql.",
    no_args_is_help=True,
)


@db.command("load")
def load(
    world: World,
    domain: Domain = "sales",
    schema: SchemaName = None,
    replace: Annotated[bool, typer.Option("--replace", help="Write over what is there.")] = False,
    as_json: o.AsJson = False,
) -> None:
    """Write a world's records into a schema of the server.

    Examples:

      crmbench db load harbour-01

      crmbench db load org-42 --domain service --replace
    """
    from crmbench.cli.console import print_json, say
    from crmbench.core.postgres_keep import keep_world, schema_name
    from crmbench.domains.registry import load_domain

    found = load_domain(domain)
    name = schema_name(schema or world)
    counts = keep_world(_url(), found.schema, found.world(world), name, replace=replace)
    if as_json:
        print_json({"schema": name, "rows": counts})
        return
    for table, count in counts.items():
        say(f"{count:>9,}  {table}")
    say(f"{sum(counts.values()):,} rows in the schema {name}. To look at them:")
    say(f"  PGOPTIONS='-c search_path={name}' psql \"$DATABASE_URL\"")


@db.command("drop")
def drop(
    world: Annotated[str, typer.Argument(help="The world, or the schema that db load named.")],
    as_json: o.AsJson = False,
) -> None:
    """Drop a world that db load wrote; no other schema is touched.

    Examples:

      crmbench db drop harbour-01
    """
    from crmbench.cli.console import print_json, say
    from crmbench.core.postgres_keep import drop_world, schema_name

    name = schema_name(world)
    drop_world(_url(), name)
    if as_json:
        print_json({"dropped": name})
    else:
        say(f"dropped {name}")


@db.command("list")
def list_(as_json: o.AsJson = False) -> None:
    """Name the worlds that db load wrote.

    Examples:

      crmbench db list
    """
    from crmbench.cli.console import print_json, say
    from crmbench.core.postgres_keep import kept_worlds

    names = kept_worlds(_url())
    if as_json:
        print_json({"schemas": names})
    else:
        say("\n".join(names) or "none")


def _url() -> str:
    """The server's address.

    Raises:
        InputError: None is set.
        MissingExtraError: The driver is not installed.
    """
    from crmbench.errors import InputError, MissingExtraError

    url = os.environ.get("DATABASE_URL", "").strip()
    if not url:
        raise InputError(
            "no server is named, and an embedded one would go with this command",
            field="DATABASE_URL",
            expected="postgresql://USER:PASSWORD@HOST/DATABASE, such as that of compose.yaml",
        )
    if find_spec("psycopg") is None:
        raise MissingExtraError("postgres", "PostgreSQL")
    return url


def register(app: typer.Typer) -> None:
    app.add_typer(db, name="db")
