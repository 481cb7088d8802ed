"""A model as the user: persona and goals from the task, in its own words, bit by bit.

What the scripted user would say in a turn is one goal. The model is told one goal at a time; it
writes to the agent as often as it needs to (`MAX_MESSAGES` at most) and ends the goal with a
token. The whole exchange about a goal is that turn of the trace: its calls and changes are the
turn's, and all its replies together are what the turn's facts are looked for in. The next goal is
not known to the model before, so nothing of it can be done or said too early.

Every message is checked before the agent sees it. One that is empty, breaks off, or holds a value
that the model was not told goes back to it, once; if that does not help, the episode ends with
the outcome ``user_error`` and does not count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from crmbench.agents.protocol import Agent, Session
from crmbench.core.episode import Episode
from crmbench.core.record import UserRecord
from crmbench.core.task import Task, Turn
from crmbench.core.trace import Message, TokenUsage, plain_text
from crmbench.errors import AgentError, CrmbenchError, HarnessError
from crmbench.models import Message as ModelMessage
from crmbench.models import ModelError, Reply, system, user
from crmbench.models.prompt_files import OURS, PromptFiles
from crmbench.roles.inventions import invented
from crmbench.roles.role_model import MAX_MESSAGES, RoleModel

NEXT, DONE = "[NEXT]", "[DONE]"
_TOKEN = re.compile(r"\[\s*(NEXT|DONE)\s*\]", re.IGNORECASE)


class UserFailure(CrmbenchError):
    """The model that plays the user did not keep to its part; never the agent's failure."""


class _Unsendable(Exception):
    """A message that the agent must not see; its text tells the model why."""


@dataclass(frozen=True)
class ModelUser:
    """Plays the users of a run.

    Args:
        role_model: The model.
        max_messages: Messages a goal; after the reply to the last one it ends as it stands.
    """

    role_model: RoleModel
    max_messages: int = MAX_MESSAGES

    @property
    def name(self) -> str:
        """The model's name."""
        return self.role_model.model.name

    def start(self, task: Task, today: str) -> SimulatedUser:
        """The user of one conversation."""
        return SimulatedUser(self.role_model, task.persona, task.turns, today, self.max_messages)

    async def close(self) -> None:
        await self.role_model.model.close()


