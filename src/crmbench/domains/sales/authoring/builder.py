"""The builder of a conversation: what is said, what is right, and the org as it stands by then.

Every gold call is made on a copy of the world while the conversation is written, so later turns can
build on what earlier ones left, and a ground truth that the CRM refuses is never written.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crmbench.authoring.builder import Say, TaskBuilder
from crmbench.authoring.family import NoCandidate
from crmbench.core.fact import Fact
from crmbench.core.sandbox import Sandbox
from crmbench.core.task import Clarification, GoldCall, GoldTurn, Path
from crmbench.core.trace import CallRecord
from crmbench.domains.sales.authoring.org import Row, SalesOrg
from crmbench.domains.sales.authoring.reasons import REASONS
from crmbench.domains.sales.authoring.told import Told
from crmbench.domains.sales.domain import SALES
from crmbench.domains.sales.phrases import Slot, Wording, noun, plain
from crmbench.domains.sales.phrases.render import Act, Place
from crmbench.domains.sales.tools import TOOLBOX
from crmbench.grading.directory import directory_of

_FOLLOWING = ("ask", "do", "no")
"""What the intents of follow-up turns begin with."""


@dataclass
class Focus:
    """What the conversation is about at the moment: ids of records."""

    client: str = ""
    deal: str = ""
    quote: str = ""
    contact: str = ""
    contract: str = ""


class ConversationBuilder:
    """A conversation in the making."""

    def __init__(
        self, org: SalesOrg, sandbox: Sandbox, wording: Wording, speaker: str, rng: random.Random
    ) -> None:
        self.org = org
        self.wording = wording
        self.speaker = speaker
        """Full name of the user, one of the org's owners."""
        self.rng = rng
        self.focus = Focus()
        names = directory_of(SALES, org.name).names
        self.written = TaskBuilder(sandbox, names, REASONS)
        self.records: list[tuple[str, str]] = []
        """Table and id of what it is about."""
        self.memory: dict[str, Any] = {}
        """What follow-ups leave for later ones: the last change, what has been asked already."""
        self.chatter_share = 0.0
        self.following = False
        """Whether follow-ups are written: they ask for nothing that the last reply has told. A
        family's own turns may, for that is what some of them are about."""
        self.other_paths: list[Path] = []
        """Ways that a family knows to be as right as the gold."""
        self.told = Told(speaker)
        self._database = sandbox.database
        self._busy: set[str] = set()

    @property
    def made(self) -> list[tuple[CallRecord, ...]]:
        """The gold calls of each turn, with what they gave."""
        return self.written.made

    # --- choosing ---------------------------------------------------------------------------------

    @property
    def today(self) -> str:
        """ISO date on which the conversation takes place."""
        return self.org.today.isoformat()

    @property
    def by_manager(self) -> bool:
        """Whether the sales manager is speaking."""
        return self.speaker == self.org.manager

    def pick(self, rows: Iterable[Row], where: Callable[[Row], bool] = lambda _row: True) -> Row:
        """One of the rows that fit, of a client that the conversation has not been about.

        Raises:
            NoCandidate: None fits.
        """
        fitting = [row for row in rows if where(row) and self._client_id(row) not in self._busy]
        if not fitting:
            raise NoCandidate
        return self.rng.choice(fitting)

    def choose(self, *options: Any) -> Any:
        """One of the options."""
        return self.rng.choice(options)

    def turn_to(self, row: Row, *tables: str) -> None:
        """Make a record, with its deal and client, what the conversation is about."""
        focus = self.focus = Focus(contact=self.focus.contact if "keep" in tables else "")
        if "quote_id" in row:
            focus.quote, row = row["quote_id"], self.row("Opportunity", row["opportunity_id"])
        if "contract_id" in row:
            focus.contract = row["contract_id"]
            focus.deal = row["opportunity_id"] or ""
        elif "opportunity_id" in row:
            focus.deal = row["opportunity_id"]
        if "contact_id" in row:
            focus.contact = row["contact_id"]
        if row.get("client_id"):
            focus.client = row["client_id"]
            self._busy.add(focus.client)
        self.records += [
            (table, key)
            for table, key in (
                ("Client", focus.client),
                ("Contact", focus.contact),
                ("Opportunity", focus.deal),
                ("Quote", focus.quote),
                ("Contract", focus.contract),
            )
            if key and (table, key) not in self.records
        ]

    def _client_id(self, row: Row) -> str:
        return str(self.org.client_of(row)["client_id"]) if _has_client(row) else ""

    # --- the org as it stands ---------------------------------------------------------------------

    def row(self, table: str, key: str) -> Row:
        """A record as the gold has left it.

        Raises:
            NoCandidate: It is gone.
        """
        row = self._database.get(table, key)
        if row is None:
            raise NoCandidate
        return row

    def find(self, table: str, column: str, key: str) -> list[Row]:
        """The records whose `column` is `key`, as the gold has left them, oldest first."""
        return self._database.find(table, column, key)

    @property
    def deal(self) -> Row:
        """The deal that the conversation is about, as it stands."""
        if not self.focus.deal:
            raise NoCandidate
        return self.row("Opportunity", self.focus.deal)

    @property
    def client(self) -> Row:
        """The client that the conversation is about, as it stands."""
        if not self.focus.client:
            raise NoCandidate
        return self.row("Client", self.focus.client)

    def was_set(self, key: str, field: str) -> bool:
        """Whether the conversation has given a record's field a value already: nobody gives it
        another one out of the blue.
        """
        changes = [change for made in self.made for record in made for change in record.changes]
        return any(
            change.key == key
            and change.after is not None
            and change.after[field] is not None
            and (change.before is None or change.before[field] != change.after[field])
            for change in changes
        )

    @property
    def last_change(self) -> tuple[Row, Row] | None:
        """The deal in discussion before and after, if the last turn changed it and nothing else."""
        made = self.made[-1] if self.made else ()
        changes = [change for record in made for change in record.changes]
        if len(changes) == 1 and changes[0].key == self.focus.deal:
            before, after = changes[0].before, changes[0].after
            return (before, after) if before is not None and after is not None else None
        return None

    # --- facts ------------------------------------------------------------------------------------

    def fact(self, kind: Any, value: Any, label: str = "", **more: Any) -> Fact:
        """A fact that knows what day it is.

        Raises:
            NoCandidate: It is today's date, which "as of today" would tell by accident.
        """
        if kind == "date" and value == self.today:
            raise NoCandidate
        return Fact(kind, value, label, today=self.today, **more)

    # --- turns ------------------------------------------------------------------------------------

    def turn(
        self,
        intent: str,
        slots: Mapping[str, Slot] | None = None,
        *,
        calls: Sequence[GoldCall] = (),
        facts: Sequence[Fact] = (),
        note_facts: Sequence[Fact] = (),
        forbidden: Sequence[Fact] = (),
        rules: Sequence[str] = (),
        tags: Sequence[str] = (),
        asks: tuple[str, Mapping[str, Slot], tuple[str, ...]] | None = None,
    ) -> Row:
        """The user asks for something that is done or answered.

        Args:
            intent: What the phrase bank words, with `slots`.
            calls: The gold path; the last one is what the turn is about.
            asks: Intent and slots of the answer that the user gives when the agent asks, and the
                words that the question must hold one of. The utterance lacks that detail.

        Returns:
            What the last call gave: a record, or the first of a search; empty without calls.
        """
        self._is_news(calls, facts)
        answer = None
        if asks is not None:
            self.told.hear(asks[1])
            words = self.wording.answer(asks[0], asks[1])
            answer = Clarification(words, asks[2])
        said = self._saying(intent, slots, facts)
        return self.written.turn(
            said,
            calls=calls,
            facts=facts,
            note_facts=note_facts,
            forbidden=forbidden,
            rules=rules,
            tags=tags,
            answer=answer,
        )

    def rejected(
        self,
        intent: str,
        slots: Mapping[str, Slot] | None = None,
        *,
        calls: Sequence[GoldCall],
        error: str,
        category: str,
        reasons: Sequence[str] = (),
        tags: Sequence[str] = (),
        facts: Sequence[Fact] = (),
    ) -> None:
        """The user asks for something that the CRM refuses; the last call is the one that fails.

        Args:
            error: Part of the CRM's error.
            category: Arc's failure_category, such as "validation" or "business_rule".
            reasons: Words of which the reply must give one.
        """
        self.written.rejected(
            self._saying(intent, slots, facts),
            calls=calls,
            error=error,
            category=category,
            reasons=reasons,
            tags=tags,
            facts=facts,
        )

    def refused(
        self,
        intent: str,
        slots: Mapping[str, Slot] | None = None,
        *,
        calls: Sequence[GoldCall] = (),
        rules: Sequence[str],
        reasons: Sequence[str] = (),
        tags: Sequence[str] = (),
        facts: Sequence[Fact] = (),
        forbidden: Sequence[Fact] = (),
    ) -> None:
        """The user asks for something that a house rule forbids; the gold only looks things up."""
        self.written.refused(
            self._saying(intent, slots, facts),
            calls=calls,
            rules=rules,
            reasons=reasons,
            tags=tags,
            facts=facts,
            forbidden=forbidden,
        )

    @property
    def length(self) -> int:
        """Turns written so far."""
        return len(self.written.turns)

    # --- inside -----------------------------------------------------------------------------------

    def _place(self) -> Place:
        """What the turn before was: people answer to it."""
        if not self.written.gold:
            return "first"
        last = self.written.gold[-1]
        if not last.expect_success:
            return "refused"
        # The calls of the turn under way are made already.
        made = self.made[len(self.written.gold) - 1]
        return "told" if _act(last, made) == "ask" else "done"

    def _is_news(self, calls: Sequence[GoldCall], facts: Sequence[Fact]) -> None:
        """Nobody asks for what was just said or told, or who they are themselves.

        Raises:
            NoCandidate: The turn only asks, and for something that the user knows.
        """
        asks = not any(TOOLBOX.get(call.tool).writes for call in calls)
        last = self.made[-1] if self.made else ()
        self.told.report(change for record in last for change in record.changes)
        told = self.following and any(map(self.told.was_reported, facts))
        if asks and (told or any(map(self.told.knows, facts))):
            raise NoCandidate

    def _the_deal(self) -> Slot:
        """The deal in discussion: "the deal" where nothing else can be meant, else by its name.

        Raises:
            NoCandidate: It would have to be named, and another deal has the same name.
        """
        spoken_of = {key for table, key in self.records if table == "Opportunity"}
        if len(spoken_of) == 1 and self._was_about(self.focus.deal):
            return noun("the.focus.deal")
        name = str(self.deal["name"])
        if len(self.find("Opportunity", "name", name)) != 1:
            raise NoCandidate
        return replace(noun("the.focus.named_deal", deal=plain(name)), required=True)

    def _was_about(self, deal: str) -> bool:
        """Whether the last call of the turn before was about the deal or one of its quotes."""
        made = self.made[-1] if self.made else ()
        if not made:
            return False
        last = made[-1]
        row = last.result if isinstance(last.result, Mapping) else {}
        keys = {str(value) for value in last.arguments.values()}
        quotes = {q["quote_id"] for q in self.find("Quote", "opportunity_id", deal)}
        return deal in keys or bool(quotes & keys) or row.get("opportunity_id") == deal

    def _saying(self, intent: str, slots: Mapping[str, Slot] | None, facts: Sequence[Fact]) -> Say:
        """What words an intent once its calls are made: how people speak depends on whether they
        only ask, and on what the turn before came to.
        """
        named = dict(slots or {})
        if self.focus.deal and intent.partition(".")[0] in _FOLLOWING:
            named.setdefault("deal", self._the_deal())
        self.told.hear(slots or {})
        self.told.tell(facts)

        def say(gold: GoldTurn, made: Sequence[CallRecord]) -> str:
            chatter = self.rng.random() < self.chatter_share
            if chatter:
                self.written.tags.add("irrelevant_chatter")
            return self.wording.say(
                intent, named, place=self._place(), act=_act(gold, made), chatter=chatter
            )

        return say


def _act(gold: GoldTurn, made: Sequence[CallRecord]) -> Act:
    asks = bool(gold.facts) and not any(record.changes for record in made)
    return "ask" if asks else "do"


def _has_client(row: Row) -> bool:
    return "client_id" in row or "opportunity_id" in row
