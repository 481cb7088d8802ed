"""SOSL: the same records from both databases as from a search by hand; the index follows writes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from tests.salesforce.soql_org import NOW, Data, Org, PostgresOrg, SqliteOrg, catalog, make_data

from crmbench.salesforce.soql.errors import SoqlError
from crmbench.salesforce.sosl.engine import Sosl
from crmbench.salesforce.sosl.index import GROUPS, SCOPES, create_index, drop_index, group_of
from crmbench.salesforce.sosl.words import (
    MARKS,
    MAX_WORDS,
    Choice,
    Combination,
    Term,
    TooManyWordsError,
    expanded,
    parse_words,
    words_of,
)


def test_words_of_a_text() -> None:
    assert words_of("Mr. O'Neil — A@x.ORG 3.5") == ["mr", "o", "neil", "a", "x", "org", "3", "5"]
    assert words_of("Ångström’s") == ["Ångström", "s"]


def test_precedence_of_the_operators() -> None:
    one, two, three = Term(("one",)), Term(("two",)), Term(("three",))
    assert parse_words("one OR two three") == Combination("or", one, Combination("and", two, three))
    assert parse_words("one AND NOT two OR three") == Combination(
        "or", Combination("not", one, two), three
    )
    assert parse_words('"one two*"') == Term(("one", "two*"))


# --- on the org -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data() -> Data:
    return make_data()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def org(request: pytest.FixtureRequest, data: Data) -> Iterator[Org]:
    if request.param == "sqlite":
        found: Org = SqliteOrg(data)
        index(found)
        yield found
        return
    from crmbench.core.postgres import EmbeddedServer

    server = EmbeddedServer()
    try:
        found = PostgresOrg(data, server.url)
        index(found)
        yield found
        found.raw.close()
    finally:
        server.stop()


def index(org: Org) -> None:
    for statement in create_index(catalog(), org.dialect.name):
        org.execute(statement)


def search(org: Org, text: str) -> list[dict[str, Any]]:
    result = Sosl(catalog(), org.dialect).run(text, org.execute, NOW, attributes=False)
    return [record for found in result.found for record in found.records]


def hand(row: dict[str, Any], wanted: Any, scope: str) -> bool:
    """Whether a record fits, by looking through its fields word by word."""
    kinds = {"Id", "CreatedDate", "ClosedDate", "Since__c", "EffectiveDate"}
    fields = [
        words_of(v)
        for f, v in row.items()
        if isinstance(v, str) and f not in kinds and not f.endswith("Id") and f != "IssueId__c"
        and group_of(f) in SCOPES[scope]
    ]  # fmt: skip
    return bool(wanted(fields))


def has(*words: str) -> Any:
    def test(fields: list[list[str]]) -> bool:
        return any(
            all(fits(w, f[at + i]) for i, w in enumerate(words))
            for f in fields
            for at in range(len(f) - len(words) + 1)
        )

    return test


def fits(pattern: str, word: str) -> bool:
    if not pattern:
        return not word
    if pattern[0] == "*":
        return any(fits(pattern[1:], word[i:]) for i in range(len(word) + 1))
    return bool(word) and pattern[0] in ("?", word[0]) and fits(pattern[1:], word[1:])


def draw(rng: random.Random) -> tuple[str, Any]:
    """A search text and a test of a record's words, drawn together."""
    words = "broken ZIP heel late acme miller neil first order please bro* zi? *elivery d*y h?el"
    words += " org 50 Åbc nothing"
    way = rng.random()
    if way < 0.5:
        word = rng.choice(words.split())
        plain = word.lstrip("*").lower().replace("å", "Å")
        return word, has(plain)
    if way < 0.65:
        first, second = rng.choice(
            [("broken", "zip"), ("first", "day"), ("acme", "two"), ("o", "neil"), ("wrong", "heel")]
        )
        return f'"{first} {second}"', has(first, second)
    (a, in_a), (b, in_b) = draw(rng), draw(rng)
    op = rng.choice(["AND", "OR", "AND NOT", ""])
    tests = {
        "AND": lambda f: in_a(f) and in_b(f),
        "": lambda f: in_a(f) and in_b(f),
        "OR": lambda f: in_a(f) or in_b(f),
        "AND NOT": lambda f: in_a(f) and not in_b(f),
    }
    return f"({a}) {op} ({b})", tests[op]


def test_random_searches_agree_with_a_search_by_hand(org: Org, data: Data) -> None:
    rng = random.Random(5)
    filled = 0
    for _ in range(400):
        text, wanted = draw(rng)
        scope = rng.choice(["all", "all", "name", "email"])
        name = rng.choice(["Account", "Contact", "Case"])
        found = search(org, f"FIND {{{text}}} IN {scope} FIELDS RETURNING {name}(Id)")
        expected = sorted(r["Id"] for r in data[name] if hand(r, wanted, scope))
        assert [r["Id"] for r in found] == expected, (text, scope, name)
        filled += bool(expected)
    assert filled > 50


