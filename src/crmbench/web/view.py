"""``crmbench view`` from its first line printed to its last page."""

from __future__ import annotations

import getpass
import secrets
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from starlette.applications import Starlette

from crmbench.errors import InputError
from crmbench.runner.task_sets import load_named
from crmbench.seats.listener import LONGEST_HEAD, LOOPBACK, address_of, listen
from crmbench.serve.run import org_of
from crmbench.serve.sessions import Sessions
from crmbench.studies.experts import PLAN, RUNS, ExpertStudy, plan_study
from crmbench.web.app import explorer_app, play_app, study_app, viewer_app
from crmbench.web.invite import StudyRoom, objects_of
from crmbench.web.play import PlayRoom
from crmbench.web.runs import RunStore
from crmbench.web.viewer import Viewer


def view_until_stopped(runs: Sequence[Path], host: str, port: int, *, open_browser: bool) -> None:
    """Show runs on local pages until stopped; the address is printed first.

    Raises:
        InputError: A directory holds no run, or the address or port cannot be used.
    """
    _check_local(host)
    store = RunStore.open(runs)
    app = viewer_app(Viewer(store, by=_user()), LOOPBACK)
    store.start()
    serve_pages(app, host, port, open_browser=open_browser)


def play_until_stopped(
    set_name: str, which: str, agent: str, out: Path, host: str, port: int, *, open_browser: bool
) -> None:
    """Let a person play a task in the browser, until stopped; the address is printed first.

    Raises:
        InputError: There is no such task, or the address, port or directory cannot be used.
    """
    _check_local(host)
    room = PlayRoom(Sessions(out=out), out)
    try:
        seat = room.begin(set_name, int(which) if which.isdigit() else which, agent)
    except BaseException:
        room.sessions.close()
        raise
    app = play_app(room, set_name, f"{set_name}, task {which}", LOOPBACK)
    serve_pages(app, host, port, path=f"/play/{seat.token}", open_browser=open_browser)


def explore_until_stopped(orgs: Sequence[str], host: str, port: int, *, open_browser: bool) -> None:
    """Show orgs on local pages, and serve them to programs, until stopped.

    Raises:
        InputError: There is no such org, or the address or port cannot be used.
    """
    _check_local(host)
    sessions = Sessions(address=address_of(host, port))
    try:
        for text in orgs:
            sessions.open_org(*org_of(text))
        app = explorer_app(sessions, (*LOOPBACK, ".salesforce.com"))
        serve_pages(app, host, port, path="/explore", open_browser=open_browser)
    finally:
        sessions.close()


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
    _serve(study_app(room, LOOPBACK if host in LOOPBACK else ()), listener)


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


def serve_pages(
    app: Starlette, host: str, port: int, *, path: str = "/", open_browser: bool = False
) -> None:
    """Serve an application until stopped; the first line printed is its address.

    Raises:
        InputError: The address or port cannot be used.
    """
    listener = listen(host, port)
    address = address_of(host, listener.getsockname()[1]) + path
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    if open_browser:
        import webbrowser

        webbrowser.open(address)
    _serve(app, listener)


def _serve(app: Starlette, listener: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(
        app, log_level="warning", access_log=False, h11_max_incomplete_event_size=LONGEST_HEAD
    )
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()


def _check_local(host: str) -> None:
    if host not in LOOPBACK:
        raise InputError(
            f"{host} can be reached by others, and the pages show everything",
            field="--host",
            expected="127.0.0.1, localhost or ::1",
        )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "person"
