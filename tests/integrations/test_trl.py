"""The class that TRL's trainer drives: a method for every tool, and one for the reply."""

from __future__ import annotations

import inspect

import pytest
from tests.training.conftest import right_actions

from crmbench.domains.registry import load_domain
from crmbench.integrations.trl import OVER, environment_class, rows
from crmbench.runner.task_sets import load_named
from crmbench.training.actions import CallRequest
from crmbench.training.resources import SessionResources
from crmbench.training.tasks import TaskPool

POOL = TaskPool(load_named("demo").tasks()[:6])


def test_right_calls_as_methods_are_paid_in_full() -> None:
    made = environment_class(POOL)
    environment = made()
    shared = SessionResources()
    for row in rows(POOL):
        task = POOL.find(row["task"])
        assert environment.reset(**row) == task.turns[0].utterance
        said = ""
        for action in right_actions(shared, task):
            if isinstance(action, CallRequest):
                said = getattr(environment, action.name)(**action.arguments)
            else:
                said = environment.reply(str(action))
        assert said == OVER
        assert environment.reply("More?") == OVER
        assert environment.get_reward() == pytest.approx(2.0)
    shared.close()


def test_the_methods_are_the_domains_tools() -> None:
    made = environment_class(POOL)
    methods = {name for name, _ in inspect.getmembers(made, inspect.isfunction) if name[0] != "_"}
    tools = load_domain("sales").toolbox.by_name
    assert methods == {*tools, "reply", "reset", "get_reward"}
    for name, tool in tools.items():
        signature = inspect.signature(getattr(made(), name))
        needed = {p.name for p in signature.parameters.values() if p.default is p.empty}
        assert set(signature.parameters) == {param.name for param in tool.params}
        assert needed == {param.name for param in tool.params if param.required}


def test_transformers_reads_the_same_schema() -> None:
    utils = pytest.importorskip("transformers.utils")
    environment = environment_class(POOL)()
    for name, tool in load_domain("sales").toolbox.by_name.items():
        read = utils.get_json_schema(getattr(environment, name))["function"]
        ours = tool.schema()
        assert read["name"] == ours["name"]
        assert set(read["parameters"]["properties"]) == set(ours["parameters"]["properties"])
        assert set(read["parameters"].get("required", [])) == set(ours["parameters"]["required"])
