"""The builder of a conversation: what is said, what is right, and the org as it stands by then.

Every gold call is made on a copy of the world while the conversation is written, so later turns can
build on what earlier ones left, and a ground truth that the CRM refuses is never written.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from crmbench.authoring.derive import evaluate
from crmbench.core.episode import Episode
from crmbench.core.fact import Fact
from crmbench.core.task import Clarification, GoldCall, GoldTurn, Path, Turn
from crmbench.core.trace import CallRecord
from crmbench.domains.sales.authoring.org import Row, SalesOrg
from crmbench.domains.sales.phrases import Slot, Wording
from crmbench.domains.sales.phrases.render import Act, Place
from crmbench.errors import HarnessError
from crmbench.grading.gold import error_matches

JUST_MADE = "(the record that the call before created)"
"""An argument that is the id of what the previous call of the same turn created."""


class NoCandidate(Exception):
    """The world has no record (left) that a family or follow-up needs."""


@dataclass(frozen=True)
class Derived:
    """An argument that follows from other values: the formula is kept as its proof."""

    formula: str

    @property
    def value(self) -> Any:
        return evaluate(self.formula)


def call(tool: str, **arguments: Any) -> GoldCall:
    """A gold call; an argument may be `Derived`."""
    return GoldCall(tool, arguments)


@dataclass
class Focus:
    """What the conversation is about at the moment: ids of records."""

    client: str = ""
    deal: str = ""
    quote: str = ""
    contact: str = ""
    contract: str = ""


@dataclass
class Written:
    """What has been written of a conversation."""

    turns: list[Turn] = field(default_factory=list)
    gold: list[GoldTurn] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    rules: set[str] = field(default_factory=set)
    records: list[tuple[str, str]] = field(default_factory=list)
    """Table and id of what it is about."""


class ConversationBuilder:
    """A conversation in the making."""

    def __init__(
        self, org: SalesOrg, episode: Episode, wording: Wording, speaker: str, rng: random.Random
    ) -> None:
        self.org = org
        self.wording = wording
        self.speaker = speaker
        """Full name of the user, one of the org's owners."""
        self.rng = rng
        self.focus = Focus()
        self.written = Written()
        self.memory: dict[str, Any] = {}
        """What follow-ups leave for later ones: the last change, what has been asked already."""
        self.chatter_share = 0.0
        self.other_paths: list[Path] = []
        """Ways that a family knows to be as right as the gold."""
        self._episode = episode
        self.made: list[tuple[CallRecord, ...]] = []
        """The gold calls of each turn, with what they gave."""
        self._places: dict[str, str] = {}
        self._busy: set[str] = set()

    # --- choosing ---------------------------------------------------------------------------------

    @property
    def today(self) -> str:
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
        self.written.records += [
            (table, key)
            for table, key in (
                ("Client", focus.client),
                ("Contact", focus.contact),
                ("Opportunity", focus.deal),
                ("Quote", focus.quote),
                ("Contract", focus.contract),
            )
            if key and (table, key) not in self.written.records
        ]

    def _client_id(self, row: Row) -> str:
        return str(self.org.client_of(row)["client_id"]) if _has_client(row) else ""

    # --- the org as it stands ---------------------------------------------------------------------

    def row(self, table: str, key: str) -> Row:
        """A record as the gold has left it.

        Raises:
            NoCandidate: It is gone.
        """
        row = self._episode.database.get(table, key)
        if row is None:
            raise NoCandidate
        return row

    def find(self, table: str, column: str, key: str) -> list[Row]:
        """The records whose `column` is `key`, as the gold has left them, oldest first."""
        return self._episode.database.find(table, column, key)

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
        made = self._make(calls, None)
        answer = None
        if asks is not None:
            words = self.wording.answer(asks[0], asks[1])
            answer = Clarification(words, asks[2])
        gold = GoldTurn(
            calls=tuple(map(self._kept, calls, made)),
            facts=tuple(facts),
            note_facts=tuple(note_facts),
            forbidden=tuple(forbidden),
            rules=tuple(rules),
            derivations=_derivations(calls),
        )
        self._write(intent, slots or {}, gold, made, tags, answer)
        return _first(made[-1].result) if made else {}

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
        made = self._make(calls, error)
        gold = GoldTurn(
            calls=tuple(map(self._kept, calls, made)),
            expect_success=False,
            error_substring=error,
            failure_category=category,
            facts=tuple(facts),
            refusal_reasons=tuple(reasons),
            derivations=_derivations(calls),
        )
        self._write(intent, slots or {}, gold, made, (*tags, "api_refusal"), None)

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
        made = self._make(calls, None)
        gold = GoldTurn(
            calls=tuple(map(self._kept, calls, made)),
            expect_success=False,
            failure_category="policy",
            facts=tuple(facts),
            forbidden=tuple(forbidden),
            refusal_reasons=tuple(reasons),
            rules=tuple(rules),
        )
        self._write(intent, slots or {}, gold, made, (*tags, "policy_refusal"), None)

    @property
    def length(self) -> int:
        """Turns written so far."""
        return len(self.written.turns)

    # --- inside -----------------------------------------------------------------------------------

    def _make(self, calls: Sequence[GoldCall], error: str | None) -> tuple[CallRecord, ...]:
        made: list[CallRecord] = []
        for place, wanted in enumerate(calls, start=1):
            made_last = made[-1].changes[-1].key if made and made[-1].changes else ""
            arguments = {
                name: made_last if value == JUST_MADE else _plain(value)
                for name, value in wanted.arguments.items()
            }
            record = self._episode.execute(wanted.tool, arguments)
            must_fail = error is not None and place == len(calls)
            if record.ok == must_fail or not error_matches(
                error if must_fail else None, record.error
            ):
                raise HarnessError(
                    f"turn {self.length + 1}: {wanted.tool}({arguments}) "
                    f"{'is not refused as it should be' if must_fail else 'is refused'}: "
                    f"{record.error}"
                )
            made.append(record)
            self._remember(record, place)
        return tuple(made)

    def _remember(self, record: CallRecord, place: int) -> None:
        """Note where the id of a created record can be read."""
        for change in record.changes:
            if change.before is None and isinstance(record.result, Mapping):
                for name, value in record.result.items():
                    if value == change.key and name.endswith("_id"):
                        reference = f"turn_{self.length + 1}.call_{place}.{name}"
                        self._places.setdefault(change.key, "{{" + reference + "}}")

    def _kept(self, wanted: GoldCall, made: CallRecord) -> GoldCall:
        """The call as it is stored: created ids as references, computed values as values."""
        kept = {name: self._referring(value) for name, value in made.arguments.items()}
        return GoldCall(wanted.tool, kept)

    def _referring(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._places.get(value, value)
        if isinstance(value, list):
            return [self._referring(item) for item in value]
        return value

    def _place(self) -> Place:
        """What the turn before was: people answer to it."""
        if not self.made:
            return "first"
        last = self.written.gold[-1]
        if not last.expect_success:
            return "refused"
        return "told" if _act(last, self.made[-1]) == "ask" else "done"

    def _write(
        self,
        intent: str,
        slots: Mapping[str, Slot],
        gold: GoldTurn,
        made: tuple[CallRecord, ...],
        tags: Sequence[str],
        answer: Clarification | None,
    ) -> None:
        chatter = self.rng.random() < self.chatter_share
        gold = replace(gold, response=_expected_response(gold))
        written = self.written
        utterance = self.wording.say(
            intent, slots, place=self._place(), act=_act(gold, made), chatter=chatter
        )
        written.turns.append(Turn(self.length + 1, utterance, answer))
        written.gold.append(gold)
        written.tags |= set(tags)
        if chatter:
            written.tags.add("irrelevant_chatter")
        if gold.derivations:
            written.tags.add("computed_value")
        if answer:
            written.tags.add("missing_detail")
        written.rules |= set(gold.rules)
        self.made.append(made)


def _act(gold: GoldTurn, made: Sequence[CallRecord]) -> Act:
    asks = bool(gold.facts) and not any(record.changes for record in made)
    return "ask" if asks else "do"


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Derived) else value


