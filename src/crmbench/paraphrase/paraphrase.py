"""What users say, said in other words by a model, where a check finds that nothing was lost.

A model is asked for one message at a time: what the user says in a turn, and what the user would
answer if asked. `check` compares the two; a rewrite that it complains about goes back
to the model with the complaint, once. If that does not help, the original stays.

Ground truth never reaches the model. Every reply is kept (`cache`), the check is made
anew each time: a second run asks for nothing and comes to the same.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

import orjson

from crmbench.authoring.masking import mask
from crmbench.core.task import Task
from crmbench.core.trace import TokenUsage
from crmbench.domains.registry import load_domain
from crmbench.errors import CrmbenchError
from crmbench.models import Message, system, user
from crmbench.paraphrase.cache import Kept, KeptReply, key_of
from crmbench.paraphrase.check import Known, bare_text, complaints, known_of, values_said
from crmbench.paraphrase.names import Names, names_of
from crmbench.roles.role_model import RoleModel

TAG = "paraphrased"
"""Of conversations in which something was rewritten."""
TRIES = 2
SHOWN_COMPLAINTS = 6
Part = Literal["utterance", "answer"]
Ending = Literal["rewritten", "lost a fact", "like another"]


class BudgetSpent(CrmbenchError):
    """The limit of cost is reached; what was written so far is kept."""


class Said(NamedTuple):
    """A text of a conversation that is to be rewritten."""

    task: int
    """Its conversation's place among the tasks."""
    turn: int
    """From 0."""
    part: Part
    text: str


@dataclass(frozen=True)
class Rewording:
    """What came of one text."""

    said: Said
    text: str
    """What stands in the file now."""
    ending: Ending
    complaints: tuple[str, ...] = ()
    """About the last rewrite, where the original stays."""
    tries: int = 1


