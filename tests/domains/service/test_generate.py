"""The service data set: its forms, its answers, and that its ground truth passes its own test."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as File

import pytest

from crmbench.agents.oracle import Oracle, OracleFactory
from crmbench.agents.protocol import Agent, AnyFactory
from crmbench.agents.trivial import TRIVIAL
from crmbench.authoring.dataset import Dataset
from crmbench.core.task import GoldCall, GoldTurn, Path, Task
from crmbench.domains.service.domain import SERVICE
from crmbench.domains.service.families.draft import QUERY_PATH
from crmbench.domains.service.families.forms import FORMS
from crmbench.domains.service.families.records import Records
from crmbench.domains.service.families.wording import phrases
from crmbench.domains.service.generate import FAMILIES, generate
from crmbench.domains.service.world import generate as generate_world
from crmbench.errors import InputError
from crmbench.formats.arc import load, save_tasks
from crmbench.grading.answer import judge
from crmbench.grading.gold import execute_gold
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.state import compare_effects
from crmbench.runner.evaluate import Evaluator, grader_on, jobs_for
from crmbench.validity.mutants import state_mutants, try_mutants, world_keys

SMALL = 90
WITH_NONE = {
    "handle_time",
    "transfer_count",
    "named_entity_disambiguation",
    "policy_violation",
    "top_issue",
}


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return generate(size=SMALL)


@pytest.fixture(scope="module")
def stage() -> Iterator[Evaluator]:
    """Where episodes are played; the org is loaded once."""
    evaluator = Evaluator(OracleFactory(), grader_on("sqlite"))
    yield evaluator
    evaluator.grader.close()


def asked(dataset: Dataset, family: str) -> list[Task]:
    return [task for task in dataset.tasks if task.family == family]


def test_every_task_has_its_three_forms(dataset: Dataset) -> None:
    counts = Counter(task.family for task in dataset.tasks)
    for family in FAMILIES:
        for form in family.forms:
            assert counts[form.name] == max(1, round(form.weight * SMALL / 1485))
    assert set(counts) == set(dataset.about)


def test_conversations_of_several_turns_have_three_to_five(dataset: Dataset) -> None:
    for task in dataset.tasks:
        several = task.family.endswith("_turns")
        assert 3 <= len(task.turns) <= 5 if several else len(task.turns) == 1


def test_a_fifth_of_some_questions_has_no_answer(dataset: Dataset) -> None:
    for family in FAMILIES:
        tasks = asked(dataset, family.name)
        empty = [t for t in tasks if t.gold.turns[0].answer and not t.gold.turns[0].answer.values]
        assert len(empty) == (round(0.2 * len(tasks)) if family.name in WITH_NONE else 0)
        assert all("unanswerable" in task.tags for task in empty)


def test_the_same_seed_gives_the_same_tasks(dataset: Dataset) -> None:
    assert generate(size=SMALL) == dataset


def test_another_seed_gives_other_tasks(dataset: Dataset) -> None:
    other = generate(7, SMALL)
    words = {task.turns[0].utterance for task in dataset.tasks}
    assert not words & {task.turns[0].utterance for task in other.tasks}
    assert {task.world for task in other.tasks} == {"org-7"}
    assert other.canary != dataset.canary


def test_too_small_a_set_is_refused() -> None:
    with pytest.raises(InputError, match="at least 90"):
        generate(size=20)


def test_no_utterance_comes_twice(dataset: Dataset) -> None:
    said = [turn.utterance for task in dataset.tasks for turn in task.turns]
    assert len(set(said)) == len(said)
    assert not [text for text in said if "{" in text or "[" in text or "  " in text]


def played(stage: Evaluator, tasks: Sequence[Task], agent: AnyFactory) -> dict[str, str | None]:
    """The tasks that an agent does not pass, and why."""
    evaluator = Evaluator(agent, stage.grader)
    finished: list[EpisodeRecord] = []
    asyncio.run(evaluator.run(jobs_for(tasks, 1), finished.append))
    assert len(finished) == len(tasks)
    return {f.task_id: f.verdict.reason for f in finished if not f.verdict.success}


@dataclass(frozen=True)
class OtherPath:
    """Makes oracles that go the other way."""

    name: str = "other path"

    def start_with_gold(self, task: Task) -> Agent:
        return Oracle(task, task.gold.paths[0])

    async def close(self) -> None:
        return None


def test_the_oracle_passes_every_task_by_both_ways(dataset: Dataset, stage: Evaluator) -> None:
    assert played(stage, dataset.tasks, OracleFactory()) == {}
    assert played(stage, dataset.tasks, OtherPath()) == {}


@pytest.mark.parametrize("agent", TRIVIAL, ids=lambda agent: agent.name)
def test_an_agent_that_does_no_work_passes_none(
    dataset: Dataset, stage: Evaluator, agent: AnyFactory
) -> None:
    some = dataset.tasks[::6]
    assert len(played(stage, some, agent)) == len(some)


def test_the_other_path_reads_by_soql_and_sosl_alone(dataset: Dataset) -> None:
    general = SERVICE.with_tools("soql").toolbox.by_name
    for task in dataset.tasks:
        (path,) = task.gold.paths
        assert path.note == QUERY_PATH
        assert all(call.tool in general for calls in path.turns for call in calls)


def test_questions_are_answered_with_the_tasks_own_tools(dataset: Dataset) -> None:
    own = SERVICE.with_tools("tasks").toolbox.by_name
    for task in dataset.tasks:
        for gold in task.gold.turns:
            if gold.answer:
                assert all(call.tool in own for call in gold.calls)
                assert gold.calls[-1].tool == "respond"
                assert judge(gold.answer, gold.calls[-1].arguments["content"]).ok


def test_what_is_done_changes_the_org(dataset: Dataset, stage: Evaluator) -> None:
    backend = stage.grader.backends.backend("service")
    for task in dataset.tasks:
        if task.family.endswith("_doing"):
            run = execute_gold(SERVICE, task, backend)
            assert run.effects[-1]
            assert not run.faults


def astray(task: Task, records: Records) -> Iterator[Path]:
    """The gold with one write done to another record, or with another record, at a time."""
    for t, turn in enumerate(task.gold.turns):
        for c, call in enumerate(turn.calls):
            if not SERVICE.toolbox.by_name[call.tool].writes:
                continue
            for name, value in call.arguments.items():
                other = neighbour(records, value)
                if other:
                    wrong = GoldCall(call.tool, {**call.arguments, name: other})
                    calls = (*turn.calls[:c], wrong, *turn.calls[c + 1 :])
                    turns = [turn.calls for turn in task.gold.turns]
                    yield Path((*turns[:t], calls, *turns[t + 1 :]), f"{call.tool}: {name}")


def neighbour(records: Records, value: object) -> str | None:
    """The id of another record of the same object; None for what is no id."""
    for name in ("Case", "User", "OrderItem"):
        ids = [str(row["Id"]) for row in records.rows[name]]
        if value in ids:
            return next(key for key in ids if key != value)
    return None


def test_what_is_done_to_another_record_fails(dataset: Dataset, stage: Evaluator) -> None:
    records = Records.of(generate_world())
    backend = stage.grader.backends.backend("service")
    tried = 0
    for task in dataset.tasks:
        gold = execute_gold(SERVICE, task, backend)
        for wrong in astray(task, records):
            run = execute_gold(SERVICE, task, backend, wrong)
            tried += 1
            differs = compare_effects(SERVICE.schema, gold.effects[-1], run.effects[-1])
            assert run.faults or differs, (task.task_id, wrong.note)
    assert tried > 20


def test_no_month_that_is_asked_for_stands_in_the_question(dataset: Dataset) -> None:
    for task in asked(dataset, "monthly_trend"):
        (gold,) = task.gold.turns
        assert gold.answer
        assert gold.answer.values[0] not in task.turns[0].utterance


def test_a_corrected_case_is_younger_than_the_order(dataset: Dataset) -> None:
    records = Records.of(generate_world())
    for task in asked(dataset, "named_entity_disambiguation_doing"):
        look, history, *_ = task.gold.turns[0].calls
        case = records.get("Case", look.arguments["case_ids"][0])
        assert history.arguments["purchase_date"] < case["CreatedDate"][:10]


def test_an_analyst_never_has_anything_changed(dataset: Dataset) -> None:
    for task in dataset.tasks:
        refused = [gold for gold in task.gold.turns if not gold.expect_success]
        assert all(gold.rules == ("DO-2",) and not gold.calls for gold in refused)
        if task.persona == "an analyst":
            calls = [call for gold in task.gold.turns for call in gold.calls]
            assert not [c for c in calls if SERVICE.toolbox.by_name[c.tool].writes]


def test_tasks_come_back_from_a_file_as_they_were(dataset: Dataset, tmp_path: File) -> None:
    file = tmp_path / "tasks.jsonl"
    save_tasks(file, dataset.tasks)
    assert tuple(load(file).tasks()) == dataset.tasks


def test_every_family_says_what_it_tests_and_can_be_asked_in_several_ways() -> None:
    for family in FAMILIES:
        book = phrases(family.name)
        assert set(book["about"]) == set(FORMS)
        ways = [*book.get("asked", ()), *book.get("fastest", ()), *book.get("most", ())]
        ways += book.get("present", ())
        # Questions about procedures bring their own phrasings along.
        assert len(ways) >= 8 or family.name == "knowledge_qa"


def test_a_family_that_is_left_out_moves_no_other(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = FAMILIES[1:]
    monkeypatch.setattr("crmbench.domains.service.generate.FAMILIES", others)
    names = {form.name for family in others for form in family.forms}
    alone = by_words(generate(size=SMALL * 8 // 9).tasks)
    assert alone == by_words(task for task in dataset.tasks if task.family in names)


def by_words(tasks: Iterable[Task]) -> dict[tuple[str, ...], tuple[GoldTurn, ...]]:
    """What is right in each conversation, by what is said in it."""
    return {tuple(turn.utterance for turn in t.turns): t.gold.turns for t in tasks}


def test_wrong_records_are_among_the_mutants(dataset: Dataset, stage: Evaluator) -> None:
    backend = stage.grader.backends.backend("service")
    doing = [task for task in dataset.tasks if task.family.endswith("_doing")]
    keys = world_keys(SERVICE, doing[0], backend)
    kinds: Counter[str] = Counter()
    for task in doing:
        gold = execute_gold(SERVICE, task, backend)
        kinds.update(mutant.kind for mutant in state_mutants(SERVICE, task, gold, keys))
        assert try_mutants(SERVICE, task, backend, gold, keys).survivors == ()
    assert set(kinds) == {"drop", "field", "record", "extra", "twice"}
