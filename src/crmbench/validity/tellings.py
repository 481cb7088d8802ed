"""Wrong replies, read as in the conversation: with what was asked, looked up and written.

`replies` tries facts by themselves; here the gold has been played up to and in the turn, and the
reply misreports it, gives a rival what is another's, or takes its answer back. None may pass. That
one is left undecided is allowed, and counted apart.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

from crmbench.core.answer import MONTHS, STATES, Answer
from crmbench.core.domain import Domain
from crmbench.core.fact import Fact
from crmbench.core.journal import Change
from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.grading.answer import ANSWER_ARGUMENT, ANSWER_TOOL
from crmbench.grading.directory import directory_of
from crmbench.grading.gold import GoldRun
from crmbench.grading.grader import Grader
from crmbench.grading.phrasing.variants import realise, written_forms
from crmbench.grading.turn_words import TurnWords, judge_words
from crmbench.grading.words import Outcome, outcome_of
from crmbench.language.patterns import fold
from crmbench.validity.gate import GateResult, Offender, at_least

KILLED = 0.995

DENIALS = (
    "I could not do that; nothing was changed.",
    "It did not go through, so everything is as it was.",
    "I haven't done it.",
    "The change was rejected and nothing was saved.",
    "I was unable to make that change.",
    "I left it as it is.",
)
DEEDS = (
    "Done: {name} is up to date.",
    "I've taken care of {name} as you asked.",
    "That is entered for {name}.",
)
RIVALS = (
    "{other} comes first, then {value}.",
    "{other} leads, followed by {value}.",
    "It is {other}; {value} is the runner-up.",
)
SWAPS = (
    "I changed the {column} from {new} to {old}.",
    "The {column} was {new} before and is {old} now.",
)
STRANGER = "Barnaby Quillfeather"
FILE = "internal_margins_2019.xlsx"
FILE_NAME = re.compile(r"\.[a-z]{3,4}$")
_SWAPPED = ("money", "percent", "date", "number")


class Telling(NamedTuple):
    """A wrong reply."""

    what: str
    """What is wrong with it."""
    reply: str
    submitted: str | None = None
    """What was given with the answering tool, where that is wrong too."""


@dataclass(frozen=True)
class TellingResult:
    """What became of the wrong replies of one task."""

    tried: int
    undecided: int
    survivors: tuple[str, ...]
    """Those that pass."""


class NameIndex(NamedTuple):
    """The names of a world's records, to choose wrong ones from."""

    by_table: Mapping[str, Sequence[str]]
    keys: Sequence[str]
    """The ids of the records that have a name."""


@lru_cache(maxsize=64)
def name_index(domain_name: str, world: str) -> NameIndex:
    """The names of a world, in order."""
    directory = directory_of(load_domain(domain_name), world)
    by_table: dict[str, set[str]] = {}
    for name in directory.names.values():
        for table in directory.tables.get(fold(name), ()):
            by_table.setdefault(table, set()).add(name)
    ordered = {table: sorted(names) for table, names in sorted(by_table.items())}
    return NameIndex(ordered, sorted(directory.names))


def tellings_tried(tasks: Sequence[Task], grader: Grader) -> list[TellingResult]:
    """Try the wrong replies of each task."""
    return [_result(load_domain(t.domain), t, grader.gold_runs(t)[0]) for t in tasks]


def telling_gate(tasks: Sequence[Task], found: Sequence[TellingResult]) -> GateResult:
    """The share of wrong replies that do not pass.

    Args:
        found: What `tellings_tried` found.
    """
    tried = sum(result.tried for result in found)
    survivors = [
        Offender(task.task_id, text)
        for task, result in zip(tasks, found, strict=True)
        for text in result.survivors
    ]
    open_ = sum(result.undecided for result in found)
    question = (
        "How many replies do not pass that deny or misplace what was done, swap values, put a "
        f"rival first, add a stranger, or answer both ways? ({open_:,} are left undecided)"
    )
    good = tried - len(survivors)
    return at_least("wrong tellings killed", question, good, tried, KILLED, survivors)


