"""The objects under ``crmbench``: what our own tasks add to a conversation and to its turns.

These models say what a file may hold, key by key, and refuse what they do not know: a misspelt
``facts`` would otherwise leave a turn that nothing has to be said in. What is read stays as it
stands in the file; the models only check it. docs/formats.md lists the same keys, and a test
compares the two.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from crmbench.core.answer import DEFAULT_THRESHOLD
from crmbench.core.answer import Kind as AnswerKind
from crmbench.core.fact import Kind as FactKind

Pair = Annotated[list[str], Field(min_length=2, max_length=2)]


class Block(BaseModel):
    """An object of ours: no unknown key, no value of another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class GoldCallBlock(Block):
    """A `crmbench.core.task.GoldCall`."""

    tool: str
    arguments: dict[str, Any]


class FactBlock(Block):
    """A `crmbench.core.fact.Fact`, which checks that the value suits the kind."""

    kind: FactKind
    value: Any
    label: str = ""
    aliases: list[str] = []
    options: list[str] = []
    rivals: list[Any] = []
    only: bool = False
    subject: str = ""
    unit: str = ""
    item: FactKind = "name"
    today: str = ""


class AnswerBlock(Block):
    """A `crmbench.core.answer.Answer`, which checks that the values suit the kind."""

    kind: AnswerKind
    values: list[str] = []
    prefix: str = ""
    threshold: float = DEFAULT_THRESHOLD
    facts: list[str] = []


class ClarificationBlock(Block):
    """A `crmbench.core.task.Clarification`."""

    answer: str
    about: list[str]


class PathBlock(Block):
    """A `crmbench.core.task.Path`."""

    turns: list[list[GoldCallBlock]]
    note: str
    same_effect: bool = True


class AlternativeBlock(Block):
    """A `crmbench.core.task.Alternative`."""

    without: list[str]
    outcome: dict[str, dict[str, Any]] = {}


class ItemBlock(Block):
    """A `crmbench.core.task.GoldItem`."""

    key: str
    turn: int = Field(ge=1)
    records: list[Pair] = []
    facts: list[int] = []
    listed: bool | None = None
    rules: list[str] = []
    alternatives: list[AlternativeBlock] = []


class TurnBlock(Block):
    """What a turn has under ``crmbench``."""

    calls: list[GoldCallBlock] = []
    facts: list[FactBlock] = []
    note_facts: list[FactBlock] = []
    forbidden: list[FactBlock] = []
    refusal_reasons: list[str] = []
    rules: list[str] = []
    derivations: dict[str, str] = {}
    answer: AnswerBlock | None = None
    clarification: ClarificationBlock | None = None


class ConversationBlock(Block):
    """What a conversation has under ``crmbench``."""

    domain: str = "sales"
    world: str = "empty"
    family: str = ""
    persona: str = ""
    tags: list[str] = []
    grading: Literal["state", "tool_match"] = "tool_match"
    canary: str | None = None
    paths: list[PathBlock] = []
    items: list[ItemBlock] = []
    call_limit: int | None = Field(default=None, ge=1)
    budget: int | None = Field(default=None, ge=1)
    breaks: list[int] = []
    notebook: int | None = Field(default=None, ge=1)
