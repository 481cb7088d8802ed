"""Prompts are files: ours, a variant of them, or a folder's, with every slip in it named."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from crmbench.agents.prompting import preamble, preamble_with_tools
from crmbench.core.task import TaskView
from crmbench.errors import InputError
from crmbench.models.prompt_files import OURS, PromptFiles, prompts_of, variants

VIEW = TaskView("sales", "2030-01-02", "RULE-1: pay $5 at most.", ({"name": "client_search"},))


def folder(path: Path, **prompts: str) -> str:
    for name, text in prompts.items():
        (path / f"{name}.md").write_text(text, "utf-8")
    return str(path)


def test_a_folders_file_goes_before_ours_and_the_others_stay(tmp_path: Path) -> None:
    own = PromptFiles(folder(tmp_path, function_calling="It is $today. $policy"))
    assert preamble(VIEW, own) == "It is 2030-01-02. RULE-1: pay $5 at most."
    assert preamble_with_tools(VIEW, "react", own).endswith(OURS.text("react"))
    assert own.text("judge") == OURS.text("judge")


def test_digests_are_of_the_prompts_that_are_used(tmp_path: Path) -> None:
    own = PromptFiles(folder(tmp_path, act="Act."))
    digests = own.digests(("act", "json"))
    assert digests["act.md"] == sha256(b"Act.").hexdigest()
    assert digests["json.md"] == OURS.digests(("json",))["json.md"]
    assert prompts_of("crmbench.agents") >= ("act", "function_calling", "json")
    assert prompts_of("crmbench.roles") == ("judge", "reading", "response", "user")


@pytest.mark.parametrize(
    ("prompts", "problem", "expected"),
    [
        ({"jugde": "x"}, "name of no prompt", "judge.md"),
        ({"judge": "Today is $tody."}, "nothing is known to put in $tody", "$today"),
        ({"act": "Costs $ 5"}, "a $ stands alone", "$$"),
        ({"act": "You are $name"}, "$name", "no slots"),
        ({}, "holds no prompt", "judge.md"),
    ],
)
def test_a_slip_in_a_folder_is_named(
    tmp_path: Path, prompts: dict[str, str], problem: str, expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        PromptFiles(folder(tmp_path, **prompts)).text("judge")
    assert problem in str(caught.value)
    assert expected in (caught.value.expected or "")


def test_a_name_that_is_neither_a_folder_nor_a_variant_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        PromptFiles("no_such_variant").text("judge")
    assert "with_examples" in (caught.value.expected or "")


@pytest.mark.parametrize("name", variants())
def test_each_variant_changes_something_and_keeps_the_house_rules(name: str) -> None:
    variant = PromptFiles(name)
    changed = [p for p in prompts_of("crmbench.agents") if variant.text(p) != OURS.text(p)]
    assert changed
    for framework in ("act", "react", "json"):
        told = preamble_with_tools(VIEW, framework, variant)
        assert "RULE-1: pay $5 at most." in told
        assert "client_search" in told
