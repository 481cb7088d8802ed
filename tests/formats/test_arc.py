"""Arc conversations: read with every complaint in its place, and written back without loss."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmbench.core.fact import Fact
from crmbench.core.task import Clarification, Gold, GoldCall, GoldTurn, Task, Turn
from crmbench.core.task import Path as GoldPath
from crmbench.core.trace import CallRecord
from crmbench.errors import InputError
from crmbench.formats import jsonl
from crmbench.formats.arc import load, parse_conversation, save, save_tasks, task_from
from crmbench.formats.arc_tasks import task_to_data
from crmbench.grading.gold import ReferenceFault, resolve_references


def conversation(**changes: Any) -> dict[str, Any]:
    turn = {
        "turn_id": 1,
        "user_utterance": "Find Acme",
        "expected_tool": "client_search",
        "expected_args": {"name": "Acme"},
    }
    return {"conversation_id": "a", "turns": [turn], **changes}


def with_turn(**changes: Any) -> dict[str, Any]:
    data = conversation()
    data["turns"][0] |= changes
    return data


def write(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name", ["evaluation_400.jsonl", "chains_with_failures_120.jsonl", "longturn_50.jsonl"]
)
def test_published_files_go_round_without_loss(arc_data: Path, tmp_path: Path, name: str) -> None:
    source = arc_data / name
    loaded = load(source)
    assert loaded.skipped == ()
    save(tmp_path / name, loaded.conversations)
    before = [orjson.loads(line) for line in source.read_bytes().splitlines() if line.strip()]
    after = [orjson.loads(line) for line in (tmp_path / name).read_bytes().splitlines()]
    assert after == before


FACT = "turns[0].crmbench.facts[0]"
BAD = [
    ({"conversation_id": "a"}, "turns", "is missing"),
    (conversation(colour=1), "colour", "is not a field"),
    (conversation(turns=[]), "turns", "at least 1 item"),
    (conversation(turns="none"), "turns", "got 'none'"),
    (conversation(conversation_id=7), "conversation_id", "got 7"),
    (conversation(complexity_level="hard"), "complexity_level", "got 'hard'"),
    (conversation(contains_failure="no"), "contains_failure", "got 'no'"),
    (with_turn(turn_id=2), "turns[0].turn_id", "is 2 in the turn at place 1"),
    (with_turn(expected_args=[1]), "turns[0].expected_args", "got [1]"),
    (with_turn(user_utterance=None), "turns[0].user_utterance", "got None"),
    (
        with_turn(expected_args={"a": ["{{turn_1.id}}"]}),
        "turns[0].expected_args",
        "refers to turn 1",
    ),
    (
        conversation(initial_entities={"seed_data": {"Kangaroo": {}}}),
        "initial_entities.seed_data.Kangaroo",
        "is not an entity",
    ),
    (with_turn(crmbench={"facts": [{"kind": "colour", "value": 1}]}), FACT + ".kind", "'colour'"),
    (with_turn(crmbench={"facts": [{"kind": "money", "value": "x"}]}), FACT, "not a fact"),
    (
        with_turn(crmbench={"facts": [{"kind": "name", "value": "x", "lable": "y"}]}),
        FACT + ".lable",
        "did you mean 'label'?",
    ),
    (
        with_turn(
            crmbench={"facts": [{"kind": "list", "value": [{"kind": "money", "valu": 1}]}]}
        ),
        FACT + ".value[0].value",
        "is missing (and 1 more)",
    ),
    (with_turn(crmbench={"fact": []}), "turns[0].crmbench.fact", "did you mean 'facts'?"),
    (with_turn(crmbench={"calls": [{"tol": "x"}]}), "turns[0].crmbench.calls[0].tool", "missing"),
    (with_turn(crmbench={"clarification": 7}), "turns[0].crmbench.clarification", "is no object"),
    (
        with_turn(crmbench={"clarification": {"answer": "x", "abuot": []}}),
        "turns[0].crmbench.clarification.about",
        "is missing",
    ),
    (
        with_turn(crmbench={"answer": {"kind": "month", "values": ["Mai"]}}),
        "turns[0].crmbench.answer",
        "not an answer",
    ),
    (conversation(crmbench={"paths": [1]}), "crmbench.paths[0]", "is no object"),
    (
        conversation(crmbench={"paths": [{"turns": [[{"tool": "x"}]], "note": ""}]}),
        "crmbench.paths[0].turns[0][0].arguments",
        "is missing",
    ),
    (conversation(crmbench={"tag": []}), "crmbench.tag", "did you mean 'tags'?"),
    (conversation(crmbench={"grading": "sate"}), "crmbench.grading", "did you mean 'state'?"),
    (conversation(crmbench={"domain": "sale"}), "crmbench.domain", "did you mean 'sales'?"),
    (
        conversation(
            turns=[
                {**conversation()["turns"][0], "expected_tool": "client_serch"},
            ],
            crmbench={"grading": "state"},
        ),
        "turns[0].crmbench.calls[0].tool",
        "did you mean 'client_search'?",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("data", "field", "words"), BAD)
def test_what_is_wrong_is_said_with_file_line_and_field(
    tmp_path: Path, data: dict[str, Any], field: str, words: str
) -> None:
    path = write(tmp_path / "bad.jsonl", conversation(conversation_id="good"), data)
    with pytest.raises(InputError) as caught:
        load(path)
    error = caught.value
    assert (error.file, error.line) == (str(path), 2)
    assert error.field is not None
    assert error.field.startswith(field)
    assert words in error.message
    assert error.expected
    skipping = load(path, skip_invalid=True)
    assert [c.conversation_id for c in skipping.conversations] == ["good"]
    assert len(skipping.skipped) == 1


def test_a_tool_that_is_not_there_stays_a_fault_of_a_file_without_our_gold(tmp_path: Path) -> None:
    path = write(tmp_path / "arc.jsonl", with_turn(expected_tool="client_serch"))
    assert load(path).tasks()[0].gold.turns[0].calls[0].tool == "client_serch"


def test_a_line_that_is_not_utf8_says_where(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes(b'{"conversation_id": "caf\xe9"}\n')
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(caught.value) == (
        f"{path}:1: not UTF-8: byte 0xe9 at byte 25 of the line; expected text in UTF-8"
    )


def test_what_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(data: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("orjson.dumps", full)
    with pytest.raises(InputError, match="No space left"):
        jsonl.write_lines(tmp_path / "x.jsonl", iter([{}]))
    assert list(tmp_path.iterdir()) == []


def test_the_same_id_twice_names_both_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "twice.jsonl", conversation(), conversation())
    with pytest.raises(InputError, match="is the id of line 1 too") as caught:
        load(path)
    assert caught.value.line == 2


@pytest.mark.parametrize("text", ["", "\n\n", "   \n"])
def test_an_empty_file_is_no_data_set(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="holds no conversation"):
        load(path)


def test_missing_files_and_directories_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            load(path)


def test_a_line_of_a_hundred_megabytes_is_refused_and_can_be_skipped(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.write(orjson.dumps(conversation(conversation_id="first")) + b"\n")
        for _ in range(100):
            file.write(b"x" * 2**20)
        file.write(b"\n" + orjson.dumps(conversation(conversation_id="last")) + b"\n")
    with pytest.raises(InputError, match="longer than 32 MiB") as caught:
        load(path)
    assert caught.value.line == 2
    loaded = load(path, skip_invalid=True)
    assert [c.conversation_id for c in loaded.conversations] == ["first", "last"]


def test_lines_may_be_as_long_as_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = orjson.dumps(conversation()) + b"\n"
    path = tmp_path / "exact.jsonl"
    path.write_bytes(line)
    monkeypatch.setattr(jsonl, "MAX_LINE", len(line))
    assert len(load(path).conversations) == 1
    monkeypatch.setattr(jsonl, "MAX_LINE", len(line) - 2)
    with pytest.raises(InputError, match="longer than"):
        load(path)


def test_a_missing_parent_is_replaced_by_the_first_of_its_kind() -> None:
    seed = {
        "Client": {"c1": {"name": "A"}, "c2": {"name": "B"}},
        "Opportunity": {"o1": {"client_id": "gone"}, "o2": {"client_id": "c2"}},
    }
    task = task_from(parse_conversation(conversation(initial_entities={"seed_data": seed})))
    assert task.seed_data["Opportunity"]["o1"]["client_id"] == "c1"
    assert task.seed_data["Opportunity"]["o2"]["client_id"] == "c2"


def made(result: Any, *, ok: bool = True) -> CallRecord:
    return CallRecord("t", {}, ok, result)


def test_references_are_filled_from_what_the_calls_gave() -> None:
    turns = [
        [made({"total_count": 2, "records": [{"client_id": "c1"}, {"client_id": "c2"}]})],
        [made({"quote_id": "q1"}), made({"note_id": "n1", "deep": [{"x": 5}]})],
    ]
    given = {
        "a": "{{turn_1.client_id}}",
        "b": ["{{turn_2.note_id}}", "{{ turn_2.call_1.quote_id }}"],
        "c": {"text": "see {{turn_1.records.1.client_id}}", "n": "{{turn_2.deep.0.x}}"},
        "d": 7,
    }
    assert resolve_references(given, turns) == {
        "a": "c1",
        "b": ["n1", "q1"],
        "c": {"text": "see c2", "n": 5},
        "d": 7,
    }


@pytest.mark.parametrize("reference", ["{{turn_3.x}}", "{{turn_1.nothing}}", "{{turn_2.x}}"])
def test_a_reference_that_leads_nowhere_is_a_fault(reference: str) -> None:
    with pytest.raises(ReferenceFault):
        resolve_references({"a": reference}, [[made({"x": 1})], [made(None, ok=False)]])


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12)
ARGUMENTS = st.dictionaries(TEXT, st.one_of(TEXT, st.integers(-9, 9), st.none()), max_size=3)
CALLS = st.lists(st.builds(GoldCall, TEXT, ARGUMENTS), max_size=2).map(tuple)
FACTS = st.lists(
    st.one_of(
        st.builds(lambda v: Fact("money", v, "amount"), st.integers(1, 10**6)),
        st.builds(lambda v: Fact("name", f"n{v}", aliases=(f"m{v}",)), TEXT),
        st.builds(lambda v: Fact("boolean", v, "overdue"), st.booleans()),
    ),
    max_size=2,
).map(tuple)
GOLD_TURNS = st.builds(
    GoldTurn,
    calls=CALLS,
    expect_success=st.booleans(),
    error_substring=st.none() | TEXT,
    facts=FACTS,
    note_facts=FACTS,
    forbidden=FACTS,
    refusal_reasons=st.lists(TEXT, max_size=2).map(tuple),
    rules=st.lists(TEXT, max_size=2).map(tuple),
)


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    gold = draw(st.lists(GOLD_TURNS, min_size=1, max_size=3))
    asked = st.none() | st.builds(Clarification, TEXT, st.lists(TEXT, max_size=2).map(tuple))
    turns = tuple(Turn(n, draw(TEXT), draw(asked)) for n in range(1, len(gold) + 1))
    paths = st.lists(
        st.builds(
            GoldPath,
            st.lists(CALLS, min_size=len(gold), max_size=len(gold)).map(tuple),
            TEXT,
            st.booleans(),
        ),
        max_size=1,
    )
    return Task(
        draw(TEXT),
        "sales",
        "empty",
        turns,
        Gold(
            tuple(gold),
            draw(st.sampled_from(["state", "tool_match"])),
            draw(st.sampled_from(["all_turns", "final_state", "both"])),
            tuple(draw(paths)),
            draw(st.none() | TEXT),
        ),
        family=draw(TEXT),
        category=draw(TEXT),
        persona=draw(TEXT),
        tags=tuple(draw(st.lists(TEXT, max_size=2))),
    )


@given(tasks())
def test_any_task_goes_round(task: Task) -> None:
    data = orjson.loads(orjson.dumps(task_to_data(task)))
    assert task_from(parse_conversation(data)) == task


def test_saved_tasks_load_again(tmp_path: Path) -> None:
    original = [task_from(parse_conversation(conversation()))]
    path = tmp_path / "tasks.jsonl"
    assert save_tasks(path, original) == 1
    (again,) = load(path).tasks()
    assert again.turns == original[0].turns
    assert again.gold.turns[0].calls == original[0].gold.turns[0].calls
