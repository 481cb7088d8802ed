"""The agent: what was said goes to the first rule that fits."""

from __future__ import annotations

from datetime import date

from crmbench.agents.baselines.heuristic.clean import clean
from crmbench.agents.baselines.heuristic.elsewhere import search_anything
from crmbench.agents.baselines.heuristic.find import AskError, Finder
from crmbench.agents.baselines.heuristic.hear import hear
from crmbench.agents.baselines.heuristic.org import Org
from crmbench.agents.baselines.heuristic.rules import reply_to
from crmbench.agents.baselines.heuristic.turn import Conversation, RefusedError, Turn, begin
from crmbench.agents.protocol import Session, SimpleFactory


class Heuristic:
    """Rules and regular expressions: finds the records meant, changes or tells what a word asks."""

    def __init__(self) -> None:
        self._talk: Conversation | None = None
        self._org: Org | None = None

    async def turn(self, session: Session, utterance: str) -> str:
        """Answer by the first rule that fits; a refusal or a question back is an answer too."""
        if self._talk is None or self._org is None:
            self._talk, self._org = begin(session), Org(session)
        if not self._org.has("opportunity_search"):
            return search_anything(session, utterance)
        turn = self._heard(self._talk, self._org, session.view.today, utterance)
        try:
            try:
                return reply_to(turn)
            except AskError:
                if not turn.answered:
                    raise
            # It was no answer to what was asked, so it is a request of its own.
            turn = self._heard(self._talk, self._org, session.view.today, utterance)
            return reply_to(turn)
        except AskError as question:
            self._talk.asked = turn.heard.said
            return str(question)
        except RefusedError as refusal:
            return f"I could not do that: {refusal}"

    def _heard(self, talk: Conversation, org: Org, today: str, utterance: str) -> Turn:
        """Take apart what was said, together with the request that it may be the answer to."""
        talk.turns += 1
        answered = bool(talk.asked)
        said = f"{talk.asked} {clean(utterance, talk.speaker)}".strip()
        talk.asked = ""
        day = date.fromisoformat(today)
        heard = hear(said, org, day)
        return Turn(heard, org, talk, Finder(heard, org, talk.focus), day, answered)


HEURISTIC = SimpleFactory("heuristic", lambda _view, _seed: Heuristic())
