"""Playing a chain: recall, play, observe, keep; and a frozen learner on the probes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import orjson

from crmbench.core.trace import TokenUsage
from crmbench.errors import InfrastructureError
from crmbench.grading.record import EpisodeRecord
from crmbench.learning.asker import Asker
from crmbench.learning.feedback import experience_of
from crmbench.learning.plan import LearningChain, Move
from crmbench.learning.protocol import Conductor, Feedback, Learner, RecallView, spent_by
from crmbench.learning.record import ChainFiles, ChainState, StepRecord
from crmbench.learning.streams import Item, family_of
from crmbench.learning.tokens import cut, tokens_in
from crmbench.learning.told import told
from crmbench.runner.evaluate import Evaluator, Job
from crmbench.runner.run_dir import RunDir


@dataclass
class _Played:
    """An episode that counts, and what was spent on the way to it."""

    recalled: str
    record: EpisodeRecord
    agent: TokenUsage
    attempts: int


@dataclass
class ChainPlayer:
    """Plays one chain and keeps every step.

    Args:
        evaluator: Plays and grades the episodes, as in any run.
        budget: Tokens of a recalled text.
        gate: Holds the number of episodes at once, over all chains.
        on_step: Told of each step that was kept.
    """

    chain: LearningChain
    learner: Learner
    evaluator: Evaluator
    run_dir: RunDir
    budget: int
    feedback: Feedback
    gate: asyncio.Semaphore
    ask: Asker | None = None
    on_step: Callable[[StepRecord], None] = lambda _: None
    stop: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        self._files = ChainFiles(self.run_dir.path)
        self._spent: Mapping[str, TokenUsage] = {}

    async def play(self) -> bool:
        """Go on from where the files are, to the end.

        Returns:
            False if it was stopped before the end.

        Raises:
            InfrastructureError: A model or server failed; the step was not kept.
        """
        state = self._files.state()
        self._files.go_back(state.steps)
        self.run_dir.drop_torn_lines()
        self.learner.reset(self.chain.seed)
        if state.steps:
            self.learner.restore(state.learner)
        done = 0
        for move in self.chain.moves:
            done += len(move.items)
            if done <= state.steps:
                continue
            if self.stop():
                return False
            await (self._learn(move) if move.phase == "online" else self._probe(move))
        self.run_dir.settle(self.chain.schedule.tasks)
        return True

    async def _learn(self, move: Move) -> None:
        before = self._spent_now()
        counts = _counts(self.learner)
        (item,) = move.items
        view = self._view(item)
        played = await self._play_item(item, move.stage, view)
        schema = self.evaluator.grader.backends.domain(item.task.domain).schema
        told_of = experience_of(
            view, played.recalled, played.record, self.feedback, item.task, schema
        )
        await self.learner.observe(told_of)
        self._keep(move, [(item, played)], before, counts)

    async def _probe(self, move: Move) -> None:
        """All tasks of a probe, the learner frozen: whatever their order, nothing is learnt."""
        before, counts, known = self._spent_now(), _counts(self.learner), self.learner.snapshot()
        self.learner.freeze()
        views = [self._view(item) for item in move.items]
        if isinstance(self.learner, Conductor):
            played = [
                await self._play_item(item, move.stage, view)
                for item, view in zip(move.items, views, strict=True)
            ]
        else:
            texts = [await self._recall(view) for view in views]
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._attempt(item, move.stage, text))
                    for item, text in zip(move.items, texts, strict=True)
                ]
            played = [
                _Played(text, task.result(), task.result().trace.usage, 1)
                for text, task in zip(texts, tasks, strict=True)
            ]
        self.learner.restore(known)
        self._keep(move, list(zip(move.items, played, strict=True)), before, counts)

    def _view(self, item: Item) -> RecallView:
        seen = self.evaluator.view(Job(item.task, 0, policy=item.policy))
        return RecallView(seen.domain, seen.today, seen.persona, item.task.turns[0].utterance)

    async def _recall(self, view: RecallView) -> str:
        return cut(await self.learner.recall(view, self.budget), self.budget)

    async def _play_item(self, item: Item, stage: int, view: RecallView) -> _Played:
        if not isinstance(self.learner, Conductor):
            text = await self._recall(view)
            record = await self._attempt(item, stage, text)
            return _Played(text, record, record.trace.usage, 1)
        texts: list[str] = []
        usage = TokenUsage()

        async def attempt(text: str) -> EpisodeRecord:
            nonlocal usage
            texts.append(cut(text, self.budget))
            record = await self._attempt(item, stage, texts[-1])
            usage = usage + record.trace.usage
            return record

        record = await self.learner.conduct(view, self.budget, attempt)
        return _Played(texts[-1] if texts else "", record, usage, len(texts))

    async def _attempt(self, item: Item, stage: int, text: str) -> EpisodeRecord:
        job = Job(item.task, stage, told(text, self.budget), item.policy)
        async with self.gate:
            record = await self.evaluator.play(job)
        if not record.verdict.counted:
            # Learning from it, or past it, would make the rest of the chain a server's doing.
            raise InfrastructureError(
                f"{self.chain.name}: {item.task.task_id}: {record.trace.error or 'not counted'}"
            )
        return record

    def _spent_now(self) -> dict[str, TokenUsage]:
        return spent_by(self.learner, self.ask)

    def _keep(
        self,
        move: Move,
        played: list[tuple[Item, _Played]],
        before: Mapping[str, TokenUsage],
        counts: Mapping[str, int],
    ) -> None:
        snapshot = self.learner.snapshot()
        memory = tokens_in(orjson.dumps(snapshot).decode()) if snapshot else 0
        first = self._files.state().steps
        spent = _difference(self._spent_now(), before)
        counted = {
            name: number - counts.get(name, 0) for name, number in _counts(self.learner).items()
        }
        steps = []
        for place, (item, each) in enumerate(played):
            self.run_dir.append(each.record)
            verdict = each.record.verdict
            steps.append(
                StepRecord(
                    first + place,
                    move.phase,
                    move.block,
                    move.stage,
                    move.group,
                    item.task.task_id,
                    family_of(item.task),
                    verdict.success,
                    verdict.undecided,
                    tokens_in(each.recalled),
                    memory,
                    verdict.calls,
                    each.attempts,
                    each.agent,
                    # Of a probe's calls all stand with its first task: they are one move.
                    spent if place == 0 else {},
                    counted if place == 0 else {},
                )
            )
        self._files.keep(steps, ChainState(first + len(steps), snapshot))
        for step in steps:
            self.on_step(step)


def _counts(learner: Learner) -> dict[str, int]:
    """What a learner counts beside tokens, as it says in ``counts``."""
    return dict(getattr(learner, "counts", {}))


def _difference(
    after: Mapping[str, TokenUsage], before: Mapping[str, TokenUsage]
) -> dict[str, TokenUsage]:
    found = {}
    for role in sorted(after):
        spent = after[role].since(before.get(role, TokenUsage()))
        if spent is not None:
            found[role] = spent
    return found
