"""The agent: what was said goes to the first rule that fits."""

from __future__ import annotations

from datetime import date

from crmbench.agents.baselines.heuristic.clean import clean
from crmbench.agents.baselines.heuristic.fallback import search_anything
from crmbench.agents.baselines.heuristic.find import AskError, RecordFinder
from crmbench.agents.baselines.heuristic.org import OrgReader
from crmbench.agents.baselines.heuristic.parse import parse
from crmbench.agents.baselines.heuristic.rules import reply_to
from crmbench.agents.baselines.heuristic.turn import Conversation, RefusedError, TurnContext, begin
from crmbench.agents.protocol import Session, SimpleFactory


class Heuristic:
    """Rules and regular expressions: finds the records meant, changes or tells what a word asks."""

    def __init__(self) -> None:
        self._conversation: Conversation | None = None
        self._org: OrgReader | None = None

    async def turn(self, session: Session, utterance: str) -> str:
        """Answer by the first rule that fits; a refusal or a question back is an answer too."""
        if self._conversation is None or self._org is None:
            self._conversation, self._org = begin(session), OrgReader(session)
        if not self._org.has("opportunity_search"):
            return search_anything(session, utterance)
        turn = self._heard(self._conversation, self._org, session.view.today, utterance)
        try:
            try:
                return reply_to(turn)
            except AskError:
                if not turn.answered:
                    raise
            # It was no answer to what was asked, so it is a request of its own.
            turn = self._heard(self._conversation, self._org, session.view.today, utterance)
            return reply_to(turn)
        except AskError as question:
            self._conversation.asked = turn.parsed.said
            return str(question)
        except RefusedError as refusal:
            return f"I could not do that: {refusal}"

    def _heard(
        self, conversation: Conversation, org: OrgReader, today: str, utterance: str
    ) -> TurnContext:
        """Take apart what was said, together with the request that it may be the answer to."""
        conversation.turns += 1
        answered = bool(conversation.asked)
        said = f"{conversation.asked} {clean(utterance, conversation.speaker)}".strip()
        conversation.asked = ""
        day = date.fromisoformat(today)
        parsed = parse(said, org, day)
        return TurnContext(
            parsed, org, conversation, RecordFinder(parsed, org, conversation.focus), day, answered
        )


HEURISTIC = SimpleFactory("heuristic", lambda _view, _seed: Heuristic())