def _derivations(calls: Sequence[GoldCall]) -> dict[str, str]:
    return {
        f"{place}.{name}": value.formula
        for place, wanted in enumerate(calls, start=1)
        for name, value in wanted.arguments.items()
        if isinstance(value, Derived)
    }


def _has_client(row: Row) -> bool:
    return "client_id" in row or "opportunity_id" in row


def _first(result: Any) -> Row:
    if isinstance(result, Mapping) and isinstance(result.get("records"), list):
        return dict(result["records"][0]) if result["records"] else {}
    return dict(result) if isinstance(result, Mapping) else {}


def _expected_response(gold: GoldTurn) -> dict[str, Any]:
    """What a good reply does, in words: for the readers of the file and for judges."""
    told = [f"{fact.label or fact.kind} {_shown(fact)}" for fact in gold.facts]
    if not gold.expect_success:
        why = gold.error_substring or " ".join(gold.rules)
        text = f"Says that it was not done, and why ({why})."
    elif told:
        text = ""
    else:
        text = "Confirms what was done."
    if told:
        text = f"{text} Tells the user: {'; '.join(told)}.".strip()
    return {"text": text, "evaluation": "facts" if told else "state"}


def _shown(fact: Fact) -> str:
    if fact.kind == "list":
        return ", ".join(str(item.value) for item in fact.items())
    return f"{fact.value:,}" if isinstance(fact.value, int | float) else str(fact.value)
