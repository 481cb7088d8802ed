"""House rules of sales that can change midway, with ground truth that follows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crmbench.authoring.rule_change import RuleChange
from crmbench.core.task import GoldCall, GoldTurn, Path, Task
from crmbench.domains.sales.authoring.policy_actions import PROBABILITY

NEW = {"Proposal": 60, "Negotiation": 80}
"""DEAL-2 after its change; the other stages keep theirs."""
_FOLLOWS = re.compile(r"probab|weighted|likel|chance|forecast|%|per ?cent|undo|put .* back", re.I)
"""Words after which a later turn may depend on a probability: ``what's the weighted amount?``, and
not ``send the latest quote``."""


def _touches(task: Task) -> bool:
    turns = task.gold.turns
    return any("DEAL-2" in turn.rules and any(map(_is_set, turn.calls)) for turn in turns)


def _is_set(call: GoldCall) -> bool:
    """Whether a call gives a deal one of the stages with the probability that went with it."""
    stage, probability = call.arguments.get("stage"), call.arguments.get("probability")
    return stage in NEW and probability == PROBABILITY[str(stage)]


def _changed(task: Task) -> Task | None:
    first = next((n for n, turn in enumerate(task.gold.turns) if any(map(_is_set, turn.calls))), 0)
    if not _touches(task) or not _is_certain(task, first):
        return None
    turns = tuple(_turn(turn) for turn in task.gold.turns)
    paths = tuple(
        Path(tuple(tuple(map(_call, calls)) for calls in path.turns), path.note, path.same_effect)
        for path in task.gold.paths
    )
    gold = replace(task.gold, turns=turns, paths=paths)
    return replace(task, task_id=f"{task.task_id}~DEAL-2", gold=gold, final_state={})


def _is_certain(task: Task, first: int) -> bool:
    """Whether nothing but the calls that set a stage depends on the rule.

    Args:
        first: Place of the first turn that sets one.
    """
    old = {str(PROBABILITY[stage]) for stage in NEW}
    for place, (said, gold) in enumerate(zip(task.turns, task.gold.turns, strict=True)):
        words = said.utterance + (said.clarification.answer if said.clarification else "")
        sets = any(map(_is_set, gold.calls))
        if place >= first and (_FOLLOWS.search(words) or "DO-2" in gold.rules):
            return False
        if sets and "DEAL-2" not in gold.rules:
            return False
        # A number that the user names goes before the rule; told apart it could not be.
        if sets and old & set(re.findall(r"\d+", words)):
            return False
        facts = (*gold.facts, *gold.note_facts, *gold.forbidden)
        if place >= first and any(_depends(fact.label, fact.value) for fact in facts):
            return False
    return True


def _depends(label: str | None, value: Any) -> bool:
    return bool(_FOLLOWS.search(label or "")) or value in [PROBABILITY[stage] for stage in NEW]


def _turn(turn: GoldTurn) -> GoldTurn:
    changed = replace(turn, calls=tuple(map(_call, turn.calls)))
    if changed.calls == turn.calls or turn.response is None:
        return changed
    return replace(changed, response=_reworded(turn.response))


def _call(call: GoldCall) -> GoldCall:
    if not _is_set(call):
        return call
    return replace(call, arguments={**call.arguments, "probability": NEW[call.arguments["stage"]]})


def _reworded(response: Mapping[str, Any]) -> dict[str, Any]:
    """A reply of the file with the new probabilities where it tells the old ones."""
    said = dict(response)
    for stage, new in NEW.items():
        for name, text in said.items():
            if isinstance(text, str):
                said[name] = re.sub(rf"\b(probability) {PROBABILITY[stage]}\b", rf"\1 {new}", text)
    return said


CHANGES = (
    RuleChange(
        "stage-probability",
        "DEAL-2",
        before="Prospecting 10, Qualification 25,\n  Proposal 50, Negotiation 75.",
        after="Prospecting 10, Qualification 25,\n  Proposal 60, Negotiation 80.",
        unwritten="to what this team uses for\n  the stage, which new colleagues learn on the job.",
        touches=_touches,
        changed=_changed,
    ),
)
