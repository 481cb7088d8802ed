"""Sessions stepped together are the sessions that they would be alone."""

from __future__ import annotations

import pytest
from tests.training.conftest import right_actions

from crmbench.core.task import Task
from crmbench.errors import HarnessError, InputError
from crmbench.training.resources import SessionResources
from crmbench.training.rewards import SHAPED
from crmbench.training.session import TrainingSession
from crmbench.training.vector import VectorSession


@pytest.mark.parametrize("processes", [0, 2])
def test_each_session_plays_as_it_would_alone(
    processes: int, shared: SessionResources, demo: list[Task]
) -> None:
    alone = TrainingSession(demo, rewards=SHAPED, resources=shared)
    expected = {}
    plans = {}
    for place in range(5):
        told = alone.reset(seed=place)
        assert alone.task is not None
        plans[place] = right_actions(shared, alone.task)
        expected[place] = (told, [alone.step(action) for action in plans[place]])
    with VectorSession(demo, 5, processes=processes, rewards=SHAPED) as together:
        assert together.reset() == {place: told for place, (told, _) in expected.items()}
        assert together.tools(3) == alone.tools
        for number in range(max(map(len, plans.values()))):
            going = {place: plan[number] for place, plan in plans.items() if number < len(plan)}
            done = together.step(going)
            assert done == {place: expected[place][1][number] for place in going}
        again = together.reset({4: 2})
        assert again == {4: expected[2][0]}


def test_a_fault_is_raised_and_the_others_go_on(demo: list[Task]) -> None:
    with VectorSession(demo, 3, processes=2) as together:
        with pytest.raises(HarnessError, match="call reset"):
            together.step(["Hello.", "Hello.", "Hello."])
        together.reset([1, 2, 3])
        with pytest.raises(InputError, match="there is no session 9"):
            together.step({9: "Hello."})
        with pytest.raises(InputError, match="is no step"):
            together.step({0: {}})
        assert set(together.step(["Hello.", "Hello.", "Hello."])) == {0, 1, 2}
    with pytest.raises(InputError, match="count: is 1"):
        VectorSession(demo, 1, processes=2)
