"""Comparing effects: what is missing, wrong, too much, or on the wrong record."""

from __future__ import annotations

from typing import Any

import pytest

from crmbench.core.journal import Change, Effect
from crmbench.domains.sales.schema import SCHEMA
from crmbench.grading.state import compare_effects, values_equal


def row(table: str, key: str, **fields: Any) -> dict[str, Any]:
    info = SCHEMA[table]
    return {**dict.fromkeys(info.columns), info.key: key, **fields}


def created(table: str, key: str, **fields: Any) -> Change:
    return Change(table, key, None, row(table, key, **fields))


def updated(table: str, key: str, before: dict[str, Any], **changes: Any) -> Change:
    old = row(table, key, **before)
    return Change(table, key, old, {**old, **changes})


def deleted(table: str, key: str) -> Change:
    return Change(table, key, row(table, key), None)


def kinds(gold: Effect, got: Effect) -> list[str]:
    return [mismatch.kind for mismatch in compare_effects(SCHEMA, gold, got)]


DEAL = {"name": "Deal", "amount": 100.0, "stage": "Proposal", "client_id": "c1"}


def test_equal_effects_agree_whatever_the_ids_and_times() -> None:
    gold = (created("Opportunity", "o1", **DEAL, created_at="now", seq=4),)
    got = (created("Opportunity", "zz", **DEAL, created_at="later", seq=9),)
    assert kinds(gold, got) == []
    assert kinds((), ()) == []


def test_created_chains_are_matched_by_content() -> None:
    def chain(deal: str, quote: str, amount: float, other: str) -> Effect:
        return (
            created("Opportunity", deal, **DEAL),
            created("Opportunity", other, **{**DEAL, "name": "Second"}),
            created("Quote", quote, opportunity_id=deal, amount=amount, status="Draft"),
        )

    gold = chain("o1", "q1", 5.0, "o2")
    assert kinds(gold, chain("x", "y", 5.0, "z")) == []
    assert kinds(gold, chain("x", "y", 6.0, "z")) == ["wrong_field"]
    swapped = (
        created("Opportunity", "x", **DEAL),
        created("Opportunity", "z", **{**DEAL, "name": "Second"}),
        created("Quote", "y", opportunity_id="z", amount=5.0, status="Draft"),
    )
    (mismatch,) = compare_effects(SCHEMA, gold, swapped)
    assert mismatch.field == "opportunity_id"


def test_what_is_missing_wrong_and_too_much_is_named() -> None:
    gold = (updated("Opportunity", "o1", DEAL, stage="Negotiation", amount=120.0),)
    assert kinds(gold, ()) == ["missing_write"]
    half = (updated("Opportunity", "o1", DEAL, stage="Negotiation"),)
    (mismatch,) = compare_effects(SCHEMA, gold, half)
    assert (mismatch.kind, mismatch.field, mismatch.expected, mismatch.got) == (
        "wrong_field",
        "amount",
        120.0,
        100.0,
    )
    more = (*gold, created("Note", "n", entity_type="Client", entity_id="c1", content="x"))
    assert kinds(gold, more) == ["extra_write"]
    assert kinds(more, gold) == ["missing_write"]


def test_a_write_on_another_record_is_called_so() -> None:
    gold = (updated("Opportunity", "o1", DEAL, stage="Negotiation"),)
    astray = (updated("Opportunity", "o2", DEAL, stage="Negotiation"),)
    assert sorted(kinds(gold, astray)) == ["missing_write", "wrong_record"]
    assert sorted(kinds((deleted("Quote", "q1"),), (deleted("Quote", "q2"),))) == [
        "missing_write",
        "wrong_record",
    ]


def test_deleting_is_not_updating() -> None:
    gold = (updated("Opportunity", "o1", DEAL, stage="Closed-Lost"),)
    assert kinds(gold, (deleted("Opportunity", "o1"),)) != []
    assert kinds((deleted("Opportunity", "o1"),), gold) != []


def test_writing_the_same_twice_is_too_much() -> None:
    one = created("Quote", "a", opportunity_id="o", amount=5.0, status="Draft")
    two = created("Quote", "b", opportunity_id="o", amount=5.0, status="Draft")
    assert kinds((one,), (one, two)) == ["extra_write"]
    assert kinds((one, two), (two,)) == ["missing_write"]


def test_free_text_is_left_to_the_facts() -> None:
    gold = (created("Note", "n", entity_type="Client", entity_id="c1", content="Asked for more"),)
    got = (created("Note", "m", entity_type="Client", entity_id="c1", content="Wants more"),)
    assert kinds(gold, got) == []
    assert kinds((updated("Opportunity", "o", DEAL, notes="a"),), ()) == []


