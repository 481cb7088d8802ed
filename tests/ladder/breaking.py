"""An agent whose `observe` raises once it has played some conversations in its process."""

from __future__ import annotations

from crmbench.agents.protocol import Session
from crmbench.grading.record import EpisodeRecord


class Breaking:
    """Does nothing, and breaks when it hears what came of the third conversation."""

    heard = 0

    async def turn(self, session: Session, utterance: str) -> str:
        del session, utterance
        return "I did nothing."

    async def observe(self, record: EpisodeRecord) -> None:
        del record
        type(self).heard += 1
        if self.heard == 3:
            raise RuntimeError("no more")
