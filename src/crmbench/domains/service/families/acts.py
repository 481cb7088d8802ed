"""What tasks have done in the org once something is found out, and what must be refused."""

from __future__ import annotations

import re

from crmbench.core.fact import Fact
from crmbench.core.schema import Row
from crmbench.domains.service.families.context import TaskContext, quoted
from crmbench.domains.service.families.draft import ServiceRecorder, Step
from crmbench.domains.service.families.records import Records

OPEN = ["New", "Working", "Waiting on Customer", "Escalated"]
REASONS = (
    "analyst", "policy", "rule", "not allowed", "not permitted", "permission", "authorized",
    "DO-2", "manager", "role",
)  # fmt: skip
_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip


def hand_over(recorder: ServiceRecorder, case: str, agent: str) -> None:
    """Give a case to an agent, with the comment that NOTE-1 asks for."""
    rows = recorder.call("get_cases", case_ids=[case])
    before = rows[0]["OwnerId"]
    _finish(recorder, case, before, agent)


def hand_over_by_soql(recorder: ServiceRecorder, case: str, agent: str) -> None:
    """The same, the case looked up by SOQL."""
    rows = recorder.soql(f"SELECT Id, Status, OwnerId FROM Case WHERE Id = {quoted(case)}")
    _finish(recorder, case, rows[0]["OwnerId"], agent)


def _finish(recorder: ServiceRecorder, case: str, before: str, agent: str) -> None:
    # No tool but SOQL tells the names of agents.
    found = recorder.soql(
        f"SELECT Id, Name FROM User WHERE Id IN ({quoted(before)}, {quoted(agent)})"
    )
    names = {row["Id"]: row["Name"] for row in found}
    recorder.call("assign_case", case_id=case, agent_id=agent)
    text = f"Assigned to {names[agent]}. The owner before was {names[before]}."
    recorder.call("comment_on_case", case_id=case, comment=text)


def owners_named(records: Records, before: str, agent: str) -> tuple[Fact, ...]:
    """What the comment on a case that changed hands has to give."""
    return (
        Fact("name", records.name(agent), "new owner"),
        Fact("name", records.name(before), "owner before"),
    )


def escalate(recorder: ServiceRecorder, case: Row) -> None:
    """Set a case to Escalated, and its priority as STATUS-1 asks for."""
    recorder.call("set_case_status", case_id=case["Id"], status="Escalated")
    if case["Priority"] in ("Low", "Medium"):
        recorder.call("set_case_priority", case_id=case["Id"], priority="High")


def text_fact(value: str, label: str) -> Fact:
    """That a text has to hold some words, numbers in figures or written out."""
    return Fact("text", value, label, aliases=tuple(sorted(other_numbers(value))))


def other_numbers(text: str) -> set[str]:
    """A text with its small numbers in words, and with them in figures, where that differs."""
    words = {word: str(n) for n, word in enumerate(_NUMBERS)}
    figures = {figure: word for word, figure in words.items()}
    other = re.sub(r"\w+", lambda m: words.get(m[0], m[0]), text.lower())
    spelled = re.sub(r"(?<![\d.,$])\d+(?![\d.,])", lambda m: figures.get(m[0], m[0]), text)
    return {other, spelled} - {text, text.lower()}


def refused(said: str) -> Step:
    """A request of an analyst to have something changed."""
    return Step(
        said,
        lambda recorder: None,
        lambda recorder: None,
        rules=("DO-2",),
        refused="policy",
        refusal_reasons=REASONS,
    )


def open_cases(context: TaskContext, without: str) -> list[Row]:
    """The open cases of all agents but one."""
    return [case for case in context.records.open_cases if case["OwnerId"] != without]
