"""The pages of a study with people: a link each, tasks in an order of their own, and questions."""

from __future__ import annotations

import secrets
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from crmbench.domains.registry import load_domain
from crmbench.runner.task_sets import load_named
from crmbench.seats.errors import BadRequest, NotFound
from crmbench.seats.listener import LOOPBACK, address_of, listen
from crmbench.serve.sessions import Sessions
from crmbench.studies.experts import (
    AGENT,
    CLARITY,
    CLEAR,
    FAMILIAR,
    FAMILIARITY,
    PLAN,
    REALISM,
    RUNS,
    SCALE,
    WORK,
    WORKS,
    ExpertAnswer,
    ExpertStudy,
    Participant,
    plan_study,
)
from crmbench.web.app import pages_app
from crmbench.web.pages import page
from crmbench.web.play import PlayRoom, play_routes
from crmbench.web.seats import PersonSeat
from crmbench.web.serving import serve_on


@dataclass
class StudyRoom:
    """A study that is going on.

    Args:
        study: Its plan and answers.
        room: Where its tasks are played.
        objects: What people are asked about at the end.
    """

    study: ExpertStudy
    room: PlayRoom
    objects: tuple[str, ...]
    playing: dict[str, tuple[Participant, str]] = field(default_factory=dict)
    """Seat to who sits in it and the task."""
    seats: dict[str, PersonSeat] = field(default_factory=dict)
    """Participant to the seat of their task."""

    def person(self, token: str) -> Participant:
        """Who has a link.

        Raises:
            NotFound: Nobody has.
        """
        found = self.study.person(token)
        if found is None:
            raise NotFound("This is nobody's link. Ask whoever invited you for another.")
        return found

    def where(self, seat: PersonSeat) -> str:
        """What the page of a task is called."""
        person, task_id = self.playing[seat.token]
        order = self.study.plan.order(person)
        return f"Task {order.index(task_id) + 1} of {len(order)}"

    def after(self, seat: PersonSeat) -> str | None:
        """Where somebody goes whose conversation is over, which is noted; None for others."""
        if not seat.over or seat.token not in self.playing:
            return None
        person, task_id = self.playing[seat.token]
        if not self.study.has_answered(person, "finished", task_id):
            record = self.room.played(seat, self.study.plan.file)
            trial = record.trial if record else None
            self.study.add(
                [ExpertAnswer(person.name, "finished", task_id, "finished", "yes", trial)]
            )
        self.seats.pop(person.name, None)
        return f"/join/{quote(person.token)}"

    def sit(self, person: Participant, task_id: str) -> PersonSeat:
        """The seat at a task: a new one, or the one that was left.

        Raises:
            InputError: The set no longer has the task.
        """
        seat = self.seats.get(person.name)
        if seat is None or seat.over:
            seat = self.room.begin(self.study.plan.file, task_id, AGENT)
            self.seats[person.name] = seat
            self.playing[seat.token] = (person, task_id)
        return seat


def objects_of(domains: set[str]) -> tuple[str, ...]:
    """The kinds of records that people meet in some domains."""
    found = (name for domain in sorted(domains) for name in load_domain(domain).schema.tables)
    return tuple(dict.fromkeys(found))


def study_until_stopped(
    file: str, folder: Path, tasks: int, people: int, seed: int, host: str, port: int
) -> None:
    """Let people play and rate, until stopped; their links are printed first.

    Raises:
        InputError: There are not so many tasks, or the address, port or directory cannot be used.
    """
    room = open_study_room(file, folder, tasks, people, seed)
    listener = listen(host, port)
    address = address_of(host, listener.getsockname()[1])
    for person in room.study.plan.people:
        sys.stdout.write(f"{person.name}: {address}/join/{person.token}\n")
    sys.stdout.flush()
    # Others reach it under names that nobody knows here; what they may do hangs on their links.
    serve_on(listener, study_app(room, LOOPBACK if host in LOOPBACK else ()))


def open_study_room(
    file: str, folder: Path, tasks: int, people: int, seed: int, *, simulated: bool = False
) -> StudyRoom:
    """A study to go on with, or a new one.

    Raises:
        InputError: There are not so many tasks, or the directory cannot be used.
    """
    if (folder / PLAN).exists():
        study = ExpertStudy(folder)
    else:
        found = load_named(file).tasks()
        tokens = [secrets.token_urlsafe(18) for _ in range(people)]
        plan = plan_study(file, found, tasks, tokens, seed, simulated)
        study = ExpertStudy.create(folder, plan)
    sessions = Sessions(out=folder / RUNS)
    chosen = set(study.plan.tasks)
    domains = {t.domain for t in sessions.tasks_of(study.plan.file) if t.task_id in chosen}
    return StudyRoom(study, PlayRoom(sessions, folder / RUNS), objects_of(domains))


