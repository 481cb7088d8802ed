"""The figures of studies: paired and unpaired differences, answers, and the page."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from crmbench.core.answer import Answer
from crmbench.core.task import Gold, GoldTurn, Task, Turn
from crmbench.core.trace import EpisodeTrace, Message, TurnTrace
from crmbench.errors import InputError
from crmbench.grading.metrics import pass_hat_k
from crmbench.grading.record import EpisodeRecord
from crmbench.grading.verdict import EpisodeVerdict
from crmbench.report.answers import answer_figures
from crmbench.report.study import ALL, study_figures
from crmbench.report.study_compare import consistency, independent
from crmbench.report.study_page import write_study
from crmbench.report.study_terminal import render_study
from crmbench.report.terminal import render_terminal
from crmbench.runner.options import RunOptions
from crmbench.studies import data as study_data
from crmbench.studies.plan import StudyOptions, plan
from crmbench.studies.run import open_study, play_study, write_plan


def outcomes(successes: int, tasks: int) -> dict[str, list[bool]]:
    return {f"t{number}": [number < successes] for number in range(tasks)}


def test_unpaired_rates_have_newcombes_interval() -> None:
    # Newcombe (1998), table II, method 10: 56/70 against 48/80.
    found = independent(outcomes(48, 80), outcomes(56, 70))
    assert found.difference.value == pytest.approx(0.2)
    assert found.difference.low == pytest.approx(0.0524, abs=1e-4)
    assert found.difference.high == pytest.approx(0.3339, abs=1e-4)
    assert found.significant
    back = independent(outcomes(56, 70), outcomes(48, 80))
    assert back.difference.low == pytest.approx(-found.difference.high)


def test_rates_of_one_and_nought_are_not_known_for_sure() -> None:
    found = independent(outcomes(5, 5), outcomes(5, 5))
    assert found.difference.low < -0.3
    assert found.difference.high > 0.3
    assert found.detectable > 0.3
    more = independent(outcomes(500, 500), outcomes(500, 500))
    assert 0 < more.detectable < 0.02


def test_consistency_is_compared_by_pass_hat() -> None:
    steady = {f"t{n}": [n % 2 == 0] * 4 for n in range(20)}
    unsteady = {f"t{n}": [True, False, True, False] for n in range(20)}
    found = consistency(unsteady, steady, {})
    assert found is not None
    assert found.k == 4
    assert (found.first, found.second) == (pass_hat_k(2, 4, 4), 0.5)
    assert found.difference.low > 0
    assert consistency(outcomes(1, 3), outcomes(2, 3), {}) is None


def verdict(task_id: str, *, counted: bool = True) -> EpisodeVerdict:
    return EpisodeVerdict(task_id, 0, False, (), None, None, counted, 0, 0, None)


def test_answers_are_counted_by_kind_and_unreached_turns_as_wrong() -> None:
    wanted = (
        Answer("month", ("March",)),
        Answer("text", ("the blue box",)),
        Answer("state", ()),
        Answer("text", ("never reached",)),
    )
    turns = tuple(Turn(number, "?") for number in range(1, 5))
    gold = Gold(tuple(GoldTurn(answer=answer) for answer in wanted))
    task = Task("a", "service", "org-42", turns, gold)
    replies = ("It is March.", "a blue box in the hall", "None")
    told = tuple(
        TurnTrace(number, (Message("user", "?"), Message("assistant", reply)), ())
        for number, reply in enumerate(replies, 1)
    )
    trace = EpisodeTrace("a", 0, told)
    found = answer_figures(
        [task],
        [
            EpisodeRecord(trace, verdict("a"), 0.0),
            EpisodeRecord(trace, verdict("a", counted=False), 0.0),
        ],
    )
    assert (found.exact_turns, found.exact_match) == (2, 1.0)
    assert found.text_turns == 2
    # "blue box" of "blue box in hall" and of "blue box": precision 1/2, recall 1.
    assert found.token_f1 == pytest.approx((2 * 0.5 / 1.5 + 0.0) / 2, abs=1e-6)
    none = answer_figures([Task("b", "sales", "empty", (), Gold(()))], [])
    assert (none.exact_match, none.token_f1) == (None, None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of a latent, with an agent that is always right."""
    folder = tmp_path_factory.mktemp("study")
    run = RunOptions("service", agent="oracle", sample=9, trials=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study_data, "LEAST_MADE", 90)  # for speed, the least that can be made
        study = plan(StudyOptions("latents", run, ("policy_violations",)))
    open_study(study, folder, resume=False)
    play_study(study, folder, lambda _: nullcontext(lambda _done, _all: None), _nothing)
    return folder


def _nothing(*_: object) -> None:
    """What an arm's end is answered with here."""


def test_a_study_of_latents_compares_apart_and_the_same_questions_in_pairs(folder: Path) -> None:
    figures = study_figures(folder)
    assert [arm.name for arm in figures.arms] == ["default", "without-policy_violations"]
    (policy,) = figures.apart
    assert policy.left_out == ("Policy Violation Identification",)
    assert policy.by_category[ALL].tasks_first == policy.by_category[ALL].tasks_second == 8
    assert figures.pairs
    for pair in figures.pairs:
        assert pair.first == "default"
        assert 0 < pair.success.tasks < 9
    for arm in figures.arms:
        assert arm.missing == 0
        assert arm.answers.exact_match == 1.0
        assert arm.summary.answers == arm.answers
        assert "exact match 100.0% of" in render_terminal(arm.summary)
        assert arm.steadiness.always == arm.summary.conversations
        assert (arm.tokens, arm.cost) == (None, None)


def test_the_record_is_json_without_what_cannot_be_known(folder: Path) -> None:
    figures = study_figures(folder)
    write_plan(folder, figures.to_data())
    record = json.loads((folder / "study.json").read_bytes())
    assert record["results"]["arms"][0]["success"]["value"] == 1.0
    assert record["results"]["apart"][0]["by_category"][ALL]["difference"].keys() == {
        "value",
        "low",
        "high",
    }
    assert study_figures(folder).to_data() == figures.to_data()


def test_the_page_and_the_tables_say_what_to_bear_in_mind(folder: Path) -> None:
    figures = study_figures(folder)
    write_study(figures, folder / "study.html")
    page = (folder / "study.html").read_text(encoding="utf-8")
    shown = render_study(figures)
    for text in (page, shown):
        assert "not corrected for their number" in text
        assert "without-policy_violations has no conversations of Policy Violation" in text
    assert "http" not in page
    assert "<script" not in page
    assert 'href="default/report.html"' in page
    # A bar of a category tells how many conversations it is of, and not the arm's.
    by_category = figures.arms[0].summary.slices["category"]
    assert len(by_category) > 1
    for each in by_category.values():
        told = rf"<title>default: [\d.]+%, [^<]*, {each.tasks} conversations?</title>"
        assert re.search(told, page)
    write_study(study_figures(folder), folder / "again.html")
    assert (folder / "again.html").read_bytes() == (folder / "study.html").read_bytes()


def test_arms_that_were_not_begun_are_named(folder: Path) -> None:
    config = folder / "without-policy_violations" / "config.json"
    config.rename(folder / "kept")
    try:
        figures = study_figures(folder)
        assert len(figures.arms) == 1
        assert "Not played yet: without-policy_violations" in render_study(figures)
    finally:
        (folder / "kept").rename(config)


def test_a_directory_without_a_study_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no study"):
        study_figures(tmp_path)
