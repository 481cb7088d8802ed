"""``crmbench play --web``: a person in the agent's place, graded like any agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.conftest import NORTHGATE

from crmbench.domains.registry import load_domain
from crmbench.formats.arc import load
from crmbench.report.summary import summary_of
from crmbench.runner.run_dir import RunDir
from crmbench.serve.sessions import Sessions
from crmbench.web.forms import FormProblem, arguments_of, form_of, shape_of
from crmbench.web.pages import POLICY
from crmbench.web.play import PlayRoom, play_app
from crmbench.web.seats import PersonSeat
from crmbench.web.uses import uses_of

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "amount": {"type": "number"},
        "count": {"type": "integer"},
        "open": {"type": "boolean"},
        "stage": {"type": "string", "enum": ["A", "B"]},
        "ids": {"type": "array", "items": {"type": "string"}},
        "criteria": {"type": "object"},
    },
    "required": ["name"],
}


@pytest.fixture
def room(tmp_path: Path) -> Iterator[PlayRoom]:
    made = PlayRoom(Sessions(out=tmp_path), tmp_path)
    yield made
    made.sessions.close()


def seated(room: PlayRoom, which: str = "northgate-02") -> tuple[TestClient, PersonSeat, str]:
    seat = room.begin(NORTHGATE, which, "ann")
    app = play_app(room, NORTHGATE, "northgate", ("testserver",))
    return TestClient(app), seat, f"/play/{seat.token}"


def test_what_is_filled_in_becomes_arguments() -> None:
    filled = {
        "name": "Acme ",
        "amount": "1,200.50",
        "count": " 3 ",
        "open": "yes",
        "stage": "B",
        "ids": "a\n\n b \n",
        "criteria": '{"x": 1}',
        "unknown": "1",
    }
    assert arguments_of(SCHEMA, filled) == {
        "name": "Acme ",
        "amount": 1200.5,
        "count": 3,
        "open": True,
        "stage": "B",
        "ids": ["a", "b"],
        "criteria": {"x": 1},
    }
    assert arguments_of(SCHEMA, {"name": "", "open": "no"}) == {"open": False}


@pytest.mark.parametrize(
    ("name", "text"),
    [("amount", "much"), ("amount", "nan"), ("amount", "inf"), ("count", "1.5"), ("criteria", "{")],
)
def test_what_is_no_value_is_said_at_its_field(name: str, text: str) -> None:
    with pytest.raises(FormProblem) as caught:
        arguments_of(SCHEMA, {name: text})
    assert list(caught.value.problems) == [name]


@pytest.mark.parametrize("domain", ["sales", "service"])
def test_every_tool_has_a_form(domain: str) -> None:
    for tool in load_domain(domain).toolbox.schemas:
        fields = form_of(tool["parameters"])
        assert [f.name for f in fields] == list(tool["parameters"].get("properties", {}))
        assert {f.name for f in fields if f.required} == set(tool["parameters"].get("required", ()))
    assert shape_of("x", {"type": "array", "items": {"anyOf": []}}) == "json"


def test_a_conversation_followed_to_its_end_passes(room: PlayRoom, tmp_path: Path) -> None:
    client, seat, address = seated(room)
    for turn in seat.session.task.gold.turns:
        for call in turn.calls:
            filled = {k: str(v) for k, v in call.arguments.items()}
            answer = client.post(f"{address}/call/{call.tool}", data=filled)
            assert answer.status_code == 200
        client.post(
            f"{address}/reply", data={"text": str((turn.response or {}).get("text", "Done."))}
        )
    assert seat.over
    run = RunDir(next(tmp_path.iterdir()))
    record = run.episodes()[0]
    assert record.verdict.success == (
        seat.session.verdict is not None and seat.session.verdict.success
    )
    assert record.seconds > 0
    assert summary_of(run).trials == 1
    assert run.config()["agent"] == "ann"
    page = client.get(address).text
    assert f"chip {'passed' if record.verdict.success else 'failed'}" in page


def test_a_conversation_without_work_fails_and_says_why(room: PlayRoom) -> None:
    client, seat, address = seated(room)
    while not seat.over:
        client.post(f"{address}/reply", data={"text": "I will not."})
    page = client.get(address).text
    assert "chip failed" in page
    assert "Why it fails" in page
    assert client.post(f"{address}/reply", data={"text": "More."}).status_code == 409


def test_the_page_holds_no_gold_while_it_is_played(room: PlayRoom) -> None:
    client, seat, address = seated(room)
    task = load(Path(NORTHGATE)).tasks()[1]
    assert task.task_id == seat.session.task.task_id
    page = unescape(client.get(address).text)
    assert task.turns[0].utterance in page
    for hidden in ("A right way", "Why it fails", "chip told", task.task_id):
        assert hidden not in page
    for later in task.turns[1:]:
        assert later.utterance not in page


def test_a_form_that_cannot_be_used_comes_back_as_it_was(room: PlayRoom) -> None:
    client, seat, address = seated(room)
    tool = next(
        name
        for name, each in seat.schemas.items()
        if "amount" in each["parameters"].get("properties", {})
    )
    answer = client.post(f"{address}/call/{tool}", data={"amount": "lots <b>"})
    assert answer.status_code == 400
    assert "this is not a number" in answer.text
    assert "lots &lt;b&gt;" in answer.text
    assert seat.session.calls == 0


def test_htmx_gets_the_form_alone(room: PlayRoom) -> None:
    client, seat, address = seated(room)
    name = next(iter(seat.schemas))
    part = client.get(f"{address}/tools/{name}", headers={"HX-Request": "true"}).text
    assert part.lstrip().startswith("<form")
    whole = client.get(f"{address}/tools/{name}").text
    assert "<html" in whole
    assert f"Call {name}" in whole


def test_strangers_find_nothing(room: PlayRoom) -> None:
    client, seat, address = seated(room)
    assert client.get("/play/another").status_code == 404
    assert client.get(f"{address}/tools/none").status_code == 404
    assert client.post(f"{address}/call/none", data={}).status_code == 404
    assert client.post(f"{address}/reply", data={"text": " "}).status_code == 400
    headers = client.get(address).headers
    assert headers["content-security-policy"] == POLICY
    assert not re.findall(r"<script(?![^>]*\bsrc=)", client.get(address).text)
    assert not seat.over


def records_of(client: TestClient, seat: PersonSeat, name: str) -> list[str]:
    page = client.get(f"{seat.org_url}/objects/{name}").text
    return re.findall(rf'href="({seat.org_url}/records/{name}/\w+)"', page)


def test_a_record_of_the_org_opens_a_tool_with_its_id(room: PlayRoom) -> None:
    client, seat, address = seated(room)
    assert f'href="{seat.org_url}"' in client.get(address).text
    record = client.get(records_of(client, seat, "Account")[0]).text
    assert f'href="{address}#last"' in record
    offered = {
        tool: unescape(query)
        for tool, query in re.findall(rf'href="{address}/tools/(\w+)\?([^"]+)"', record)
    }
    assert {"modify_client", "create_new_contact", "contact_search", "add_note"} <= set(offered)
    assert "modify_contact" not in offered
    assert "create_new_client" not in offered
    assert offered["add_note"].startswith("entity_type=Client&entity_id=")
    key = offered["modify_client"].removeprefix("client_id=")
    form = client.get(f"{address}/tools/modify_client?client_id={key}&nothing=1").text
    assert f'name="client_id" value="{key}"' in form
    client.post(f"{address}/call/modify_client", data={"client_id": key, "phone": "555 0100"})
    assert seat.session.calls == 1
    assert seat.session.org.store.database.get("Client", key)["phone"] == "555 0100"  # type: ignore[index]


def test_what_a_form_is_opened_with_stays_text(room: PlayRoom) -> None:
    client, _, address = seated(room)
    form = client.get(f"{address}/tools/modify_client", params={"client_id": '"><script>'}).text
    assert 'value="&#34;&gt;&lt;script&gt;"' in form


def test_the_org_of_a_conversation_that_is_over_is_closed(room: PlayRoom) -> None:
    client, seat, address = seated(room)
    while "Your reply to the user" in client.get(address).text:
        client.post(f"{address}/reply", data={"text": "No."})
    assert client.get(seat.org_url).status_code == 404


OWN = "order_item_id"
NAMED = {"type": "string", "description": "id of the order item that it is about"}
LISTED = {"type": "array", "items": {"type": "string"}}
SCHEMAS: dict[str, dict[str, Any]] = {
    "read_item": {"parameters": {"properties": {"key": NAMED}}},
    "list_cases": {"parameters": {"properties": {"order_item_ids": LISTED}}},
    "move_item": {"parameters": {"properties": {OWN: {}}, "required": []}},
    "drop_item": {
        "parameters": {"properties": {"order_item_id": {}}, "required": ["order_item_id"]}
    },
    "other": {"parameters": {"properties": {"order_id": {}, "item_id": {}}}},
}


@pytest.mark.parametrize("table", ["OrderItem", "OrderItem__c", "OrderItem2"])
def test_tools_that_take_a_record(table: str) -> None:
    found = list(uses_of(SCHEMAS, {"move_item", "drop_item"}, table, "802", "Order Product"))
    assert [(use.tool, dict(use.filled)) for use in found] == [
        ("list_cases", {"order_item_ids": "802"}),
        ("read_item", {"key": "802"}),
        ("drop_item", {"order_item_id": "802"}),
    ]
