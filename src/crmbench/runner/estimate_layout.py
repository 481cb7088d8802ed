"""Prompts laid out as a run would send them, counted in tokens; see `crmbench.runner.estimate`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import orjson

from crmbench.agents.prompting import preamble, preamble_with_tools
from crmbench.agents.resolve import FRAMEWORKS
from crmbench.core.episode import view_of
from crmbench.core.task import Task, TaskView
from crmbench.core.trace import CallRecord, EpisodeTrace, TurnTrace
from crmbench.domains.registry import load_domain
from crmbench.grading.verdict import note_texts
from crmbench.models import Message
from crmbench.models.base import Usage
from crmbench.models.prices import ModelPrice
from crmbench.models.prompt_files import PromptFiles
from crmbench.roles import expected_reply
from crmbench.roles.judge import request
from crmbench.roles.user import instructions
from crmbench.runner.options import RunOptions

CHARACTERS_A_TOKEN = 4
"""English text and JSON; other languages take more tokens."""


@dataclass(frozen=True)
class Guess:
    """What is assumed of a model's ways."""

    name: str
    more_calls: int
    """Tool calls a turn besides the gold ones, each of their mean size."""
    thought: int
    """Tokens written with each tool call, its arguments aside."""
    reply: int
    """Tokens of a reply, of a user's message or of a judge's answer."""
    user_messages: int
    """Messages of a model as the user for one request."""
    judged: float
    """Share of the turns graded by tool match about which a judge is asked."""


GUESSES = (
    Guess("low", 0, 10, 40, 1, 0.0),
    Guess("typical", 1, 60, 80, 2, 0.25),
    Guess("high", 4, 500, 300, 4, 1.0),
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Calls and tokens, as expected numbers."""

    calls: float = 0.0
    prompt: float = 0.0
    cached: float = 0.0
    """The part of the prompts that an earlier call sent already."""
    completion: float = 0.0
    cost: float = 0.0
    """US dollars, if no prompt is read from a cache."""
    cost_cached: float = 0.0
    """If every repeated part is."""

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.calls + other.calls,
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.completion + other.completion,
            self.cost + other.cost,
            self.cost_cached + other.cost_cached,
        )

    def times(self, factor: float) -> Tokens:
        """The same, that many times."""
        return Tokens(*(factor * value for value in asdict(self).values()))


class _Chat:
    """A conversation with a model as it grows."""

    def __init__(self, prefix: int, price: ModelPrice | None) -> None:
        self._context = prefix
        self._sent = prefix  # the same for all conversations, so an earlier one has sent it
        self._price = price
        self.tokens = Tokens()

    def hear(self, tokens: int) -> None:
        self._context += tokens

    def call(self, completion: int) -> None:
        """The model reads all there is and writes so many tokens."""
        prompt, sent, price = self._context, self._sent, self._price
        plain = cached = None
        if price is not None:
            written = prompt - sent if price.cache_write is not None else None
            plain = price.of(Usage(prompt, completion))
            cached = price.of(Usage(prompt, completion, cached=sent, cache_written=written))
        self.tokens = self.tokens + Tokens(1, prompt, sent, completion, plain or 0.0, cached or 0.0)
        self._sent = prompt
        self._context += completion


class Layout:
    """One task under one guess.

    Args:
        trace: The oracle's.
        price: Of the model whose part is asked for; None if it is not known.
    """

    def __init__(
        self,
        options: RunOptions,
        guess: Guess,
        task: Task,
        trace: EpisodeTrace,
        price: ModelPrice | None,
    ) -> None:
        self._options = options
        self._guess = guess
        self._task = task
        self._trace = trace
        self._price = price
        whole = load_domain(task.domain)
        self._domain = whole.with_tools(options.tools) if options.tools else whole
        self._view = view_of(self._domain, task)
        self._prompts = PromptFiles(options.prompts)
        self._messages = min(guess.user_messages, options.user_messages) if options.user else 1

    def of(self, part: str) -> Tokens:
        """What the agent, the user or the judge takes."""
        return {"agent": self._agent, "user": self._user, "judge": self._judge}[part]()

    def _agent(self) -> Tokens:
        guess, chat = self._guess, _Chat(_prefix(self._options, self._view), self._price)
        sizes = [_size(call) for turn in self._trace.turns for call in turn.calls] or [(20, 200)]
        mean = tuple(sum(numbers) // len(sizes) for numbers in zip(*sizes, strict=True))
        for turn in self._trace.turns:
            for _ in range(self._messages - 1):
                chat.hear(_words(turn))
                chat.call(guess.reply)
            chat.hear(_words(turn))
            calls = [*map(_size, turn.calls), *[(mean[0], mean[1])] * guess.more_calls]
            for written, read in calls[: self._options.max_steps]:
                chat.call(written + guess.thought)
                chat.hear(read)
            chat.call(guess.reply)
        return chat.tokens

    def _user(self) -> Tokens:
        guess, task = self._guess, self._task
        prefix = instructions(task.persona, task.turns, self._view.today, self._prompts)
        chat = _Chat(count(prefix), self._price)
        for turn in task.turns:
            chat.hear(count(turn.utterance) + 10)
            for _ in range(self._messages):
                chat.call(guess.reply)
                chat.hear(guess.reply)
            if self._messages < self._options.user_messages:
                chat.call(4)  # the token that ends it
        return chat.tokens

    def _judge(self) -> Tokens:
        total = Tokens()
        for place in range(len(self._trace.turns)):
            share = self._share_judged(place)
            if share:
                rules, material = self._question(place)
                chat = _Chat(count(rules.text), self._price)
                chat.hear(count(material.text))
                chat.call(self._guess.reply)
                total = total + chat.tokens.times(share)
        return total

    def _question(self, place: int) -> list[Message]:
        turns = self._trace.turns
        if expected_reply.wanted(self._task, place):
            return expected_reply.request(self._view, self._task, turns, place, self._prompts)
        return request(self._view, turns, place, self._prompts)

    def _share_judged(self, place: int) -> float:
        if self._options.judge_all or expected_reply.wanted(self._task, place):
            return 1.0
        if self._task.gold.grading == "tool_match":
            return self._guess.judged
        turn = self._trace.turns[place]
        return float(
            bool(note_texts(self._domain.schema, turn))
            and not self._task.gold.turns[place].note_facts
        )


def _prefix(options: RunOptions, view: TaskView) -> int:
    """Tokens of what stands before the conversation: instructions, house rules, tools."""
    prompts = PromptFiles(options.prompts)
    if options.agent in FRAMEWORKS and options.agent != "function_calling":
        return count(preamble_with_tools(view, options.agent, prompts))
    return count(preamble(view, prompts)) + count(orjson.dumps(view.tools).decode())


def _words(turn: TurnTrace) -> int:
    return count(turn.utterance)


def _size(call: CallRecord) -> tuple[int, int]:
    """Tokens of a call as it is written and of its result as it is read."""
    written = count(call.tool) + count(orjson.dumps(call.arguments).decode())
    return written, count(orjson.dumps(call.result if call.ok else call.error).decode())


def count(text: str) -> int:
    """Tokens of a text, by the rule of thumb."""
    return -(-len(text) // CHARACTERS_A_TOKEN)