class SimulatedUser:
    """One conversation's user: `begin` a goal, `speak`, `hear` the reply, until it is met."""

    def __init__(
        self,
        role_model: RoleModel,
        persona: str,
        turns: tuple[Turn, ...],
        today: str,
        max_messages: int = MAX_MESSAGES,
    ) -> None:
        self._role_model = role_model
        self._goals = turns
        self._today = today
        self._max_messages = max_messages
        self._messages: list[ModelMessage] = [
            system(instructions(persona, turns, today, role_model.prompts))
        ]
        self._pending: list[str] = []
        self._told = [persona]
        self._goal = -1
        self._said = 0
        self._total = 0
        self._corrections = 0
        self._usage = TokenUsage()
        self.speaking = False
        """Whether the model is being waited for."""

    @property
    def record(self) -> UserRecord:
        """What came of it so far."""
        return UserRecord(self._role_model.model.name, self._total, self._corrections, self._usage)

    def begin(self) -> bool:
        """Go on to the next goal; False if there is none."""
        if self._goal + 1 == len(self._goals):
            return False
        self._goal += 1
        self._said = 0
        brief = _brief(self._goals[self._goal])
        self._told.append(brief)
        place = f"{self._goal + 1} of {len(self._goals)}"
        self._pending.append(f"[REQUEST] {place}\n{brief}")
        return True

    async def speak(self) -> str | None:
        """The next message to the agent, or None when the goal is over.

        Raises:
            UserFailure: The model did not keep to its part, told so once.
            ModelError: The model could not be asked.
        """
        if self._said == self._max_messages:
            return None
        self.speaking = True  # and left so by a time limit that cuts this short
        try:
            text = self._sendable(await self._ask())
        except _Unsendable as problem:
            self._corrections += 1
            self._pending.append(f"[NOT SENT] {problem}")
            text = await self._second_try()
        self.speaking = False
        if text is not None:
            self._said += 1
            self._total += 1
        return text

    async def _second_try(self) -> str | None:
        try:
            return self._sendable(await self._ask())
        except _Unsendable as problem:
            raise UserFailure(f"the model that plays the user was told: {problem}") from None

    def hear(self, reply: str) -> None:
        """What the agent answered."""
        self._told.append(reply)
        self._pending.append(f"[REPLY]\n{reply}")

    async def _ask(self) -> Reply:
        self._messages.append(user("\n\n".join(self._pending)))
        self._pending = []
        try:
            reply, usage = await self._role_model.ask(self._messages, "user")
        except ModelError as error:
            if error.kind == "context_length":
                raise UserFailure(f"the model that plays the user: {error}") from error
            raise
        self._usage = self._usage + usage
        # A reply without words cannot stand in a conversation that is sent again.
        self._messages.append(reply.message() if reply.text else replace(reply, text="-").message())
        return reply

    def _sendable(self, reply: Reply) -> str | None:
        text = reply.text.strip()
        if reply.refusal or not text:
            raise _Unsendable("You wrote nothing that could be sent. Write the user's message.")
        token = _TOKEN.search(text)
        if token:
            self._check_end(token[1].upper())
            return None
        made_up = invented(text, self._told, self._today)
        if made_up:
            raise _Unsendable(
                f"You were never told '{made_up}'. Use only values that you were told, "
                "and write the message again."
            )
        return text

    def _check_end(self, token: str) -> None:
        left = len(self._goals) - self._goal - 1
        if not self._said:
            raise _Unsendable("You have not asked yet what this request is about. Ask.")
        if token == "DONE" and left:
            raise _Unsendable(f"There is more to ask after this. If this is over, write {NEXT}.")


def instructions(
    persona: str, turns: tuple[Turn, ...], today: str, prompts: PromptFiles = OURS
) -> str:
    """The system prompt of the model that plays the user."""
    count = f"{len(turns)} requests" if len(turns) > 1 else "1 request"
    about = f" You are {persona}." if persona else ""
    return prompts.filled("user", today=today, persona=about, count=count, next=NEXT, done=DONE)


def _brief(turn: Turn) -> str:
    if turn.clarification is None:
        return turn.utterance
    about = ", ".join(turn.clarification.about)
    return (
        f"{turn.utterance}\n"
        f"Tell this only when you are asked ({about}): {turn.clarification.answer}"
    )


class UserEpisode(Episode):
    """An episode whose user speaks freely: a turn lasts until its goal is over."""

    def hear(self, text: str) -> None:
        """The user says something.

        Raises:
            HarnessError: The agent has not answered the last words yet.
        """
        if self._waiting:
            raise HarnessError("hear() before the agent replied to the last message")
        self._messages.append(Message("user", text))
        self._waiting = True

    def reply(self, text: str) -> None:
        """The agent answers; the turn goes on.

        Raises:
            HarnessError: No turn has begun.
        """
        if not self._waiting:
            raise HarnessError("reply() outside a turn")
        self._messages.append(Message("assistant", plain_text(text)))
        self._waiting = False

    def end_goal(self) -> None:
        """The user goes on to something else."""
        self._end_turn()


async def converse(
    episode: UserEpisode, agent: Agent, session: Session, caller: SimulatedUser
) -> None:
    """Let user and agent talk until every goal is over.

    Raises:
        AgentError: What the agent answered is no text.
    """
    while caller.begin():
        while (text := await caller.speak()) is not None:
            episode.hear(text)
            reply = await agent.turn(session, text)
            if not isinstance(reply, str):
                raise AgentError(f"turn() returned {type(reply).__name__}, not text")
            episode.reply(reply)
            caller.hear(reply)
        episode.end_goal()