def test_where_order_limit_and_parents(org: Org, data: Data) -> None:
    found = search(
        org,
        "FIND {broken} RETURNING Case(Id, Subject, Owner.LastName WHERE Status = 'new' "
        "ORDER BY Subject DESC LIMIT 3), Contact(Id LIMIT 1)",
    )
    broken = [r for r in data["Case"] if "broken" in words_of(r["Subject"])]
    new = sorted((r for r in broken if r["Status"] == "New"), key=lambda r: r["Id"])
    new.sort(key=lambda r: r["Subject"].lower(), reverse=True)
    assert [r["Id"] for r in found] == [r["Id"] for r in new[:3]]
    assert set(found[0]) == {"Id", "Subject", "Owner"}


def test_all_objects_are_searched_without_returning(org: Org) -> None:
    found = Sosl(catalog(), org.dialect).run("FIND {acme} LIMIT 4", org.execute, NOW)
    answer = found.as_json()["searchRecords"]
    assert len(answer) == 4
    assert all(set(r) == {"attributes", "Id"} for r in answer)


def test_the_index_follows_writes(org: Org) -> None:
    def found() -> list[str]:
        return [r["Id"] for r in search(org, 'FIND {"quokka parade"} RETURNING Account(Id)')]

    new = "001000000000999AAA"
    assert found() == []
    created = "2026-01-01T00:00:00.000+0000"
    org.execute(
        f"""INSERT INTO "Account" ("Id", "Name", "CreatedDate")
        VALUES ('{new}', 'The Quokka-Parade', '{created}')"""
    )
    assert found() == [new]
    org.execute(f"""UPDATE "Account" SET "Name" = 'Parade Quokka' WHERE "Id" = '{new}'""")
    assert found() == []
    org.execute(f"""UPDATE "Account" SET "City__c" = 'quokka parade' WHERE "Id" = '{new}'""")
    assert found() == [new]
    org.execute(f"""DELETE FROM "Account" WHERE "Id" = '{new}'""")
    assert found() == []


def test_the_index_can_be_dropped_and_made_again(org: Org) -> None:
    for statement in drop_index(catalog(), org.dialect.name):
        org.execute(statement)
    index(org)
    assert search(org, "FIND {acme} RETURNING Account(Name LIMIT 1)")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("FIND {acme} WITH DIVISION = 'x'", "UNSUPPORTED_QUERY"),
        ("FIND {acme} RETURNING Nope", "INVALID_TYPE"),
        ("FIND {acme} RETURNING Account(Nope)", "INVALID_FIELD"),
        ("FIND {acme} RETURNING Account(Name USING ListView=x)", "UNSUPPORTED_QUERY"),
        ("FIND :term", "MALFORMED_QUERY"),
    ],
)
def test_refused_by_the_org(org: Org, text: str, code: str) -> None:
    with pytest.raises(SoqlError) as caught:
        search(org, text)
    assert caught.value.code == code


def test_hostile_text_is_only_words(org: Org) -> None:
    for text in ["'; DROP TABLE x --", "names : acme", "acme*:A & b", 'a"b"cd', "acme) OR (x1"]:
        with suppress(SoqlError):
            search(org, f"FIND {{{text}}} RETURNING Account(Id)")
    assert len(org.execute('SELECT "Id" FROM "Account"')) == 25


def test_groups_and_marks_are_what_the_index_says() -> None:
    assert [group_of(f) for f in ("LastName", "Email", "MobilePhone", "Body")] == list(GROUPS)
    assert len(set(MARKS)) == len(MARKS)


def spelled(text: str, *known: str) -> Any:
    return expanded(parse_words(text), lambda stem: [w for w in known if w.startswith(stem)])


def test_wildcards_are_spelled_out_from_the_words_of_the_index() -> None:
    assert spelled("b?g", "bag", "big", "bring") == Choice((Term(("bag",)), Term(("big",))))
    assert spelled("b?g", "bring") is None
    assert spelled("br*g", "bring") == Term(("bring",))
    assert spelled("bri*") == Term(("bri*",))
    assert spelled('"br* ri*"', "bring", "ring") == Term(("bring", "ri*"))
    assert spelled("b?g OR ring", "x") == Term(("ring",))
    assert spelled("b?g AND ring", "x") is None
    assert spelled("ring AND NOT b?g", "x") == Term(("ring",))
    assert spelled("b?g AND NOT ring", "x") is None
    with pytest.raises(TooManyWordsError):
        spelled("b*g", *(f"b{n}g" for n in range(MAX_WORDS + 1)))


def test_wildcards_for_very_many_words_find_the_same(data: Data) -> None:
    org = SqliteOrg(data)
    index(org)
    rows = [(f"001{n:015d}", f"w{n}x w{n}y") for n in range(MAX_WORDS + 200)]
    for key, name in rows:
        org.execute(
            f"""INSERT INTO "Account" ("Id", "Name", "CreatedDate")
            VALUES ('{key}', '{name}', '2026-01-01T00:00:00.000+0000')"""
        )
    found = search(org, "FIND {w*x} RETURNING Account(Id)")
    assert [record["Id"] for record in found] == [key for key, _ in rows]
    assert len(search(org, "FIND {w11*x} RETURNING Account(Id)")) == 111
