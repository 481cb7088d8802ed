"""The Arc conversation as published: every field of its dataset card, and our own beside them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ArcTurn(_Model):
    """One turn and its ground truth."""

    turn_id: int = Field(ge=1)
    user_utterance: str
    expected_tool: str | None
    """None, in our own files only: no tool is needed."""
    expected_args: dict[str, Any]
    references_previous_turns: list[int] = []
    expect_success: bool = True
    expected_error_substring: str | None = None
    failure_category: str | None = None
    expected_response: dict[str, Any] | None = None
    crmbench: dict[str, Any] | None = None
    """What our own tasks add: all calls of the turn, facts, clarification, rules."""


class ArcConversation(_Model):
    """One conversation. Dumped with `exclude_unset` it is what was read."""

    conversation_id: str = Field(min_length=1)
    workflow_category: str = "General"
    complexity_level: Literal["simple", "medium", "complex"] = "simple"
    turns: list[ArcTurn] = Field(min_length=1)
    initial_entities: dict[str, Any] = {}
    final_expected_state: dict[str, Any] | None = None
    success_criteria: Literal["all_turns", "final_state", "both"] = "all_turns"
    contains_failure: bool = False
    failure_turn: int | None = None
    verification_mode: str = "database"
    chain_id: str | None = None
    segment_number: int | None = None
    segment_boundaries: list[int] | None = None
    expected_outcome: str | None = None
    cumulative_context: dict[str, Any] | None = None
    crmbench: dict[str, Any] | None = None
    """What our own tasks add: world, family, tags, grading, paths, canary."""

    def to_data(self) -> dict[str, Any]:
        """The JSON object that it was read from."""
        return self.model_dump(mode="json", exclude_unset=True)