def test_free_text_that_nobody_asked_for_is_a_fault() -> None:
    gold = (updated("Contact", "c", {"title": "CFO", "notes": "do not share"}, title="CEO"),)
    also = (
        updated("Contact", "c", {"title": "CFO", "notes": "do not share"}, title="CEO", notes=""),
    )
    (mismatch,) = compare_effects(SCHEMA, gold, also)
    assert (mismatch.kind, mismatch.field) == ("wrong_field", "notes")
    alone = (updated("Contact", "c", {"notes": "do not share"}, notes="Is being treated"),)
    assert kinds((), alone) == ["extra_write"]
    new = (created("Opportunity", "o", **DEAL),)
    with_notes = (created("Opportunity", "x", **DEAL, notes="Budget 5,000"),)
    (mismatch,) = compare_effects(SCHEMA, new, with_notes)
    assert (mismatch.kind, mismatch.field, mismatch.got) == ("wrong_field", "notes", "Budget 5,000")
    assert kinds(with_notes, (created("Opportunity", "y", **DEAL, notes="Other words"),)) == []


def test_of_two_rows_alike_the_one_that_may_have_text_can_be_either() -> None:
    gold = (
        created("Opportunity", "a", **DEAL, notes="x"),
        created("Opportunity", "b", **DEAL),
    )
    got = (
        created("Opportunity", "p", **DEAL),
        created("Opportunity", "q", **DEAL, notes="y"),
    )
    assert kinds(gold, got) == []
    both = (created("Opportunity", "p", **DEAL, notes="z"), got[1])
    assert kinds(gold, both) == ["wrong_field"]


def test_what_a_rule_leaves_free_is_free_on_new_rows_only() -> None:
    quote = {"opportunity_id": "o", "amount": 5.0, "status": "Draft", "name": "Deal v1"}
    gold = (created("Quote", "a", **quote),)
    assert kinds(gold, (created("Quote", "b", **quote, quote_prefix="Q-"),)) == []
    assert kinds((), (updated("Quote", "a", quote, quote_prefix="Q-"),)) == ["extra_write"]


def test_nobody_dates_a_record_back() -> None:
    day, older = "2026-05-03T09:00:00Z", "2020-01-01T09:00:00Z"
    gold = (created("Opportunity", "a", **DEAL, created_at=day),)
    later = (created("Opportunity", "b", **DEAL, created_at="2026-05-03T09:00:07Z"),)
    assert kinds(gold, later) == []
    (mismatch,) = compare_effects(
        SCHEMA, gold, (created("Opportunity", "b", **DEAL, created_at=older),)
    )
    assert (mismatch.kind, mismatch.field) == ("wrong_field", "created_at")
    known = {**DEAL, "created_at": day}
    assert kinds((), (updated("Opportunity", "o", known, created_at=older),)) == ["extra_write"]


def test_titles_are_the_same_with_and_without_legal_forms() -> None:
    gold = (created("Opportunity", "a", **{**DEAL, "name": "Watermark Nurseries KG - Cooling"}),)
    got = (created("Opportunity", "b", **{**DEAL, "name": "Watermark Nurseries - cooling"}),)
    assert kinds(gold, got) == []
    other = (created("Opportunity", "b", **{**DEAL, "name": "Watermark - Cooling"}),)
    assert kinds(gold, other) == ["wrong_field"]


@pytest.mark.parametrize(
    ("compare", "one", "two", "equal"),
    [
        ("money", 10.0, 10.004, True),
        ("money", 10.0, 10.01, False),
        ("number", 1_000_000, 1_000_000.5, True),
        ("number", 1_000_000, 1_000_010, False),
        ("text", "Größe  AG ", "größe ag", True),
        ("text", "Café", "Cafe\u0301", True),
        ("text", "Acme", "Acme Inc", False),
        ("text", None, "", True),
        ("title", "Oksanen Paper, Inc. - Pilot v2", "Oksanen Paper - Pilot v2", True),
        ("title", "Co Design - Pilot", "Design - Pilot", False),
        ("exact", "Draft", "draft", False),
        ("exact", "2026-05-01", "2026-05-01", True),
    ],
)
def test_values_are_compared_as_their_column_declares(
    compare: Any, one: Any, two: Any, equal: bool
) -> None:
    assert values_equal(compare, one, two) is equal
    assert values_equal(compare, two, one) is equal