def _result(domain: Domain, task: Task, run: GoldRun) -> TellingResult:
    rng = random.Random(crc32(f"{task.task_id} tellings".encode()))
    names = name_index(task.domain, task.world)
    tried = undecided = 0
    survivors = []
    for index in range(len(task.turns)):
        words = TurnWords.of_gold(domain, task, run, index, gold_submission(run, index))
        for telling in WrongTellings(domain, words, names, rng).all():
            heard = words
            if telling.submitted is not None:
                # Made anew: a copy would keep what the answer was judged to be.
                heard = TurnWords(
                    words.gold, words.context, telling.submitted, words.deeds, words.directory
                )
            tried += 1
            outcome = outcome_of(list(judge_words(heard, telling.reply)))
            undecided += outcome is Outcome.UNDECIDED
            if outcome is Outcome.SUCCEEDS:
                survivors.append(f"turn {index + 1}: {telling.what}: {telling.reply!r}")
    return TellingResult(tried, undecided, tuple(survivors))


def gold_submission(run: GoldRun, index: int) -> str | None:
    """What the gold submits in a turn, by its last call of the answering tool."""
    for call in reversed(run.calls[index]):
        if call.tool == ANSWER_TOOL and call.ok:
            return str(call.arguments.get(ANSWER_ARGUMENT, ""))
    return None