def study_app(study: StudyRoom, hosts: Sequence[str] = ()) -> Starlette:
    """The pages of ``crmbench study experts``.

    Args:
        study: What is going on; its sessions are closed with the application.
        hosts: Names that requests may be addressed to; none: any.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        study.room.sessions.close()

    app = pages_app([*invite_routes(), *play_routes()], hosts, lifespan)
    app.state.study = study
    app.state.room = study.room
    app.state.set_name = study.study.plan.file
    app.state.where = study.where
    app.state.after_play = study.after
    # People have what agents have, the tools: the org's pages would show them more.
    app.state.org_url = lambda seat: ""
    return app


def invite_routes() -> list[BaseRoute]:
    """The routes; the application's ``state.study`` is what they look at."""
    return [
        Route("/join/{token}", join_page),
        Route("/join/{token}/begin", begin, methods=["POST"]),
        Route("/join/{token}/{about}", answer, methods=["POST"]),
    ]


def _study(request: Request) -> StudyRoom:
    found: StudyRoom = request.app.state.study
    return found


async def join_page(request: Request) -> Response:
    """What comes next for somebody: the welcome, a task, questions on it, on objects, or thanks."""
    room = _study(request)
    person = room.person(request.path_params["token"])
    study = room.study
    order = study.plan.order(person)
    done = sum(study.has_answered(person, "finished", task_id) for task_id in order)
    if not study.has_answered(person, "self"):
        step, what = "welcome", ""
    elif task_id := study.to_rate(person):
        step, what = "rate", task_id
    elif study.next_task(person) is not None:
        step, what = "next", ""
    elif not study.has_answered(person, "object"):
        step, what = "objects", ""
    else:
        step, what = "thanks", ""
    return page(
        request,
        "invite.html",
        person=person,
        plan=study.plan,
        done=done,
        step=step,
        what=what,
        scale=SCALE,
        clarity=CLARITY,
        familiar=FAMILIAR,
        works=WORKS,
        objects=room.objects,
        realism=REALISM,
        clear=CLEAR,
        familiarity=FAMILIARITY,
        work=WORK,
    )


async def begin(request: Request) -> Response:
    """Sit down at the next task."""
    room = _study(request)
    person = room.person(request.path_params["token"])
    task_id = room.study.next_task(person)
    if task_id is None:
        return RedirectResponse(f"/join/{quote(person.token)}", 303)
    return RedirectResponse(f"/play/{quote(room.sit(person, task_id).token)}", 303)


async def answer(request: Request) -> Response:
    """Keep answers: about oneself, a task, or the objects.

    Raises:
        BadRequest: An answer is missing, or none of those that there are.
    """
    room = _study(request)
    person = room.person(request.path_params["token"])
    form = {key: str(value) for key, value in (await request.form()).items()}
    about = request.path_params["about"]
    if about == "self":
        kept = [
            _chosen(person, "self", "", FAMILIARITY, form.get("familiarity", ""), FAMILIAR),
            _chosen(person, "self", "", WORK, form.get("work", ""), WORKS),
        ]
    elif about == "task":
        what = room.study.to_rate(person) or ""
        if form.get("what") != what or not what:
            raise BadRequest("These questions are not about a task that you have finished last.")
        kept = [
            _placed(person, "task", what, REALISM, form.get("realism", "")),
            _placed(person, "task", what, CLEAR, form.get("clear", "")),
        ]
        if form.get("comment", "").strip():
            text = form["comment"].strip()[:4_000]
            kept.append(ExpertAnswer(person.name, "task", what, "comment", text))
    elif about == "objects":
        kept = [
            _placed(person, "object", name, REALISM, form[f"object-{name}"])
            for name in room.objects
            if form.get(f"object-{name}")
        ]
        if not kept:
            raise BadRequest("No kind of record was rated.")
    else:
        raise NotFound
    room.study.add(kept)
    return RedirectResponse(f"/join/{quote(person.token)}", 303)


def _placed(
    person: Participant, about: Literal["task", "object"], what: str, question: str, text: str
) -> ExpertAnswer:
    """An answer on a scale of five.

    Raises:
        BadRequest: It is none.
    """
    if text not in ("1", "2", "3", "4", "5"):
        raise BadRequest(f"“{question}” has no answer yet.")
    return ExpertAnswer(person.name, about, what, question, int(text))


def _chosen(
    person: Participant,
    about: Literal["self"],
    what: str,
    question: str,
    text: str,
    options: tuple[str, ...],
) -> ExpertAnswer:
    """An answer that is one of some.

    Raises:
        BadRequest: It is none of them.
    """
    if text not in options:
        raise BadRequest(f"“{question}” has no answer yet.")
    return ExpertAnswer(person.name, about, what, question, text)
