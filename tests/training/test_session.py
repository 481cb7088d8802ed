"""Sessions: rewards of right and wrong episodes, the forms of steps, ends, and pickling."""

from __future__ import annotations

import pickle
from dataclasses import replace

import orjson
import pytest
from tests.training.conftest import play, right_actions

from crmbench.core.task import Task
from crmbench.errors import HarnessError, InputError
from crmbench.training.actions import CallRequest, read_action
from crmbench.training.resources import SessionResources
from crmbench.training.rewards import SHAPED, VERDICT, Rewards
from crmbench.training.session import TrainingSession


def test_the_right_actions_are_paid_in_full(shared: SessionResources, demo: list[Task]) -> None:
    session = TrainingSession(demo, rewards=SHAPED, resources=shared)
    for task in demo:
        steps = play(session, task, right_actions(shared, task))
        assert sum(step.reward for step in steps) == pytest.approx(2.0), task.task_id
        assert [step.terminated for step in steps[-2:]] == [False, True][-len(steps[-2:]) :]
        assert steps[-1].info["success"] is True


def test_a_verdict_pays_at_the_end_only(shared: SessionResources, demo: list[Task]) -> None:
    session = TrainingSession(demo, rewards=VERDICT, resources=shared)
    steps = play(session, demo[0], right_actions(shared, demo[0]))
    assert [step.reward for step in steps] == [0.0] * (len(steps) - 1) + [1.0]


def test_doing_nothing_is_paid_nothing(shared: SessionResources, demo: list[Task]) -> None:
    session = TrainingSession(demo, rewards=SHAPED, resources=shared)
    for task in demo:
        steps = play(session, task, ["I am not sure."] * len(task.turns))
        assert steps[-1].terminated
        assert sum(step.reward for step in steps) < 1.0
        assert not steps[-1].info["success"]


def test_rewards_follow_the_verdict_on_the_trace(
    shared: SessionResources, demo: list[Task]
) -> None:
    """Turn by turn and in one go is one grading: also where turns go wrong."""
    session = TrainingSession(demo, rewards=SHAPED, resources=shared)
    for number, task in enumerate(demo):
        actions = right_actions(shared, task)
        del actions[number % len(actions)]
        session.reset(task)
        for action in actions:
            if session.step(action).terminated:
                break
        else:
            session.step("Done.")
        if session.trace is not None:
            assert session.verdict == shared.grader.grade(task, session.trace)


def test_every_reward_is_the_sum_of_its_parts(shared: SessionResources, demo: list[Task]) -> None:
    rewards = Rewards(turns=1.0, wrong_record=0.5, false_success=0.5, call=0.01)
    session = TrainingSession(demo, rewards=rewards, resources=shared)
    seen: set[str] = set()
    for task in demo:
        for step in play(session, task, right_actions(shared, task)):
            assert step.reward == sum(step.info["rewards"].values())
            seen |= set(step.info["rewards"])
    assert seen == {"turns", "success", "call"}


WRITE = "modify_client"


def _task_that_writes(demo: list[Task]) -> tuple[Task, int]:
    for task in demo:
        for number, turn in enumerate(task.gold.turns):
            if turn.expect_success and any(call.tool == WRITE for call in turn.calls):
                return task, number
    raise AssertionError(f"no demo task uses {WRITE}")


def test_a_write_to_the_wrong_record_costs_once(shared: SessionResources, demo: list[Task]) -> None:
    task, number = _task_that_writes(demo)
    rewards = Rewards(success=0, wrong_record=0.5)
    session = TrainingSession(demo, rewards=rewards, resources=shared)
    session.reset(task)
    found = orjson.loads(
        session.step(CallRequest("client_search", {"status": "Active"})).messages[0]["content"]
    )
    meant = {
        call.arguments["client_id"]
        for turn in shared.grader.gold_runs(task)[0].calls
        for call in turn
        if call.tool == WRITE
    }
    records = found["records"] if isinstance(found, dict) else found
    wrong = next(each["client_id"] for each in records if each["client_id"] not in meant)
    session.step(CallRequest(WRITE, {"client_id": wrong, "updates": {"phone": "+1 555 0100"}}))
    step = session.step("I have updated it.")
    total = [step.info["rewards"].get("wrong_record", 0.0)]
    while not step.terminated:
        step = session.step("I do not know.")
        total.append(step.info["rewards"].get("wrong_record", 0.0))
    assert total == [-0.5] + [0.0] * (len(total) - 1)
    assert number < len(total)


def test_saying_done_of_what_was_not_done_costs(shared: SessionResources, demo: list[Task]) -> None:
    task, number = _task_that_writes(demo)
    session = TrainingSession(
        demo, rewards=Rewards(success=0, false_success=0.25), resources=shared
    )
    session.reset(task)
    for _ in range(number):
        session.step("I do not know.")
    step = session.step("Done, I have updated the client as you asked.")
    assert step.info["rewards"] == {"false_success": -0.25}