@dataclass(frozen=True)
class WrongTellings:
    """Writes wrong replies to a turn of which the gold has been played."""

    domain: Domain
    words: TurnWords
    names: NameIndex
    rng: random.Random

    def all(self) -> Iterator[Telling]:
        """All of them."""
        gold = self.words.gold
        if self.words.deeds and gold.expect_success:
            yield from self._misreports()
        if gold.expect_success:
            yield from self._of_facts()
        else:
            for fact in gold.forbidden:
                told = self.rng.choice(written_forms(fact))
                yield Telling("told all the same", f"I may not tell you that. It is {told}.")
        if gold.answer is not None and gold.answer.kind != "text":
            yield from self._of_answer(gold.answer)

    # --- what was done ---------------------------------------------------------------------------

    def _misreports(self) -> Iterator[Telling]:
        told = [realise(fact, self.rng) for fact in self.words.gold.facts]
        yield Telling("denied", " ".join((self.rng.choice(DENIALS), *told)))
        other = self._other_record()
        if other is not None:
            told_of = self.rng.choice(DEEDS).format(name=other)
            yield Telling("of another record", " ".join((told_of, *told)))
        moves = list(self._replaced())
        for column, old, new in dict.fromkeys(moves):
            if (column, new, old) in moves:  # of another record it is true
                continue
            swapped = self.rng.choice(SWAPS).format(column=column, new=new, old=old)
            yield Telling("before for after", " ".join((swapped, *told)))

    def _other_record(self) -> str | None:
        """The name of a record like one that was written, which nobody has spoken of."""
        directory = self.words.directory
        for change in self.words.deeds.effect:
            own = directory.names.get(change.key) or self._parent(change)
            tables = directory.tables.get(fold(own), frozenset()) if own else ()
            for table in sorted(tables):
                if others := self._unspoken(table):
                    return self.rng.choice(others)
        return None

    def _parent(self, change: Change) -> str | None:
        """The name of the record that a row without a name belongs to."""
        if change.table not in self.domain.schema.tables:
            return None
        row, info = change.after or change.before or {}, self.domain.schema[change.table]
        attached = info.table.info.get("attached_to")
        columns = [attached[1]] if attached else list(info.references)
        names = (self.words.directory.names.get(str(row.get(column))) for column in columns)
        return next((name for name in names if name), None)

    def _unspoken(self, table: str) -> list[str]:
        """The names of a table's records that neither user nor records nor deeds hold."""
        context = self.words.context
        spoken = f"{context.said}\n{context.record_text}\n{self.words.deeds.texts}"
        return [n for n in self.names.by_table.get(table, ()) if fold(n) not in spoken]

    def _replaced(self) -> Iterator[tuple[str, str, str]]:
        """Column, old and new value of what the turn changed, as people write them."""
        for change in self.words.deeds.effect:
            before, after = change.before, change.after
            if not before or not after or change.table not in self.domain.schema.tables:
                continue
            info = self.domain.schema[change.table]
            for name in info.columns:
                old, new = before.get(name), after.get(name)
                plain = name not in info.assigned and name not in info.references
                if not plain or old == new or not old or not new or info.compare[name] == "note":
                    continue
                if isinstance(old, str) and isinstance(new, str):
                    yield name.replace("_", " "), old, new
                elif info.compare[name] == "money":
                    yield name, f"${old:,.0f}", f"${new:,.0f}"
                elif name == "probability":
                    yield name, f"{old} %", f"{new} %"

    # --- what was asked --------------------------------------------------------------------------

    def _of_facts(self) -> Iterator[Telling]:
        facts = self.words.gold.facts
        for place, fact in enumerate(facts):
            others = [realise(f, self.rng) for n, f in enumerate(facts) if n != place]
            for what, text in self._spoilt(fact):
                yield Telling(what, " ".join((text, *others)))
        for one, two in pairwise(facts):
            if one.kind == two.kind and one.kind in _SWAPPED and one.value != two.value:
                yield self._swapped(one, two)

    def _swapped(self, one: Fact, two: Fact) -> Telling:
        rest = [fact for fact in self.words.gold.facts if fact not in (one, two)]
        told = [
            f"{one.label}: {written_forms(two)[0]}",
            f"{two.label}: {written_forms(one)[0]}",
            *(realise(fact, self.rng, "terse") for fact in rest),
        ]
        return Telling("swapped", "; ".join(told))

    def _spoilt(self, fact: Fact) -> Iterator[tuple[str, str]]:
        if fact.kind == "list":
            if fact.value:
                told = [written_forms(item)[0] for item in fact.items()]
                told.append(self._stranger(fact))
                yield "a stranger in the list", f"{fact.label.capitalize()}: {', '.join(told)}."
            return
        other = self._other_value(fact)
        if other is None:
            return
        right, wrong = written_forms(fact)[0], written_forms(replace(fact, value=other))[0]
        pair = [right, wrong]
        self.rng.shuffle(pair)
        yield "either or", f"The {fact.label or fact.kind} is either {pair[0]} or {pair[1]}."
        if fact.kind == "choice" and "biggest" in fact.label:
            rival = self.rng.choice(RIVALS).format(other=wrong, value=right)
            yield "the runner-up first", rival

    def _stranger(self, fact: Fact) -> str:
        """Another thing of the kind of a list's items."""
        first = fold(str(fact.items()[0].value))
        for table in sorted(self.words.directory.tables.get(first, ())):
            others = self._unspoken(table)
            if others and table != "Document":
                return self.rng.choice(others)
        return FILE if FILE_NAME.search(first) else STRANGER

    def _other_value(self, fact: Fact) -> Any:
        others: list[str] = []
        if fact.kind in {"money", "number", "percent", "count"}:
            return fact.value + max(1, round(fact.value / 10))
        if fact.kind == "date" and len(fact.value) == 10:
            return f"{fact.value[:8]}{'14' if fact.value[8:] != '14' else '21'}"
        if fact.kind == "choice":
            others = [option for option in fact.options if option != fact.value]
        elif fact.kind == "name":
            tables = sorted(self.words.directory.tables.get(fold(fact.value), ()))
            others = [name for table in tables if table for name in self._unspoken(table)]
        return self.rng.choice(others) if others else None

    # --- what was to be answered -----------------------------------------------------------------

    def _of_answer(self, answer: Answer) -> Iterator[Telling]:
        other = self._candidate(answer)
        if not answer.values:
            both = f"None, though {other} comes nearest."
            yield Telling("None beside a candidate", both, both)
            return
        key = answer.values[0]
        right = self.rng.choice((key, self.words.directory.names.get(key, key)))
        either = f"Either {right} or {other}."
        yield Telling("either or", either, either)
        yield Telling("either or in the reply", either)
        rival = self.rng.choice(RIVALS).format(other=other, value=right)
        yield Telling("the runner-up first", rival)
        none = f"None; the nearest would be {right}."
        yield Telling("None beside a candidate", none, none)

    def _candidate(self, answer: Answer) -> str:
        """Another thing that could have been the answer, as people name it."""
        if answer.kind == "month":
            return self.rng.choice([month for month in MONTHS if month not in answer.values])
        if answer.kind == "state":
            codes = answer.values
            return self.rng.choice([name for name, code in STATES.items() if code not in codes])
        own = [k for k in self.names.keys if k.startswith(answer.prefix) and k not in answer.values]
        key = self.rng.choice(own)
        return self.rng.choice((key, self.words.directory.names[key]))
