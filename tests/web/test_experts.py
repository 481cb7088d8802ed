"""``crmbench study experts``: links, orders, questions, and what is made of the answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from starlette.testclient import TestClient
from tests.conftest import NORTHGATE
from tests.web.pages import play

from crmbench.cli.pages.experts import experts
from crmbench.errors import InputError
from crmbench.report.views.experts import expert_figures
from crmbench.studies.experts import (
    CLEAR,
    FAMILIAR,
    REALISM,
    WORKS,
    ExpertAnswer,
    ExpertStudy,
    Participant,
    plan_study,
)
from crmbench.web.invite import StudyRoom, open_study_room, study_app


@pytest.fixture
def room(tmp_path: Path) -> Iterator[StudyRoom]:
    made = open_study_room(NORTHGATE, tmp_path / "study", 3, 2, 0, simulated=True)
    yield made
    made.room.sessions.close()


def client_of(room: StudyRoom) -> TestClient:
    return TestClient(study_app(room, ("testserver",)))


def attend(client: TestClient, person: Participant, reply: str, place: int) -> None:
    """Take part from the first page to the last."""
    link = f"/join/{person.token}"
    client.post(f"{link}/self", data={"familiarity": FAMILIAR[3], "work": WORKS[0]})
    for _ in range(20):
        page = client.get(link).text
        if "Open the task" in page:
            seat = client.post(f"{link}/begin").url.path
            while "Your reply to the user" in (shown := client.get(seat)).text:
                client.post(f"{seat}/reply", data={"text": reply})
            assert shown.url.path == link
        elif "About this task" in page:
            what = re.search(r'name="what" value="([^"]+)"', page)
            assert what
            answers = {"what": what[1], "realism": str(place), "clear": "5", "comment": "<b>"}
            client.post(f"{link}/task", data=answers)
        elif "About the records" in page:
            client.post(f"{link}/objects", data={"object-Client": str(place)})
        else:
            assert "Thank you" in page
            return
    raise AssertionError("the study does not end")


def test_people_get_the_same_tasks_in_orders_of_their_own(room: StudyRoom) -> None:
    plan = room.study.plan
    one, two = (plan.order(person) for person in plan.people)
    assert sorted(one) == sorted(two) == sorted(plan.tasks)
    again = plan_study(NORTHGATE, room.room.sessions.tasks_of(NORTHGATE), 3, ["a", "b"], 0, True)
    assert again.tasks == plan.tasks
    assert len({person.token for person in plan.people}) == 2
    orders = {tuple(plan.order(Participant(f"person-{n}", ""))) for n in range(20)}
    assert len(orders) > 1


def test_more_tasks_than_there_are_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has 12 tasks, not 13"):
        open_study_room(NORTHGATE, tmp_path / "s", 13, 1, 0)


def test_from_the_link_to_the_figures(room: StudyRoom, tmp_path: Path) -> None:
    client = client_of(room)
    for person, place in zip(room.study.plan.people, (5, 2), strict=True):
        attend(client, person, "I will not.", place)
    found = expert_figures(room.study, [play(tmp_path / "oracle")])
    assert (found.people, found.finished, found.simulated) == (2, 2, True)
    assert found.human is not None
    assert (found.human.episodes, found.human.tasks) == (6, 3)
    assert [p.episodes for p in found.by_person] == [3, 3]
    (oracle,) = found.beside
    assert (oracle.tasks, oracle.success.value) == (3, 1.0)
    rated = {r.what: r for r in found.ratings}
    assert rated["all tasks"].counts == (0, 3, 0, 0, 3)
    assert rated["all tasks"].realistic.value == 0.5
    assert rated["Client"].answers == 2
    assert found.clear is not None
    assert found.clear.realistic.value == 1.0
    assert found.familiarity == {FAMILIAR[3]: 2}
    lines = (room.study.folder / "answers.jsonl").read_bytes().splitlines()
    assert [orjson.loads(line) for line in lines if b"comment" in line]
    room.room.sessions.close()
    experts(NORTHGATE, room.study.folder, 3, 2, 0, "127.0.0.1", 0, True, None, True)
    page = (room.study.folder / "experts.html").read_text(encoding="utf-8")
    assert "The people were simulated" in page
    assert "too few to say" in page
    assert "<script" not in page


def test_no_verdict_is_shown_while_a_study_goes_on(room: StudyRoom) -> None:
    client, person = client_of(room), room.study.plan.people[0]
    client.post(f"/join/{person.token}/self", data={"familiarity": FAMILIAR[0], "work": WORKS[0]})
    seat = client.post(f"/join/{person.token}/begin").url.path
    while "Your reply to the user" in (page := client.get(seat)).text:
        client.post(f"{seat}/reply", data={"text": "No."})
    for hidden in ("chip failed", "Why it fails", "A right way"):
        assert hidden not in page.text
    assert "About this task" in page.text


def test_a_task_that_was_left_is_gone_on_with(room: StudyRoom) -> None:
    client, person = client_of(room), room.study.plan.people[0]
    client.post(f"/join/{person.token}/self", data={"familiarity": FAMILIAR[0], "work": WORKS[0]})
    first = client.post(f"/join/{person.token}/begin").url.path
    assert client.post(f"/join/{person.token}/begin").url.path == first


def test_a_study_is_gone_on_with_where_it_was(room: StudyRoom) -> None:
    client, person = client_of(room), room.study.plan.people[0]
    attend(client, person, "No.", 4)
    again = ExpertStudy(room.study.folder)
    assert again.next_task(person) is None
    assert list(again.answers) == list(room.study.answers)
    other = room.study.plan.people[1]
    assert again.next_task(other) == again.plan.order(other)[0]


def test_a_later_answer_holds(room: StudyRoom) -> None:
    for place in (1, 5):
        room.study.add([ExpertAnswer("person-1", "object", "Client", REALISM, place)])
    (rating,) = expert_figures(room.study).ratings
    assert rating.counts == (0, 0, 0, 0, 1)


@pytest.mark.parametrize(
    ("about", "data"),
    [
        ("self", {}),
        ("self", {"familiarity": "very", "work": WORKS[0]}),
        ("task", {"what": "northgate-01", "realism": "3", "clear": "3"}),
        ("objects", {}),
        ("objects", {"object-Client": "6"}),
    ],
)
def test_answers_that_are_none_are_refused(
    room: StudyRoom, about: str, data: dict[str, str]
) -> None:
    client, person = client_of(room), room.study.plan.people[0]
    assert client.post(f"/join/{person.token}/{about}", data=data).status_code == 400
    assert list(room.study.answers) == []


def test_strangers_have_no_link(room: StudyRoom) -> None:
    client = client_of(room)
    assert client.get("/join/guess").status_code == 404
    assert client.post("/join/guess/begin").status_code == 404
    token = room.study.plan.people[0].token
    assert client.post(f"/join/{token}/nothing").status_code == 404


def test_what_is_no_study_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no study with people"):
        ExpertStudy(tmp_path)
    assert CLEAR.endswith("?")