def test_negative_weights_and_shares_above_one_are_refused() -> None:
    with pytest.raises(InputError, match=r"rewards\.turns: is -1"):
        Rewards(turns=-1)
    with pytest.raises(InputError, match=r"rewards\.undecided: is 2"):
        Rewards(undecided=2)


def test_the_forms_of_a_step_are_one(shared: SessionResources, demo: list[Task]) -> None:
    arguments = {"status": "Active"}
    function = {"name": "client_search", "arguments": orjson.dumps(arguments).decode()}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "function": function}],
    }
    forms = (
        CallRequest("client_search", arguments, "a"),
        {"name": "client_search", "arguments": arguments, "id": "a"},
        [CallRequest("client_search", arguments, "a")],
        message,
    )
    session = TrainingSession(demo, resources=shared)
    told = []
    for form in forms:
        session.reset(demo[0])
        told.append(session.step(form).messages)
    assert told[0][0]["tool_call_id"] == "a"
    assert all(messages == told[0] for messages in told)
    assert read_action({"role": "assistant", "content": "Yes."}) == "Yes."


@pytest.mark.parametrize("action", [{}, [], 7, {"content": 3}, [3], {"tool_calls": "x"}])
def test_what_is_no_step_is_an_error_of_the_caller(action: object) -> None:
    with pytest.raises(InputError, match="action"):
        read_action(action)  # type: ignore[arg-type]


def test_a_model_is_told_what_is_wrong_with_its_call(
    shared: SessionResources, demo: list[Task]
) -> None:
    session = TrainingSession(demo, resources=shared)
    session.reset(demo[0])
    step = session.step({"name": "client_search", "arguments": "{oops"})
    assert step.messages[0]["content"].startswith("Error: The arguments of the tool call are not")
    step = session.step(CallRequest("no_such_tool", {}))
    assert step.messages[0]["content"].startswith("Error: There is no tool named")


def test_the_same_seed_draws_the_same_task(shared: SessionResources, demo: list[Task]) -> None:
    one, two = (
        TrainingSession(demo, resources=shared),
        TrainingSession(demo, resources=shared),
    )
    assert [one.reset(seed=n)[0] for n in range(8)] == [two.reset()[0] for _ in range(8)]
    assert len({one.reset(seed=n)[1]["task_id"] for n in range(40)}) > 5
    assert one.reset(demo[3].task_id)[1] == one.reset(3)[1]
    with pytest.raises(InputError, match="there is no task 'nobody'"):
        one.reset("nobody")
    with pytest.raises(InputError, match="expected 0 to"):
        one.reset(len(demo))


def test_an_episode_is_broken_off_at_the_limit(shared: SessionResources, demo: list[Task]) -> None:
    task = next(task for task in demo if len(task.turns) > 2)
    session = TrainingSession(demo, rewards=SHAPED, max_steps=2, resources=shared)
    session.reset(task)
    assert not session.step("I am not sure.").truncated
    step = session.step("I am not sure.")
    assert (step.terminated, step.truncated, step.info["success"]) == (False, True, False)
    with pytest.raises(HarnessError, match="call reset"):
        session.step("More?")


def test_a_session_pickles_in_the_middle_of_an_episode(
    shared: SessionResources, demo: list[Task]
) -> None:
    session = TrainingSession(demo, rewards=SHAPED, resources=shared)
    actions = right_actions(shared, demo[1])
    session.reset(demo[1])
    for action in actions[:-1]:
        session.step(action)
    with pickle.loads(pickle.dumps(session)) as copy:
        assert copy.step(actions[-1]) == session.step(actions[-1])
        assert copy.trace == session.trace
        assert copy.reset(seed=2) == session.reset(seed=2)


def test_sessions_do_not_see_each_other(shared: SessionResources, demo: list[Task]) -> None:
    one, two = (
        TrainingSession(demo, resources=shared),
        TrainingSession(demo, resources=shared),
    )
    one.reset(demo[0])
    two.reset(demo[0])
    made = {"name": "Seen By Nobody", "email": "none@example.test", "status": "Active"}
    step = one.step(CallRequest("create_new_client", made))
    assert "Seen By Nobody" in step.messages[0]["content"]
    search = CallRequest("client_search", {"name": "Seen By Nobody"})
    assert "Seen By Nobody" in one.step(search).messages[0]["content"]
    assert "Seen By Nobody" not in two.step(search).messages[0]["content"]


def test_nothing_that_a_policy_sees_holds_the_canary_or_the_gold(
    shared: SessionResources, demo: list[Task]
) -> None:
    session = TrainingSession(demo, rewards=SHAPED, resources=shared)
    for task in demo:
        task = replace(task, gold=replace(task.gold, canary="canary-7f3a"))
        shown: list[object] = [session.reset(task), session.tools]
        shown += [session.step("I am not sure.") for _ in task.turns]
        text = orjson.dumps(shown, default=list).decode()
        assert "canary-7f3a" not in text
        verdict = session.verdict
        assert verdict is not None
        assert verdict.reason is not None
        assert verdict.reason not in text
