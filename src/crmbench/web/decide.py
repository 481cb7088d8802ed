"""What a person decides of readings that the grader is not certain of, kept as data.

A line a decision, in the form that ``crmbench grade RUN --decide FILE`` reads; of two on the same
reading the later one holds.
"""

from __future__ import annotations

import threading
from pathlib import Path

import orjson

from crmbench.errors import InputError
from crmbench.formats.jsonl import read_objects
from crmbench.grading.decisions import decision_from

FILE = "decisions.jsonl"
"""In the run's directory."""


class DecisionFile:
    """The decisions on one run.

    Args:
        path: The file; made with the first decision.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def of(self, task_id: str, trial: int) -> dict[tuple[int, str], bool]:
        """What was decided of an episode: turn and reading to whether the reply is right there.

        Raises:
            InputError: A line of the file is no decision.
        """
        if not self.path.exists():
            return {}
        found = {}
        for number, data in read_objects(self.path):
            if isinstance(data, InputError):
                raise data
            place, decision = decision_from(data, number)
            if place[:2] == (task_id, trial):
                found[place[2], decision.reading] = decision.right
        return found

    def add(
        self, task_id: str, trial: int, turn: int, reading: str, *, right: bool, by: str, reply: str
    ) -> None:
        """Keep a decision.

        Raises:
            InputError: The file cannot be written.
        """
        line = {
            "task_id": task_id,
            "trial": trial,
            "turn": turn,
            "reading": reading,
            "right": right,
            "by": by,
            "reply": reply,
        }
        try:
            with self._lock, self.path.open("ab") as file:
                file.write(orjson.dumps(line) + b"\n")
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(self.path)) from error
