"""Studies: what their arms are, which tasks each plays, and going on after a stop."""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from crmbench.core.task import Gold, GoldTurn, Task, Turn
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.models.prompt_files import variants
from crmbench.runner.options import RunOptions
from crmbench.runner.run import Progress
from crmbench.runner.run_dir import RunDir
from crmbench.studies import data as study_data
from crmbench.studies.data import question, stratified
from crmbench.studies.estimate import estimate_study
from crmbench.studies.plan import Study, StudyOptions, plan
from crmbench.studies.run import StudyOutcome, open_study, play_study, read_plan

LATENT = "policy_violations"
FEW = 90
"""Conversations that are made, for speed the least that the domain makes."""


def bar(title: str) -> AbstractContextManager[Progress]:
    assert title
    return nullcontext(lambda _done, _all: None)


def play(study: Study, folder: Path, *, resume: bool = False) -> StudyOutcome:
    open_study(study, folder, resume=resume)
    return play_study(study, folder, bar, lambda _run_dir, _outcome: None)


@pytest.fixture(scope="module")
def latents() -> Study:
    run = RunOptions("service", agent="oracle", sample=9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study_data, "LEAST_MADE", FEW)
        return plan(StudyOptions("latents", run, (LATENT,)))


@pytest.fixture(scope="module")
def service_file(latents: Study, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A few service conversations."""
    folder = tmp_path_factory.mktemp("service")
    open_study(latents, folder, resume=False)
    return str(folder / latents.arms[0].data)


def task(number: int, category: str, family: str) -> Task:
    turns = (Turn(1, f"Question {number}."),)
    gold = Gold((GoldTurn(),))
    return Task(f"t{number}", "sales", "empty", turns, gold, family=family, category=category)


def test_a_sample_has_categories_and_families_in_proportion() -> None:
    tasks = [task(n, "ABC"[n % 3], f"{'ABC'[n % 3]}{n % 6}") for n in range(120)]
    drawn = stratified(tasks, 30, seed=1)
    assert Counter(t.category for t in drawn) == {"A": 10, "B": 10, "C": 10}
    assert set(Counter(t.family for t in drawn).values()) == {5}
    assert drawn == stratified(tasks, 30, seed=1)
    assert drawn != stratified(tasks, 30, seed=2)
    assert drawn == [t for t in tasks if t in drawn]
    assert stratified(tasks, None, seed=1) == stratified(tasks, 500, seed=1) == tasks


def test_a_small_sample_has_as_many_of_each_category() -> None:
    tasks = [task(n, f"C{n % 9}", f"C{n % 9}") for n in range(200)]
    counts = Counter(t.category for t in stratified(tasks, 18, seed=0))
    assert set(counts.values()) == {2}


def test_latent_arms_have_as_many_tasks_of_each_family(latents: Study) -> None:
    default, without = latents.arms
    assert (default.name, without.name) == ("default", f"without-{LATENT}")
    one, two = latents.tasks[default.data], latents.tasks[without.data]
    assert Counter(t.category for t in one) == dict.fromkeys({t.category for t in one}, 1)
    assert {t.world for t in one} == {"org-42"}
    assert {t.world for t in two} == {f"org-42-without-{LATENT}"}
    assert {t.family for t in one} - {t.family for t in two} == {
        t.family for t in one if t.category == "Policy Violation Identification"
    }
    assert len(two) == 8


def test_an_id_in_two_arms_means_the_same_question(latents: Study) -> None:
    one, two = (latents.tasks[arm.data] for arm in latents.arms)
    asked = {t.task_id: question(t) for t in one}
    shared = [t for t in two if t.task_id in asked]
    assert shared
    assert all(question(t) == asked[t.task_id] for t in shared)
    known = set(asked.values())
    assert all(t.task_id.endswith(f"-without-{LATENT}") for t in two if question(t) not in known)


def test_the_oracle_is_right_on_an_org_without_a_latent(latents: Study, tmp_path: Path) -> None:
    play(latents, tmp_path / "study")
    for arm in latents.arms:
        episodes = RunDir(tmp_path / "study" / arm.name).episodes()
        assert len(episodes) == len(latents.tasks[arm.data])
        assert all(episode.verdict.success for episode in episodes)


def test_every_latent_has_an_org_without_it() -> None:
    domain = load_domain("service")
    for latent in domain.latents:
        name = f"org-42-x0.05-without-{latent}"
        world = domain.world(name)
        assert world.name == name
        assert next(iter(world.stream()))[0] in domain.schema.tables


def test_tool_arms_are_those_of_the_domain(service_file: str, tmp_path: Path) -> None:
    study = plan(StudyOptions("tools", RunOptions(service_file, agent="oracle", sample=2)))
    assert [arm.tools for arm in study.arms] == list(load_domain("service").tool_sets)
    play(study, tmp_path / "study")
    for arm in study.arms:
        run_dir = RunDir(tmp_path / "study" / arm.name)
        assert run_dir.config()["tools"] == arm.tools
        assert len(run_dir.episodes()) == 2


def test_a_study_goes_on_where_it_stopped(service_file: str, tmp_path: Path) -> None:
    run = RunOptions(service_file, agent="noop", sample=4, trials=2)
    options = StudyOptions("tools", run, ("soql", "both"))
    study = plan(options)
    play(study, tmp_path / "whole")
    shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    shutil.rmtree(tmp_path / "cut" / "both")
    half = tmp_path / "cut" / "soql" / "episodes.jsonl"
    half.write_bytes(half.read_bytes()[:-200])
    with pytest.raises(InputError, match="already holds a study"):
        open_study(study, tmp_path / "cut", resume=False)
    play(plan(options), tmp_path / "cut", resume=True)
    for arm in study.arms:
        for name in ("episodes.jsonl", "config.json", "tasks.jsonl"):
            one, two = (tmp_path / which / arm.name / name for which in ("whole", "cut"))
            assert one.read_bytes() == two.read_bytes()


def test_another_study_does_not_go_on_in_a_directory(service_file: str, tmp_path: Path) -> None:
    options = StudyOptions("tools", RunOptions(service_file, agent="noop", sample=2))
    open_study(plan(options), tmp_path, resume=False)
    assert read_plan(tmp_path)["study"] == "tools"
    for other in (
        replace(options, arms=("soql", "both")),
        replace(options, run=replace(options.run, trials=2)),
        replace(options, run=replace(options.run, agent="oracle")),
    ):
        with pytest.raises(InputError, match="the same command as before"):
            open_study(plan(other), tmp_path, resume=True)
    quicker = replace(options, run=replace(options.run, concurrency=2, max_cost=1.0))
    open_study(plan(quicker), tmp_path, resume=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (StudyOptions("frameworks", RunOptions("demo")), "a framework leads a model"),
        (StudyOptions("frameworks", RunOptions("demo", model="openai/x"), ("x",)), "no 'x'"),
        (StudyOptions("prompts", RunOptions("demo")), "prompts are for a model"),
        (StudyOptions("prompts", RunOptions("demo", model="openai/x"), ("nil",)), "'nil' is no"),
        (
            StudyOptions("prompts", RunOptions("demo", model="openai/x"), ("default",)),
            "our prompts",
        ),
        (StudyOptions("tools", RunOptions("demo")), "one set of tools"),
        (StudyOptions("latents", RunOptions("demo")), "is no domain"),
        (StudyOptions("latents", RunOptions("sales")), "no latents"),
        (StudyOptions("latents", RunOptions("service"), ("weather",)), "no 'weather'"),
        (StudyOptions("latents", RunOptions("service"), (LATENT, LATENT)), "given twice"),
    ],
)
def test_what_cannot_be_studied_is_said(options: StudyOptions, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan(options)


def test_prompts_are_the_usual_ones_and_each_variant_or_folder(tmp_path: Path) -> None:
    own = tmp_path / "mine"
    own.mkdir()
    (own / "function_calling.md").write_text("Be brief. $policy", "utf-8")
    run = RunOptions("demo", model="openai/gpt-4.1-mini", sample=2)
    usual = plan(StudyOptions("prompts", run))
    assert [arm.name for arm in usual.arms] == ["default", *variants()]
    study = plan(StudyOptions("prompts", run, ("with_examples", str(own))))
    assert [arm.name for arm in study.arms] == ["default", "with_examples", "mine"]
    tokens = {n: a.total("typical").prompt for n, a in estimate_study(study).arms.items()}
    assert tokens["mine"] < tokens["default"] < tokens["with_examples"]


def test_an_estimate_knows_the_arms_tools_and_leaves_nothing(service_file: str) -> None:
    run = RunOptions(service_file, agent="function_calling", model="openai/gpt-4.1-mini", sample=2)
    found = estimate_study(plan(StudyOptions("tools", run)))
    tokens = {name: arm.total("typical").prompt for name, arm in found.arms.items()}
    assert tokens["soql"] < tokens["tasks"] < tokens["both"]
    cached, plain = found.cost("typical")
    assert 0 < cached < plain
    data = found.to_data()
    assert list(data["arms"]) == ["tasks", "soql", "both"]
    assert data["total"]["typical"]["cost_without_caching"] == pytest.approx(plain, abs=1e-4)
    assert "all, cost with caching" in found.render()
