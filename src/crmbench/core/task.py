"""A task: what the user says, the world it is said in, and, kept apart, what would be right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from crmbench.core.answer import Answer
from crmbench.core.fact import Fact

Criteria = Literal["all_turns", "final_state", "both"]


@dataclass(frozen=True)
class Clarification:
    """What the user answers when the agent asks for a detail that was left out."""

    answer: str
    """What the user then says."""
    about: tuple[str, ...]
    """Words of which the agent's question must name one to get the answer."""


@dataclass(frozen=True)
class Turn:
    """One thing the user says."""

    turn_id: int
    """Counted from 1."""
    utterance: str
    clarification: Clarification | None = None


@dataclass(frozen=True)
class GoldCall:
    """A tool call on the right path. Arguments may hold ``{{turn_N.field}}`` references."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class GoldTurn:
    """What is right in one turn."""

    calls: tuple[GoldCall, ...] = ()
    """The path that a careful person would take; the last one is the one the turn is about."""
    expect_success: bool = True
    """False: the request must fail (API or policy) and nothing may change."""
    error_substring: str | None = None
    """Part of the error that the last call must then give, any case."""
    failure_category: str | None = None
    facts: tuple[Fact, ...] = ()
    """What the reply must convey."""
    note_facts: tuple[Fact, ...] = ()
    """What the free text written in this turn must convey."""
    forbidden: tuple[Fact, ...] = ()
    """What the reply must not say."""
    answer: Answer | None = None
    """The one thing that the turn asks for, where it is judged as an answer."""
    refusal_reasons: tuple[str, ...] = ()
    """For a turn that must fail: words of which the reply must give one, if any are listed."""
    response: Mapping[str, Any] | None = None
    """Arc's `expected_response`: for a judge, never for an agent."""
    rules: tuple[str, ...] = ()
    """Ids of the policy rules that the turn tests."""
    derivations: Mapping[str, str] = field(default_factory=dict)
    """Where a value was computed: ``"2.amount"`` (that argument of the second call) to the formula
    it follows from, in the form that `crmbench.authoring.derive` reads."""


@dataclass(frozen=True)
class Path:
    """Another sequence of calls that is as right as the gold."""

    turns: tuple[tuple[GoldCall, ...], ...]
    note: str
    """What is different about it."""
    same_effect: bool = True
    """False: the org ends differently, and that is accepted too."""


@dataclass(frozen=True)
class Alternative:
    """What an item would be if some of its rules did not hold; for blame."""

    without: tuple[str, ...]
    """The rules that are left out, or a nearby reading by its name, such as ``exclusive_bound``."""
    outcome: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """``table/key`` of the item's records to the columns that would then be changed, with their
    final values. A record that is not named would be left as it is."""


@dataclass(frozen=True)
class GoldItem:
    """One of the many decisions that a task asks for: a row of a worklist, a cluster, a case.

    What it owns of an effect is read off its records: their own changes, and rows created or
    deleted that refer to one of them. An item whose records are to be left alone is right if
    nothing happened to them.
    """

    key: str
    """What reports call it; unique in the task, such as the record's id."""
    turn: int
    """The turn that it is decided in, counted from 1."""
    records: tuple[tuple[str, str], ...] = ()
    """Table and key of the records that it is about. No record belongs to two items."""
    facts: tuple[int, ...] = ()
    """Places, from 0, of the facts of its turn that report on it."""
    listed: bool | None = None
    """Where the turn's answer is a set: whether `key` belongs in it. None: it has no say."""
    rules: tuple[str, ...] = ()
    """Ids of the rules that decide it."""
    alternatives: tuple[Alternative, ...] = ()
    """For blame: what it would be without some of its rules, smallest sets first."""


@dataclass(frozen=True)
class Gold:
    """The ground truth of a task. No agent and no view holds one."""

    turns: tuple[GoldTurn, ...]
    grading: Literal["state", "tool_match"] = "state"
    """``state``: effects and facts. ``tool_match``: Arc tasks, which carry neither."""
    criteria: Criteria = "both"
    paths: tuple[Path, ...] = ()
    canary: str | None = None
    """A string that must never be found in anything an agent is sent."""
    items: tuple[GoldItem, ...] = ()
    """For a task of many decisions: each one, for accuracy by item and for blame. A score never
    depends on them."""


@dataclass(frozen=True)
class Task:
    """One conversation, complete."""

    task_id: str
    domain: str
    world: str
    """The name of the world it plays in; the domain knows how to build it."""
    turns: tuple[Turn, ...]
    gold: Gold = field(repr=False)
    seed_data: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    """Table to key to row: records put into the world before the first turn."""
    family: str = ""
    """The family that wrote it; intervals are clustered by it. Empty: the task stands alone."""
    category: str = "General"
    complexity: str = "simple"
    persona: str = ""
    tags: tuple[str, ...] = ()
    segments: tuple[int, ...] = ()
    """For a chain: the last turn of each segment."""
    chain_id: str | None = None
    success_note: str | None = None
    """Arc's `expected_outcome`, for a judge."""
    shown_slice: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(
        default_factory=dict, repr=False
    )
    """In a populated world: the records that the task is about, in the form of `seed_data`. For
    readers of the file; never loaded."""
    final_state: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the gold leaves changed. Where the gold is a state, scores use the gold itself and this
    is for readers of the file; in a file of calls alone it is what has to hold in the end."""
    carried: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Fields of an Arc file that say something of the file and nothing of what is right, by their
    name there: kept so that an export holds what an import read."""
    call_limit: int | None = None
    """Tool calls a turn that the task allows, told to the agent; None: the run's own limit, which
    is not told."""
    budget: int | None = None
    """Tool calls that the task allows for the whole conversation, told to the agent; None: no such
    limit."""
    breaks: tuple[int, ...] = ()
    """Turns after which the session breaks: the agent goes on without its transcript, with the
    CRM and its notebook as the only memory. It is told so beforehand."""
    notebook: int | None = None
    """Characters that the notebook holds in all, told to the agent; what is written then replaces
    what stood there. None: any number of entries."""

    def tag(self, name: str) -> str | None:
        """The value of the tag ``name:value``, such as ``size`` or ``mechanism``; None without."""
        head = f"{name}:"
        return next((tag[len(head) :] for tag in self.tags if tag.startswith(head)), None)


@dataclass(frozen=True)
class TaskView:
    """All that an agent may know of a task before the user speaks.

    It has no field that could hold ground truth, and not the task's id either: an id can name
    the family, and with it the trick.
    """

    domain: str
    today: str
    """ISO date of the world's clock."""
    policy: str
    tools: tuple[dict[str, Any], ...]
    """Name, description and argument schema of each tool."""
    persona: str = ""
    """Who the user is, where the task says so."""
