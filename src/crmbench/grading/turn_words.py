"""All that a reader of a turn's words needs, and the judgement on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crmbench.core.domain import Domain
from crmbench.core.task import GoldTurn, Task
from crmbench.core.trace import CallRecord
from crmbench.grading.facts.context import Context
from crmbench.grading.gold import GoldRun
from crmbench.grading.words import Problem, word_problems


@dataclass(frozen=True)
class TurnWords:
    """One turn, as the reader of its words sees it."""

    gold: GoldTurn
    context: Context
    submitted: str | None = None
    """What the agent gave with the answering tool; None where it did not use it."""

    @classmethod
    def of_gold(
        cls, domain: Domain, task: Task, run: GoldRun, index: int, submitted: str | None
    ) -> TurnWords:
        """The turn as it is when the gold was played up to its end."""
        return cls(
            task.gold.turns[index],
            context_of(domain, task, index, run.calls[index]),
            submitted,
        )


def context_of(domain: Domain, task: Task, index: int, calls: Sequence[CallRecord]) -> Context:
    """What the reader knows beside the reply.

    Args:
        calls: The calls whose results tell how the records stand.
    """
    gold = task.gold.turns[index]
    tools = domain.toolbox.by_name
    writes = any(call.tool in tools and tools[call.tool].writes for call in gold.calls)
    return Context(
        question=task.turns[index].utterance,
        earlier="\n".join(turn.utterance for turn in task.turns[:index]),
        asker=task.persona.partition(",")[0].strip(),
        facts=gold.facts,
        records=tuple(call.result for call in calls if call.ok),
        writes=writes,
    )


def judge_words(words: TurnWords, reply: str) -> Iterator[Problem]:
    """Everything that is, or may be, wrong with the words of a turn."""
    yield from word_problems(words.gold, reply, words.context)
