"""docs/service.md says what the code and the default org say."""

from __future__ import annotations

import re

import pytest
from tests.domains.service import service_pages as pages

from crmbench.domains.service.schema import METADATA, OBJECTS
from crmbench.domains.service.tools import TOOLBOX
from crmbench.domains.service.world import LATENTS, world_from_name
from crmbench.salesforce.soql.errors import SoqlError

TEXT = pages.PAGE.read_text(encoding="utf-8")
CONSOLES = [block for block in pages.CONSOLE.findall(TEXT) if block.startswith("$ ")]


@pytest.mark.parametrize("name", pages.PARTS)
def test_a_part_is_what_the_code_gives(name: str) -> None:
    found = pages.part_pattern(name).findall(TEXT)
    assert len(found) == 1, f"docs/service.md has {len(found)} parts named '{name}'"
    assert found[0][1] == pages.PARTS[name]()


@pytest.mark.parametrize("number", range(len(CONSOLES)))
def test_a_command_prints_what_the_page_shows(number: int) -> None:
    assert pages.replayed(CONSOLES[number]) == CONSOLES[number]


def test_the_page_has_consoles() -> None:
    assert len(CONSOLES) >= 4


def test_the_diagram_has_every_object_and_reference() -> None:
    drawn = pages.diagram()
    for name in OBJECTS:
        assert f"    {name} {{\n        id Id PK\n" in drawn
    references = [
        f"{key.column.table.name} .*{table.name} : {column.name}$"
        for table in METADATA.sorted_tables
        for column in table.columns
        for key in column.foreign_keys
    ]
    assert len(references) == len(re.findall(r"--o\{", drawn))
    assert all(re.search(reference, drawn, re.MULTILINE) for reference in references)


def test_row_counts_are_near_the_published_ones() -> None:
    for name, published in pages.PUBLISHED.items():
        assert abs(len(pages.rows()[name]) - published) <= 0.03 * published, name


def test_every_tool_is_in_the_table() -> None:
    named = re.findall(r"^\| `(\w+)`", pages.tools(), re.MULTILINE)
    assert sorted(named) == sorted(TOOLBOX.by_name)


def test_every_latent_is_explained() -> None:
    named = re.findall(r"^\| `(\w+)` \|", TEXT.split("## Latent variables")[1], re.MULTILINE)
    assert named[: len(LATENTS)] == list(LATENTS)


def test_the_worlds_that_the_page_names_exist() -> None:
    names = set(re.findall(r"`(org-[\w.+-]+)`", TEXT))
    assert len(names) >= 4
    for name in names:
        assert world_from_name(name).name == name


def test_the_threads_keep_and_break_what_the_page_says() -> None:
    violations = pages.world().latents().policy_violations
    assert pages.KEPT not in violations
    assert pages.CHAT not in violations
    assert violations[pages.BROKEN].article == pages.ARTICLE_IDS["guiding"]
    assert violations[pages.BROKEN].rule == "no_outside_sources"


def test_every_refused_query_of_the_page_is_refused_with_its_code() -> None:
    table = TEXT.split("### Error codes")[1].split("\n## ")[0]
    shown = re.findall(r"^\| `([A-Z_]+)` \|.*\| `((?:SELECT|FIND) [^`]*)` \|$", table, re.MULTILINE)
    assert len(shown) >= 8
    for code, query in shown:
        with pytest.raises(SoqlError) as refused:
            pages.asked(query)
        assert refused.value.code == code, query


def test_every_query_that_the_page_says_is_executed_is() -> None:
    part = TEXT.split("### What is executed")[1].split("\n### ")[0]
    shown = re.findall(r"`(SELECT [^`]*|FIND [^`]*)`", part)
    assert len(shown) >= 12
    for query in shown:
        assert pages.asked(query), query


def test_every_query_that_the_page_says_is_only_parsed_is() -> None:
    part = TEXT.split("### What is only parsed")[1].split("\n### ")[0]
    shown = re.findall(r"`(SELECT [^`]*|FIND [^`]*)`", part)
    assert len(shown) >= 4
    for query in shown:
        with pytest.raises(SoqlError, match=r"parsed but not executed|only allowed in Apex"):
            pages.asked(query)
