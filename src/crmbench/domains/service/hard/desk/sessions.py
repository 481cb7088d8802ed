"""What a task allows, in one session or in several.

A later session has nothing of the ones before but the notebook, and that holds a word or two. Into
900 characters a strong agent wrote all that a handbook came to, and into 100 the numbers of all
memos that matter; the sessions after it had only to carry that out. So every session has to find
what decides its own cases, and the calls are those of a careful reader that keeps nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from crmbench.core.task import Task
from crmbench.domains.service.hard.desk.scout import Scout, allowed

NOTEBOOK = 20
"""Characters that the notebook holds between sessions."""


def limited(task: Task, readers: Sequence[Scout], besides: int) -> Task:
    """A task with the calls that it allows, and the breaks between its turns if it has several.

    Args:
        readers: Of each turn who reads up on its cases.
        besides: What it takes beside the handbook, over all turns.
    """
    for reader in readers:
        reader.read()
    needed = besides + sum(reader.calls for reader in readers)
    # Each break takes a writing and a reading of the notebook.
    calls = allowed(readers[0].of, needed + 2 * (len(readers) - 1))
    if len(readers) == 1:
        return replace(task, call_limit=calls)
    breaks = tuple(range(1, len(readers)))
    return replace(task, budget=calls, breaks=breaks, notebook=NOTEBOOK)
