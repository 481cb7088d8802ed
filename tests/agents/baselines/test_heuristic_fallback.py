"""The heuristic agent where it knows nothing: other orgs, broken tools; and what it may import."""

from __future__ import annotations

import ast
import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import crmbench.agents.baselines.heuristic as package
from crmbench.agents.baselines.heuristic import HEURISTIC, Heuristic
from crmbench.agents.protocol import Session
from crmbench.api import run
from crmbench.core.episode import Episode, ToolResult
from crmbench.core.sqlite import SqliteBackend
from crmbench.core.task import Gold, Task, TaskView
from crmbench.domains.sales.domain import SALES
from crmbench.domains.service.domain import SERVICE
from crmbench.runner.task_sets import load_named

REP = "Ada Pell, sales representative"
KINDS = ("client", "contact", "opportunity", "quote", "contract", "document", "note", "company")
VOCABULARY = """
    deal quote client contract contact note every delete copy won lost Active to 80k 12% v1 by
    x.pdf a@b.example cases state passed last weeks knowledge
"""
WORDS = st.sampled_from(VOCABULARY.split())
GARBAGE = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map(" ".join))


def _always(answer: ToolResult, _name: Any, _arguments: Any) -> ToolResult:
    return answer


@settings(max_examples=25, deadline=None, derandomize=True)
@given(GARBAGE)
def test_nothing_fails_where_every_tool_answers_nonsense(words: str) -> None:
    bare = {f"{kind}_id": "x" for kind in KINDS}
    values: tuple[Any, ...] = (None, [], {"records": [{}]}, {"records": [bare]})
    for value in values:
        for domain in (SALES, SERVICE):
            view = TaskView(domain.name, "2030-01-02", domain.policy, domain.toolbox.schemas, REP)
            session = Session(view, partial(_always, ToolResult(True, value)), lambda _usage: None)
            assert asyncio.run(Heuristic().turn(session, words))


def test_without_tools_it_says_that_it_found_nothing() -> None:
    view = TaskView("sales", "2030-01-02", "", (), "")
    session = Session(view, lambda _n, _a: ToolResult(False, "no tool"), lambda _usage: None)
    agent = HEURISTIC.start(view, 0)
    assert "found nothing" in asyncio.run(agent.turn(session, "How many deals are open?"))


def test_a_run_is_the_same_every_time_and_no_reply_is_missing() -> None:
    tasks = load_named("demo").tasks()[:6]
    first, second = run(tasks, "heuristic"), run(tasks, "heuristic")
    assert [e.trace for e in first] == [e.trace for e in second]
    assert all(e.trace.outcome == "finished" for e in first)


def test_conversations_of_another_make_are_played_to_their_end(arc_data: Path) -> None:
    tasks = load_named(str(arc_data / "evaluation_400.jsonl")).tasks()[::20]
    assert {e.trace.outcome for e in run(tasks, "heuristic")} == {"finished"}


def _ask(session: Session, words: str) -> str:
    return asyncio.run(Heuristic().turn(session, words))


def test_a_service_desk_gets_an_answer_from_its_figures_and_articles() -> None:
    task = Task("desk", "service", "org-42", (), Gold(()), persona="the service manager")
    with Episode(SERVICE, task, SqliteBackend(SERVICE.schema)) as episode:

        def call(name: Any, arguments: Any) -> ToolResult:
            record = episode.execute(name, arguments)
            return ToolResult(record.ok, record.result if record.ok else record.error)

        session = Session(episode.view, call, lambda _usage: None)
        state = _ask(session, "Which state's cases from April 2022 took longest to close?")
        agent = _ask(session, "Which agent passed on most cases in Q3 of 2025? At least 5 cases.")
        nobody = _ask(session, "Who passed on fewest, of agents with more than 999 cases, in 2024?")
        rule = _ask(session, "How large may a goodwill credit be?")
    assert len(state) == 2
    assert state.isupper()
    assert len(agent) == 18
    assert nobody
    assert "credit" in rule


# --- what it may know ---------------------------------------------------------------------------

FORBIDDEN = (
    "crmbench.domains.sales",
    "crmbench.domains.service",
    "crmbench.validity",
    "crmbench.grading.gold",
)


def test_it_imports_nothing_that_knows_the_tasks() -> None:
    files = sorted(Path(package.__path__[0]).glob("*.py"))
    assert len(files) > 5
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in getattr(node, "names", [])]
            for name in map(str, names):
                assert not name.startswith(FORBIDDEN), file.name
                assert "families" not in name, file.name
                assert "phrases" not in name, file.name
