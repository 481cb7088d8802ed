"""docs/formats.md lists every key of what is stored, and no other."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from crmbench.core.journal import Change
from crmbench.core.trace import CallRecord, EpisodeTrace, Judgement, Message, TokenUsage, TurnTrace
from crmbench.formats import blocks as b
from crmbench.formats.arc_model import ArcConversation, ArcTurn
from crmbench.grading.tool_match import ToolMatch
from crmbench.grading.verdict import EpisodeVerdict, TurnVerdict

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
MODELS: dict[str, type[BaseModel]] = {
    "Conversation": ArcConversation,
    "Turn": ArcTurn,
    "A conversation's `crmbench`": b.ConversationBlock,
    "A turn's `crmbench`": b.TurnBlock,
    "Fact": b.FactBlock,
    "Answer": b.AnswerBlock,
    "Clarification": b.ClarificationBlock,
    "Gold call": b.GoldCallBlock,
    "Path": b.PathBlock,
    "Item": b.ItemBlock,
    "Alternative": b.AlternativeBlock,
}
STORED: dict[str, type[Any]] = {
    "Trace": EpisodeTrace,
    "Trace of a turn": TurnTrace,
    "Call": CallRecord,
    "Change": Change,
    "Message": Message,
    "Judgement": Judgement,
    "Usage": TokenUsage,
    "Verdict": EpisodeVerdict,
    "Verdict on a turn": TurnVerdict,
    "Tool match": ToolMatch,
}


def keys_under(title: str) -> list[str]:
    page = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^#+ (.+)$", page, flags=re.MULTILINE)
    text = parts[parts.index(title) + 1]
    return list(re.findall(r"^\| `([^`]+)` \|", text, flags=re.MULTILINE))


@pytest.mark.parametrize("title", MODELS)
def test_the_keys_of_a_file_of_conversations_are_documented(title: str) -> None:
    assert keys_under(title) == list(MODELS[title].model_fields)


@pytest.mark.parametrize("title", STORED)
def test_the_keys_of_a_stored_episode_are_documented(title: str) -> None:
    assert keys_under(title) == [field.name for field in fields(STORED[title])]