@dataclass(frozen=True)
class Paraphrased:
    """What came of all."""

    rewordings: tuple[Rewording, ...]
    """In the order of the conversations."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    """Of this sitting; replies that were kept cost nothing."""

    @property
    def endings(self) -> Counter[Ending]:
        """How many texts ended how."""
        return Counter(each.ending for each in self.rewordings)


def texts_of(tasks: Sequence[Task]) -> Iterator[Said]:
    """Everything that the users of the conversations may say, in order."""
    for place, task in enumerate(tasks):
        for number, turn in enumerate(task.turns):
            yield Said(place, number, "utterance", turn.utterance)
            if turn.clarification is not None:
                yield Said(place, number, "answer", turn.clarification.answer)


class Paraphraser:
    """Asks a model for other words.

    Args:
        role_model: The model.
        kept: What it has written before.
        max_cost: US dollars; once they are spent no further request is made.
    """

    def __init__(self, role_model: RoleModel, kept: Kept, max_cost: float | None = None) -> None:
        self._role_model = role_model
        self._kept = kept
        self._max_cost = max_cost
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.usage = TokenUsage()

    async def reword(self, task: Task, said: Said, known: Known) -> Rewording:
        """One text in other words, or as it was.

        Raises:
            ModelError: The model could not be asked.
            BudgetSpent: It would cost too much.
        """
        messages = request(task, said, known)
        wrong: list[str] = []
        for attempt in range(1, TRIES + 1):
            reply = await self._reply(messages, said.text)
            text = bare_text(reply.reply)
            wrong = _unfinished(reply) or complaints(said.text, text, known)
            if not wrong:
                return Rewording(said, text, "rewritten", tries=attempt)
            messages = [*messages, Message("assistant", reply.reply or "-"), _again(wrong)]
        return Rewording(said, said.text, "lost a fact", tuple(wrong), TRIES)

    async def _reply(self, messages: Sequence[Message], text: str) -> KeptReply:
        model = self._role_model.model.name
        key = key_of(model, messages)
        async with self._locks[key]:
            kept = self._kept.get(key)
            if kept is not None:
                return kept
            if self._max_cost is not None and (self.usage.cost or 0.0) >= self._max_cost:
                raise BudgetSpent(f"the limit of ${self._max_cost:g} is reached")
            reply, usage = await self._role_model.ask(messages, f"paraphrase/{key[:12]}")
            self.usage = self.usage + usage
            stop = "refusal" if reply.refusal else reply.stop_reason
            written = KeptReply(key, model, text, reply.text, stop)
            self._kept.add(written)
            return written

    async def close(self) -> None:
        """Close the model."""
        await self._role_model.model.close()


def _unfinished(reply: KeptReply) -> list[str]:
    if reply.stop == "refusal":
        return ["you declined; the message is made up, and only its words are to change"]
    return ["it breaks off"] if reply.stop == "length" else []


def _again(wrong: Sequence[str]) -> Message:
    shown = "; ".join(wrong[:SHOWN_COMPLAINTS])
    return user(
        f"That cannot be used: {shown}. Write the whole message once more, so that this is put "
        "right, and nothing but the message."
    )


def request(task: Task, said: Said, known: Known) -> list[Message]:
    """The messages that ask for other words. They hold only what users say."""
    turn = task.turns[said.turn]
    material: dict[str, Any] = {
        "earlier": [earlier.utterance for earlier in task.turns[: said.turn]],
        "voice": _voice(task),
        "keep": values_said(said.text, known),
        "message": said.text,
    }
    if said.part == "answer" and turn.clarification is not None:
        material["earlier"].append(turn.utterance)
        material["answers a question about"] = list(turn.clarification.about)
    return [system(_instructions()), user(orjson.dumps(material).decode())]


def _voice(task: Task) -> str:
    voices = (tag.removeprefix("voice_") for tag in task.tags if tag.startswith("voice_"))
    return next(voices, "as the message has it")


async def paraphrase(
    tasks: Sequence[Task],
    paraphraser: Paraphraser,
    *,
    concurrency: int = 8,
    on_done: Callable[[int, int], None] = lambda _done, _all: None,
) -> Paraphrased:
    """Rewrite everything that the users of the conversations say.

    Args:
        concurrency: Texts at once.
        on_done: Told how many of how many texts are done.

    Raises:
        ModelError: The model could not be asked; what it wrote before is kept.
        BudgetSpent: The limit of cost was reached; the same.
    """
    texts = list(texts_of(tasks))
    waiting = deque(texts)
    knowing = _Knowing(tasks)
    found: dict[Said, Rewording] = {}

    async def work() -> None:
        while waiting:
            said = waiting.popleft()
            try:
                known = knowing.of(said.task)
                found[said] = await paraphraser.reword(tasks[said.task], said, known)
            except CrmbenchError:
                waiting.clear()  # nobody begins another
                raise
            on_done(len(found), len(texts))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(texts))):
                group.create_task(work())
    except* CrmbenchError as errors:
        raise _first(errors) from None
    rewordings = _told_apart([found[said] for said in texts])
    return Paraphrased(tuple(rewordings), paraphraser.usage)


def _first(errors: BaseExceptionGroup[CrmbenchError]) -> BaseException:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Knowing:
    """What the check goes by, made when it is needed; the names of a world once."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._known: dict[int, Known] = {}
        self._names: dict[tuple[str, str], Names] = {}

    def of(self, place: int) -> Known:
        if place not in self._known:
            task = self._tasks[place]
            self._known[place] = known_of(load_domain(task.domain), task, self._names_of(task))
        return self._known[place]

    def _names_of(self, task: Task) -> Names:
        domain = load_domain(task.domain)
        if task.seed_data:
            return names_of(domain, task)
        world = (task.domain, task.world)
        if world not in self._names:
            self._names[world] = names_of(domain, task)
        return self._names[world]


def _told_apart(rewordings: Sequence[Rewording]) -> Iterator[Rewording]:
    """The same without rewrites that sound like another text of the file, values aside: a model
    has favourite phrases, and a set of conversations is to have many.
    """
    heard = Counter(mask(each.said.text) for each in rewordings)
    for each in rewordings:
        masked = mask(each.text)
        if each.ending != "rewritten":
            yield each
        elif heard[masked]:
            yield Rewording(each.said, each.said.text, "like another", tries=each.tries)
        else:
            heard[masked] += 1
            yield each


def retold(data: Mapping[str, Any], rewordings: Sequence[Rewording]) -> dict[str, Any]:
    """A conversation's JSON object with other words and, if any changed, the tag.

    Args:
        data: As in the file; it is not changed.
        rewordings: Of this conversation.
    """
    told = [each for each in rewordings if each.ending == "rewritten"]
    changed = {(each.said.turn, each.said.part): each.text for each in told}
    if not changed:
        return dict(data)
    turns = [dict(turn) for turn in data["turns"]]
    for (place, part), text in changed.items():
        if part == "utterance":
            turns[place]["user_utterance"] = text
        else:
            ours = dict(turns[place]["crmbench"])
            ours["clarification"] = {**ours["clarification"], "answer": text}
            turns[place]["crmbench"] = ours
    ours = dict(data.get("crmbench") or {})
    tags = [tag for tag in ours.get("tags", ()) if tag != TAG]
    return {**data, "turns": turns, "crmbench": {**ours, "tags": [*tags, TAG]}}


@cache
def _instructions() -> str:
    return (resources.files("crmbench.paraphrase") / "prompts" / "paraphrase.md").read_text("utf-8")
